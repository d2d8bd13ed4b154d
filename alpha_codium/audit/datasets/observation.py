"""The observations of a problem's known programs on all its tests, on which findings are based.

Of each output, only the names of the built-in checkers that accept it are kept. Rejected outputs of known-correct
programs are kept as well, cut at `KEPT_OUTPUT` characters, with a hash of the whole.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from alpha_codium.audit.datasets.alternatives import Alternative
from alpha_codium.data.schema import TEST_CODE
from alpha_codium.eval.prepare import CORRECT
from alpha_codium.limits import Limits
from alpha_codium.problem import CheckerSpec, Problem, TestCase, TestType
from alpha_codium.values import JsonValue, Readers
from alpha_codium.verdict import KEPT, Judgement, Status, TestResult, Verdict

KEPT_OUTPUT = 4096
COMPARED = (Verdict.ACCEPTED, Verdict.WRONG_ANSWER)
YES, NO, UNKNOWN = "1", "0", "?"
# How many times the limit of time known-correct programs have that ran out of it.
WIDER = 4.0


class Output(NamedTuple):
    """A program's output: its beginning, whether that is all, and a hash of its tokens."""

    text: str
    whole: bool
    digest: str

    @classmethod
    def of(cls, stdout: str) -> "Output":
        """Return the part of `stdout` to keep."""
        digest = hashlib.sha256("\0".join(stdout.split()).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return cls(stdout[:KEPT_OUTPUT], len(stdout) <= KEPT_OUTPUT, digest)


class Wider(NamedTuple):
    """The result of one test under a wider limit of time."""

    verdict: Verdict
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Observation(JsonValue):
    """One program on all tests; lists are in the order of the tests, and keys are indices of tests.

    `accepted_by` has, by a checker's key, one character per test: `1` accepted, `0` not accepted, `?` unknown (the
    program didn't finish, or its output is longer than the part that is kept).
    """

    readers: ClassVar[Readers] = {
        "outputs": lambda values: {int(place): Output(*output) for place, output in values.items()},
        "wider": lambda values: {int(place): Wider(Verdict(v), seconds) for place, (v, seconds) in values.items()},
    }

    verdicts: tuple[Verdict, ...]
    cpu_seconds: tuple[float, ...]
    max_rss_bytes: tuple[int, ...]
    accepted_by: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[int, Output] = field(default_factory=dict)
    wider: Mapping[int, Wider] = field(default_factory=dict)
    message: str = ""

    def accepts(self, key: str | None, place: int) -> bool:
        """Whether the checker of that key (None: the one in force) is known to accept the output of that test."""
        if key is None:
            return self.verdicts[place] is Verdict.ACCEPTED
        return self.accepted_by.get(key, "")[place : place + 1] == YES

    def accepting(self, place: int) -> str | None:
        """Return the key of the strictest checker that accepts the output of that test, if any does."""
        return next((key for key in self.accepted_by if self.accepts(key, place)), None)

    def needs(self, place: int) -> float | None:
        """Return the CPU seconds that the test takes, under the wider limit if need be; None if it didn't finish."""
        if self.verdicts[place] in COMPARED:
            return self.cpu_seconds[place]
        wider = self.wider.get(place)
        return wider.cpu_seconds if wider is not None and wider.verdict in COMPARED else None


def observe(
    tests: Sequence[TestCase],
    judgement: Judgement,
    alternatives: Sequence[Alternative],
    *,
    keep_outputs: bool,
    printed: bool = True,
    wider: Mapping[int, Wider] | None = None,
) -> Observation:
    """Return the observation in a judgement by all tests; `keep_outputs` for known-correct programs.

    If tests don't judge what the program prints (`printed` is False: assertions), an empty output stands for each.
    """
    results = judgement.tests
    rejected = [p for p, result in enumerate(results) if keep_outputs and result.verdict is Verdict.WRONG_ANSWER]
    return Observation(
        verdicts=tuple(result.verdict for result in results),
        cpu_seconds=tuple(round(result.execution.cpu_seconds, 4) for result in results),
        max_rss_bytes=tuple(result.execution.max_rss_bytes for result in results),
        accepted_by={
            each.key: "".join(_accepted(each, test, result) for test, result in zip(tests, results, strict=True))
            for each in alternatives
        },
        outputs={p: Output.of(results[p].execution.stdout if printed else "") for p in rejected},
        wider=wider or {},
        message=_why(judgement),
    )


def _accepted(alternative: Alternative, test: TestCase, result: TestResult) -> str:
    stdout = result.execution.stdout
    if result.verdict not in COMPARED or len(stdout) >= KEPT:
        return UNKNOWN
    return YES if alternative.checker(test.input, test.output, stdout) else NO


def _why(judgement: Judgement) -> str:
    """Return the last line of stderr of the first test that neither finished nor ran out of time."""
    if judgement.message:
        return judgement.message.strip()[-400:]
    quiet = (*COMPARED, Verdict.TIME_LIMIT_EXCEEDED)
    failed = next((r.execution for r in judgement.tests if r.verdict not in quiet), None)
    if failed is None or failed.status is Status.FINISHED:
        return ""
    return (failed.stderr.strip().splitlines() or [""])[-1][-400:]


@dataclass(frozen=True, slots=True)
class Known:
    """A known program that ran: its label, its place in the dataset's list of that label, and its observation."""

    label: str
    index: int
    program: str
    seen: Observation

    def evidence(self) -> dict[str, Any]:
        """Return the program in an entry of evidence."""
        column = "solutions" if self.label == CORRECT else "incorrect_solutions"
        return {"column": column, "solution": self.index}


@dataclass(frozen=True, slots=True)
class TestPosition:
    """The column of a test's type, and its place there. `test_code` is a column of one test."""

    column: str
    index: int

    def __str__(self) -> str:
        return f"{self.column}[{self.index}]"

    def evidence(self) -> dict[str, Any]:
        """Return the test in an entry of evidence."""
        return {"test_type": self.column, "test": self.index}


@dataclass(frozen=True)
class ObservedProblem:
    """A problem, the tests asked for and their places, the rules in force, and the known programs that ran.

    `checker` is the one that the judge uses; None if tests are assertions, which need none.

    `malformed` maps tests that can't be run to the reason; `not_run` counts known programs in other languages.
    `not_judged` says why the problem can't be judged, `unjudged` counts known programs that got no verdict through no
    fault of theirs.
    """

    problem: Problem
    tests: tuple[TestCase, ...]
    places: tuple[TestPosition, ...]
    checker: CheckerSpec | None
    limits: Limits
    alternatives: Sequence[Alternative]
    correct: tuple[Known, ...] = ()
    incorrect: tuple[Known, ...] = ()
    malformed: Mapping[int, str] = field(default_factory=dict)
    not_run: int = 0
    wording: str = ""
    not_judged: str = ""
    unjudged: int = 0

    @cached_property
    def independent(self) -> tuple[Known, ...]:
        """The known-correct programs whose texts differ in more than comments and white space."""
        by_text = {_essence(known.program): known for known in reversed(self.correct)}
        return tuple(known for known in self.correct if by_text[_essence(known.program)] is known)

    @cached_property
    def usable(self) -> tuple[int, ...]:
        """The tests that can be run."""
        return tuple(p for p in range(len(self.tests)) if p not in self.malformed)

    def evidence(self, known: Known, place: int) -> dict[str, Any]:
        """Return a program's verdict on a test, as evidence."""
        verdict = known.seen.verdicts[place].value
        return known.evidence() | self.places[place].evidence() | {"verdict": verdict}


def places_of(problem: Problem, test_types: Sequence[TestType]) -> tuple[TestPosition, ...]:
    """Return the places of the tests that `problem.tests(test_types)` gives, in the same order."""
    found: list[TestPosition] = []
    for kind in (kind for kind in TestType if kind in test_types):
        found += [TestPosition(kind.value, index) for index in range(len(getattr(problem, kind.value)))]
        if kind is TestType.PRIVATE and len(problem.tests([kind])) > len(problem.private_tests):
            found.append(TestPosition(TEST_CODE, 0))
    return tuple(found)


def rejections(known: Known, places: Sequence[int]) -> list[int]:
    """Return the tests among `places` that the program isn't accepted on."""
    return [place for place in places if known.seen.verdicts[place] is not Verdict.ACCEPTED]


def _essence(program: str) -> str:
    """Return a program without its comment lines, its empty lines and the white space at its lines' ends."""
    lines = (line.rstrip() for line in program.splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))
