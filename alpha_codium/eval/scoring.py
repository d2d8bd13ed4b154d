"""Scores computed from verdicts: pass@k with intervals and strata, and the reasons why a result is incomplete.

1. A score covers a whole split. If each problem has one sample, pass@1 is a proportion with a Wilson interval; else
   problems are resampled (`alpha_codium.statistics`).
2. A stratum, such as all easy problems, is scored like a split. It may be complete when the whole split isn't.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from alpha_codium.data.schema import DIFFICULTY_NAMES, difficulty_name, source_name
from alpha_codium.eval.facts import Facts, fact_lines, near_limit_lines, shape_lines
from alpha_codium.eval.prepare import EvaluationTask
from alpha_codium.eval.rates import broken_lines
from alpha_codium.eval.results import ROW, CandidateResult, ProblemResult
from alpha_codium.solution import ErrorKind, SampleError
from alpha_codium.statistics import (
    Estimate,
    Interval,
    bootstrap_interval,
    mean_pass_at_k,
    mean_pass_hat_k,
    problem_scores,
    strata,
    wilson_interval,
)
from alpha_codium.statistics.intervals import BOOTSTRAP, WILSON
from alpha_codium.values import JsonValue, Table, named
from alpha_codium.verdict import Verdict
from alpha_codium.wording import counted

# What JSON has of a split and of a stratum.
NUMBERS = ("complete", "pass_at_k", "reasons", "intervals", "interval_method", "interval_reasons", "pass_hat_k")
# Difficulty and source of each problem, by its name: {"difficulty": "easy", "source": "codeforces"}.
Labels = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Score(Table, JsonValue):
    """The scores of a split; as a table, it has a row for each program.

    `estimates` are pass@k by k, `all_pass` are pass^k, `ranges` are the 95 % intervals of pass@k. If programs got no
    verdict (`unjudged` > 0: a fault of the provider or of gencode), the result is incomplete and `bounds` holds pass@k
    with all of those failed and all of them passed. `strata` are the scores of parts of the split by kind and label:
    `strata["difficulty"]["easy"]`.
    """

    columns: ClassVar[tuple[str, ...]] = ("problem", *ROW)
    optional: ClassVar[Sequence[str]] = ("bounds",)
    beside: ClassVar[Sequence[str]] = ("extra",)
    in_json: ClassVar[Mapping[str, str]] = {
        **named("n_problems", *NUMBERS, strata="shown_strata", bounds="bounds_at_k"),
        **named("verdicts", "near_limit", "extra", "problems"),
    }

    problems: tuple[ProblemResult, ...]
    estimates: tuple[Estimate, ...]
    unjudged: int = 0
    bounds: tuple[tuple[Estimate, Estimate], ...] = ()
    extra: Facts = field(default_factory=Facts)
    all_pass: tuple[Estimate, ...] = ()
    ranges: tuple[Interval, ...] = ()
    strata: dict[str, dict[str, "Score"]] = field(default_factory=dict)

    @property
    def n_problems(self) -> int:
        """The number of problems."""
        return len(self.problems)

    @property
    def complete(self) -> bool:
        """Whether every program got a verdict."""
        return self.unjudged == 0

    @property
    def pass_at_k(self) -> dict[str, float | None]:
        """`{"pass@1": 0.5}`; None where the estimate is undefined or the result incomplete."""
        return {f"pass@{e.k}": e.value if self.complete else None for e in self.estimates}

    @property
    def pass_hat_k(self) -> dict[str, float | None]:
        """`{"pass^1": 0.5}`, how often all of k samples pass; None where pass@k is, for the same reason."""
        return {f"pass^{e.k}": e.value if self.complete else None for e in self.all_pass}

    @property
    def reasons(self) -> dict[str, str]:
        """Why a pass@k is None."""
        if not self.complete:
            return {f"pass@{e.k}": e.reason or _no_verdict(self.unjudged) for e in self.estimates}
        return {f"pass@{e.k}": e.reason for e in self.estimates if e.value is None}

    @property
    def intervals(self) -> dict[str, list[float] | None]:
        """`{"pass@1": [0.4, 0.6]}`, at 95 %; None where pass@k is, or where an interval would be meaningless."""
        return {name: [*interval.bounds] if interval.bounds else None for name, interval in self._ranges().items()}

    @property
    def interval_reasons(self) -> dict[str, str]:
        """Why an interval is None."""
        return {name: interval.reason for name, interval in self._ranges().items() if interval.bounds is None}

    def _ranges(self) -> dict[str, Interval]:
        return {f"pass@{e.k}": interval for e, interval in zip(self.estimates, self.ranges, strict=True)}

    @property
    def interval_method(self) -> str:
        """The method of the intervals."""
        return _method([_counts(problem) for problem in self.problems])

    @property
    def verdicts(self) -> Counter[str]:
        """The number of programs by verdict."""
        counts = Counter(c.verdict.value for p in self.problems for c in p.candidates)
        return Counter(dict(sorted(counts.items())))

    @property
    def bounds_at_k(self) -> dict[str, tuple[float | None, float | None]]:
        """`{"pass@1": (0.4, 0.6)}` if the result is incomplete, else nothing."""
        return {f"pass@{low.k}": (low.value, high.value) for low, high in self.bounds}

    @property
    def shown_strata(self) -> dict[str, dict[str, "Stratum"]]:
        """The strata as JSON has them: without their programs."""
        return {kind: {label: Stratum(part) for label, part in parts.items()} for kind, parts in self.strata.items()}

    @property
    def near_limit(self) -> dict[str, int]:
        """The number of programs whose verdict may depend on the load, and of those judged again alone."""
        near = self._near()
        return {"programs": len(near), "rechecked": sum(c.rechecked for c in near)}

    def _near(self) -> list[CandidateResult]:
        return [c for p in self.problems for c in p.candidates if c.near_limit or c.rechecked]

    def by_problem(self, k: int) -> dict[str, float]:
        """Each problem's pass@k by its name: two results are compared by these (`alpha_codium.statistics`).

        Raises ValueError if it is undefined: a program got no verdict, or a problem has samples, but fewer than k.
        """
        if not self.complete:
            raise ValueError(f"{_no_verdict(self.unjudged)}: the result can't be compared")
        scores = problem_scores([_counts(problem, Verdict.ACCEPTED) for problem in self.problems], k)
        return dict(zip((problem.name for problem in self.problems), scores, strict=True))

    def rows(self) -> list[dict[str, Any]]:
        """One row for each program: its problem, verdict and first failing test."""
        return [
            {"problem": problem.name, **candidate.to_row()}
            for problem in self.problems
            for candidate in problem.candidates
        ]

    def problem_lines(self) -> Iterator[str]:
        """Each problem with the number of its programs that passed, and the indices of these."""
        width = max((len(problem.name) for problem in self.problems), default=0)
        for problem in self.problems:
            passed = [each.index for each in problem.candidates if each.verdict is Verdict.ACCEPTED]
            indices = f"{'sample' if len(passed) == 1 else 'samples'} {', '.join(map(str, passed))}"
            which = f" ({indices})" if passed else ""
            yield f"{problem.name:<{width}}  {len(passed)} of {len(problem.candidates)} passed{which}"

    def hints(self, run: str) -> Iterator[str]:
        """Lines on the programs without a verdict: why, and how to get one; judging again gives no missing sample."""
        unjudged = [c for p in self.problems for c in p.candidates if c.verdict == Verdict.INTERNAL_ERROR]
        lost = [c for c in unjudged if (error := SampleError.parse(c.error)) and error.kind is not ErrorKind.MODEL]
        if lost:
            yield f"{counted(len(lost), 'sample')} missing ({lost[0].error}): resume their run of gencode gen solve_set"
        if len(unjudged) > len(lost):
            reason = next(c.error for c in unjudged if c not in lost) or "a fault of the sandbox"
            programs = counted(len(unjudged) - len(lost), "program")
            yield f"{programs} got no verdict ({reason}): remove the cause, and try them again with `resume` {run}"

    def lines(self) -> Iterator[str]:
        """The verdicts, pass@k with its intervals (or its bounds, if the result is incomplete), and the other facts.

        pass@k of correct and incorrect solutions together would mean nothing, and is left out.
        """
        problems, subset = counted(len(self.problems), "problem"), self.extra.get("subset")
        if subset:
            problems = f"{len(self.problems)} of {counted(subset['of'], 'problem')} ({subset['by']})"
        yield f"{problems}, {counted(self.verdicts.total(), 'program')}"
        yield from (f"  {verdict:<24}{count:>7}" for verdict, count in self.verdicts.most_common())
        # Before the score, which says nothing about the model if the programs are raw answers.
        if broken := self.extra.get("broken_programs"):
            yield from broken_lines(broken)
        mixed = {"correct", "incorrect"} <= {c.group for p in self.problems for c in p.candidates}
        for name, value in () if mixed else self.pass_at_k.items():
            if value is None:
                yield f"{name:<8} n/a ({self.reasons[name]})"
            elif bounds := self.intervals[name]:
                yield f"{name:<8} {value:.4f}  95 % interval {bounds[0]:.4f} to {bounds[1]:.4f}"
            else:
                yield f"{name:<8} {value:.4f}  (no interval: {self.interval_reasons[name]})"
        # A part has some samples of a problem only.
        if not mixed and "shard" not in self.extra:
            yield from shape_lines([_counts(problem, Verdict.ACCEPTED) for problem in self.problems])
        for low, high in () if mixed else self.bounds:
            if low.value is not None and high.value is not None:
                yield f"pass@{low.k} lies between {low.value:.4f} and {high.value:.4f}"
        limits = {name for each in self._near() for test in each.tests for name in test.get("near_limit", ())}
        yield from near_limit_lines(sorted(limits), **self.near_limit)
        yield from fact_lines(self.extra)


@dataclass(frozen=True, slots=True)
class Stratum(JsonValue):
    """The score of a part of the split, as JSON has it."""

    in_json: ClassVar[Mapping[str, str]] = {name: f"score.{name}" for name in ("n_problems", *NUMBERS)}

    score: Score


def score(
    problems: Sequence[ProblemResult],
    ks: Sequence[int],
    extra: Facts | None = None,
    labels: Labels | None = None,
) -> Score:
    """pass@k over all problems for each k; `extra` is added to the result's JSON.

    `labels`, if given (`labels_of`), add the scores of each difficulty and each source. Raises KeyError if they leave
    out a problem.
    """
    low = [_counts(problem, Verdict.ACCEPTED) for problem in problems]
    high = [_counts(problem, Verdict.ACCEPTED, Verdict.INTERNAL_ERROR) for problem in problems]
    unjudged = sum(with_lost - passed for (_, passed), (_, with_lost) in zip(low, high, strict=True))
    estimates = tuple(mean_pass_at_k(low, k) for k in ks)
    return Score(
        tuple(problems),
        estimates,
        unjudged,
        tuple((estimate, mean_pass_at_k(high, estimate.k)) for estimate in estimates) if unjudged else (),
        Facts(**(extra or {})),
        all_pass=tuple(mean_pass_hat_k(low, k) for k in ks),
        ranges=tuple(_interval(low, estimate, unjudged) for estimate in estimates),
        strata=_strata(problems, ks, labels) if labels is not None else {},
    )


def labels_of(tasks: Iterable[EvaluationTask]) -> dict[str, dict[str, str]]:
    """Each problem's difficulty and source in words, by its name; `tasks` is an EvaluationSet."""
    return {
        task.name: {
            "difficulty": difficulty_name(task.problem.difficulty),
            "source": source_name(task.problem.source),
        }
        for task in tasks
    }


