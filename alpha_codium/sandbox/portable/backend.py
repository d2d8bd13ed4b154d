"""The portable backend, which runs a plain interpreter process for each test: neither fast nor a complete jail.

1. An agent (`inside/agent`) starts the processes, inside the namespaces of `isolation`. Each test gets new folders,
   with the program in them, and a new `python program.py` there. They are private if the machine allows it, else all
   programs can change them.
2. A program in Python is checked first, in a separate process; it isn't run if that fails. Programs in other languages
   are compiled by the engine, in its jails, and kept.
3. A driver is a file; a few lines of ours read it, remove it, and run it instead of the program.
"""

import marshal
import resource
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from loguru import logger

from alpha_codium.errors import SandboxError
from alpha_codium.languages.python import DRIVER, Python
from alpha_codium.languages.tools import Build
from alpha_codium.limits import COMPILE_LIMITS, OVERHEAD_BYTES, Limits
from alpha_codium.program import Job, Side
from alpha_codium.sandbox.engine.building import native_of
from alpha_codium.sandbox.engine.cancellation import Cancellation, WorkerLost
from alpha_codium.sandbox.engine.channel import Channel
from alpha_codium.sandbox.engine.containers.frame_channel import FrameChannel
from alpha_codium.sandbox.engine.containers.launch import Launch
from alpha_codium.sandbox.engine.containers.sources import FRAMES, starting_script
from alpha_codium.sandbox.engine.interpreter import (
    Interpreter,
    environment_of,
    inspect_interpreter,
    path_of,
    require_interpreter,
)
from alpha_codium.sandbox.engine.jail import OWN_PROCESSES, Jail, RunnerProgram
from alpha_codium.sandbox.engine.pool import JailPool, PoolOptions
from alpha_codium.sandbox.engine.session import Building
from alpha_codium.sandbox.engine.slot import Slot
from alpha_codium.sandbox.engine.worker import Worker
from alpha_codium.sandbox.portable.inside.rooms import remove
from alpha_codium.sandbox.portable.isolation import isolating_command, namespaces_command
from alpha_codium.sandbox.protocol import Layer

AGENT = (
    *(f"engine.inside.{name}" for name in ("wire", "known_good")),
    *FRAMES,
    *(f"portable.inside.{name}" for name in ("rooms", "process", "agent")),
)
# For private folders only: they need Linux.
PRIVATE = ("engine.inside.kernel", "portable.inside.private")
# An agent starts with these variables only: no secrets.
CLEAN = ("env", "--ignore-environment", "PATH=/usr/bin:/bin")


