"""Compares runs of the repository benchmark on the same tasks, such as those of its three benchmarks with one model.

Runs are joined by task (`dp_id`), whatever their benchmark, model or order. A task counts with the mean of its
replicas, by the last answer of each. Statistics are those of docs/statistics.md.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Any, ClassVar, TypedDict

from alpha_codium.comparison.tables import letter, table, wrapped
from alpha_codium.errors import UserError
from alpha_codium.repository.running.turns import ItemRun
from alpha_codium.statistics import Difference, mcnemar, paired_bootstrap, paired_differences
from alpha_codium.values import JsonValue, Table, named
from alpha_codium.wording import counted


@dataclass(frozen=True, slots=True)
class ScoredRun(JsonValue):
    """A run, and the share of passed replicas of each task with a verdict."""

    in_json: ClassVar[Mapping[str, str]] = named("benchmark", "model", "scores", run="name")

    name: str
    benchmark: str
    model: str
    scores: dict[str, float]


@dataclass(frozen=True, slots=True)
class TaskDifference(JsonValue):
    """The pass rate of `second` minus that of `first`; the tasks on which either is better."""

    in_json: ClassVar[Mapping[str, str]] = {
        **named(run="second", minus="first", tasks="difference.n_problems", value="difference.value"),
        **named("low", "high", "p_value", "better", "worse"),
    }

    first: str
    second: str
    difference: Difference
    p_value: float
    better: tuple[str, ...]
    worse: tuple[str, ...]

    def cells(self, letters: Mapping[str, str]) -> tuple[str, ...]:
        """Return the difference as a line of a table, in which runs have letters."""
        bounds = self.difference.interval.bounds
        interval = "{:+.3f} to {:+.3f}".format(*bounds) if bounds else "n/a"
        counts = (str(len(self.better)), str(len(self.worse)), f"{self.p_value:.3g}")
        return f"{letters[self.second]} - {letters[self.first]}", f"{self.difference.value:+.3f}", interval, *counts

    @property
    def low(self) -> float | None:
        """The lower end of the interval, if there is one."""
        return (self.difference.interval.bounds or (None, None))[0]

    @property
    def high(self) -> float | None:
        """The upper end of the interval, if there is one."""
        return (self.difference.interval.bounds or (None, None))[1]


class SolvedBy(TypedDict):
    """A number of tasks, and which of the runs solve them, in the runs' order."""

    solved: list[bool]
    tasks: int


@dataclass(frozen=True, slots=True)
class RepositoryComparison(Table, JsonValue):
    """Runs on their common tasks, and the differences of each pair; `left_out` tasks have no verdict in some run."""

    columns: ClassVar[tuple[str, ...]] = tuple(TaskDifference.in_json)
    in_json: ClassVar[Mapping[str, str]] = named("runs", "differences", "solved", "left_out")

    runs: tuple[ScoredRun, ...]
    differences: tuple[TaskDifference, ...]
    left_out: int

    def patterns(self) -> Counter[tuple[bool, ...]]:
        """Return how many tasks are solved by which of the runs: by more than half of their replicas."""
        return Counter(tuple(run.scores[name] > 0.5 for run in self.runs) for name in self.runs[0].scores)

    @property
    def solved(self) -> list[SolvedBy]:
        """How many tasks are solved by which of the runs, the most frequent first."""
        return [SolvedBy(solved=list(which), tasks=count) for which, count in self.patterns().most_common()]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each difference."""
        return [each.to_json() for each in self.differences]

    def lines(self) -> Iterator[str]:
        """Yield the comparison as text, in which runs have letters."""
        letters = [letter(place) for place in range(len(self.runs))]
        lettered = list(zip(letters, self.runs, strict=True))
        yield f"{counted(len(self.runs[0].scores), 'task')} in all runs; {self.left_out} without a verdict in some\n"
        yield from (wrapped(f"{which}  {r.name}: {r.benchmark}, by {r.model}", "   ") for which, r in lettered)
        yield "\nPass rates, and differences with 95 % intervals"
        of_name = {run.name: which for which, run in lettered}
        rates = [(which, f"{fmean(run.scores.values()):.3f}", "", "", "", "") for which, run in lettered]
        yield table(
            ("", "rate", "interval", "better", "worse", "p"), [*rates, *(d.cells(of_name) for d in self.differences)]
        )
        yield "\nTasks by the runs that solve them"
        solved = [
            (*("solved" if each else "-" for each in pattern), str(tasks))
            for pattern, tasks in self.patterns().most_common()
        ]
        yield table((*letters, "tasks"), solved, left=len(letters))


def compared(runs: Sequence[ScoredRun], baseline: bool = False) -> RepositoryComparison:
    """Return the comparison of runs, each pair or each with the first; raises UserError if they have no common task."""
    common = set(runs[0].scores).intersection(*(run.scores for run in runs))
    if not common:
        names = ", ".join(run.name for run in runs)
        raise UserError(f"no task has a verdict in all of {names}: compare runs on the same dataset")
    every = set().union(*(run.scores for run in runs))
    kept = tuple(
        ScoredRun(run.name, run.benchmark, run.model, {name: run.scores[name] for name in sorted(common)})
        for run in runs
    )
    pairs = [(kept[0], run) for run in kept[1:]] if baseline else combinations(kept, 2)
    return RepositoryComparison(kept, tuple(_difference(*pair) for pair in pairs), len(every) - len(common))


def scored(name: str, benchmark: str, model: str, items: Iterable[ItemRun]) -> ScoredRun:
    """Return a run with the scores of its items."""
    passed = defaultdict(list)
    for item in items:
        if item.is_final:
            passed[item.dp_id].append(item.passed)
    return ScoredRun(name, benchmark, model, {task: fmean(each) for task, each in passed.items()})


def _difference(first: ScoredRun, second: ScoredRun) -> TaskDifference:
    by_task = paired_differences(first.scores, second.scores)
    better, worse = (tuple(name for name, d in by_task.items() if d * sign > 0) for sign in (1, -1))
    difference = paired_bootstrap(first.scores, second.scores)
    whole = {*first.scores.values(), *second.scores.values()} <= {0.0, 1.0}
    p_value = mcnemar(len(better), len(worse)) if whole else difference.p_value
    return TaskDifference(first.name, second.name, difference, p_value, better, worse)
