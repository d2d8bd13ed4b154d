"""Paired differences between runs on the same problems, with their uncertainty and a check for equal budgets.

The statistics are those of `alpha_codium.statistics` (see docs/statistics.md): McNemar's exact test on the flips if
each problem has one sample in both runs, else the paired bootstrap over problems.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

from alpha_codium.comparison.figures import Figures
from alpha_codium.eval.scoring import Score
from alpha_codium.statistics import (
    Difference,
    mcnemar,
    paired_bootstrap,
    paired_differences,
    smallest_detectable_difference,
    smallest_detectable_gain,
)
from alpha_codium.statistics.intervals import DIGITS
from alpha_codium.values import JsonValue, named

SIGNIFICANT = 0.05
MCNEMAR, BOOTSTRAP = "McNemar", "paired bootstrap"
# Budgets that differ by more than this factor aren't equal.
EQUAL_WITHIN = 1.25


@dataclass(frozen=True, slots=True)
class Pair(JsonValue):
    """pass@k of `second` minus that of `first`; `difference` is None if it is undefined, with the reason.

    `better` and `worse` are the problems on which the second scores higher or lower: with one sample each, those that
    only it solves, or only the first. `detectable` is the smallest difference that would be found with 80 % power.
    `bounds` are those of the difference if a run is unfinished.
    """

    in_json: ClassVar[Mapping[str, str]] = {
        **named("first", "second", "k", "interval_reason", "p_value", "test", "shown", "reason", "bounds"),
        **named(difference="difference.value", interval="difference.interval.bounds"),
        **named(only_second="better", only_first="worse", smallest_detectable="detectable"),
    }

    first: str
    second: str
    k: int
    difference: Difference | None = None
    test: str = ""
    p_value: float | None = None
    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    detectable: float | None = None
    reason: str = ""
    bounds: tuple[float, float] | None = None

    @property
    def shown(self) -> bool:
        """Whether the difference is significant at the level of 5 %."""
        return self.p_value is not None and self.p_value <= SIGNIFICANT

    @property
    def interval_reason(self) -> str:
        """Why there is no interval."""
        return self.reason if self.difference is None else self.difference.interval.reason

    def row(self) -> dict[str, Any]:
        """The difference as a row of the comparison's table."""
        found = self.difference
        low, high = (found.interval.bounds if found else self.bounds) or (None, None)
        return {
            "run": self.second,
            "minus": self.first,
            "problems": found.n_problems if found else None,
            "measure": f"pass@{self.k}",
            "value": found.value if found else None,
            "low": low,
            "high": high,
            "method": found.interval.method if found and found.interval.bounds else None,
            "p_value": self.p_value,
            "test": self.test or None,
            "better": len(self.better) if found else None,
            "worse": len(self.worse) if found else None,
            "reason": self.reason or self.interval_reason or None,
        }


def pairs_of(scores: Mapping[str, Score], ks: Sequence[int], baseline: str | None = None) -> list[Pair]:
    """Each run, by its name, against the baseline, or each pair if there is none, for each k."""
    return [_pair_of(*couple, scores, k) for couple in _couples(scores, baseline) for k in ks]


def _pair_of(first: str, second: str, scores: Mapping[str, Score], k: int) -> Pair:
    """Return the difference at pass@k, the second run minus the first."""
    for name in (first, second):
        if reason := scores[name].reasons.get(f"pass@{k}"):
            bounds = _bounds(scores[first], scores[second], k)
            return Pair(first, second, k, reason=f"{name}: {reason}", bounds=bounds)
    one, other = scores[first].by_problem(k), scores[second].by_problem(k)
    by_problem = {name: round(d, DIGITS) for name, d in paired_differences(one, other).items()}
    better = tuple(name for name, d in by_problem.items() if d > 0)
    worse = tuple(name for name, d in by_problem.items() if d < 0)
    difference = paired_bootstrap(one, other)
    solved_or_not = all(len(each.candidates) == 1 for name in (first, second) for each in scores[name].problems)
    return Pair(
        first,
        second,
        k,
        difference,
        MCNEMAR if solved_or_not else BOOTSTRAP,
        mcnemar(len(better), len(worse)) if solved_or_not else difference.p_value,
        better,
        worse,
        (smallest_detectable_gain if solved_or_not else smallest_detectable_difference)(one, other),
    )


def budget_notes(runs: Sequence[Figures], baseline: str | None = None) -> list[str]:
    """Notes on comparisons at unequal budgets of calls, and on those that are equal over other numbers of samples."""
    by_name = {run.name: run for run in runs}
    couples = _couples(by_name, baseline)
    return [note for first, second in couples for note in _budget(by_name[first], by_name[second])]


def same_notes(runs: Sequence[Figures], baseline: str | None = None) -> list[str]:
    """Notes on pairs of runs whose samples all have the same programs."""
    programs = {run.name: run.programs for run in runs}
    return [
        f"{first} and {second} have the same program for each sample, so there is nothing to compare"
        for first, second in _couples(programs, baseline)
        if programs[first] and programs[first] == programs[second]
    ]


def _budget(first: Figures, second: Figures) -> Iterator[str]:
    one, other = first.per_sample, second.per_sample
    if one is None or other is None:
        return
    if not _alike(one.calls, other.calls):
        yield (
            f"unequal budgets: a sample took {one.calls:.1f} calls in {first.name} and {other.calls:.1f} in "
            f"{second.name}; pass@k counts samples, not calls" + _in_all(first, second)
        )
    elif not _alike(one.tokens, other.tokens):
        yield (
            f"equal in calls but not in tokens: a sample took {one.tokens:.0f} tokens in {first.name} and "
            f"{other.tokens:.0f} in {second.name}"
        )


def _in_all(first: Figures, second: Figures) -> str:
    one, other = first.per_problem, second.per_problem
    if one is None or other is None or not _alike(one.calls, other.calls):
        return ""
    return f" (a problem took about as many in both: {one.calls:.1f} and {other.calls:.1f})"


def _alike(one: float, other: float) -> bool:
    return max(one, other) <= EQUAL_WITHIN * min(one, other)


def _couples(names: Iterable[str], baseline: str | None) -> Iterable[tuple[str, str]]:
    if baseline is None:
        return combinations(names, 2)
    return ((baseline, name) for name in names if name != baseline)


def _bounds(first: Score, second: Score, k: int) -> tuple[float, float] | None:
    """Return the bounds of the difference over all possible verdicts of the programs without one."""
    one, other = _ends(first, k), _ends(second, k)
    return (other[0] - one[1], other[1] - one[0]) if one and other else None


def _ends(score: Score, k: int) -> tuple[float, float] | None:
    pairs = score.bounds or tuple((estimate, estimate) for estimate in score.estimates)
    low, high = next((low.value, high.value) for low, high in pairs if low.k == k)
    return None if low is None or high is None else (low, high)
