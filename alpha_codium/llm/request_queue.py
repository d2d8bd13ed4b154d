"""The queue of requests to one model, first in, first out.

1. As soon as a request is done, the next is sent, so that one slow request never idles the others.
2. `alpha_codium.llm.adaptive_limit` says how many may be in flight.
3. If a provider that refuses many requests asks one to wait (`Retry-After`), all unsent requests wait. If it refuses
   one among many, only that one waits.
"""

import asyncio
import contextlib
from collections import deque

from alpha_codium.llm.adaptive_limit import AdaptiveLimit, SentRequest
from alpha_codium.llm.errors import TransientError
from alpha_codium.llm.messages import Answer


class RequestQueue:
    """The queue to one model; used in one event loop."""

    def __init__(self, limit: AdaptiveLimit) -> None:
        self._limit = limit
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._held_until = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def acquire(self) -> None:
        """Wait for a place in flight; `release` gives it back."""
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
                self.release()  # the place was given at the moment of the cancellation
            raise

    def release(self) -> None:
        """Give a place back."""
        self._in_flight -= 1
        self._wake()

    def sent(self) -> SentRequest:
        """Record that a request is sent."""
        return self._limit.sent(self._in_flight)

    def answered(self, request: SentRequest, answers: list[Answer]) -> None:
        """Record the answers to a request."""
        self._limit.answered(request, answers, self._in_flight)

    def failed(self, request: SentRequest, error: TransientError, longest_wait: float) -> None:
        """Record the error of a request; if the provider is full, all wait as long as it asks."""
        full = self._limit.is_full
        if error.cause == "rate_limited":
            self._limit.refused(request)
        if error.retry_after and (full or self._limit.is_full or self._in_flight <= 1):
            until = asyncio.get_running_loop().time() + min(error.retry_after, longest_wait)
            self._held_until = max(self._held_until, until)

    def _is_free(self) -> bool:
        return self._in_flight < self._limit.limit and not self._is_held()

    def _is_held(self) -> bool:
        return bool(self._held_until) and asyncio.get_running_loop().time() < self._held_until

    def _wake(self) -> None:
        """Give free places to those who wait; while all are held back, set a timer for the end of that."""
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
