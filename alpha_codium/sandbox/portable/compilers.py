"""Compiling programs that the interpreter doesn't run, in jails of the engine, whatever isolates the programs."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from alpha_codium.languages.tools import Build
from alpha_codium.paths import programs_folder
from alpha_codium.sandbox.engine.cancellation import Cancellation, Cancelled
from alpha_codium.sandbox.engine.interpreter import environment_of_zygote, inspect_interpreter, path_of
from alpha_codium.sandbox.engine.jail import Jail
from alpha_codium.sandbox.engine.native import ProgramCache, artifact_of
from alpha_codium.sandbox.engine.slot import Slot
from alpha_codium.sandbox.engine.worker import Worker
from alpha_codium.sandbox.portable.isolation import namespaces_command
from alpha_codium.verdict import Execution, Status

CANCELLED = Execution(Status.INTERNAL_ERROR, stderr="sandbox: the run was cancelled")


class Compilers:
    """Compiles one program at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._slot: Slot | None = None
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="starter")

    def made(self, cancellation: Cancellation, build: Build) -> Path | Execution:
        """Return where `build` has made its artifact; or why it doesn't compile, or can't be compiled."""
        cache = ProgramCache(programs_folder())
        if found := cache.find(build):
            return found
        with self._lock:
            slot = self._slot = self._slot or self._new_slot()
            try:
                return artifact_of(build, cache, slot.with_tools, cancellation, slot.residents.made)
            except Cancelled:
                return CANCELLED

    def close(self) -> None:
        """End what is compiled; a thread in `made` returns."""
        slot = self._slot
        if slot is not None:
            for worker in slot.workers:
                worker.close()
            with self._lock:
                slot.residents.close()
                for worker in slot.workers:
                    worker.discard()
        self._starter.shutdown()

    def _new_slot(self) -> Slot:
        walls = not namespaces_command()
        jail = Jail(inspect_interpreter(path_of("")), self._starter, (), environment_of_zygote(), walls)
        return Slot(jail, (), Worker)
