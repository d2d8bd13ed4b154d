"""Waiting for work that must not be interrupted."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


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
