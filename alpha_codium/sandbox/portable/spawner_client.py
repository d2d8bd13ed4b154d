"""The host's side of a spawner: one helper process, one program at a time, started again when it fails."""

import contextlib
import json
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from alpha_codium.limits import OVERHEAD_BYTES, Limits
from alpha_codium.sandbox.engine.cancellation import WorkerLost
from alpha_codium.sandbox.engine.cgroups import WorkerGroup, open_worker_group
from alpha_codium.sandbox.engine.jail import OWN_PROCESSES
from alpha_codium.sandbox.engine.outcome import ProcessEnd

SPAWNER = Path(__file__).with_name("spawner.py")
# A shell script that joins control groups and is then replaced by the command.
JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit; shift; done; shift; exec "$@"'
# The highest limit that every kernel takes for a control group.
MOST_MEMORY = 1 << 62
# Seconds that a spawner may take beyond a program's wall limit before it is killed.
GRACE = 20.0


@dataclass(frozen=True, slots=True)
class Ended(ProcessEnd):
    """How a program ended, and what it printed; `start_error` says why it didn't start."""

    stdout: bytes
    stderr: bytes
    output_exceeded: bool
    wall_exceeded: bool
    start_error: str = ""
    killed_for_memory: bool = False


class SpawnerClient:
    """One spawner; used by one thread at a time, and interrupted from any.

    With `counted`, a control group limits the sum of its programs' memory and processes, if this machine has one.
    `interpreter` and the folder `shown`, if any, stay visible in private folders.
    """

    def __init__(
        self, prefix: Sequence[str], *, counted: bool = False, interpreter: str = sys.executable, shown: str = ""
    ) -> None:
        self.command = [*prefix, sys.executable, "-I", "-S", str(SPAWNER)]
        self.interpreter, self.shown = interpreter, shown
        self.counted = counted
        self._group: WorkerGroup | None = None
        self._process: subprocess.Popen[bytes] | None = None
        # Passes one end of a pair's channel to the spawner: open files can't go through a pipe.
        self._passing: socket.socket | None = None
        self._lock = threading.Lock()
        self._interrupted = False
        self._closing = False

    def run(
        self,
        command: Sequence[str],
        stdin: bytes,
        limits: Limits,
        folder: Path,
        environment: Mapping[str, str],
        channel: socket.socket | None = None,
        files: Mapping[str, str] | None = None,
        memory: tuple[str, int] | None = None,
    ) -> Ended:
        """Run one program; raises WorkerLost if the spawner fails, and starts a new one next time.

        `channel`, one end of a socket pair, becomes the program's and is closed here. With `files`, the program gets
        private folders: one with these files is mounted over `folder`, see `engine/inside/private`. The address
        space is limited; if `memory` is given, the resource that it names is, with so many bytes more, and only if no
        control group counts the memory.
        """
        job: dict[str, object] = {
            "command": list(command),
            # Whether the program made this file: it is one that was compiled.
            "own": bool(self.shown) and command[0].startswith(f"{self.shown}/"),
            "folder": str(folder),
            "environment": dict(environment),
            "wall_seconds": limits.wall_seconds,
            "output_bytes": limits.output_bytes,
            "stdin_bytes": len(stdin),
            "channel": channel is not None,
        }
        if files is not None:
            job |= {"files": dict(files), "interpreter": self.interpreter, "shown": self.shown}
            job |= {"processes": limits.processes + OWN_PROCESSES}
        try:
            process = self._started()
            counted = self._group is not None and self._group.counts_memory
            unlimited = None if counted and memory else memory or ("RLIMIT_AS", 0)
            job["rlimits"] = rlimits_of(limits, unlimited, bounded=counted and memory == ("RLIMIT_AS", 0))
            self._limit_sums(limits, len(stdin))
            timer = threading.Timer(limits.wall_seconds + GRACE, process.kill)
            timer.start()
            try:
                assert process.stdin is not None and process.stdout is not None and self._passing is not None
                if channel is not None:
                    socket.send_fds(self._passing, [b"c"], [channel.fileno()])
                    channel.close()
                process.stdin.write(json.dumps(job).encode() + b"\n" + stdin)
                process.stdin.flush()
                ended = read_result(process.stdout)
                killed = self._group is not None and self._group.was_killed_for_memory()
                return replace(ended, killed_for_memory=killed)
            finally:
                timer.cancel()
        except (OSError, ValueError) as error:
            with self._lock:
                self._discard()
            raise WorkerLost(f"the sandbox's helper process was lost: {error}") from error

    def interrupt(self, *, closing: bool = False) -> None:
        """End what runs now, from any thread: `run` raises WorkerLost. With `closing`, nothing is run after it."""
        with self._lock:
            self._interrupted = True
            self._closing = self._closing or closing
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the spawner and all that it runs; no thread may be in `run`."""
        with self._lock:
            self._closing = True
            self._discard()

    def _started(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closing:
                raise ConnectionAbortedError("the sandbox is closed")
            if self._interrupted:
                self._discard()
            if self._process is None:
                joining: list[str] = []
                if self.counted:
                    self._group = open_worker_group(f"gencode-{os.getpid()}-0")
                if self._group is not None:
                    joining = ["/bin/sh", "-c", JOIN, "sh", *map(str, self._group.folders), "--"]
                self._passing, theirs = socket.socketpair()
                with theirs:
                    # In a process group of its own, so that Ctrl-C in a terminal reaches only gencode.
                    self._process = subprocess.Popen(
                        [*joining, *self.command, str(theirs.fileno())],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        env={"PATH": "/usr/bin:/bin"},
                        process_group=0,
                        pass_fds=[theirs.fileno()],
                    )
            return self._process

    def _discard(self) -> None:
        """Reap the spawner and close its pipes; the lock is held."""
        process, self._process, self._interrupted = self._process, None, False
        if self._passing is not None:
            self._passing.close()
        if process is not None:
            process.kill()
            # Closing stdin fails if a part of a job is still unwritten.
            with contextlib.suppress(OSError), process:
                pass
        if self._group is not None:
            self._group.kill_and_remove()
            self._group = None

    def _limit_sums(self, limits: Limits, more_bytes: int) -> None:
        """Limit the memory and processes of a program's processes together; `more_bytes` is for its input."""
        if self._group is not None:
            self._group.set_processes(limits.processes + OWN_PROCESSES)
            if self._group.counts_memory:
                self._group.set_memory(min(limits.memory_bytes + OVERHEAD_BYTES + more_bytes, MOST_MEMORY))
                # Earlier kills belong to another program.
                self._group.was_killed_for_memory()


