"""The portable backend, which runs a plain interpreter process for each test: neither fast nor a complete jail.

1. The program is compiled once, in a separate process; it isn't run if that fails.
2. Each input gets a new folder with the program in it, and a new `python program.py` there, with limits and its own
   session. A helper process (see `spawner`) starts it, inside the namespaces of `isolation`, and kills what is left of
   it before the next one starts. The folder is private if the machine allows it, else all programs can change it.
3. The time limit is CPU time. The wall limit is a backstop for programs that wait.
4. A driver is a file; a few lines of ours read it, remove it, and run it instead of the program.
5. Each worker has two spawners: a pair runs on both, so that no two pairs wait for each other.
"""

import asyncio
import contextlib
import queue
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import alpha_codium
from alpha_codium.languages.python import DRIVER, LANGUAGE
from alpha_codium.limits import COMPILE_LIMITS, OVERHEAD_BYTES, Limits
from alpha_codium.program import PYTHON, Job, PairJob, Program, Side
from alpha_codium.sandbox.engine.cancellation import Cancellation, Cancelled, WorkerLost
from alpha_codium.sandbox.engine.interpreter import environment_of, path_of, require_interpreter, version_of
from alpha_codium.sandbox.engine.outcome import execution_of, ran_out_of_memory, status_of
from alpha_codium.sandbox.portable.isolation import gives_private_folders, isolating_command
from alpha_codium.sandbox.portable.spawner_client import Ended, SpawnerClient
from alpha_codium.sandbox.protocol import (
    NO_DIALOGUES,
    Isolation,
    PairUnsupported,
    Sandbox,
    require_language,
    worker_count,
)
from alpha_codium.verdict import Execution, Identity, PairReport, Report, Status

T = TypeVar("T")


