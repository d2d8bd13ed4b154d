"""Awaiting work that must not be left half done."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def whole(work: Awaitable[T]) -> T:
    """Await what must not be left half done; who is cancelled meanwhile, however often, is so when it is done."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None and not task.cancelled():
        # Asked for, or asyncio would complain that nobody did.
        raise cancelled from task.exception()
    return task.result()
