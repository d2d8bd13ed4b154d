"""Concurrent calls."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def gather_all(calls: Iterable[Awaitable[T]]) -> list[T]:
    """Return all results. If a call fails, wait for the others, whose answers are paid for; raise the first error."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    await asyncio.gather(*tasks, return_exceptions=True)
    return [task.result() for task in tasks]  # a result may itself be an exception
