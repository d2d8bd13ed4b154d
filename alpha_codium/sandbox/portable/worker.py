"""The host's side of a spawner: one helper process, one job at a time, started again when it fails."""

import contextlib
import json
import os
import resource
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from alpha_codium.limits import Limits
from alpha_codium.sandbox.engine.cancellation import WorkerLost
from alpha_codium.sandbox.engine.wait_status import HasWaitStatus

SPAWNER = Path(__file__).with_name("spawner.py")
# What a spawner may take beyond a program's wall limit before it counts as lost, in seconds.
GRACE = 20.0
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Ended(HasWaitStatus):
    """How a process ended and what it and its children used; `wait_status` as `os.wait4` gives it."""

    stdout: bytes
    stderr: bytes
    cpu_seconds: float
    wall_seconds: float
    max_rss_bytes: int
    output_exceeded: bool
    wall_exceeded: bool
    start_error: str = ""


class Worker:
    """One spawner; used by one thread at a time, and ended from any."""

    def __init__(self, prefix: Sequence[str]) -> None:
        self.command = [*prefix, sys.executable, "-I", "-S", str(SPAWNER)]
        self._process: subprocess.Popen[bytes] | None = None
        # Carries the channel of a pair to the spawner, which can't be told of an open file in any other way.
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
    ) -> Ended:
        """Run one program; raises WorkerLost where the helper fails, and gets a new one next time.

        `channel`, one end of a socket pair, becomes the program's and is closed here.
        """
        job = {
            "command": list(command),
            "folder": str(folder),
            "environment": dict(environment),
            "rlimits": rlimits_of(limits),
            "wall_seconds": limits.wall_seconds,
            "output_bytes": limits.output_bytes,
            "stdin_bytes": len(stdin),
            "channel": channel is not None,
        }
        deadline = time.monotonic() + limits.wall_seconds + GRACE
        try:
            process = self._started()
            assert process.stdin is not None and self._passing is not None
            if channel is not None:
                socket.send_fds(self._passing, [b"c"], [channel.fileno()])
                channel.close()
            process.stdin.write(json.dumps(job).encode() + b"\n" + stdin)
            process.stdin.flush()
            return self._result(process, deadline)
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
        """End the helper process, and with it all that it runs; no thread may be in `run`."""
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
                self._passing, theirs = socket.socketpair()
                with theirs:
                    # In a group of its own, so that Ctrl-C at a terminal reaches gencode only.
                    self._process = subprocess.Popen(
                        [*self.command, str(theirs.fileno())],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        env={"PATH": "/usr/bin:/bin"},
                        process_group=0,
                        pass_fds=[theirs.fileno()],
                    )
            return self._process

    def _discard(self) -> None:
        """Reap the helper process and close its pipes; the lock is held."""
        process, self._process, self._interrupted = self._process, None, False
        if self._passing is not None:
            self._passing.close()
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            # What was still to be written to it has nobody to read it.
            with contextlib.suppress(OSError):
                pipe.close()

    def _result(self, process: subprocess.Popen[bytes], deadline: float) -> Ended:
        assert process.stdout is not None
        reader = _Reader(process.stdout.fileno(), deadline)
        values = json.loads(reader.line())
        stdout, stderr = reader.take(values.pop("stdout_bytes")), reader.take(values.pop("stderr_bytes"))
        return Ended(stdout=stdout, stderr=stderr, **values)


class _Reader:
    """Reads a result by a deadline; raises OSError at the stream's end or when time is up."""

    def __init__(self, fd: int, deadline: float) -> None:
        self.fd, self.deadline, self.buffer = fd, deadline, bytearray()

    def line(self) -> bytes:
        while b"\n" not in self.buffer:
            self._more()
        return self.take(self.buffer.index(b"\n") + 1)

    def take(self, size: int) -> bytes:
        while len(self.buffer) < size:
            self._more()
        taken = bytes(self.buffer[:size])
        del self.buffer[:size]
        return taken

    def _more(self) -> None:
        left = self.deadline - time.monotonic()
        if left <= 0 or not select.select([self.fd], [], [], left)[0]:
            raise TimeoutError("no answer in time")
        chunk = os.read(self.fd, CHUNK)
        if not chunk:
            raise ConnectionResetError("its stream ended")
        self.buffer += chunk


def rlimits_of(limits: Limits) -> dict[str, int]:
    """The limits as the kernel takes them; CPU is in whole seconds there, so the next one above.

    A program that ignores the signal it gets there has one second more.
    """
    return {
        "RLIMIT_CPU": int(limits.cpu_seconds) + 1,
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_CORE": 0,
        # As contest judges give it: deep recursion is a usual way to solve, and memory bounds it. A finite limit
        # would also be the size that every thread reserves.
        "RLIMIT_STACK": resource.RLIM_INFINITY,
    }
