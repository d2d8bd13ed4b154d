"""Cancelling the use of a worker by one thread from another, without harm to its next use."""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

T = TypeVar("T")


class Cancelled(Exception):
    """Nobody waits for the result any more."""


class WorkerLost(Exception):
    """The worker ended or stopped answering: nothing is known of the program that it ran."""


class Cancellation:
    """Interrupts what runs under it when it is cancelled; `check` raises Cancelled at the next step."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._interrupts: list[Callable[[], None]] = []
        self._cancelled = False

    @contextlib.contextmanager
    def calling(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Have `interrupt` called on cancellation inside the context; raises Cancelled if that is over already."""
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
        """End what runs, or would run."""
        with self._lock:
            self._cancelled = True
            for interrupt in self._interrupts:
                interrupt()


async def in_thread(work: Awaitable[T], cancellation: Cancellation) -> T:
    """Await what a thread does; if this task is cancelled, cancel that and wait until the thread has stopped."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        cancellation.cancel()
        # Nobody else may use the worker before this thread has stopped using it.
        await finish(asyncio.wait([task]))
        if not task.cancelled():
            task.exception()  # retrieved, or asyncio would log that it never was
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
