"""The load of a server: a bound on the work that it accepts, and turns among its clients.

The cost of a request is the number of its tests. A request is accepted if its cost and that of the requests in progress
are at most `most_cost`, or if there are none. Of the programs of accepted requests, `at_once` are judged at a time, and
the clients take turns, so that a large batch of one doesn't hold up the others.
"""

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

LONGEST_RETRY_SECONDS = 60
# The share of the last finished cost in the estimate of the speed.
WEIGHT = 0.2


class Overloaded(Exception):
    """The server has too much work; `retry_after` is in seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"the queue is full: try again in {retry_after} s")
        self.retry_after = retry_after


class Draining(Exception):
    """The server is about to stop, and accepts no more work."""


class Load:
    """The work of a server; for use in one event loop."""

    def __init__(self, at_once: int, most_cost: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most_cost = most_cost
        self.cost = 0
        self.draining = False
        self._free = at_once
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._clock = clock
        self._seconds_each = 0.0

    @property
    def waiting(self) -> int:
        """The number of programs that wait for their turn."""
        return sum(not future.cancelled() for futures in self._waiting.values() for future in futures)

    @contextmanager
    def accepted(self, cost: int) -> Iterator[None]:
        """Accept a request; raises Overloaded or Draining instead."""
        if self.draining:
            raise Draining("the server is stopping: try another one")
        if self.cost and self.cost + cost > self.most_cost:
            raise Overloaded(self.retry_after)
        self.cost += cost
        try:
            yield
        finally:
            self.cost -= cost

    @property
    def retry_after(self) -> int:
        """The seconds after which about half of the accepted work will be done."""
        return min(LONGEST_RETRY_SECONDS, max(1, math.ceil(self._seconds_each * self.cost / 2)))

    @asynccontextmanager
    async def turn(self, client: str, cost: int) -> AsyncIterator[None]:
        """Wait for the client's turn to judge a program with `cost` tests."""
        await self._wait(client)
        start = self._clock()
        try:
            yield
            seconds = (self._clock() - start) / max(1, cost)
            self._seconds_each += WEIGHT * (seconds - self._seconds_each)
        finally:
            self._next()

    async def _wait(self, client: str) -> None:
        if self._free:
            self._free -= 1
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(client, deque()).append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if not mine.cancelled():  # it was given the place, and left at the same time
                self._next()
            raise

    def _next(self) -> None:
        """Give the free place to the client that has waited longest for its turn."""
        while self._waiting:
            client, futures = self._waiting.popitem(last=False)
            mine = futures.popleft()
            if futures:
                self._waiting[client] = futures
            if not mine.cancelled():
                mine.set_result(None)
                return
        self._free += 1
