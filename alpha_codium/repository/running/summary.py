"""The summary of a run: pass rates and other measures by turn, with their intervals.

1. At turn k a task has its k-th answer, or its last one if its turns ended earlier; so the pass rate is cumulative.
2. A task with several replicas counts once, with their mean. Intervals are over tasks: Wilson's for single passes, by
   bootstrap otherwise.
3. Items without a verdict, because of a fault of the provider or the sandbox, are left out and counted apart.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, TypedDict

from alpha_codium.repository.running.measures import Measures
from alpha_codium.repository.running.turns import ItemRun, Turn, TurnStatus
from alpha_codium.statistics import bootstrap_interval, wilson_interval
from alpha_codium.values import JsonValue, named
from alpha_codium.wording import counted

MEASURES: Mapping[str, Callable[[Turn], float]] = {
    "pass_rate": lambda turn: float(turn.status is TurnStatus.OK),
    "tests_passed": lambda turn: turn.share_passed,
    **{each.name: (lambda turn, name=each.name: getattr(turn.measures, name)) for each in fields(Measures)},
}
TITLES = {
    "pass_rate": "pass rate",
    "tests_passed": "tests passed",
    "chrf": "chrF",
    "common_prefix": "common prefix",
    "exact_match": "exact match",
    "edit_similarity": "edit similarity",
    "method_name": "right method",
}


@dataclass(frozen=True, slots=True)
class Estimated(JsonValue):
    """The mean of a measure over tasks, and its interval; if there is none, `low` and `high` are None."""

    value: float
    low: float | None
    high: float | None
    method: str
    reason: str = ""

    def __str__(self) -> str:
        interval = "" if self.low is None else f" [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.value:.3f}{interval}"


class MeasuredTurn(TypedDict):
    """The number of a turn, from 1, and its measures."""

    turn: int
    pass_rate: Estimated
    tests_passed: Estimated
    chrf: Estimated
    common_prefix: Estimated
    exact_match: Estimated
    edit_similarity: Estimated
    method_name: Estimated


@dataclass(frozen=True, slots=True)
class Summary(JsonValue):
    """The numbers of a run; `turns` has the measures of each turn, `faults` the items without a verdict by reason."""

    in_json: ClassVar[Mapping[str, str]] = {
        **named("benchmark", "model", "tasks", "replicas", "items", "statuses", "faults"),
        **named("llm_calls", "prompt_tokens", "completion_tokens", "cost", "complete", turns="numbered_turns"),
    }

    benchmark: str
    model: str
    tasks: int
    replicas: int
    items: int
    turns: tuple[Mapping[str, Estimated], ...]
    statuses: Mapping[str, int]
    faults: Mapping[str, int]
    llm_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None

    @property
    def complete(self) -> bool:
        """Whether all items have a verdict."""
        return not self.faults

    @property
    def numbered_turns(self) -> list[MeasuredTurn]:
        """The measures of each turn beside its number."""
        return [MeasuredTurn(turn=number, **measures) for number, measures in enumerate(self.turns, 1)]

    def lines(self) -> Iterator[str]:
        """Yield the summary as a Markdown table, and what isn't in it."""
        yield f"{self.benchmark}, {self.model}: {counted(self.tasks, 'task')}, {counted(self.replicas, 'replica')} each"
        yield ""
        yield f"| turn | {' | '.join(TITLES.values())} |"
        yield f"|---{'|---' * len(TITLES)}|"
        for number, measures in enumerate(self.turns, 1):
            yield f"| {number} | {' | '.join(str(measures[name]) for name in TITLES)} |"
        yield ""
        yield "last answers: " + ", ".join(f"{count} {status}" for status, count in sorted(self.statuses.items()))
        for reason, count in self.faults.items():
            yield f"without a verdict: {counted(count, 'item')}: {reason}"


def summarized(items: Sequence[ItemRun], benchmark: str, model: str, max_iter: int) -> Summary:
    """Return the summary of the items of a run."""
    judged = [item for item in items if item.is_final and item.turns]
    by_task: dict[int, list[ItemRun]] = {}
    for item in judged:
        by_task.setdefault(item.idx, []).append(item)
    groups = list(by_task.values())
    costs = [item.cost for item in items]
    return Summary(
        benchmark=benchmark,
        model=model,
        tasks=len({item.idx for item in items}),
        replicas=max((item.replica + 1 for item in items), default=0),
        items=len(items),
        turns=tuple(_measures(groups, turn) for turn in range(1, max_iter + 1)) if groups else (),
        statuses=Counter(item.turns[-1].status.value for item in judged),
        faults=Counter(str(item.error) for item in items if item not in judged),
        llm_calls=sum(item.llm_calls for item in items),
        prompt_tokens=sum(item.prompt_tokens for item in items),
        completion_tokens=sum(item.completion_tokens for item in items),
        cost=None if None in costs else sum(cost or 0.0 for cost in costs),
    )


def _measures(groups: Sequence[Sequence[ItemRun]], turn: int) -> dict[str, Estimated]:
    return {
        name: _estimated([[measure(item.at(turn)) for item in group] for group in groups])
        for name, measure in MEASURES.items()
    }


def _estimated(values: Sequence[Sequence[float]]) -> Estimated:
    """Return the mean over tasks of the means over replicas."""
    means = [sum(group) / len(group) for group in values]
    singles = set(means) <= {0.0, 1.0}
    interval = wilson_interval(int(sum(means)), len(means)) if singles else bootstrap_interval(means)
    low, high = interval.bounds or (None, None)
    return Estimated(sum(means) / len(means), low, high, interval.method, interval.reason)
