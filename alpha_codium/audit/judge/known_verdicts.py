"""An examination of the judge by real submissions with known verdicts.

1. A file holds problems in the schema of CodeContests, each with a `checker` and `submissions[{file, language,
   expected_verdict, code}]`, as in contest packages. A label is confirmed if `agrees` is missing or true, and not if it
   is false or null.
2. Every submission that can be run is judged by all tests of its problem. The others are listed without a verdict, and
   so are those with a label that isn't one of `CLASSES`.
3. Labels are those of contests. `PARTIAL` is any rejection. `RTE` is a crash or too much memory, which the packages
   don't distinguish.
"""

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypedDict

from alpha_codium.audit.kit.cases import REJECTIONS
from alpha_codium.data.load import load_problems
from alpha_codium.errors import DatasetError, nearest
from alpha_codium.eval.languages import Languages, Skipped
from alpha_codium.eval.prepare import Entry, EvaluationSet, EvaluationTask
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.judge import Rules
from alpha_codium.problem import LANGUAGE_NAMES, TestType
from alpha_codium.values import JsonValue, named
from alpha_codium.verdict import Verdict

GROUP = "submission"
ACCEPTED = "AC"
PARTIAL = "PARTIAL"
# A difflib ratio: "python", "Python 3" and "pyhton3" are above it, "pypy3" and "python2.7" below.
LIKE_PYTHON = 0.8
CLASSES = {
    ACCEPTED: frozenset({Verdict.ACCEPTED}),
    "WA": frozenset({Verdict.WRONG_ANSWER}),
    "TLE": frozenset({Verdict.TIME_LIMIT_EXCEEDED}),
    "RTE": frozenset({Verdict.RUNTIME_ERROR, Verdict.MEMORY_LIMIT_EXCEEDED}),
    "MLE": frozenset({Verdict.MEMORY_LIMIT_EXCEEDED}),
    "OLE": frozenset({Verdict.OUTPUT_LIMIT_EXCEEDED}),
    "CE": frozenset({Verdict.COMPILATION_ERROR}),
    PARTIAL: REJECTIONS,
}


@dataclass(frozen=True, slots=True)
class KnownSubmission:
    """One program of a contest; `language` is what the file says, and so is `label`, in capital letters."""

    problem: str
    file: str
    language: int | str
    label: str
    code: str
    confirmed: bool = True

    @property
    def language_name(self) -> str:
        """The language in the words of the schema."""
        known = isinstance(self.language, int) and 0 <= self.language < len(LANGUAGE_NAMES)
        return LANGUAGE_NAMES[int(self.language)] if known else str(self.language).strip().lower()


@dataclass(frozen=True, slots=True)
class KnownResult(JsonValue):
    """The judge's result for one submission; None if it can't be run, and `why_not`. Times are CPU seconds."""

    in_json: ClassVar[Mapping[str, str]] = {
        **named(problem="submission.problem", file="submission.file", language="submission.language"),
        **named("verdict", "cpu_seconds", "reason", expected_verdict="submission.label"),
        **named(tests_passed="result.tests_passed", tests_total="result.tests_total"),
    }
    optional: ClassVar[Sequence[str]] = ("reason",)

    submission: KnownSubmission
    result: CandidateResult | None = None
    cpu_limit: float = 0.0
    why_not: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """The judge's verdict; None if the submission can't be run."""
        return self.result.verdict if self.result else None

    @property
    def judged(self) -> bool:
        """Whether there is a verdict on the program."""
        return self.verdict is Verdict.ACCEPTED or self.verdict in REJECTIONS

    @property
    def right(self) -> bool:
        """Whether it was accepted or rejected as its label says."""
        return self.judged and (self.verdict is Verdict.ACCEPTED) == (self.submission.label == ACCEPTED)

    @property
    def right_class(self) -> bool:
        """Whether the verdict is of the label's class."""
        return self.verdict in CLASSES[self.submission.label]

    @property
    def reason(self) -> str:
        """Why there is no verdict, or, if it is of another class than the label, the tests and times."""
        if self.result is None:
            return self.why_not or "it wasn't run"
        if not self.judged:
            return self.result.error or "a fault of the sandbox"
        return "" if self.right_class else _seen(self.result, self.cpu_limit)

    @property
    def cpu_seconds(self) -> float | None:
        """The CPU time of all tests together."""
        return round(sum(test["cpu_seconds"] for test in self.result.tests), 4) if self.result else None


