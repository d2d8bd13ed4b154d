"""A control group for each worker, which counts and limits the total use of its processes.

1. A group is a folder in each hierarchy that has one of the controllers we use (see `hierarchies`).
2. The process that makes a group keeps its folders locked until it ends, however it ends. A group without a lock is
   stale, and is removed if nothing runs in it. (Process ids could belong to another pid namespace.)
3. The files of what is read often stay open: CPU time, and kills for memory. A limit that is set already isn't written
   again.
"""

import errno
import fcntl
import os
import re
import select
import signal
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from alpha_codium.sandbox.engine.hierarchies import Part, group_above, own_hierarchies, parents, tasks

OURS = re.compile(r"gencode-\d+-\d+(-\d+)?")
PATIENCE_SECONDS = 2.0
PAUSE_SECONDS = 0.002
NAMES_TRIED = 100
UNLIMITED = 2**63
# The highest limit of memory that every kernel takes.
MOST_MEMORY = 1 << 62
# While the kernel frees the last memory of a group again and again, less than this is free.
NEARLY_ALL_BYTES = 16 << 20


class WorkerGroup:
    """The group of one worker; made by `open_worker_group`.

    `parts` has the folder for each controller, `locks` a locked descriptor for each folder. All methods but
    `kill_and_remove`, which waits for processes to die, take microseconds.
    """

    def __init__(self, parts: Mapping[str, Part], locks: Mapping[Path, int]) -> None:
        self.parts = parts
        self._locks = dict(locks)
        self._written: dict[Path, int] = {}
        self._kills = 0
        self._cpu = self._opened("cpuacct", "cpuacct.usage", "cpu.stat")
        self._events = self._opened("memory", "memory.oom_control", "memory.events")
        self._memory_limits = self._files_of_memory_limit()

    @property
    def complete(self) -> bool:
        """Whether it counts the memory and the CPU time of all processes together."""
        return self._cpu is not None and self.counts_memory

    @property
    def counts_memory(self) -> bool:
        """Whether it can limit the memory, and counts kills for memory."""
        return self._events is not None

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of the group, one per hierarchy."""
        return tuple(self._locks)

    def add(self, pid: int) -> None:
        """Move a process, with its future children, into the group; raises OSError."""
        for folder in self._locks:
            (folder / "cgroup.procs").write_text(str(pid))

    def cpu_seconds(self) -> float:
        """Return the CPU time of all tasks that were ever in the group; 0 if it isn't counted."""
        if self._cpu is None:
            return 0.0
        text = os.pread(self._cpu, 64, 0)
        if self.parts["cpuacct"].version == 1:
            return int(text) / 1e9
        return int(text.split(maxsplit=2)[1]) / 1e6

    def set_memory(self, limit: int) -> bool:
        """Limit the sum of memory and swap, in bytes; return False, and change nothing, if more is in use.

        Files in memory and the kernel's memory for the processes count too. Raises OSError.
        """
        files, limit = self._memory_limits, min(limit, MOST_MEMORY)
        current = self._written.get(files[0], UNLIMITED)
        if limit == current and limit == self._written.get(files[-1]):
            return True
        if self.parts["memory"].version == 2 and limit < current and self.memory_used() > limit:
            return False  # version 2 would kill processes to get below a new limit
        # The limit with swap may never be the lower one.
        order = files if limit <= current else files[::-1]
        return all(self._write(file, limit) for file in order)

    def set_processes(self, limit: int) -> bool:
        """Limit the number of processes and threads; return False if this machine doesn't count them."""
        return "pids" in self.parts and self._write(self.parts["pids"].folder / "pids.max", limit)

    def memory_used(self) -> int:
        """Return the bytes of memory in use; the kernel counts in steps of up to 256 KiB a core."""
        name = "memory.usage_in_bytes" if self.parts["memory"].version == 1 else "memory.current"
        return int((self.parts["memory"].folder / name).read_text())

    def is_out_of_memory(self) -> bool:
        """Whether all memory that the group may use is in use, though the kernel may not have killed a process yet.

        False if the group was removed. May be called from any thread.
        """
        with suppress(OSError):
            if self.counts_memory:
                limit = self._written.get(self._memory_limits[0], UNLIMITED)
                return self.memory_used() > limit - NEARLY_ALL_BYTES
        return False

    def oom_kills(self) -> int:
        """Return how many processes were killed for memory."""
        if self._events is None:
            return 0
        text = os.pread(self._events, 512, 0)
        return next((int(line.split()[1]) for line in text.splitlines() if line.startswith(b"oom_kill ")), 0)

    def was_killed_for_memory(self) -> bool:
        """Whether a process was killed for memory since the last call."""
        if not self.counts_memory:
            return False
        before, self._kills = self._kills, self.oom_kills()
        return self._kills > before

    def kill_and_remove(self) -> bool:
        """Kill all that is in the group and remove it; return False if something is left after two seconds."""
        # First, to free a descriptor: the rest needs some, and there may be none left.
        for descriptor in (self._cpu, self._events):
            if descriptor is not None:
                os.close(descriptor)
        self._cpu = self._events = None
        with suppress(OSError):
            self.set_processes(0)  # so that nothing more can be started in it
        deadline = time.monotonic() + PATIENCE_SECONDS
        for folder in self._locks:
            kill_tasks(folder, deadline)
        gone = [remove_folder(folder, deadline) for folder in self._locks]
        for descriptor in self._locks.values():
            os.close(descriptor)
        self._locks = {}
        return all(gone)

    def _opened(self, controller: str, version_1: str, version_2: str) -> int | None:
        """Open a file of a controller; return None if there is none."""
        if controller in self.parts:
            part = self.parts[controller]
            with suppress(OSError):
                return os.open(part.folder / (version_1 if part.version == 1 else version_2), os.O_RDONLY)
        return None

    def _files_of_memory_limit(self) -> tuple[Path, ...]:
        """The files to write a limit to: of memory, and of memory with swap if version 1 counts that."""
        memory = self.parts.get("memory")
        if memory is None:
            return ()
        version_2 = memory.version == 2
        names = ("memory.max",) if version_2 else ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
        with suppress(OSError):
            (memory.folder / ("memory.swap.max" if version_2 else "memory.swappiness")).write_text("0")
        return tuple(memory.folder / name for name in names if (memory.folder / name).exists())

    def _write(self, file: Path, limit: int) -> bool:
        if self._written.get(file) != limit:
            try:
                file.write_text(str(limit))
            except OSError as error:
                if error.errno == errno.EBUSY:
                    return False
                raise
            self._written[file] = limit
        return True


