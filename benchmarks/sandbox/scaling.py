"""The speed-up from one worker to two: eight candidates in flight, wall time, settings interleaved.

One worker is measured on one core ("from one core to two"), and also with all cores, where its host process can already
use another core.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import median
from typing import Any

from benchmarks.sandbox.child import Sample, start_child
from benchmarks.sandbox.contenders import CONTENDERS, OURS
from benchmarks.sandbox.rounds import Plan, last_cores, options_for
from benchmarks.sandbox.workloads import Batch, Workload

IN_FLIGHT = 8
# (workers, cores), 0 for all that we may use; the last is compared with each before it.
SETTINGS = ((1, 1), (1, 0), (2, 0))


@dataclass(frozen=True, slots=True)
class Pace:
    """One setting's samples, one a round."""

    workers: int
    cores: int
    samples: tuple[Sample, ...]

    @property
    def by_round(self) -> list[float]:
        """Tests a second of wall time in each round."""
        return [sample.right / sample.wall_seconds for sample in self.samples]

    @property
    def name(self) -> str:
        """What the setting is called in a table."""
        workers = "1 worker" if self.workers == 1 else f"{self.workers} workers"
        return f"{workers}, {'all cores' if not self.cores else '1 core'}"


def measure_scaling(workload: Workload, plan: Plan, step: Callable[[], None] = lambda: None) -> list[Pace]:
    """The pace of each setting; raises ContenderFailed where our sandbox can't be had."""
    numbers = count(10**6)
    with contextlib.ExitStack() as stack:
        children = [stack.enter_context(start_child(CONTENDERS[OURS], _options(workload, plan, *setting)))
                    for setting in SETTINGS]  # fmt: skip
        size = IN_FLIGHT
        for child in children:
            child.run(Batch(workload, IN_FLIGHT, plan.tests[0], next(numbers)))
            sample = child.run(Batch(workload, IN_FLIGHT, plan.tests[0], next(numbers)))
            size = max(size, IN_FLIGHT * round(plan.seconds / sample.wall_seconds))
        samples: list[list[Sample]] = [[] for _ in children]
        for _ in range(plan.rounds):
            for child, kept in zip(children, samples, strict=True):
                kept.append(child.run(Batch(workload, size, plan.tests[0], next(numbers))))
                step()
    return [Pace(*setting, tuple(kept)) for setting, kept in zip(SETTINGS, samples, strict=True)]


def speed_up(slow: Pace, fast: Pace) -> float:
    """The median over the rounds of how much more tests a second `fast` does."""
    return median(more / less for less, more in zip(slow.by_round, fast.by_round, strict=True))


def scaling_text(paces: Sequence[Pace]) -> str:
    """The paces, and the last one over each."""
    fast = paces[-1]
    lines = [
        f"{pace.name:<22}{median(pace.by_round):>8.0f} tests/s  ({min(pace.by_round):.0f}-{max(pace.by_round):.0f})"
        + (f"   {fast.name}: {speed_up(pace, fast):.2f}x" if pace is not fast else "")
        for pace in paces
    ]
    return "\n".join([f"scaling, {IN_FLIGHT} candidates in flight", *lines])


def scaling_json(paces: Sequence[Pace]) -> list[dict[str, Any]]:
    """The paces with every round's figures."""
    return [
        {"workers": pace.workers, "cores": pace.cores or "all", "tests_per_second": median(pace.by_round),
         "by_round": pace.by_round, "all_right": all(sample.right == sample.total for sample in pace.samples),
         "last_over_this": speed_up(pace, paces[-1])}
        for pace in paces
    ]  # fmt: skip


def _options(workload: Workload, plan: Plan, workers: int, cores: int) -> dict[str, str]:
    chosen = {"workers": str(workers), "cores": last_cores(cores), "concurrency": str(IN_FLIGHT)}
    return options_for(CONTENDERS[OURS], workload, plan) | chosen
