"""The load of a server: a bound on the work that it accepts, and turns among its clients.

The cost of a request is the number of its tests. A request is accepted if its cost and that of the requests in progress
are at most `most_cost`, or if there are none. Of the programs of accepted requests, `at_once` are judged at a time. The
next one is that of the client that has had the fewest tests while others waited (start-time fair queueing), so that
neither a large batch nor large programs of one client hold up the others. A new name for each request is no advantage:
a new client counts as having had half of its first program already, so some who are waiting go first.
"""

import asyncio
import heapq
import itertools
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from alpha_codium.hosting import Refused, Stopping

LONGEST_RETRY_SECONDS = 60
# The share of the last finished cost in the estimate of the speed.
WEIGHT = 0.2
# The tests that a client has had are remembered for so many clients, the last ones.
MOST_CLIENTS = 10_000


class Overloaded(Refused):
    """The server has too much work; `retry_after` is in seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(429, f"the queue is full: try again in {retry_after} s", retry_after)


class Load:
    """The work of a server; for use in one event loop."""

    def __init__(self, at_once: int, most_cost: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most_cost = most_cost
        self.cost = 0
        self.draining = False
        self.refused = 0
        self.at_once = self._free = at_once
        self._clock = clock
        self._seconds_each = 0.0
        # Programs that wait: the tests that their client has before them, and a number that keeps them in order.
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        # The tests of each client so far, and those that the client of the last program had before it. A client that
        # comes later starts with as many.
        self._had: dict[str, float] = {}
        self._reached = 0.0

    @property
    def waiting(self) -> int:
        """The number of programs that wait for their turn."""
        return sum(not future.cancelled() for _, _, future in self._waiting)

    def check_open(self) -> None:
        """Raise Stopping or Overloaded if no request can be accepted, whatever its cost."""
        if self.draining:
            raise Stopping
        if self.cost >= self.most_cost:
            raise self._overloaded()

    @contextmanager
    def accepted(self, cost: int) -> Iterator[None]:
        """Accept a request; raises Overloaded or Stopping instead."""
        if self.draining:
            raise Stopping
        if self.cost and self.cost + cost > self.most_cost:
            raise self._overloaded()
        self.cost += cost
        try:
            yield
        finally:
            self.cost -= cost

    @property
    def retry_after(self) -> int:
        """The seconds after which about half of the accepted work will be done."""
        return min(LONGEST_RETRY_SECONDS, max(1, math.ceil(self._seconds_each * self.cost / self.at_once / 2)))

    def _overloaded(self) -> Overloaded:
        self.refused += 1
        return Overloaded(self.retry_after)

    @asynccontextmanager
    async def turn(self, client: str, cost: int) -> AsyncIterator[None]:
        """Wait for the client's turn to judge a program with `cost` tests."""
        await self._wait(client, cost)
        start = self._clock()
        try:
            yield
            seconds = (self._clock() - start) / max(1, cost)
            self._seconds_each += WEIGHT * (seconds - self._seconds_each)
        finally:
            self._next()

    async def _wait(self, client: str, cost: int) -> None:
        before = self._had.pop(client, None)
        had = max(self._reached, before) if before is not None else self._reached + (0 if self._free else cost / 2)
        self._had[client] = had + cost
        if len(self._had) > MOST_CLIENTS:
            del self._had[next(iter(self._had))]
        if self._free:
            self._free -= 1
            self._reached = had
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (had, next(self._numbers), mine))
        try:
            await mine
        except asyncio.CancelledError:
            if not mine.cancelled():  # it was given the place, and left at the same time
                self._next()
            raise

    def _next(self) -> None:
        """Give the free place to the program whose client has had the fewest tests."""
        while self._waiting:
            had, _, mine = heapq.heappop(self._waiting)
            if not mine.cancelled():
                self._reached = had
                mine.set_result(None)
                return
        self._free += 1