def read_result(stream: IO[bytes]) -> Ended:
    """Return how the program ended; raises ConnectionResetError if the spawner ended first."""
    line = stream.readline()
    values = json.loads(line or "{}")
    sizes = values.pop("stdout_bytes", 0), values.pop("stderr_bytes", 0)
    stdout, stderr = map(stream.read, sizes)
    if not line or (len(stdout), len(stderr)) != sizes:
        raise ConnectionResetError("its stream ended")
    return Ended(stdout=stdout, stderr=stderr, **values)


def rlimits_of(limits: Limits, memory: tuple[str, int] | None, *, bounded: bool = False) -> dict[str, int]:
    """Return the limits as the kernel takes them.

    A program that ignores the signal at its CPU limit gets one more second. `memory` is the resource that the memory
    limit is for, and how many bytes more of it there may be. The stack may be `bounded`, too.
    """
    return {
        **({memory[0]: limits.memory_bytes + memory[1]} if memory else {}),
        "RLIMIT_CPU": limits.kernel_cpu_seconds,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_CORE": 0,
        # As on contest judges: deep recursion is common, and bounded by memory. A finite limit is also the size that
        # every thread reserves, so there is none where that counts.
        "RLIMIT_STACK": limits.stack_bytes if bounded else resource.RLIM_INFINITY,
    }
