"""How long a test waited for a processor while it could have run: no fault of the program, however busy the machine.

The kernel keeps that time for each thread (/proc/PID/schedstat, "time spent waiting on a runqueue", Linux's
Documentation/scheduler/sched-stats.rst). It is 0 where the kernel doesn't tell.
"""

from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")


def processor_wait(runner: int) -> float:
    """Seconds that the process of a test waited: of its threads, and of its children's, the longest.

    `runner` is a descriptor of its parent (a pidfd). The longest, not the sum: threads that wait for each other's
    processor use up their CPU time meanwhile.
    """
    try:
        number = _number_of(runner)
        return max((_delay(task) for child in _children(number) for task in _tasks(child)), default=0.0)
    except (OSError, ValueError):
        # It is gone, or this kernel doesn't tell.
        return 0.0


def _number_of(pidfd: int) -> int:
    lines = (PROC / "self" / "fdinfo" / str(pidfd)).read_text().splitlines()
    return int(next(line.partition(":")[2] for line in lines if line.startswith("Pid:")))


def _children(number: int) -> Iterator[int]:
    for child in map(int, (PROC / str(number) / "task" / str(number) / "children").read_text().split()):
        yield child
        yield from _children(child)


def _tasks(number: int) -> list[Path]:
    return list((PROC / str(number) / "task").iterdir())


def _delay(task: Path) -> float:
    return int((task / "schedstat").read_text().split()[1]) / 1e9
