"""A thread that does small jobs for an event loop, as many at a time as have come in.

With many calls in flight the jobs are shorter than the hand-over between threads, which waits for Python's lock: one
hand-over does for all jobs that are there.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
Ended = tuple["asyncio.Future[Any]", Any, BaseException | None]


class Worker:
    """Does jobs in their order in one thread; `close` waits until all are done."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._jobs: deque[tuple[Callable[[], Any], asyncio.Future[Any]]] = deque()
        self._at_work = False

    async def do(self, job: Callable[[], T]) -> T:
        """What a job gives, or raises; one whose caller is cancelled is done all the same."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.append((job, future))
        self._begin(loop)
        return await future

    def later(self, job: Callable[[], object]) -> None:
        """Have a job done that nobody waits for, after those that are waited for now."""
        self._thread.submit(job)

    def close(self) -> None:
        """Do what is left, and end the thread."""
        self._thread.shutdown()
        while self._jobs:
            self._jobs.popleft()[0]()

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._at_work:
            self._at_work = True
            self._thread.submit(self._work, loop)

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        ended = []
        while self._jobs:
            job, future = self._jobs.popleft()
            ended.append(_ended(job, future))
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(self._deliver, loop, ended)

    def _deliver(self, loop: asyncio.AbstractEventLoop, ended: list[Ended]) -> None:
        for future, result, fault in ended:
            if future.done():
                continue
            if fault is None:
                future.set_result(result)
            else:
                future.set_exception(fault)
        self._at_work = False
        if self._jobs:
            self._begin(loop)


def _ended(job: Callable[[], Any], future: "asyncio.Future[Any]") -> Ended:
    try:
        return future, job(), None
    except Exception as fault:  # noqa: BLE001 - it is raised where the job is waited for
        return future, None, fault