class PortableSandbox(Sandbox):
    """A sandbox of plain processes; see the module."""

    def __init__(self, workers: int = 0, isolation: Isolation = True, interpreter: str = "") -> None:
        self.workers = worker_count(workers)
        self.isolation: Isolation = isolation
        self.interpreter = path_of(interpreter)
        self._idle: queue.SimpleQueue[tuple[SpawnerClient, SpawnerClient]] = queue.SimpleQueue()
        self._workers: list[SpawnerClient] = []
        self._threads: ThreadPoolExecutor | None = None
        self._scratch: Path | None = None
        self._is_private = False

    async def __aenter__(self) -> Self:
        """Check isolation and interpreter, and make the scratch folder."""
        require_interpreter(self.interpreter)
        prefix = await asyncio.to_thread(isolating_command, self.isolation)
        self._is_private = await asyncio.to_thread(gives_private_folders, prefix, self.interpreter)
        self._workers, self._idle = [], queue.SimpleQueue()
        for _ in range(self.workers):
            left, right = (SpawnerClient(prefix, counted=bool(prefix), interpreter=self.interpreter) for _ in range(2))
            self._workers += (left, right)
            self._idle.put((left, right))
        self._threads = ThreadPoolExecutor(self.workers, thread_name_prefix="sandbox")
        self._scratch = Path(tempfile.mkdtemp(prefix="gencode-"))
        return await super().__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop what still runs and remove the scratch folder."""
        assert self._threads is not None and self._scratch is not None
        await super().__aexit__(kind, error, trace)
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.interrupt(closing=True)
        await asyncio.to_thread(self._threads.shutdown)
        for worker in self._workers:
            await asyncio.to_thread(worker.close)
        await asyncio.to_thread(remove, self._scratch)

    async def identity(self) -> Identity:
        """See `Sandbox.identity`."""
        interpreter = await asyncio.to_thread(version_of, self.interpreter)
        isolation = ("namespaces", *(["private folders"] if self._is_private else [])) if self.isolation else ()
        return Identity("portable", alpha_codium.__version__, interpreter, isolation=isolation)

    def tool_version(self, language: str) -> str:
        """See `Sandbox.tool_version`."""
        require_language(Program.from_source(language, ""), PYTHON)
        return ""

    async def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        """See `Sandbox.execute`."""
        if job.command:
            yield Execution(Status.FINISHED)
            yield await self._in_thread(self._execute, Side(job.program), job.limits, job.command)
            return
        require_language(job.program, PYTHON)
        execution = await self._in_thread(self._compile, job.program, job.limits)
        yield execution
        if not execution.finished:
            return
        for text in job.inputs:
            execution = await self._in_thread(self._execute, Side(job.program, job.driver, text), job.limits)
            yield execution
            if job.stop_after_failure and not execution.finished:
                return

    async def execute_pair(self, job: PairJob) -> PairReport:
        """See `Sandbox.execute_pair`."""
        if job.dialogue is not None:
            raise PairUnsupported(NO_DIALOGUES.format("portable"))
        sides = job.sides
        for side in sides:
            require_language(side.program, PYTHON)
        compiled = [await self._in_thread(self._compile, side.program, job.limits_of(side)) for side in sides]
        executed: tuple[Execution, ...] = ()
        if all(compilation.status is Status.FINISHED for compilation in compiled):
            executed = await self._in_thread(self._execute_both, job)
        left, right = (Report(compilation, executed[i : i + 1]) for i, compilation in enumerate(compiled))
        return PairReport(left, right)

    async def _in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        """Run a function in a thread; if this task is cancelled, its program ends at once."""
        cancellation = Cancellation()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function, cancellation, *arguments)
        except asyncio.CancelledError:
            cancellation.cancel()
            raise

    def _compile(self, cancellation: Cancellation, program: Program, limits: Limits) -> Execution:
        memory = min(COMPILE_LIMITS.memory_bytes, limits.memory_bytes + OVERHEAD_BYTES)
        with self._both_workers() as (worker, _):
            command = LANGUAGE.compile_command(self.interpreter, program.main)
            text = program.source.encode("utf-8", "replace")
            execution = self._run(cancellation, worker, command, text, replace(COMPILE_LIMITS, memory_bytes=memory))
        if execution.status in (Status.FINISHED, Status.INTERNAL_ERROR):
            return execution
        if execution.status is Status.RUNTIME_ERROR and execution.signal == signal.SIGKILL:
            # Not by one of our limits.
            return Execution(Status.INTERNAL_ERROR, stderr="sandbox: the compiler was killed")
        return Execution(Status.COMPILATION_ERROR, stderr=execution.stderr, exit_code=execution.exit_code)

    def _execute(
        self, cancellation: Cancellation, side: Side, limits: Limits, command: Sequence[str] = ()
    ) -> Execution:
        with self._both_workers() as (worker, _):
            return self._run_side(cancellation, worker, side, limits, command)

    def _execute_both(self, cancellation: Cancellation, job: PairJob) -> tuple[Execution, ...]:
        with self._both_workers() as workers, ThreadPoolExecutor(2) as threads:
            running = [
                threads.submit(self._run_side, cancellation, worker, side, job.limits_of(side), (), end)
                for worker, side, end in zip(workers, job.sides, socket.socketpair(), strict=True)
            ]
            return tuple(each.result() for each in running)

    @contextlib.contextmanager
    def _both_workers(self) -> Iterator[tuple[SpawnerClient, SpawnerClient]]:
        """Take both spawners of a worker."""
        both = self._idle.get()
        try:
            yield both
        finally:
            self._idle.put(both)

    def _run_side(
        self,
        cancellation: Cancellation,
        worker: SpawnerClient,
        side: Side,
        limits: Limits,
        command: Sequence[str] = (),
        channel: socket.socket | None = None,
    ) -> Execution:
        files, driven = dict(side.program.files), bool(side.driver)
        if not command:
            command = LANGUAGE.start_command(self.interpreter, side.program.main, driven=driven)
        if driven:
            files[DRIVER] = side.driver
        with channel or contextlib.nullcontext():
            return self._run(
                cancellation, worker, command, side.input.encode("utf-8", "replace"), limits, files, channel
            )

    def _run(
        self,
        cancellation: Cancellation,
        worker: SpawnerClient,
        command: Sequence[str],
        stdin: bytes,
        limits: Limits,
        files: Mapping[str, str] | None = None,
        channel: socket.socket | None = None,
    ) -> Execution:
        """Run the interpreter in a new folder with `files`; failures of the sandbox become internal errors."""
        assert self._scratch is not None
        try:
            folder = self._scratch if self._is_private else Path(tempfile.mkdtemp(dir=self._scratch))
            try:
                if not self._is_private:
                    write(folder, files or {})
                mounted = (files or {}) if self._is_private else None
                with cancellation.calling(worker.interrupt):
                    ended = worker.run(command, stdin, limits, folder, environment_of(folder), channel, mounted)
                if ended.start_error:
                    return Execution(Status.INTERNAL_ERROR, stderr=f"sandbox: {command[0]}: {ended.start_error}")
                status = status_of_end(ended, limits)
                return execution_of(ended, status, ended.stdout, ended.stderr, f"{folder}/".encode())
            finally:
                if not self._is_private:
                    remove(folder)
        except Cancelled:
            return Execution(Status.INTERNAL_ERROR, stderr="sandbox: the run was cancelled")
        except (OSError, WorkerLost) as error:
            return Execution(Status.INTERNAL_ERROR, stderr=f"sandbox: {error}")


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write a program's files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode("utf-8", "replace"))


def remove(folder: Path) -> None:
    """Remove a folder, even if a program made folders in it that are nested too deep for `shutil`."""
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        subprocess.run(["rm", "-rf", "--", str(folder)], capture_output=True, check=False)


def status_of_end(ended: Ended, limits: Limits) -> Status:
    """Return which limit was reached first, or how the program ended."""
    # The kernel counts CPU time in ticks: it may send SIGXCPU before the sum that it reports reaches the limit.
    too_slow = ended.cpu_seconds >= limits.cpu_seconds or ended.signal == signal.SIGXCPU
    return status_of(
        ended.exit_code,
        ended.signal,
        output_exceeded=ended.output_exceeded or ended.signal == signal.SIGXFSZ,
        time_exceeded=too_slow or ended.wall_exceeded,
        out_of_memory=ended.killed_for_memory or ran_out_of_memory(ended.stderr, ended.peak_bytes, limits),
    )
