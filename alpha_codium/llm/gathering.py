"""Awaiting several calls at once."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def gather_all(calls: Iterable[Awaitable[T]]) -> list[T]:
    """Return all results. If a call fails, raise the first error after the others ended: their answers are paid for."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    await asyncio.gather(*tasks, return_exceptions=True)
    return [task.result() for task in tasks]  # a result may itself be an exception
