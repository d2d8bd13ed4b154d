"""The portable backend, which runs a plain interpreter process for each test: neither fast nor a complete jail.

1. The program is compiled once, in a separate process; it isn't run if that fails. Programs in other languages are
   compiled by the engine, in its jail, and kept; the artifact is started where it is kept.
2. Each input gets a new folder with the program in it, and a new `python program.py` there, with limits and its own
   session. A helper process (see `spawner`) starts it, inside the namespaces of `isolation`, and kills what is left of
   it before the next one starts. The folder is private if the machine allows it, else all programs can change it.
3. The time limit is CPU time. The wall limit is a backstop for programs that wait.
4. A driver is a file; a few lines of ours read it, remove it, and run it instead of the program.
5. Each worker has two spawners: a pair runs on both, so that no two pairs wait for each other.
"""

import asyncio
import contextlib
import functools
import queue
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self, TypeVar

import alpha_codium
from alpha_codium.errors import UserError
from alpha_codium.language_table import LANGUAGES
from alpha_codium.languages.python import DRIVER, LANGUAGE
from alpha_codium.languages.tools import ARTIFACT
from alpha_codium.limits import COMPILE_LIMITS, OVERHEAD_BYTES, Limits
from alpha_codium.paths import programs_folder
from alpha_codium.program import PYTHON, Job, PairJob, Program, Side
from alpha_codium.sandbox.engine.cancellation import Cancellation, Cancelled, WorkerLost
from alpha_codium.sandbox.engine.interpreter import (
    environment_of,
    packages_of,
    path_of,
    require_interpreter,
    version_of,
)
from alpha_codium.sandbox.engine.native import memory_limit
from alpha_codium.sandbox.engine.outcome import execution_of, lost, ran_out_of_memory, status_of
from alpha_codium.sandbox.engine.toolchains import Toolchains
from alpha_codium.sandbox.portable.compilers import CANCELLED, Compilers
from alpha_codium.sandbox.portable.isolation import gives_private_folders, isolating_command, namespaces_command
from alpha_codium.sandbox.portable.spawner_client import Ended, SpawnerClient
from alpha_codium.sandbox.protocol import (
    NO_DIALOGUES,
    Isolation,
    PairUnsupported,
    Sandbox,
    refuse_turns,
    require_language,
    require_one_file,
    worker_count,
)
from alpha_codium.values import surrogate_in
from alpha_codium.verdict import Execution, Identity, PairReport, Report, Status

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Process:
    """What a test's process runs: a command in a folder with `files`; `memory` as for `SpawnerClient.run`.

    `kept` is the folder of the host with the compiled program, whose path isn't shown in messages.
    """

    command: Sequence[str]
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    memory: tuple[str, int] | None = None
    kept: str = ""


