"""A child process that is started when it is first needed, and restarted after it was lost."""

import asyncio
import contextlib
import itertools
import os
import re
import signal
import time
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha_codium.sandbox.code_contests.inside import leftovers, wire
from alpha_codium.sandbox.engine.cancellation import WorkerLost, finish
from alpha_codium.sandbox.engine.cgroups import WorkerGroup, open_worker_group

INSIDE = Path(__file__).with_name("inside")
# Seconds for the start of a child, and for the overhead of a batch: at its beginning and end, and between two tests.
START_SECONDS, GRACE_SECONDS, BETWEEN_SECONDS = 60.0, 5.0, 1.0
CHUNK = 1 << 20
KEPT_LINES = 60
OUT_OF_MEMORY = ("bad_alloc", "MemoryError", "std::length_error")
# Errors of the kernel, as the sandbox logs them: the operation, the error and its number.
REFUSED = re.compile(r"RAW: ((?:(?!RAW: ).)+ \[\d+\])$")
CPU_FILES = {1: "cpuacct.usage", 2: "cpu.stat"}
_numbers = itertools.count()


class WallLimitReached(WorkerLost):
    """A test took longer than its wall limit, and was killed together with its child."""

    def __init__(self, seconds: float) -> None:
        super().__init__("the wall limit was reached")
        self.seconds = seconds


class TooMuchOutput(WorkerLost):
    """The output of a program didn't fit in the child's memory."""


@dataclass(frozen=True, slots=True)
class ChildConfig:
    """The python that runs a child, its environment variables, and the interpreter and libraries of the programs."""

    python: str
    interpreter: str
    libraries: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SandboxResult:
    """What the sandbox reports of compiling, or of a test, with its own `status` and `said`."""

    status: str
    said: str
    stdout: bytes
    stderr: bytes
    wall_seconds: float
    cpu_seconds: float


