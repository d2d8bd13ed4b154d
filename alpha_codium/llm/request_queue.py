"""The queue of requests to one model, first in, first out.

1. The next request is sent as soon as one is done, so that a slow request doesn't delay others.
2. `alpha_codium.llm.adaptive_limit` limits the requests in flight.
3. If a provider that refuses many requests asks for a wait (`Retry-After`), all unsent requests wait. If it refuses
   only a few, only the refused ones wait.
"""

import asyncio
import contextlib
from collections import deque

from alpha_codium.llm.adaptive_limit import AdaptiveLimit
from alpha_codium.llm.errors import TransientError


class RequestQueue:
    """The queue of requests to one model, for use in one event loop."""

    def __init__(self, limit: AdaptiveLimit) -> None:
        self._limit = limit
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._held_until = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def acquire(self) -> None:
        """Wait until a request may be sent; call `release` when it is done."""
        if not self._waiting and self._is_free():
            self._in_flight += 1
            return
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        self._wake()
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.cancelled():
                with contextlib.suppress(ValueError):
                    self._waiting.remove(waiter)
            else:
                self.release()  # the waiter was woken just before the cancellation
            raise

    def release(self) -> None:
        """Record that a request is done, and wake the next one."""
        self._in_flight -= 1
        self._wake()

    def sent(self) -> int:
        """Return what `answered` and `failed` ask of a request that is sent now: the decreases before it."""
        return self._limit.decreases

    def answered(self, sent: int) -> None:
        """Record that a request was answered."""
        self._limit.answered(sent, self._in_flight)

    def failed(self, sent: int, error: TransientError, longest_wait: float) -> None:
        """Record the error of a request; if the provider is full, all requests wait for its `Retry-After`."""
        full = self._limit.is_full
        if error.cause == "rate_limited":
            self._limit.refused(sent)
        if error.retry_after and (full or self._limit.is_full or self._in_flight <= 1):
            until = asyncio.get_running_loop().time() + min(error.retry_after, longest_wait)
            self._held_until = max(self._held_until, until)

    def _is_free(self) -> bool:
        return self._in_flight < self._limit.limit and not self._is_held()

    def _is_held(self) -> bool:
        return bool(self._held_until) and asyncio.get_running_loop().time() < self._held_until

    def _wake(self) -> None:
        """Wake waiting requests while the limit allows; during a `Retry-After`, set a timer for its end."""
        while self._waiting and self._is_free():
            waiter = self._waiting.popleft()
            if not waiter.done():
                self._in_flight += 1
                waiter.set_result(None)
        if self._waiting and self._is_held() and self._timer is None:
            self._timer = asyncio.get_running_loop().call_at(self._held_until, self._end_hold, self._held_until)

    def _end_hold(self, held_until: float) -> None:
        self._timer = None
        if held_until >= self._held_until:  # otherwise a later request has to wait longer
            self._held_until = 0.0
        self._wake()