def _counts(problem: ProblemResult, *passing: Verdict) -> tuple[int, int]:
    """The number of candidates, and of those with one of the verdicts."""
    return len(problem.candidates), sum(candidate.verdict in passing for candidate in problem.candidates)


def _interval(counts: Sequence[tuple[int, int]], estimate: Estimate, unjudged: int) -> Interval:
    """The interval of one pass@k, or why there is none."""
    method = _method(counts)
    if reason := _why_no_interval(counts, estimate, unjudged):
        return Interval(None, method, reason=reason)
    if method == WILSON:
        return wilson_interval(sum(c for _, c in counts), len(counts))
    return bootstrap_interval(problem_scores(counts, estimate.k))


def _why_no_interval(counts: Sequence[tuple[int, int]], estimate: Estimate, unjudged: int) -> str:
    if unjudged or estimate.value is None:
        return estimate.reason or _no_verdict(unjudged)
    if not any(n for n, _ in counts):
        return "no problem has a sample"
    return "there is one problem only" if len(counts) == 1 else ""


def _method(counts: Sequence[tuple[int, int]]) -> str:
    """Wilson's if each problem's score is 0 or 1 by one sample (0 without any), else the bootstrap."""
    return WILSON if all(n <= 1 for n, _ in counts) else BOOTSTRAP


def _no_verdict(unjudged: int) -> str:
    return f"{counted(unjudged, 'program')} got no verdict"


def _strata(problems: Sequence[ProblemResult], ks: Sequence[int], labels: Labels) -> dict[str, dict[str, Score]]:
    """The scores of each label's problems, by kind of label; a kind that doesn't divide the problems is left out."""
    kinds = dict.fromkeys(kind for problem in problems for kind in labels[problem.name])
    found = {}
    for kind in kinds:
        places = strata([labels[problem.name][kind] for problem in problems])
        if len(places) > 1:
            found[kind] = {
                label: score([problems[i] for i in places[label]], ks) for label in sorted(places, key=_rank)
            }
    return found


def _rank(label: str) -> tuple[int, str]:
    """Difficulties in the schema's order, everything else alphabetically."""
    return (DIFFICULTY_NAMES.index(label) if label in DIFFICULTY_NAMES else len(DIFFICULTY_NAMES)), label