class ChildProcess:
    """One child; used by one task at a time."""

    def __init__(self, config: ChildConfig) -> None:
        self.config = config
        self.closing = False
        self._process: Process | None = None
        self._handle: int | None = None
        self._began = 0.0
        self._group: WorkerGroup | None = None
        self._log: asyncio.Task[None] | None = None
        self._said: deque[str] = deque(maxlen=KEPT_LINES)
        # Held while the child is started or ended, so that after waiting for its end nothing of it is left.
        self._changing = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """The child's process id, if it runs."""
        return self._process.pid if self._process else None

    @property
    def counts_cpu(self) -> bool:
        """Whether CPU times are known: whether a control group counts them."""
        return bool(self._group and "cpuacct" in self._group.parts)

    async def run(self, request: Mapping[str, Any], parts: Sequence[bytes], wall_seconds: float) -> list[SandboxResult]:
        """Run a batch, and return the results of compiling and of each test.

        `parts` are the program and its inputs; each may take `wall_seconds`. Raises WorkerLost.
        """
        try:
            process = await self._started()
            return await self._run(process, wire.pack(dict(request), parts), len(parts) - 1, wall_seconds)
        except WallLimitReached:
            await finish(self.discard())
            raise
        except (OSError, EOFError, TimeoutError, ValueError) as error:
            raise await self._lost(error) from error
        except asyncio.CancelledError:
            await finish(self.discard())
            raise

    async def discard(self) -> None:
        """End the child and everything that it runs; the next run starts a new one."""
        async with self._changing:
            await self._end()

    async def _run(self, process: Process, message: bytes, tests: int, wall_seconds: float) -> list[SandboxResult]:
        assert process.stdin is not None
        process.stdin.write(message)
        await process.stdin.drain()
        done, began = 0, time.monotonic()
        while True:
            # Compiling comes before the first test, and the results after the last.
            grace = GRACE_SECONDS if done in (0, tests) else BETWEEN_SECONDS
            try:
                async with asyncio.timeout(wall_seconds + grace):
                    header, parts = await self._answer(process)
            except TimeoutError as error:
                raise WallLimitReached(time.monotonic() - began) from error
            if "tests" in header:
                pairs = zip(parts[::2], parts[1::2], strict=True)
                return [
                    SandboxResult(**test, stdout=stdout, stderr=stderr)
                    for test, (stdout, stderr) in zip(header["tests"], pairs, strict=True)
                ]
            done, began = header["done"], time.monotonic()

    async def _started(self) -> Process:
        if self.closing:
            raise ConnectionAbortedError("the sandbox is closed")
        if self._process is not None:
            return self._process
        process = await finish(self._open())
        if self.closing:
            raise ConnectionAbortedError("the sandbox is closed")
        async with asyncio.timeout(START_SECONDS):
            await self._greet(process)
        return process

    async def _open(self) -> Process:
        """Start the child, in a group of its own."""
        async with self._changing:
            self._group = await asyncio.to_thread(open_worker_group, f"gencode-{os.getpid()}-{next(_numbers)}")
            self._began = time.time()
            # In a process group of its own, so that Ctrl-C in a terminal reaches only gencode.
            self._process = process = await asyncio.create_subprocess_exec(
                self.config.python, "-I", str(INSIDE), stdin=PIPE, stdout=PIPE, stderr=PIPE,
                env=dict(self.config.environment), process_group=0, limit=CHUNK,
            )  # fmt: skip
            self._handle = os.pidfd_open(process.pid)
            self._said.clear()
            self._log = asyncio.create_task(self._read_log(process))
            return process

    async def _end(self) -> None:
        process, self._process = self._process, None
        handle, self._handle = self._handle, None
        if handle is not None:
            # By descriptor: asyncio's own `kill` may reap the child before asyncio notices its end.
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.close(handle)
        if process is not None:
            await process.wait()
            await asyncio.to_thread(leftovers.remove, process.pid, self._began)
        log, self._log = self._log, None
        if log is not None:
            # Ends with the stream, which the child's own processes may keep open a little longer.
            await asyncio.wait([log], timeout=GRACE_SECONDS)
            log.cancel()
        group, self._group = self._group, None
        if group is not None:
            await asyncio.to_thread(group.kill_and_remove)

    async def _greet(self, process: Process) -> None:
        """Send the child its configuration, before it starts anything."""
        assert process.stdin is not None
        start: dict[str, Any] = {"interpreter": self.config.interpreter, "libraries": self.config.libraries}
        if self._group is not None:
            self._group.add(process.pid)
            if self.counts_cpu:
                part = self._group.parts["cpuacct"]
                start["cpu_file"] = str(part.folder / CPU_FILES[part.version])
        process.stdin.write(wire.pack(start))
        header, _ = await self._answer(process)
        if header["fault"]:
            raise ValueError(header["fault"])

    async def _answer(self, process: Process) -> tuple[dict[str, Any], list[bytes]]:
        assert process.stdout is not None
        lengths = wire.LENGTHS.unpack(await process.stdout.readexactly(wire.LENGTHS.size))
        text, blob = [await process.stdout.readexactly(length) for length in lengths]
        return wire.unpack(text, blob)

    async def _read_log(self, process: Process) -> None:
        """Keep the last lines of the child's log, which say why it ended."""
        assert process.stderr is not None
        while chunk := await process.stderr.read(CHUNK):
            self._said.extend(chunk.decode("utf-8", "replace").splitlines())

    async def _lost(self, error: Exception) -> WorkerLost:
        """End what is left of the child, and return why it was lost."""
        await finish(self.discard())
        reasons = [line for line in self._said if any(word in line for word in OUT_OF_MEMORY)]
        if reasons:
            return TooMuchOutput(reasons[-1])
        refused = [match[1] for line in self._said if (match := REFUSED.search(line))]
        said = refused or [line for line in self._said if line.strip() and "RAW:" not in line]
        return WorkerLost(f"the sandbox's child was lost ({said[-1] if said else error or type(error).__name__})")
