"""The memory use of our sandbox: unique pages per worker, and growth of the parent.

1. Workers are all processes below the parent. Unique memory is `Private_*` of /proc/PID/smaps_rollup, read between
   batches, when only long-lived processes exist. While programs run, forked processes share pages, so the proportional
   shares (`Pss`) are added up, and the highest of several sums is reported.
2. The parent runs N candidates in batches. Its resident memory after a tenth of them is compared with that at the end.
"""

import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.sandbox.child import Child, start_child
from benchmarks.sandbox.contenders import CONTENDERS, OURS
from benchmarks.sandbox.meter import process_tree
from benchmarks.sandbox.rounds import Plan, options_for
from benchmarks.sandbox.workloads import Batch, Workload

MOST_IN_A_BATCH = 100
# Seconds between two samples while programs run.
LOOK = 0.05
MEGA = 2**20


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes: of each worker, idle and at its busiest, and of the parent early, late and by batch."""

    candidates: int
    tests: int
    workers: int
    right: int
    worker_unique_bytes: int
    worker_busy_bytes: int
    parent_early_bytes: int
    parent_late_bytes: int
    parent_by_batch: tuple[int, ...]

    @property
    def growth(self) -> int:
        """How many bytes the parent grew after the first tenth."""
        return self.parent_late_bytes - self.parent_early_bytes


def measure_memory(
    workload: Workload, candidates: int, workers: int, plan: Plan, step: Callable[[], None] = lambda: None
) -> Memory:
    """Run `candidates` with the first number of tests of `plan`; raises ContenderFailed where our sandbox fails."""
    options = options_for(CONTENDERS[OURS], workload, plan) | {"workers": str(workers), "concurrency": str(2 * workers)}
    resident, right, busy = [], 0, 0
    with start_child(CONTENDERS[OURS], options) as child:
        for number, size in enumerate(batch_sizes(candidates)):
            batch = Batch(workload, size, plan.tests[0], number)
            # Sampling costs time, and the first batches are representative.
            with _Watch(child, looking=number < 3) as watch:
                right += child.run(batch).right
            busy = max(busy, watch.highest)
            resident.append(_field(child.process.pid, "Rss:"))
            step()
        unique = sum(_field(pid, "Private_") for pid in process_tree(child.process.pid)[1:])
    early = resident[max(0, len(resident) // 10 - 1)]
    return Memory(candidates, plan.tests[0], workers, right, unique // workers, busy // workers, early, resident[-1],
                  tuple(resident))  # fmt: skip


def batch_sizes(candidates: int) -> list[int]:
    """How many candidates each batch has: ten batches or more, of a hundred at most."""
    size = min(MOST_IN_A_BATCH, max(1, candidates // 10))
    return [min(size, candidates - done) for done in range(0, candidates, size)]


def memory_text(memory: Memory) -> str:
    """The figures in words."""
    total = memory.candidates * memory.tests
    return "\n".join((
        f"memory, {memory.candidates} candidates x {memory.tests} tests, workers: {memory.workers}, "
        f"right: {memory.right} of {total}",
        f"a worker, unique pages, idle          {memory.worker_unique_bytes / MEGA:8.1f} MiB",
        f"a worker, proportional share, busiest {memory.worker_busy_bytes / MEGA:8.1f} MiB",
        f"the parent after a tenth, at the end  {memory.parent_early_bytes / MEGA:8.1f} MiB"
        f"{memory.parent_late_bytes / MEGA:8.1f} MiB, growth {memory.growth / MEGA:+.2f} MiB",
    ))  # fmt: skip


def memory_json(memory: Memory) -> dict[str, Any]:
    """The figures by name."""
    return asdict(memory) | {"parent_growth_bytes": memory.growth}


class _Watch:
    """Looks at the processes below a child while a batch runs, and keeps the highest sum of their shares."""

    def __init__(self, child: Child, looking: bool) -> None:
        self.highest = 0
        self._root, self._looking, self._ended = child.process.pid, looking, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "_Watch":
        if self._looking:
            self._thread.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self._ended.set()
        if self._looking:
            self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(LOOK):
            self.highest = max(self.highest, sum(_field(pid, "Pss:") for pid in process_tree(self._root)[1:]))


def _field(pid: int, name: str) -> int:
    """Bytes of the lines of a process's smaps_rollup that begin with `name`; 0 where it is gone or can't be read."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith(name))
