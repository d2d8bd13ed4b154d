"""A pool of jailed workers, one a core, each with a warm interpreter that forks a process for each test.

1. A program waits for a worker, is compiled there once and run on its inputs; then the worker takes the next one.
2. A program that imports a heavy module (`preload`) goes to a second zygote of its worker, which has it loaded. Both
   are made when they are first needed.
3. Workers are driven by threads: they wait for sockets nearly always, and comparing outputs there holds up nobody.
"""

import asyncio
import os
import queue
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, TypedDict, TypeVar

from alpha_codium.errors import SandboxError
from alpha_codium.limits import Limits
from alpha_codium.sandbox.engine import pairs, pythons
from alpha_codium.sandbox.engine.cgroups import remove_stale
from alpha_codium.sandbox.engine.environment import BIND_NOW, environment_of
from alpha_codium.sandbox.engine.exclusive_lock import ExclusiveLock
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.interpreter import Interpreter, inspect_interpreter
from alpha_codium.sandbox.engine.jail import Jail
from alpha_codium.sandbox.engine.layers import Layer
from alpha_codium.sandbox.engine.scratch import remove_stale as remove_stale_folders
from alpha_codium.sandbox.engine.session import Session
from alpha_codium.sandbox.engine.turn import CalledOff, Turn
from alpha_codium.sandbox.engine.users import is_ours
from alpha_codium.sandbox.engine.worker import Worker
from alpha_codium.sandbox.protocol import Isolation, PairReport, Script, StopTest
from alpha_codium.verdict import Execution, Report, Status

# Loaded in every zygote: what programs import most, and what costs a fork next to nothing.
WARM = ("math", "collections", "heapq", "itertools", "bisect", "functools", "operator", "_sitebuiltins")
HEAVY = ("numpy",)
# Spaces within the line only: with line ends a program of blank lines takes quadratic time.
IMPORT = r"^[ \t]*(?:import|from)[ \t]+{}\b"
CALLED_OFF = Report(Execution(Status.INTERNAL_ERROR, stderr="sandbox: the run was called off"))
T = TypeVar("T")


class Slot:
    """A worker's place: the plain zygote, and beside it one for each heavy module that programs asked for.

    `make` makes a worker of what its jail is to be.
    """

    def __init__(self, plain: Jail, heavy: Sequence[str], make: Callable[[Jail], Worker]) -> None:
        self.plain = make(plain)
        self._jail, self._heavy, self._make = plain, heavy, make
        self._others: dict[str, Worker] = {}

    def worker_for(self, program: str) -> Worker:
        """The zygote that suits a program best."""
        for module in self._heavy:
            if module in program and re.search(IMPORT.format(re.escape(module)), program, re.MULTILINE):
                return self.beside(module, (*self._jail.preload, module))
        return self.plain

    def beside(self, name: str, preload: tuple[str, ...]) -> Worker:
        """A zygote of another kind, made when it is first asked for."""
        if name not in self._others:
            self._others[name] = self._make(replace(self._jail, preload=preload))
        return self._others[name]

    @property
    def workers(self) -> tuple[Worker, ...]:
        """All that there are by now."""
        return (self.plain, *self._others.values())


class Options(TypedDict, total=False):
    """What every pool is opened with, whatever its workers are; see `open_sandbox`."""

    workers: int
    isolation: Isolation
    interpreter: str
    preload: Sequence[str]


