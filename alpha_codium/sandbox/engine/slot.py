"""Slots of a pool: the workers of which one runs at a time."""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from alpha_codium.limits import COMPILER_LIMITS
from alpha_codium.sandbox.engine.executables import Executables
from alpha_codium.sandbox.engine.interpreter import inspect_interpreter, path_of
from alpha_codium.sandbox.engine.jail import Jail
from alpha_codium.sandbox.engine.resident import Residents
from alpha_codium.sandbox.engine.worker import Connect, Worker

# `[ \t]`, not `\s`, which matches line ends: on a program of blank lines it would take quadratic time.
IMPORT = r"^[ \t]*(?:import|from)[ \t]+{}\b"


class Slot:
    """The workers that share a thread: a plain one, and one for each heavy module that programs have imported."""

    def __init__(self, plain: Jail, heavy: Sequence[str], connect: Connect, connect_with_tools: Connect) -> None:
        self.plain = Worker(plain, connect)
        self._jail, self._heavy = plain, heavy
        self._connect, self._connect_with_tools = connect, connect_with_tools
        self._others: dict[str, Worker] = {}
        self.thread: ThreadPoolExecutor | None = None
        self.executables = Executables()
        self.residents = Residents(lambda tools: self.with_tools(tools, "resident"))

    def worker_for(self, program: str, purpose: str = "") -> Worker:
        """Return the worker that has the program's imports loaded; for another `purpose` it is another one."""
        for module in self._heavy:
            if module in program and re.search(IMPORT.format(re.escape(module)), program, re.MULTILINE):
                return self.beside(f"{purpose} {module}", (*self._jail.preload, module))
        return self.beside(purpose, self._jail.preload) if purpose else self.plain

    def beside(self, name: str, preload: tuple[str, ...]) -> Worker:
        """Return another worker, made on first use."""
        if name not in self._others:
            self._others[name] = Worker(replace(self._jail, preload=preload), self._connect)
        return self._others[name]

    def with_tools(self, tools: tuple[str, ...], purpose: str = "") -> Worker:
        """Return the worker whose jail has these tools, made on first use."""
        name = f"{purpose} tools {tools}"
        if name not in self._others:
            # Without namespaces, the user of a jail may be unable to reach gencode's own interpreter.
            interpreter = self._jail.interpreter if self._jail.walls else inspect_interpreter(path_of(""))
            jail = replace(self._jail, interpreter=interpreter, preload=(), workspace=None)
            jail = replace(jail, tools=tools, scratch_bytes=COMPILER_LIMITS.file_bytes * 2)
            self._others[name] = Worker(jail, self._connect_with_tools)
        return self._others[name]

    @property
    def workers(self) -> tuple[Worker, ...]:
        """All workers made so far."""
        return (self.plain, *self._others.values())
