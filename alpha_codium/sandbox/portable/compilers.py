"""Compiling programs that the interpreter doesn't run, in jails of the engine, whatever isolates the programs."""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from alpha_codium.languages.tools import Build
from alpha_codium.paths import programs_folder
from alpha_codium.sandbox.engine.cancellation import Cancellation, Cancelled
from alpha_codium.sandbox.engine.interpreter import environment_of_zygote, inspect_interpreter, path_of
from alpha_codium.sandbox.engine.jail import Jail
from alpha_codium.sandbox.engine.native import ProgramCache, make
from alpha_codium.sandbox.engine.outcome import lost
from alpha_codium.sandbox.engine.slot import Slot
from alpha_codium.sandbox.portable.isolation import namespaces_command
from alpha_codium.verdict import Execution, Status

CANCELLED = Execution(Status.INTERNAL_ERROR, stderr="sandbox: the run was cancelled")


class Compilers:
    """Compiles one program at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._slot: Slot | None = None
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="starter")
        self._closing = False

    def made(self, cancellation: Cancellation, build: Build) -> Path | Execution:
        """Return where `build` has made its artifact; or why it doesn't compile, or can't be compiled."""
        made = ProgramCache(programs_folder()).find(build) or self._compiled(cancellation, build)
        if isinstance(made, Path):
            # If another process has removed it to make room, starting it fails.
            with contextlib.suppress(OSError):
                made.chmod(0o755)
        return made

    def interrupt(self) -> None:
        """End what is compiled, and compile nothing more."""
        self._closing = True
        for worker in self._slot.workers if self._slot else ():
            worker.close()

    def close(self) -> None:
        """Release everything; no thread may be in `made`."""
        if self._slot is not None:
            self._slot.residents.close()
            for worker in self._slot.workers:
                worker.discard()
        self._starter.shutdown()

    def _compiled(self, cancellation: Cancellation, build: Build) -> Path | Execution:
        with self._lock:
            if self._closing:
                return CANCELLED
            slot, cache = self._slot or self._new_slot(), ProgramCache(programs_folder())
            try:
                return make(build, cache, slot.with_tools, cancellation, slot.residents.made)
            except Cancelled:
                return CANCELLED
            except OSError as error:
                return lost(f"a compiled program can't be stored in the cache: {error.strerror}")

    def _new_slot(self) -> Slot:
        walls = not namespaces_command()
        jail = Jail(inspect_interpreter(path_of("")), self._starter, (), environment_of_zygote(), walls)
        self._slot = Slot(jail, ())
        return self._slot