class PortableSandbox(JailPool):
    """A sandbox of plain processes; see the module."""

    name = "portable"
    has_turns = False
    has_dialogues = False
    has_many_files = True

    def __init__(self, **options: Unpack[PoolOptions]) -> None:
        """An interpreter that is started for each test preloads no modules."""
        options["preload"] = ()
        super().__init__(**options)
        self._prefix: tuple[str, ...] = ()
        # Whether programs have private folders; None until the first agent has tried.
        self._is_private: bool | None = None

    def inspect(self) -> Interpreter:
        """See `JailPool`; the interpreter of the jails in which programs are compiled is ours."""
        require_interpreter(self.interpreter)
        return inspect_interpreter(path_of(""))

    def prepare(self, interpreter: Interpreter) -> None:
        """See `JailPool`."""
        self._prefix = isolating_command(self.isolation)
        self._is_private = None if self._prefix else False

    @property
    def layers(self) -> list[Layer]:
        """See `JailPool`."""
        if not self._prefix:
            return []
        how = "no file of the host or of another program can be changed"
        return [
            Layer("namespaces", True, "no network, no other process", ""),
            Layer("private folders", bool(self._is_private), how, "Linux 5.12"),
        ]

    def start_first(self, cancellation: Cancellation, jail: Jail) -> None:
        """See `JailPool`."""
        self.toolchains = replace(self.toolchains, walls=not namespaces_command())
        try:
            self.start(replace(jail, preload=(), walls=self.toolchains.walls))
        except WorkerLost as error:
            raise SandboxError(f"the portable backend can't start programs ({error})") from error
        first = self._slots[0].plain
        self._is_private = first.facts["private folders"]
        if self._prefix and not self._is_private:
            reason = (first.last_words().splitlines() or ["unknown reason"])[-1]
            logger.warning(f"programs can read and change each other's files, and yours: no private folders ({reason})")

    def connect(self, jail: Jail, number: int, memory_bytes: int) -> Channel:
        """See `JailPool`."""
        return FrameChannel(jail, number, memory_bytes, self.launch)

    def launch(self, memory_bytes: int) -> Launch:
        """Return how to start an agent."""
        base = Path(tempfile.mkdtemp(prefix="gencode-"))
        folders = str(base / "box"), str(base / "program")
        for folder in folders:
            Path(folder).mkdir()
        script = starting_script() + "serve()\n"
        return Launch(
            (*CLEAN, *self._prefix, sys.executable, "-I", "-S", "-c", script),
            lambda: remove(str(base)),
            OVERHEAD_BYTES,
            # Without isolation, nothing is counted, either.
            members=None if self._prefix else tuple,
            modules=(*PRIVATE, *AGENT) if self._prefix else AGENT,
            config={
                "folders": folders,
                "interpreter": self.interpreter,
                # Those that follow never have less than the first one.
                "private": self._is_private,
                "variables": environment_of(base / "box"),
            },
            folders=folders,
            facts=("namespaces", "private folders"),
            request=plain_request,
        )

    def worker_for(self, slot: Slot, what: Job | Side, build: Build | None) -> Worker:
        """See `JailPool`."""
        return slot.plain

    def building_of(self, slot: Slot, what: Job | Side, build: Build | None) -> Building | None:
        """See `JailPool`."""
        return super().building_of(slot, what, build) if build is not None else lambda _: self._interpreted(what)

    def _interpreted(self, what: Job | Side) -> RunnerProgram:
        """Return what checks and runs a program in Python, or its driver."""
        files = {**what.program.files, **({DRIVER: what.driver} if what.driver else {})}
        contents = {path: text.encode("utf-8", "replace") for path, text in files.items()}
        command = Python().start_command(self.interpreter, what.program.main, driven=bool(what.driver))
        checking = {
            "command": list(Python().compile_command(self.interpreter, what.program.main)),
            "text": contents[what.program.main],
        }
        native = native_of(list(command), {}, writable=True, memory=("RLIMIT_AS", 0)) | {"check": checking}
        return RunnerProgram(marshal.dumps(contents, 2), main=what.program.main, native=native)


def plain_request(limits: Limits, program: RunnerProgram, counted: bool) -> dict[str, Any]:
    """Return a program's limits for the agent; `counted`: a control group limits the memory.

    The address space of a Python program is limited in any case.
    """
    assert program.native is not None
    native = dict(program.native)
    (name, more), check = native["memory"], native.get("check")
    memory = {} if counted and check is None else {name: limits.memory_bytes + more}
    stack = limits.stack_bytes if counted and check is None and name == "RLIMIT_AS" else resource.RLIM_INFINITY
    if check is not None:
        most = {"RLIMIT_AS": min(COMPILE_LIMITS.memory_bytes, limits.memory_bytes + OVERHEAD_BYTES)}
        rlimits = rlimits_of(COMPILE_LIMITS, most, resource.RLIM_INFINITY)
        native["check"] = {**check, "rlimits": rlimits, "output_bytes": COMPILE_LIMITS.output_bytes}
    return {"native": native, "rlimits": rlimits_of(limits, memory, stack)}


def rlimits_of(limits: Limits, memory: Mapping[str, int], stack: int) -> dict[str, int]:
    """Return the limits as the kernel takes them.

    A program that ignores the signal at its CPU limit gets one more second.
    """
    return {
        **memory,
        "RLIMIT_CPU": limits.kernel_cpu_seconds,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_NOFILE": limits.open_files,
        "RLIMIT_NPROC": limits.processes + OWN_PROCESSES,
        "RLIMIT_CORE": 0,
        # As on contest judges: deep recursion is common, and bounded by memory. A finite limit is also the size that
        # every thread reserves, so there is none where that counts.
        "RLIMIT_STACK": stack,
    }
