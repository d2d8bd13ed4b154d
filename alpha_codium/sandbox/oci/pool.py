"""What container backends share: the local backend's pool, its workers being containers.

A backend says which interpreter runs the programs (`inspect`) and how a container is started (`launch`).
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from alpha_codium.errors import SandboxError
from alpha_codium.limits import Limits
from alpha_codium.sandbox.isolation import Isolation
from alpha_codium.sandbox.local.cgroups import remove_stale
from alpha_codium.sandbox.local.inside import wire
from alpha_codium.sandbox.local.interpreter import Interpreter
from alpha_codium.sandbox.local.jail import Jail
from alpha_codium.sandbox.local.layers import Layer
from alpha_codium.sandbox.local.pool import BIND_NOW, HEAVY, WARM, LocalSandbox, Slot
from alpha_codium.sandbox.local.scratch import remove_stale as remove_stale_folders
from alpha_codium.sandbox.local.session import Session
from alpha_codium.sandbox.local.turn import Turn
from alpha_codium.sandbox.local.users import is_ours
from alpha_codium.sandbox.local.worker import Worker, WorkerLost
from alpha_codium.sandbox.oci.worker import ContainerWorker, Launch
from alpha_codium.sandbox.portable import environment_of
from alpha_codium.verdict import Status

# What no program may succeed in: the agent and the runner must be out of reach, and nothing of ours be writable.
ATTEMPTS = """
import os, socket, stat
def others():
    try:
        # What shows all processes of a container has another number for this one than it has itself.
        own = {str(os.getpid()), os.readlink("/proc/self")}
        return [name for name in os.listdir("/proc") if name.isdigit() and name not in own]
    except OSError:
        return []
for number in others():
    for file in ("mem", *(f"fd/{fd}" for fd in range(16))):
        try:
            opened = os.open(f"/proc/{number}/{file}", os.O_RDWR | os.O_NONBLOCK)
        except OSError:
            continue
        if not stat.S_ISCHR(os.fstat(opened).st_mode):
            raise SystemExit(f"{file} of process {number} can be opened")
for folder in ("/", "/usr", "/etc", "/lib"):
    try:
        os.close(os.open(f"{folder}/attempt", os.O_CREAT | os.O_WRONLY))
    except OSError:
        continue
    raise SystemExit(f"{folder} can be written to")
try:
    socket.create_connection(("127.0.0.1", 9), 1)
except PermissionError:
    raise SystemExit(0)
raise SystemExit("sockets can be made")
"""
HELD = "the kernel of its own, or the engine's walls, keep programs from it"


class ContainerSlot(Slot):
    """A worker's place whose workers are containers."""

    def __init__(self, plain: Jail, heavy: Sequence[str], launcher: Callable[[int], Launch]) -> None:
        self._launcher = launcher
        self.plain = ContainerWorker(plain, launcher)
        self._jail, self._heavy = plain, heavy
        self._others = {}

    def beside(self, name: str, preload: tuple[str, ...]) -> Worker:
        """A container of another kind, made when it is first asked for."""
        if name not in self._others:
            self._others[name] = ContainerWorker(replace(self._jail, preload=preload), self._launcher)
        return self._others[name]


class ContainerSandbox(LocalSandbox, ABC):
    """Runs programs in containers; see the module."""

    def __init__(
        self,
        workers: int = 0,
        isolation: Isolation = True,
        interpreter: str = "",
        preload: Sequence[str] = HEAVY,
    ) -> None:
        super().__init__(workers, isolation, "", preload)
        self.wanted_interpreter = interpreter

    @abstractmethod
    def inspect(self) -> Interpreter:
        """The interpreter that runs the programs; raises SandboxError where it, or what runs it, can't be had."""

    @abstractmethod
    def launch(self, memory_bytes: int) -> Launch:
        """How to start a container whose programs may have so much memory."""

    def prepare(self, interpreter: Interpreter) -> None:
        """Make what all containers share."""

    def release(self) -> None:
        """Remove what all containers shared."""

    async def __aenter__(self) -> Self:
        """Start a container and run a program in it, to see that this machine gives it."""
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
        """End all that runs, and the containers."""
        try:
            await super().__aexit__(kind, error, trace)
        finally:
            await asyncio.to_thread(self.release)

    @property
    def layers(self) -> list[Layer]:
        """What keeps programs from this machine, and from each other."""
        worker = self._slots[0].plain
        assert isinstance(worker, ContainerWorker)
        return [
            Layer("container", True, f"no network, no file of the host: {HELD}", ""),
            Layer("seccomp", True, "no system call that an ordinary program doesn't need, no other program", ""),
            Layer(
                "namespaces",
                worker.facts["nested"],
                "several processes a test, all of them ended with it; without them a test has one, with threads",
                "a runtime that lets a container make namespaces (runsc), or --security-opt seccomp=unconfined",
            ),
            Layer(
                "cgroup",
                worker.bounded,
                "CPU time and memory of all processes of a test together; without it a test has one, with threads",
                "run as root, or under systemd-run --user --scope -p Delegate=yes",
                needed=False,
            ),
            Layer("proc", worker.facts["proc"], "/dev/stdin and /proc/self for who opens them", "", needed=False),
        ]

    def _settle(self, turn: Turn, jail: Jail) -> None:
        """Start the first container and try to get out of it; raises SandboxError where it isn't what was asked for."""
        remove_stale()
        remove_stale_folders(is_ours)
        self._slots = [ContainerSlot(jail, self.preload, self.launch) for _ in range(self.workers)]
        worker = self._slots[0].plain
        try:
            worker.start()
            report = Session(worker, self._gate, turn, ATTEMPTS.encode(), b"", Limits()).run([""], None)
        except WorkerLost as error:
            raise SandboxError(self.refusal(str(error).splitlines()[-1])) from error
        if not report.executions or report.executions[0].status is not Status.FINISHED:
            execution = report.executions[0] if report.executions else report.compilation
            raise SandboxError(self.refusal(f"it doesn't hold: {execution.status} {execution.stderr[-500:].strip()}"))
        missing = [layer for layer in self.layers if layer.needed and not layer.used]
        if self.isolation == "strict" and missing:
            raise SandboxError(
                f'sandbox = "strict" asks for a complete jail, and this container gives no {missing[0].name} '
                f"({missing[0].how}): use -o code_tester.sandbox=true"
            )
        for slot in self._slots:
            self._idle.put(slot)

    def refusal(self, reason: str) -> str:
        """What is said where there is no such container."""
        return f"no container to run untrusted programs in ({reason})"
