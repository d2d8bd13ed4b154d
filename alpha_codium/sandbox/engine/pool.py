"""A pool of jailed workers, one per core, each with a warm interpreter that forks a process for each test.

1. A program waits for a worker, is compiled there once and run on its inputs; then the worker takes the next one.
2. A program that imports a heavy module (`preload`) runs in another zygote of its worker, which has the module loaded.
   Zygotes are started when they are first needed.
3. Each worker has a thread, so that comparing outputs there doesn't block the event loop.
"""

import asyncio
import contextlib
import functools
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar, Self, TypedDict, TypeVar

import alpha_codium
from alpha_codium.errors import SandboxError
from alpha_codium.language_table import LANGUAGES
from alpha_codium.languages.tools import Build
from alpha_codium.limits import Limits
from alpha_codium.paths import programs_folder
from alpha_codium.program import PYTHON, Job, PairJob, Program, Side, Workspace
from alpha_codium.sandbox.engine import cgroups, scratch
from alpha_codium.sandbox.engine.building import Builder
from alpha_codium.sandbox.engine.cancellation import Cancellation, Cancelled, finish, in_thread
from alpha_codium.sandbox.engine.channel import Channel
from alpha_codium.sandbox.engine.descriptors import DescriptorChannel
from alpha_codium.sandbox.engine.exclusive_lock import ExclusiveLock
from alpha_codium.sandbox.engine.interpreter import (
    Interpreter,
    environment_of_zygote,
    inspect_interpreter,
    packages_of,
    path_of,
    require_interpreter,
    version_of,
)
from alpha_codium.sandbox.engine.jail import Jail
from alpha_codium.sandbox.engine.pairs import run_pair
from alpha_codium.sandbox.engine.program_cache import ProgramCache
from alpha_codium.sandbox.engine.session import Building, Session
from alpha_codium.sandbox.engine.slot import Slot
from alpha_codium.sandbox.engine.toolchains import Toolchains
from alpha_codium.sandbox.engine.worker import Worker
from alpha_codium.sandbox.protocol import (
    Isolation,
    Layer,
    PairUnsupported,
    Sandbox,
    refuse_turns,
    require_language,
    require_one_file,
    worker_count,
)
from alpha_codium.verdict import Execution, Identity, PairReport, Report, Status

# Modules loaded in every zygote: those that programs import most and that hardly slow down a fork.
WARM = ("math", "collections", "heapq", "itertools", "bisect", "functools", "operator", "_sitebuiltins")
HEAVY = ("numpy", "pytest")
CANCELLED = Report(Execution(Status.INTERNAL_ERROR, stderr="sandbox: the run was cancelled"))
T = TypeVar("T")


class PoolOptions(TypedDict, total=False):
    """The options of every pool; see `open_sandbox`."""

    workers: int
    isolation: Isolation
    interpreter: str
    preload: Sequence[str]
    languages: Mapping[str, Mapping[str, str]]