class JailPool(ABC):
    """Runs programs in jailed workers; a backend says what the jails are (`start_first`, `layers`)."""

    # What would have to provide a complete jail, for messages.
    provider = "machine"

    def __init__(
        self,
        workers: int = 0,
        isolation: Isolation = True,
        interpreter: str = "",
        preload: Sequence[str] = HEAVY,
    ) -> None:
        self.workers = workers or os.cpu_count() or 1
        self.isolation: Isolation = isolation
        self.interpreter = pythons.path_of(interpreter)
        self.preload = tuple(preload)
        self._lock = ExclusiveLock()
        self._slots: list[Slot] = []
        self._idle: queue.SimpleQueue[Slot] = queue.SimpleQueue()
        self._threads: ThreadPoolExecutor | None = None
        self._starter: ThreadPoolExecutor | None = None

    def inspect(self) -> Interpreter:
        """The interpreter that runs the programs; raises SandboxError where it, or what runs it, can't be had."""
        pythons.require(self.interpreter)
        return inspect_interpreter(self.interpreter)

    def prepare(self, interpreter: Interpreter) -> None:
        """Make what all workers share; raises SandboxError."""

    def release(self) -> None:
        """Remove what all workers shared."""

    async def __aenter__(self) -> Self:
        """Make a whole jail, to see that this machine gives it."""
        interpreter = await asyncio.to_thread(self.inspect)
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="starter")
        self._threads = ThreadPoolExecutor(self.workers, thread_name_prefix="sandbox")
        jail = Jail(interpreter, self._starter, WARM, environment_of(Path(wire.FOLDER)) | BIND_NOW)
        try:
            await asyncio.to_thread(self.prepare, interpreter)
            await self._in_thread(lambda turn: self._settle(turn, jail))
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all that runs, and the workers."""
        assert self._threads is not None and self._starter is not None
        self._threads.shutdown(wait=False, cancel_futures=True)
        for slot in self._slots:
            for worker in slot.workers:
                worker.close()
        await asyncio.to_thread(self._threads.shutdown)
        try:
            for slot in self._slots:
                for worker in slot.workers:
                    await asyncio.to_thread(worker.discard)
        finally:
            self._starter.shutdown()
            await asyncio.to_thread(self.release)
        # A group that couldn't be removed in time, for want of descriptors for one.
        await asyncio.to_thread(remove_stale)

    async def run(
        self,
        program: str,
        inputs: Sequence[str],
        *,
        limits: Limits | None = None,
        stop: StopTest | None = None,
        driver: str = "",
    ) -> Report:
        """Compile `program` and run it on each input; see `Sandbox.run`."""

        def work(turn: Turn) -> Report:
            return self._run(turn, program, driver, inputs, limits or Limits(), stop)

        return await self._in_thread(work)

    async def run_pair(self, left: Script, right: Script, *, limits: Limits | None = None) -> PairReport:
        """Run two programs at once with a channel between them; see `Sandbox.run_pair`."""

        def work(turn: Turn) -> PairReport:
            slot = self._idle.get()
            try:
                workers = (slot.beside("pair", slot.plain.jail.preload), slot.worker_for(right.program))
                return pairs.run_pair(workers, self._lock, turn, (left, right), limits or Limits())
            except CalledOff:
                return PairReport(CALLED_OFF, CALLED_OFF)
            finally:
                self._idle.put(slot)

        return await self._in_thread(work)

    async def _in_thread(self, function: Callable[[Turn], T]) -> T:
        """Run something in a thread of ours; where it is cancelled, what it runs ends at once."""
        if self._threads is None:
            raise RuntimeError("a sandbox must be opened first: async with open_sandbox(...) as sandbox")
        turn = Turn()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function, turn)
        except asyncio.CancelledError:
            turn.call_off()
            raise

    def _run(
        self, turn: Turn, program: str, driver: str, inputs: Sequence[str], limits: Limits, stop: StopTest | None
    ) -> Report:
        slot = self._idle.get()
        try:
            worker = slot.worker_for(program)
            source, driving = program.encode("utf-8", "replace"), driver.encode()
            with turn.of(worker.interrupt):
                return Session(worker, self._lock, turn, source, driving, limits).run(inputs, stop)
        except CalledOff:
            return CALLED_OFF
        finally:
            self._idle.put(slot)

    @property
    @abstractmethod
    def layers(self) -> list[Layer]:
        """What the jails are made of here."""

    @abstractmethod
    def start_first(self, turn: Turn, jail: Jail) -> None:
        """Make the places of all workers, and the first one's jail; raises SandboxError if there is none."""

    def _settle(self, turn: Turn, jail: Jail) -> None:
        """Make the first worker's jail, the strongest there is; raises SandboxError where less than what was asked."""
        remove_stale()
        remove_stale_folders(is_ours)
        self.start_first(turn, jail)
        missing = [layer for layer in self.layers if layer.needed and not layer.used]
        if self.isolation == "strict" and missing:
            raise SandboxError(
                f'sandbox = "strict" asks for a complete jail, and this {self.provider} gives no {missing[0].name} '
                f"({missing[0].how}): use -o code_tester.sandbox=true"
            )
        for slot in self._slots:
            self._idle.put(slot)

    def start(self, jail: Jail, make: Callable[[Jail], Worker]) -> None:
        """Make the places of all workers, and start the first one; raises WorkerLost."""
        self._slots = [Slot(jail, self.preload, make) for _ in range(self.workers)]
        self._slots[0].plain.start()

    def attempt(self, turn: Turn, program: bytes) -> Execution:
        """What becomes of a program in the first worker that finishes only where it gets nowhere."""
        report = Session(self._slots[0].plain, self._lock, turn, program, b"", Limits()).run([""], None)
        return report.executions[0] if report.executions else report.compilation
