"""Cancellation of work in another thread, without affecting the worker's next use."""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

T = TypeVar("T")


class Cancelled(Exception):
    """The work was cancelled."""


class WorkerLost(Exception):
    """The worker ended or stopped answering; there is no result for the program that it ran."""


class Cancellation:
    """A cancellation token: `cancel` interrupts the current call, and `check` then raises Cancelled."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._interrupts: list[Callable[[], None]] = []
        self._cancelled = False

    @contextlib.contextmanager
    def calling(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Call `interrupt` on a cancellation inside the context; raises Cancelled if already cancelled."""
        with self._lock:
            self._interrupts.append(interrupt)
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._interrupts.remove(interrupt)

    def check(self) -> None:
        """Raise Cancelled if this was cancelled."""
        with self._lock:
            if self._cancelled:
                raise Cancelled

    def cancel(self) -> None:
        """Interrupt the current call, and prevent further ones."""
        with self._lock:
            self._cancelled = True
            for interrupt in self._interrupts:
                interrupt()


async def in_thread(work: Awaitable[T], cancellation: Cancellation) -> T:
    """Await work in a thread; if this task is cancelled, cancel the work and wait until the thread has stopped."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        cancellation.cancel()
        # The worker must not be used again before this thread has stopped. `gather` retrieves its exception, even if
        # this task is cancelled again meanwhile: asyncio would log one that nobody retrieved.
        await finish(asyncio.gather(task, return_exceptions=True))
        raise


async def finish(work: Awaitable[T]) -> T:
    """Await `work` to its end, even if this task is cancelled meanwhile; then raise CancelledError."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None and not task.cancelled():
        # Retrieving the exception keeps asyncio from logging that it was never retrieved.
        raise cancelled from task.exception()
    return task.result()
