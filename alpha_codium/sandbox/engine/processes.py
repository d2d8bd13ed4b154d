"""The processes of jails, as they show on the host: how they end, and how long they wait for a processor."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

LEAVE_SECONDS = 2.0


def end(process: "subprocess.Popen[bytes]", seconds: float = LEAVE_SECONDS) -> None:
    """Wait for a jail, whose socket is closed, to end; kill it if it doesn't."""
    # A jail that ends normally reaps its children; after a kill, init has to.
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def descendants(ancestor: int) -> list[int]:
    """Return all descendants of a process that this one can see, each after its parent, zombies included."""
    parents = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - half the time
        if name.isdigit():
            with contextlib.suppress(OSError):
                parents[int(name)] = int(Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1])
    found = [ancestor]
    for parent in found:
        found += [child for child, above in parents.items() if above == parent]
    return found[1:]


def scheduled(runner: int) -> list[tuple[float, float]] | None:
    """Return the seconds for which each thread of a test ran, and for which it was ready but waited for a processor.

    `runner` is a pidfd of the test's parent. None if the kernel doesn't report it, or a process has just ended. Source:
    /proc/PID/schedstat, in Linux's Documentation/scheduler/sched-stats.rst.
    """
    proc = Path("/proc")

    def below(number: int) -> Iterator[int]:
        for child in map(int, (proc / f"{number}/task/{number}/children").read_text().split()):
            yield child
            yield from below(child)

    try:
        lines = (proc / f"self/fdinfo/{runner}").read_text().splitlines()
        # The descriptor of any other file has no such line; StopIteration would never reach a caller that awaits us.
        number = int(next((line.partition(":")[2] for line in lines if line.startswith("Pid:")), "-1"))
        tasks = [task for child in below(number) for task in (proc / f"{child}/task").iterdir()]
        times = [(task / "schedstat").read_text().split() for task in tasks]
        return [(int(ran) / 1e9, int(waited) / 1e9) for ran, waited, _ in times]
    except (OSError, ValueError):
        return None


def reap_orphans() -> None:
    """Reap the first processes of jails that became our children, which happens only if we are process 1.

    The kernel may kill the process outside of a jail, their parent, for lack of memory.
    """
    if os.getpid() != 1:
        return
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
            # Processes that we started have one number: ours are in no other namespace.
            if fields["PPid"].strip() == "1" and "Z" in fields["State"] and len(fields["NSpid"].split()) > 1:
                os.waitpid(int(folder.name), os.WNOHANG)