class Confirmed(TypedDict):
    """Submissions with a confirmed label, by label and verdict; of the rejected, how many have the right class."""

    by_expected: dict[str, dict[str, int]]
    class_right: int
    class_total: int


@dataclass(frozen=True, slots=True)
class KnownReport(JsonValue):
    """The results of all submissions of a file, in its order."""

    in_json: ClassVar[Mapping[str, str]] = named(
        "by_expected", "not_run", submissions="results", confirmed="of_confirmed"
    )

    results: tuple[KnownResult, ...]

    @property
    def confirmed(self) -> tuple[KnownResult, ...]:
        """Those that can be run and whose label is confirmed: the judge must get them right."""
        return tuple(r for r in self.results if r.result and r.submission.confirmed)

    @property
    def by_expected(self) -> dict[str, dict[str, int]]:
        """The number of submissions by label and verdict."""
        return table(result for result in self.results if result.result)

    @property
    def of_confirmed(self) -> Confirmed:
        """The same of confirmed submissions, and how many rejections are of the right class."""
        right, total = self.class_share
        return {"by_expected": table(self.confirmed), "class_right": right, "class_total": total}

    @property
    def unconfirmed(self) -> tuple[KnownResult, ...]:
        """Those that can be run and whose label isn't confirmed."""
        return tuple(r for r in self.results if r.result and not r.submission.confirmed)

    @property
    def faultless(self) -> bool:
        """Whether every confirmed submission was accepted or rejected as its label says, and there was one."""
        return bool(self.confirmed) and all(result.right for result in self.confirmed)

    @property
    def class_share(self) -> tuple[int, int]:
        """Of judged submissions with a confirmed rejection: the number with the right class, and the total."""
        rejected = [r for r in self.confirmed if r.judged and r.submission.label != ACCEPTED]
        return sum(r.right_class for r in rejected), len(rejected)

    @property
    def not_run(self) -> Counter[str]:
        """The number of submissions that can't be run, by language."""
        return Counter(r.submission.language_name for r in self.results if r.result is None)

    @property
    def skipped(self) -> Skipped:
        """The number of submissions that can't be run, by language and reason."""
        return Skipped((r.submission.language_name, r.why_not) for r in self.results if r.result is None)

    def lines(self) -> Iterator[str]:
        """Yield the tables of labels and verdicts, the shares, and each submission with a verdict of another class."""
        if self.confirmed:
            yield from _table_lines("confirmed", self.confirmed)
        else:
            yield "no submission with a confirmed label can be run: nothing was shown"
        if self.unconfirmed:
            yield from _table_lines("not confirmed", self.unconfirmed)
        right, total = self.class_share
        if total:
            yield f"the right class of rejection: {right} of {total} ({right / total:.1%})"
        for (name, why), count in sorted(self.skipped.items()):
            yield f"not run: {count} in {name}: {why}"
        yield from (_line(result) for result in (*self.confirmed, *self.unconfirmed) if result.reason)


def _line(result: KnownResult) -> str:
    submission, verdict = result.submission, result.verdict
    label = submission.label if submission.confirmed else f"{submission.label}, not confirmed"
    name = f"{submission.problem}: {submission.file}"
    if not result.judged:
        return f"  not judged: {name} ({label}): {result.reason}"
    kind = "other class" if result.right else "WRONG" if submission.confirmed else "otherwise"
    return f"  {kind}: {name} ({label}): {verdict}; {result.reason}"


def _table_lines(title: str, results: Sequence[KnownResult]) -> Iterator[str]:
    counts = table(results)
    verdicts = sorted({verdict for row in counts.values() for verdict in row})
    yield f"{title:<16}" + "".join(f"{verdict:>{len(verdict) + 2}}" for verdict in verdicts)
    for label, row in counts.items():
        yield f"{label:<16}" + "".join(f"{row.get(verdict, 0):>{len(verdict) + 2}}" for verdict in verdicts)


def table(results: Iterable[KnownResult]) -> dict[str, dict[str, int]]:
    """`{label: {verdict: how many}}`, labels in the order of `CLASSES`."""
    counts = Counter((r.submission.label, r.verdict.value) for r in results if r.verdict)
    labels = [label for label in CLASSES if any(label == given for given, _ in counts)]
    return {label: {v: n for (given, v), n in sorted(counts.items()) if given == label} for label in labels}