def kill_tasks(folder: Path, deadline: float) -> None:
    """Kill the processes of a group until it has none, or until `deadline`."""
    with suppress(OSError):
        (folder / "cgroup.kill").write_text("1")
    while time.monotonic() < deadline:
        pids = tasks(folder) - {os.getpid()}
        if not pids:
            return
        with ExitStack() as opened:
            poll = select.poll()
            for pid in pids:
                descriptor = kill_member(pid, folder)
                if descriptor is not None:
                    opened.callback(os.close, descriptor)
                    poll.register(descriptor, select.POLLIN)
            poll.poll(50)


def kill_member(pid: int, folder: Path) -> int | None:
    """Kill a process if it is in the group, and return a pidfd to wait for it, or None.

    The pidfd is opened before the membership is checked, so that a process that took over the number isn't hit.
    """
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return None
    if pid in tasks(folder):
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    return descriptor


def remove_folder(folder: Path, deadline: float) -> bool:
    """Remove a group's folder, which can be busy for a moment after its last process has ended."""
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            if time.monotonic() > deadline:
                return False
            time.sleep(PAUSE_SECONDS)
        else:
            return True


def open_worker_group(name: str) -> "WorkerGroup | None":
    """Make a group for a worker, called `gencode-PID-N`; return None if this machine doesn't allow it.

    If the name is taken (process ids aren't unique across namespaces), `-2` and so on is added to it.
    """
    wanted = parents()
    for number in range(1, NAMES_TRIED):
        try:
            return make_group(wanted, name if number == 1 else f"{name}-{number}")
        except FileExistsError:
            continue
    return None


def make_group(wanted: Mapping[str, Part], name: str) -> "WorkerGroup | None":
    """Make and lock the folders of a group; raises FileExistsError if another process has one of them."""
    locks: dict[Path, int] = {}
    parts = {}
    with ExitStack() as undo:
        for controller, parent in wanted.items():
            folder = parent.folder / name
            if folder not in locks:
                try:
                    locks[folder] = make_locked(folder)
                except FileExistsError:
                    raise
                except OSError:
                    continue
                undo.callback(remove_locked, folder, locks[folder])
            parts[controller] = Part(parent.version, folder)
        if not parts:
            return None
        group = WorkerGroup(parts, locks)
        undo.pop_all()
        return group
    return None


def make_locked(folder: Path) -> int:
    """Make a group's folder and return the descriptor that holds its lock; raises OSError."""
    remove_if_stale(folder)
    folder.mkdir()
    lock = lock_of(folder)
    if lock is None:
        raise FileExistsError(errno.EEXIST, "another process took it for stale", str(folder))
    return lock


def lock_of(folder: Path) -> int | None:
    """Lock a folder and return the descriptor that holds the lock; None if another holds it or the folder is gone."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), folder.stat()):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None


def remove_locked(folder: Path, lock: int) -> None:
    """Remove a group's folder if it is empty, and release its lock."""
    with suppress(OSError):
        folder.rmdir()
    os.close(lock)


def remove_if_stale(folder: Path) -> None:
    """Remove a group that isn't locked and in which nothing runs."""
    with suppress(OSError):
        lock = lock_of(folder)
        if lock is not None:
            remove_locked(folder, lock)


def remove_stale() -> None:
    """Remove the groups of processes that were killed."""
    for hierarchy in own_hierarchies():
        for entry in group_above(hierarchy).glob("gencode-*"):
            if OURS.fullmatch(entry.name):
                remove_if_stale(entry)
