"""The effect of each stage: how many failing programs it turned into passing ones, and the reverse.

1. A transcript has the program after each stage. A sample begins without one; the program before a stage is the one
   after the previous stage.
2. Each sample that goes through a stage is counted in one column of its row: the stage wrote the first program, which
   passes or not; it repaired one (gained), broke one (lost), or changed no verdict; or there was still no program.
3. So the samples that pass at the end are the first programs that pass, plus those gained, less those lost, over all
   stages. `change` is a stage's part of it: a share of samples, averaged over problems as pass@1 is.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypedDict

from alpha_codium.comparison.judging import Verdicts
from alpha_codium.comparison.records import RunRecord, Step
from alpha_codium.statistics import Interval, bootstrap_interval
from alpha_codium.values import JsonValue, named

WORTH = {"first_passes": 1, "gained": 1, "lost": -1}


class Outcomes(TypedDict):
    """The number of samples by what a stage made of their programs."""

    no_program: int
    first_passes: int
    first_fails: int
    gained: int
    lost: int
    unchanged: int
    unknown: int


OUTCOMES = tuple(Outcomes.__annotations__)


@dataclass(frozen=True, slots=True)
class Passage:
    """One sample going through one stage, and the effect on the program, one of `OUTCOMES`."""

    problem: str
    stage: str
    outcome: str


@dataclass(frozen=True, slots=True)
class StageEffect(JsonValue):
    """The effect of one stage: numbers of samples by outcome, and `change`, its effect on the share that passes."""

    in_json: ClassVar[Mapping[str, str]] = named(
        "stage", "samples", "counts", "change", interval="interval.bounds", interval_reason="interval.reason"
    )
    beside: ClassVar[Sequence[str]] = ("counts",)

    stage: str
    counts: Outcomes
    change: float
    interval: Interval

    @property
    def samples(self) -> int:
        """Samples that went through the stage."""
        return Counter(self.counts).total()


def stages_of(record: RunRecord, names: Sequence[str], verdicts: Verdicts) -> list[StageEffect]:
    """The effect of each stage of a run, in the order of the flow; empty if the run has no transcripts."""
    passages = [
        passage
        for key, steps in record.steps.items()
        for passage in passages_of(
            key[0], steps, [verdicts.passes(key[0], record.program_after(key, step)) for step in steps]
        )
    ]
    told = Counter(name for name, _ in record.steps)
    return effects_of(passages, {name: told[name] for name in names if told[name]})


def passages_of(problem: str, steps: Sequence[Step], passes: Sequence[bool | None]) -> list[Passage]:
    """The effect of each step, by whether the program after it passes (None: not known; ignored without a program)."""
    found, before, passed = [], False, None
    for step, now in zip(steps, passes, strict=True):
        after = step.program is None or bool(step.program.strip())
        now_passes = now if after else False
        found.append(Passage(problem, step.stage, _outcome(before, passed, after, now_passes)))
        before, passed = after, now_passes
    return found


def effects_of(passages: Iterable[Passage], samples: dict[str, int]) -> list[StageEffect]:
    """The passages summed up by stage; `samples` are how many each problem has."""
    by_stage: dict[str, list[Passage]] = {}
    for passage in passages:
        by_stage.setdefault(passage.stage, []).append(passage)
    return [_effect(stage, group, samples) for stage, group in by_stage.items()]


def _effect(stage: str, passages: Sequence[Passage], samples: dict[str, int]) -> StageEffect:
    worth: Counter[str] = Counter()
    for passage in passages:
        worth[passage.problem] += WORTH.get(passage.outcome, 0)
    changes = [worth[name] / count for name, count in samples.items()]
    change = sum(changes) / len(changes)
    counts = Counter(p.outcome for p in passages)
    outcomes = Outcomes(**{outcome: counts[outcome] for outcome in OUTCOMES})
    return StageEffect(stage, outcomes, change, bootstrap_interval(changes))


def _outcome(before: bool, passed: bool | None, after: bool, passes: bool | None) -> str:
    if not before and not after:
        return "no_program"
    if passes is None or (before and passed is None):
        return "unknown"
    if not before:
        return "first_passes" if passes else "first_fails"
    if passed == passes:
        return "unchanged"
    return "gained" if passes else "lost"