class PortableSandbox(Sandbox):
    """A sandbox of plain processes; see the module."""

    def __init__(
        self,
        workers: int = 0,
        isolation: Isolation = True,
        interpreter: str = "",
        languages: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    ) -> None:
        self.workers = worker_count(workers)
        self.isolation: Isolation = isolation
        self.interpreter = path_of(interpreter)
        self._toolchains = Toolchains(languages)
        self._compilers = Compilers()
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
        has_namespaces = bool(await asyncio.to_thread(namespaces_command))
        self._toolchains = replace(self._toolchains, walls=not has_namespaces)
        self._workers, self._idle, self._compilers = [], queue.SimpleQueue(), Compilers()
        shown = await asyncio.to_thread(folder_of_programs)
        make = functools.partial(SpawnerClient, prefix, counted=bool(prefix), interpreter=self.interpreter, shown=shown)
        for _ in range(self.workers):
            left, right = make(), make()
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
        self._compilers.interrupt()
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self._compilers.close)
        for worker in self._workers:
            await asyncio.to_thread(worker.close)
        await asyncio.to_thread(remove, self._scratch)

    async def identity(self) -> Identity:
        """See `Sandbox.identity`."""
        interpreter = await asyncio.to_thread(version_of, self.interpreter)
        packages = await asyncio.to_thread(packages_of, self.interpreter)
        isolation = ("namespaces", *(["private folders"] if self._is_private else [])) if self.isolation else ()
        return Identity("portable", alpha_codium.__version__, interpreter, isolation=isolation, packages=packages)

    def tool_version(self, language: str) -> str:
        """See `Sandbox.tool_version`."""
        return self._toolchains.version(language)

    async def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        """See `Sandbox.execute`."""
        refuse_turns(job)
        require_language(job.program, *LANGUAGES)
        if job.program.language == PYTHON:
            compilation = await self._in_thread(self._compile, job.program, job.limits)
            process = self._interpreted(job)
        else:
            compilation, process = await self._built(job)
        yield compilation
        if not compilation.finished:
            return
        for text in job.inputs:
            execution = await self._in_thread(self._execute, process, text, job.limits)
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

    async def _built(self, job: Job) -> tuple[Execution, Process]:
        """Compile a program that the interpreter doesn't run; return the compiler's execution, and what runs it."""
        require_one_file(job)
        if reason := surrogate_in(*job.program.files.values()):
            return Execution(Status.COMPILATION_ERROR, stderr=f"the program is {reason}"), Process(())
        build = await asyncio.to_thread(self._toolchains.build, job, job.limits)
        assert build is not None
        made = await self._in_thread(self._compilers.made, build)
        if isinstance(made, Execution):
            return made, Process(())
        start = build.start
        command = [argument.replace(ARTIFACT, str(made)) for argument in start.command] or [str(made)]
        process = Process(command, {}, start.environment, memory_limit(start), f"{made.parent}/")
        return Execution(Status.FINISHED, exit_code=0), process

    def _interpreted(self, what: Job | Side) -> Process:
        """Return what runs a Python program, or its driver."""
        command = LANGUAGE.start_command(self.interpreter, what.program.main, driven=bool(what.driver))
        return Process(command, {**what.program.files, **({DRIVER: what.driver} if what.driver else {})})

    async def _in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        """Run a function in a thread; if this task is cancelled, its program ends at once."""
        cancellation = Cancellation()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function, cancellation, *arguments)
        except asyncio.CancelledError:
            cancellation.cancel()
            raise

    def _compile(self, cancellation: Cancellation, program: Program, limits: Limits) -> Execution:
        if reason := surrogate_in(*program.files.values()):
            return Execution(Status.COMPILATION_ERROR, stderr=f"the program is {reason}")
        memory = min(COMPILE_LIMITS.memory_bytes, limits.memory_bytes + OVERHEAD_BYTES)
        with self._both_workers() as (worker, _):
            command = LANGUAGE.compile_command(self.interpreter, program.main)
            text = program.source
            limits = replace(COMPILE_LIMITS, memory_bytes=memory)
            execution = self._run(cancellation, worker, Process(command), text, limits)
        if execution.status in (Status.FINISHED, Status.INTERNAL_ERROR):
            return execution
        if execution.status is Status.RUNTIME_ERROR and execution.signal == signal.SIGKILL:
            # Not by one of our limits.
            return lost("the compiler was killed")
        return Execution(Status.COMPILATION_ERROR, stderr=execution.stderr, exit_code=execution.exit_code)

    def _execute(self, cancellation: Cancellation, process: Process, stdin: str, limits: Limits) -> Execution:
        with self._both_workers() as (worker, _):
            return self._run(cancellation, worker, process, stdin, limits)

    def _execute_both(self, cancellation: Cancellation, job: PairJob) -> tuple[Execution, ...]:
        with self._both_workers() as workers, ThreadPoolExecutor(2) as threads:
            running = [
                threads.submit(self._run_linked, cancellation, worker, side, job.limits_of(side), end)
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

    def _run_linked(
        self, cancellation: Cancellation, worker: SpawnerClient, side: Side, limits: Limits, channel: socket.socket
    ) -> Execution:
        with channel:
            return self._run(cancellation, worker, self._interpreted(side), side.input, limits, channel)

    def _run(
        self,
        cancellation: Cancellation,
        worker: SpawnerClient,
        process: Process,
        stdin: str,
        limits: Limits,
        channel: socket.socket | None = None,
    ) -> Execution:
        """Run a process in a new folder; failures of the sandbox become internal errors."""
        assert self._scratch is not None
        try:
            folder = self._scratch if self._is_private else Path(tempfile.mkdtemp(dir=self._scratch))
            try:
                if not self._is_private:
                    write(folder, process.files)
                mounted = process.files if self._is_private else None
                environment = environment_of(folder) | dict(process.environment)
                data, memory = stdin.encode("utf-8", "replace"), process.memory
                with cancellation.calling(worker.interrupt):
                    ended = worker.run(process.command, data, limits, folder, environment, channel, mounted, memory)
                if ended.start_error:
                    return lost(f"{process.command[0]}: {ended.start_error}")
                # As in the engine's runner client, the peak of a compiled program decides.
                is_image = process.memory is not None and process.memory[0] == "RLIMIT_AS"
                if is_image and ended.peak_bytes > limits.memory_bytes:
                    ended = replace(ended, wait_status=signal.SIGKILL, killed_for_memory=True)
                status = status_of_end(ended, limits)
                stderr = ended.stderr.replace(process.kept.encode(), b"") if process.kept else ended.stderr
                return execution_of(ended, status, ended.stdout, stderr, f"{folder}/".encode())
            finally:
                if not self._is_private:
                    remove(folder)
        except Cancelled:
            return CANCELLED
        except (OSError, WorkerLost) as error:
            return lost(error)


def folder_of_programs() -> str:
    """Return the folder of compiled programs; empty if there is none, and programs must be in Python."""
    try:
        return str(programs_folder())
    except UserError:
        return ""


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
    return status_of(
        ended.exit_code,
        ended.signal,
        output_exceeded=ended.output_exceeded or ended.signal == signal.SIGXFSZ,
        time_exceeded=ended.cpu_seconds >= limits.cpu_seconds or ended.wall_exceeded,
        out_of_memory=ended.killed_for_memory or ran_out_of_memory(ended.stderr, ended.peak_bytes, limits),
    )