class KnownVerdicts:
    """The problems of a file and their submissions; raises DatasetError if it isn't such a file."""

    def __init__(self, path: str | Path) -> None:
        self.problems = load_problems(path)
        names = self.problems.names
        self.submissions = {
            name: _submissions(record, name) for name, record in zip(names, self.problems.records, strict=True)
        }
        if not any(self.submissions.values()):
            raise DatasetError(f"{path} holds no submissions: each problem needs `submissions` with known verdicts")
        entries = {
            name: tuple(Entry(i, GROUP, s.code, language=s.language_name) for i, s in enumerate(given))
            for name, given in self.submissions.items()
        }
        self._all = EvaluationSet(self.problems, entries, tuple(TestType))
        # This reads every problem, so that an error in one is reported now rather than after an hour.
        self._by_name = {problem.name: problem for problem in self.problems}

    def judged_in(self, languages: Languages) -> list[EvaluationTask]:
        """Return the submissions that can be run, with all tests."""
        return [
            replace(task, entries=tuple(e for e in task.entries if not self._why_not(task.name, e.index, languages)))
            for task in self._all
        ]

    def _why_not(self, problem: str, index: int, languages: Languages) -> str:
        """Return why a submission isn't judged, empty if it is."""
        submission = self.submissions[problem][index]
        if submission.label not in CLASSES:
            return f"its expected_verdict {submission.label!r} is none of {', '.join(CLASSES)}"
        return languages.why_not(submission.language_name, self._by_name[problem])

    def report(self, results: Sequence[ProblemResult], languages: Languages, rules: Rules) -> KnownReport:
        """Return the results of all submissions, judged by `rules`."""
        judged = {(problem.name, c.index): c for problem in results for c in problem.candidates}
        return KnownReport(
            tuple(
                KnownResult(
                    submission,
                    judged.get((name, index)),
                    rules.limits_for(self._by_name[name], submission.language_name).cpu_seconds,
                    self._why_not(name, index, languages),
                )
                for name, given in self.submissions.items()
                for index, submission in enumerate(given)
            )
        )


def _submissions(record: Mapping[str, Any], name: str) -> tuple[KnownSubmission, ...]:
    given = record.get("submissions") or []
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise DatasetError(f"problem {name!r}: submissions must be a list")
    return tuple(_submission(values, f"problem {name!r}, submissions[{i}]", name) for i, values in enumerate(given))


def _submission(values: Any, where: str, problem: str) -> KnownSubmission:
    if not isinstance(values, Mapping):
        raise DatasetError(f"{where} must be an object")
    for key in ("file", "language", "expected_verdict", "code"):
        if not isinstance(values.get(key), (str, int) if key == "language" else str):
            raise DatasetError(f"{where}: {key} is missing, or not {'a language' if key == 'language' else 'text'}")
    label = values["expected_verdict"].upper()
    agrees = values.get("agrees", True)
    if not (agrees is None or isinstance(agrees, bool)):
        raise DatasetError(f"{where}: agrees must be true, false or null, not {agrees!r}")
    _check_language(values["language"], where)
    return KnownSubmission(problem, values["file"], values["language"], label, values["code"], confirmed=agrees is True)


def _check_language(given: int | str, where: str) -> None:
    """Raise DatasetError for a number without a language, and for a word that seems to mean Python.

    Other words are languages that can't be run, and listed.
    """
    if isinstance(given, int):
        if not 0 <= given < len(LANGUAGE_NAMES) or isinstance(given, bool):
            numbers = ", ".join(f"{number} {name}" for number, name in enumerate(LANGUAGE_NAMES))
            raise DatasetError(f"{where}: language {given!r} is unknown (known: {numbers})")
        return
    word = given.strip().lower()
    pythons = [name for name in LANGUAGE_NAMES if name.startswith("python")]
    if word not in LANGUAGE_NAMES and difflib.get_close_matches(word, pythons, cutoff=LIKE_PYTHON):
        raise DatasetError(f"{where}: language {given!r} is unknown{nearest(word, pythons)}")


def _seen(result: CandidateResult, cpu_limit: float) -> str:
    """Return the tests and times of a submission, in one line."""
    slowest = max((test["cpu_seconds"] for test in result.tests), default=0.0)
    times = f"slowest test {slowest:.2f} s of {cpu_limit:g} s"
    failed = next((n for n, test in enumerate(result.tests, 1) if test["verdict"] != Verdict.ACCEPTED.value), None)
    if failed is None:
        return f"passes all tests ({result.tests_total}); {times}"
    return f"test {failed} of {result.tests_total} is the first to fail; {result.tests_passed} passed; {times}"
