"""Sandboxes for blocking code, and for functions that take a sandbox which may be open already."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from alpha_codium.coroutines import BACKGROUND, run_blocking
from alpha_codium.limits import Limits
from alpha_codium.program import Job, PairJob, Program
from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.verdict import Execution, Identity, PairReport, Report


class BlockingSandbox:
    """The sandbox of a `with` block: `Sandbox` with blocking methods, and an argument of every blocking function.

    Several threads may use it at once. It doesn't work in a forked process, which has to open its own.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    def run(
        self, program: str | Program, inputs: Sequence[str], *, limits: Limits | None = None, driver: str = ""
    ) -> Report:
        """Run a program on all inputs. A string is the source of a Python program. See `Job`."""
        return run_blocking(self._open().run(program, inputs, limits=limits, driver=driver))

    def execute(self, job: Job) -> Iterator[Execution]:
        """Yield the compiler's execution and that of each input, which runs when it is asked for."""
        executions = self._open().execute(job)

        async def following() -> Execution | None:
            return await anext(executions, None)

        try:
            while (execution := run_blocking(following())) is not None:
                yield execution
        finally:
            run_blocking(executions.aclose())

    def execute_pair(self, job: PairJob) -> PairReport:
        """Run two programs at once; raises PairUnsupported if the backend can't."""
        return run_blocking(self._open().execute_pair(job))

    def identity(self) -> Identity:
        """Return what the verdicts of this sandbox depend on."""
        return run_blocking(self._open().identity())

    def _open(self) -> Sandbox:
        if self.sandbox.loop is None:
            raise RuntimeError("the sandbox is closed")
        require_loop(self.sandbox, BACKGROUND.get())
        return self.sandbox


AnySandbox = Sandbox | BlockingSandbox


class SharedSandboxes:
    """The open sandboxes of this process that its callers share, by their name and options."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Leave the sandboxes to the parent process: after a fork, they can't be used."""
        self._lock, self._opened = threading.Lock(), dict[str, BlockingSandbox]()

    def get(self, name: str, options: dict[str, Any]) -> BlockingSandbox:
        """Return the sandbox, opened at the first call."""
        key = repr((name, sorted(options.items())))
        with self._lock:
            if key not in self._opened:
                self._opened[key] = open_sandbox(name, **options).__enter__()
            return self._opened[key]


SHARED = SharedSandboxes()
os.register_at_fork(after_in_child=SHARED.forget)


def shared_sandbox(name: str = "local", **options: Any) -> BlockingSandbox:
    """Return a sandbox for blocking functions that stays open until the process ends.

    The first call in a process opens it, and later calls with the same arguments, in any thread, return the same one.
    A forked process opens its own. For arguments and errors, see `open_sandbox`.
    """
    return SHARED.get(name, options)


@asynccontextmanager
async def opened(sandbox: AnySandbox) -> AsyncIterator[Sandbox]:
    """Yield an open sandbox: the given one as it is, or open only for this block if it isn't open yet.

    Raises RuntimeError if it is open in another event loop.
    """
    if isinstance(sandbox, BlockingSandbox):
        sandbox = sandbox.sandbox
    if sandbox.loop is None:
        async with sandbox as own:
            yield own
    else:
        require_loop(sandbox, asyncio.get_running_loop())
        yield sandbox


def require_loop(sandbox: Sandbox, loop: asyncio.AbstractEventLoop) -> None:
    """Raise RuntimeError unless the sandbox was opened in this event loop."""
    if sandbox.loop is not loop:
        raise RuntimeError(
            "this sandbox was opened in another event loop, or before this process was forked: a blocking function "
            "takes one opened by `with` in this process, a coroutine one opened by `async with` in its event loop"
        )