class JailPool(Sandbox, ABC):
    """Runs programs in jailed workers; a backend defines the jails (`start_first`, `layers`) and how to reach them."""

    name: ClassVar[str]
    # Whether programs can run in the runtime of their language, such as a JVM, with the isolation of this backend.
    has_runtimes = True
    # Whether the standard streams of a program can be joined to another program.
    has_dialogues = True
    # Whether a program in Python may have several files.
    has_many_files = False
    # Whether compilers run in the backend's own jails, not in those of this machine.
    compiles_inside = False
    has_turns = True
    # What has to provide a complete jail, for messages.
    provider = "machine"

    def __init__(
        self,
        workers: int = 0,
        isolation: Isolation = True,
        interpreter: str = "",
        preload: Sequence[str] = HEAVY,
        languages: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    ) -> None:
        self.workers = worker_count(workers)
        self.isolation: Isolation = isolation
        self.interpreter = path_of(interpreter)
        self.preload: Sequence[str] = tuple(preload)
        self.toolchains = Toolchains(languages, bare="" if self.has_runtimes else self.name)
        self.workspace: Workspace | None = None
        # Languages whose compiler has been asked for its version, which takes milliseconds.
        self._known_languages = {PYTHON}
        self._lock = ExclusiveLock()
        self._slots: list[Slot] = []
        # The last slot that was used comes first: no more workers are started than run at a time.
        self._idle: asyncio.LifoQueue[Slot] = asyncio.LifoQueue()
        self._sessions: set[Session] = set()
        self._starter: ThreadPoolExecutor | None = None

    def inspect(self) -> Interpreter:
        """Return the interpreter that runs the programs; raises SandboxError if it, or what runs it, is missing."""
        require_interpreter(self.interpreter)
        return inspect_interpreter(self.interpreter)

    def prepare(self, interpreter: Interpreter) -> None:
        """Make the resources that all workers share; raises SandboxError."""

    def release(self) -> None:
        """Remove the resources that all workers shared."""

    async def __aenter__(self) -> Self:
        """Make the first jail, to check that this machine allows it."""
        interpreter = await asyncio.to_thread(self.inspect)
        self._idle = asyncio.LifoQueue()
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="starter")
        jail = Jail(interpreter, self._starter, WARM, environment_of_zygote(), workspace=self.workspace)
        try:
            await asyncio.to_thread(self.prepare, interpreter)
            cancellation = Cancellation()
            await in_thread(asyncio.to_thread(self._start_checked, cancellation, jail), cancellation)
            for slot in reversed(self._slots):
                slot.thread = ThreadPoolExecutor(1, thread_name_prefix="sandbox")
                self._idle.put_nowait(slot)
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return await super().__aenter__()

    async def __aexit__(self, *exc: object) -> None:
        """End all that runs, and the workers."""
        assert self._starter is not None
        await super().__aexit__(*exc)
        for slot in self._slots:
            for worker in slot.workers:
                worker.close()
        for slot in self._slots:
            if slot.thread is not None:
                await asyncio.to_thread(slot.thread.shutdown)
            await asyncio.to_thread(slot.residents.close)
            slot.executables.close()
        for session in tuple(self._sessions):
            await asyncio.to_thread(session.end)
        try:
            for slot in self._slots:
                for worker in slot.workers:
                    await asyncio.to_thread(worker.discard)
        finally:
            self._starter.shutdown()
            await asyncio.to_thread(self.release)
        # For groups that couldn't be removed in time, perhaps for lack of descriptors.
        await asyncio.to_thread(cgroups.remove_stale)

    async def identity(self) -> Identity:
        """See `Sandbox.identity`."""
        used = tuple(layer.name for layer in self.layers if layer.used)
        return await asyncio.to_thread(lambda: replace(self.describe(), isolation=used))

    def tool_version(self, language: str) -> str:
        """See `Sandbox.tool_version`."""
        return self.toolchains.version(language)

    def describe(self) -> Identity:
        """Return the identity without the isolation; overridden by backends that have an image or a runtime."""
        interpreter, packages = version_of(self.interpreter), packages_of(self.interpreter)
        return Identity(self.name, alpha_codium.__version__, interpreter, packages=packages)

    async def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        """See `Sandbox.execute`."""
        async with self._session(job) as (slot, session):
            executions = session.executions(job)
            while (execution := await self._do(slot, session.cancellation, lambda: next(executions, None))) is not None:
                yield execution

    async def consume(self, job: Job, on_execution: Callable[[Execution], bool]) -> Execution:
        """See `Sandbox.consume`; everything happens in the worker's thread."""

        def work() -> Execution:
            with contextlib.closing(session.executions(job)) as executions:
                compilation = next(executions)
                if compilation.finished:
                    all(map(on_execution, executions))
                return compilation

        async with self._session(job) as (slot, session):
            return await self._do(slot, session.cancellation, work)

    async def execute_pair(self, job: PairJob) -> PairReport:
        """See `Sandbox.execute_pair`."""
        talking = job.dialogue is not None
        if talking and not self.has_dialogues:
            raise PairUnsupported(f"{self.name} can't join the streams of two programs: use `ac.open_sandbox('local')`")
        require_language(job.left.program, *(LANGUAGES if talking and job.left.driver else (PYTHON,)))
        require_language(job.right.program, *(LANGUAGES if talking else (PYTHON,)))
        for side in job.sides:
            self._require_one_file(side)
        builds = [await self._build_of(side, job.limits_of(side)) for side in job.sides]
        cancellation = Cancellation()
        async with self._slot() as slot:
            workers = slot.worker_for(job.left.program.source, "pair"), self.worker_for(slot, job.right, builds[1])
            sessions = [
                Session(
                    worker, self._lock, cancellation, side, job.limits_of(side), self.building_of(slot, side, build)
                )
                for side, worker, build in zip(job.sides, workers, builds, strict=True)
            ]
            try:
                run = functools.partial(run_pair, sessions, self._lock, cancellation, job)
                return await self._do(slot, cancellation, run)
            except Cancelled:
                return PairReport(CANCELLED, CANCELLED)

    @contextlib.asynccontextmanager
    async def _session(self, job: Job) -> AsyncIterator[tuple[Slot, Session]]:
        """Give the job a worker and a session, which ends with the context or with the sandbox."""
        require_language(job.program, *LANGUAGES)
        self._require_one_file(job)
        if not self.has_turns:
            refuse_turns(job)
        build = await self._build_of(job, job.limits)
        async with self._slot() as slot:
            worker, building = self.worker_for(slot, job, build), self.building_of(slot, job, build)
            session = Session(worker, self._lock, Cancellation(), job, job.limits, building)
            self._sessions.add(session)
            try:
                with session.cancellation.calling(session.worker.interrupt):
                    yield slot, session
            finally:
                self._sessions.discard(session)
                if not session.has_ended:
                    await finish(asyncio.to_thread(session.end))

    async def _build_of(self, what: Job | Side, limits: Limits) -> Build | None:
        """Return how a program is built; None if the interpreter runs it. Raises SandboxError if it can't be run."""
        language = what.program.language
        if language == PYTHON:
            return None
        if language not in self._known_languages:
            await asyncio.to_thread(self.toolchains.language(language).tool)
            self._known_languages.add(language)
        return self.toolchains.build(what, limits)

    @functools.cached_property
    def _programs(self) -> ProgramCache:
        return ProgramCache(programs_folder())

    def _require_one_file(self, what: Job | Side) -> None:
        if not (self.has_many_files and what.program.language == PYTHON):
            require_one_file(what)

    def worker_for(self, slot: Slot, what: Job | Side, build: Build | None) -> Worker:
        """Return the worker for a program that runs alone, or beside another one as the right side."""
        if build is None:
            return slot.worker_for(what.program.source)
        return slot.with_tools(build.start.readable) if build.start.readable else slot.plain

    def building_of(self, slot: Slot, what: Job | Side, build: Build | None) -> Building | None:
        """Return what builds a program; None if the interpreter in the jail runs it."""
        if build is None:
            return None
        made, load = slot.residents.made, slot.executables.of
        return lambda stop: Builder(self._programs, slot.with_tools, stop, made, load).built(build)

    @contextlib.asynccontextmanager
    async def _slot(self) -> AsyncIterator[Slot]:
        """Reserve a slot for one job."""
        if not self._slots:
            raise RuntimeError("a sandbox must be opened first: async with open_sandbox(...) as sandbox")
        idle = self._idle
        slot = await idle.get()
        try:
            yield slot
        finally:
            idle.put_nowait(slot)

    async def _do(self, slot: Slot, cancellation: Cancellation, function: Callable[[], T]) -> T:
        """Run `function` in the slot's thread and return its result."""
        if self.loop is None or slot.thread is None:
            raise RuntimeError("the sandbox is closed")
        return await in_thread(asyncio.get_running_loop().run_in_executor(slot.thread, function), cancellation)

    @property
    @abstractmethod
    def layers(self) -> list[Layer]:
        """Return the layers of the jails on this machine."""

    @abstractmethod
    def start_first(self, cancellation: Cancellation, jail: Jail) -> None:
        """Make the slots, and the first worker's jail; raises SandboxError if it can't be made."""

    def _start_checked(self, cancellation: Cancellation, jail: Jail) -> None:
        """Make the first worker's jail; raises SandboxError if it is weaker than configured."""
        cgroups.remove_stale()
        scratch.remove_stale()
        self.start_first(cancellation, jail)
        missing = [layer for layer in self.layers if layer.needed and not layer.used]
        if self.isolation == "strict" and missing:
            raise SandboxError(
                'sandbox = "strict" requires complete isolation, but '
                f"this {self.provider} doesn't provide {missing[0].name} "
                f"({missing[0].how}): use `ac.open_sandbox(isolation=True)`"
            )

    def connect(self, jail: Jail, number: int, memory_bytes: int) -> Channel:
        """Return a channel to a new interpreter for a worker, see `Channel`."""
        return DescriptorChannel(jail, number, memory_bytes)

    def start(self, jail: Jail) -> None:
        """Make the slots, and start the first worker; raises WorkerLost."""
        compiler = self.connect if self.compiles_inside else DescriptorChannel
        self._slots = [Slot(jail, self.preload, self.connect, compiler) for _ in range(self.workers)]
        self._slots[0].plain.start()

    def attempt(self, cancellation: Cancellation, program: str) -> Execution:
        """Run a program that tries to break out of the first worker's jail; `finished` means that it failed to."""
        job = Job(Program.from_source(PYTHON, program), ("",))
        session = Session(self._slots[0].plain, self._lock, cancellation, job, job.limits)
        return list(session.executions(job))[-1]
