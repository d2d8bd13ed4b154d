"""Interleaved rounds, in which every contender runs in turn, so that other load affects all of them.

1. A first batch of one candidate warms each contender up and determines how many candidates take about `seconds`.
2. Then A B C A B C ...: in each round each contender gets a batch of new programs and inputs. Medians over rounds are
   reported; the ratio to ours is taken within each round before its median.
3. With `cores` 1, all processes of a contender, including its host process, run on one core, which costs less: no
   process is woken across cores. With 0 it may use all cores.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from statistics import median

from benchmarks.sandbox.child import Child, ContenderFailed, Sample, start_child
from benchmarks.sandbox.contenders import OURS, Contender
from benchmarks.sandbox.workloads import Batch, Workload

MOST_CANDIDATES = 300
_batch_numbers = count()


@dataclass(frozen=True, slots=True)
class Plan:
    """Parameters: rounds, seconds per batch, tests per candidate (the first for all), cores, options of ours."""

    rounds: int = 5
    seconds: float = 1.0
    tests: tuple[int, ...] = (10, 20)
    cores: int = 0
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Line:
    """A contender on a workload: its samples, one per round, and its problems."""

    contender: Contender
    workload: Workload
    tests: int
    samples: tuple[Sample, ...] = ()
    notes: tuple[str, ...] = ()
    failure: str = ""

    @property
    def all_right(self) -> bool:
        """Whether every execution gave the expected output, and there was one."""
        return bool(self.samples) and all(sample.right == sample.total > 0 for sample in self.samples)

    @property
    def cpu_ms(self) -> float | None:
        """CPU milliseconds a test, the median of the rounds."""
        values = self.cpu_ms_by_round
        return median(values) if values else None

    @property
    def cpu_ms_by_round(self) -> list[float]:
        """CPU milliseconds a test of each round; empty where they can't be counted."""
        known = [(sample.cpu_seconds, sample.total) for sample in self.samples]
        return [1000 * seconds / total for seconds, total in known if seconds is not None]

    @property
    def tests_per_second(self) -> float | None:
        """Tests a second of wall time, the median of the rounds."""
        return median(sample.total / sample.wall_seconds for sample in self.samples) if self.samples else None


@dataclass(slots=True)
class _Entrant:
    """A contender that takes part, with its child once it runs."""

    line: Line
    child: Child | None = None
    candidates: int = 1
    samples: list[Sample] = field(default_factory=list)
    failure: str = ""

    def warm_up(self, seconds: float) -> None:
        """Run one candidate twice: the first run initialises, the second determines the speed."""
        self.try_batch(1)
        if sample := self.try_batch(1):
            self.candidates = max(1, min(MOST_CANDIDATES, round(seconds / sample.wall_seconds)))

    def try_batch(self, candidates: int) -> Sample | None:
        """Run a batch and return its sample; if it fails, keep the failure and return None."""
        if self.failure or self.child is None:
            return None
        try:
            return self.child.run(Batch(self.line.workload, candidates, self.line.tests, next(_batch_numbers)))
        except ContenderFailed as error:
            self.failure = str(error)
            return None


def measure(
    workload: Workload, contenders: Sequence[Contender], plan: Plan, step: Callable[[], None] = lambda: None
) -> list[Line]:
    """Every contender's lines on a workload; `step` is called after each batch of a round."""
    entrants = [_Entrant(line) for contender in contenders for line in _lines(contender, workload, plan)]
    with contextlib.ExitStack() as stack:
        for entrant in entrants:
            _start(entrant, plan, stack)
        for _ in range(plan.rounds):
            for entrant in entrants:
                if sample := entrant.try_batch(entrant.candidates):
                    entrant.samples.append(sample)
                step()
        return [_finished(entrant) for entrant in entrants]


def _lines(contender: Contender, workload: Workload, plan: Plan) -> list[Line]:
    sizes = plan.tests if contender.both_sizes else plan.tests[:1]
    return [Line(contender, workload, tests) for tests in sizes]


def _start(entrant: _Entrant, plan: Plan, stack: contextlib.ExitStack) -> None:
    contender, workload = entrant.line.contender, entrant.line.workload
    entrant.failure = contender.missing or dict(contender.cannot).get(workload.name, "")
    if not entrant.failure:
        entrant.child = stack.enter_context(start_child(contender, options_for(contender, workload, plan)))
        entrant.warm_up(plan.seconds)


def options_for(contender: Contender, workload: Workload, plan: Plan) -> dict[str, str]:
    """The options of a contender's script on a workload."""
    cores = 1 if workload.name in contender.one_core_for else plan.cores
    modules = ",".join(workload.modules)
    return {"modules": modules, "packages": _packages(workload), "cores": last_cores(cores), **plan.options}


def last_cores(number: int) -> str:
    """That many of the cores that we may use, the last ones; empty for all, and where cores can't be chosen."""
    if not number or not hasattr(os, "sched_getaffinity"):
        return ""
    return ",".join(map(str, sorted(os.sched_getaffinity(0))[-number:]))


def _packages(workload: Workload) -> str:
    """Where our Python has its packages, for an interpreter that was started without them."""
    import sysconfig

    return sysconfig.get_path("platlib") if set(workload.modules) - sys.stdlib_module_names else ""


def _finished(entrant: _Entrant) -> Line:
    line = entrant.line
    notes = list(entrant.child.notes) if entrant.child is not None and not entrant.failure else []
    notes += [line.contender.note] if line.contender.note else []
    if entrant.child is not None and any(sample.right < sample.total for sample in entrant.samples):
        notes.append(f"its last words: {entrant.child.last_words()}")
    if line.workload.name in line.contender.one_core_for:
        notes.append("on one core only: it forbids the threads that numpy starts on more")
    return Line(line.contender, line.workload, line.tests, tuple(entrant.samples), tuple(notes), entrant.failure)


def ratio_to_ours(line: Line, lines: Sequence[Line]) -> float | None:
    """The median over the rounds of a line's CPU time over ours, at the same tests a candidate; None without either."""
    ours = [other for other in lines if other.contender.name == OURS and other.tests == line.tests]
    if not ours or not line.all_right or not ours[0].all_right:
        return None
    pairs = list(zip(line.cpu_ms_by_round, ours[0].cpu_ms_by_round, strict=False))
    return median(theirs / mine for theirs, mine in pairs if mine > 0) if pairs else None
