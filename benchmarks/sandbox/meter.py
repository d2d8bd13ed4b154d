"""Meters for the CPU time of a command and of everything that it starts.

1. `RUSAGE_CHILDREN` counts only processes that a process reaped itself (it shows 3 ms where a sandbox spends 35). A
   cgroup counts all processes, even if others reap them or they leave the process tree.
2. So each contender gets a new cgroup before it starts: v1 `cpuacct`, else v2 `cpu.stat`, below our own.
3. The counter is read when it no longer changes, so that clean-up after an answer is included.
4. If no cgroup can be made, the times of the process tree are added up from /proc, without processes that left the
   tree; without /proc there is no figure. `note` reports either case.
"""

import contextlib
import itertools
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

# Seconds between two readings that decide whether a counter stands still, and how long to wait for that.
STILL = 0.004
PATIENCE = 0.25
_numbers = itertools.count()


class Meter(Protocol):
    """A counter of CPU time, around one command."""

    note: str

    def wrap(self, command: list[str]) -> list[str]:
        """The command line that starts `command` under this meter."""
        ...

    def seconds(self, pid: int) -> float | None:
        """CPU seconds since the start; `pid` is the command's process; None where they can't be known."""
        ...

    def strays(self, pid: int) -> int:
        """How many living processes below `pid` this meter doesn't count."""
        ...

    def close(self) -> None:
        """End what is left of the command and remove the counter."""
        ...


class CgroupMeter:
    """A meter that uses a new cgroup in `folder`."""

    note = ""

    def __init__(self, folder: Path, counter: str) -> None:
        self.folder, self.counter = folder, folder / counter

    def wrap(self, command: list[str]) -> list[str]:
        """A shell that moves itself into the cgroup and then becomes the command."""
        return ["/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.folder / "cgroup.procs"), *command]

    def seconds(self, pid: int) -> float | None:
        """CPU seconds of all that ever ran in the cgroup."""
        words = self.counter.read_text().split()
        return int(words[1]) / 1e6 if words[0] == "usage_usec" else int(words[0]) / 1e9

    def strays(self, pid: int) -> int:
        """How many processes below `pid` run outside the cgroup and those below it: their time isn't counted."""
        below = [number for number in process_tree(pid) if _stat(number)[:1] not in ([], ["Z"])]
        inside = {int(line) for path in self.folder.rglob("cgroup.procs") for line in path.read_text().split()}
        return len(set(below) - inside)

    def close(self) -> None:
        """Kill what is left in the cgroup, by number, and remove it with those below it."""
        folders = [self.folder, *(path for path in self.folder.rglob("*") if path.is_dir())]
        for folder in sorted(folders, key=lambda path: len(path.parts), reverse=True):
            _empty(folder)
            with contextlib.suppress(FileNotFoundError):
                folder.rmdir()


class TreeMeter:
    """A fallback that adds up the times of the process tree from /proc, in clock ticks."""

    note = "no cgroup here: CPU time is that of the process tree and misses processes that left it"

    def wrap(self, command: list[str]) -> list[str]:
        """The command as it is."""
        return command

    def seconds(self, pid: int) -> float | None:
        """CPU seconds of the tree below `pid`, with what each of its processes has reaped."""
        if not Path("/proc/self/stat").exists():
            return None
        return sum(_ticks(number) for number in process_tree(pid)) / os.sysconf("SC_CLK_TCK")

    def strays(self, pid: int) -> int:
        """None: the tree is what is counted."""
        return 0

    def close(self) -> None:
        """Nothing was made."""


def settled(meter: Meter, pid: int) -> float | None:
    """CPU seconds once two readings agree to 20 microseconds, or patience ends."""
    before, ends = meter.seconds(pid), time.monotonic() + PATIENCE
    while before is not None and time.monotonic() < ends:
        time.sleep(STILL)
        now = meter.seconds(pid)
        if now is None or now - before < 2e-5:
            return now
        before = now
    return before


def open_meter() -> Meter:
    """Return the best meter that works on this machine."""
    for base, counter in _cgroups():
        folder = base / f"gencode-bench-{os.getpid()}-{next(_numbers)}"
        try:
            folder.mkdir()
        except OSError:
            continue
        meter = CgroupMeter(folder, counter)
        # Try it: a folder may be writable although no process can be moved into it.
        trial = subprocess.run(meter.wrap(["true"]), stderr=subprocess.DEVNULL, check=False)
        if trial.returncode == 0 and (folder / counter).exists():
            return meter
        folder.rmdir()
    return TreeMeter()


def process_tree(root: int) -> list[int]:
    """The number of `root` and of every living process below it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, todo = [], [root]
    while todo:
        number = todo.pop()
        found.append(number)
        todo += children.get(number, [])
    return found


def _cgroups() -> Iterator[tuple[Path, str]]:
    """Where a cgroup that counts CPU time may be made below our own, with its counter's name; v1 first."""
    try:
        own = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    except OSError:
        return
    for _, controllers, path in own:
        for _, folder, kind, options, *_ in mounts:
            if kind == "cgroup" and "cpuacct" in controllers.split(",") and "cpuacct" in options.split(","):
                yield Path(folder + path), "cpuacct.usage"
    for number, _, path in own:
        for _, folder, kind, *_ in mounts:
            if kind == "cgroup2" and number == "0":
                yield Path(folder + path), "cpu.stat"


def _empty(folder: Path) -> None:
    """Kill the processes of a cgroup until there is none, for two seconds at most."""
    ends = time.monotonic() + 2
    while time.monotonic() < ends:
        try:
            numbers = [int(line) for line in (folder / "cgroup.procs").read_text().split()]
        except OSError:
            return
        if not numbers:
            return
        for number in numbers:
            # 0 is a process that isn't visible in this namespace; to kill(), it means our own group.
            if number > 0:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
        time.sleep(STILL)


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on; none where the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _ticks(pid: int) -> int:
    """User and system time of a process and of what it has reaped."""
    return sum(map(int, _stat(pid)[11:15]))
