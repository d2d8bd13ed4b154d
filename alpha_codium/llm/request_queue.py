"""The queue to one model: who waits for a turn, in the order of arrival, and for how long nobody gets one.

1. A window slides: whoever is done makes room for the next at once, so one slow request never idles the others.
2. The limit of the window is that of `alpha_codium.llm.adaptive_limit`.
3. What a provider that refuses many asks one request to wait (`Retry-After`) is waited by all that have not been sent
   yet. Where it refuses one among many, only that one waits.
"""

import asyncio
import contextlib
from collections import deque

from alpha_codium.llm.adaptive_limit import AdaptiveLimit, SentRequest
from alpha_codium.llm.errors import TransientError
from alpha_codium.llm.messages import Answer


class RequestQueue:
    """Turns at one model; used in one event loop."""

    def __init__(self, limit: AdaptiveLimit) -> None:
        self._limit = limit
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._held_until = 0.0
        self._alarm: asyncio.TimerHandle | None = None

    @property
    def limit(self) -> int:
        """How many may be in flight now."""
        return self._limit.limit

    async def acquire(self) -> None:
        """Wait for a turn; `release` gives it back."""
        if not self._waiting and self._is_free():
            self._in_flight += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self._wake()
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                with contextlib.suppress(ValueError):
                    self._waiting.remove(place)
            else:
                self.release()  # the turn came together with the cancellation
            raise

    def release(self) -> None:
        """Give a turn back."""
        self._in_flight -= 1
        self._wake()

    def sent(self) -> SentRequest:
        """Note that a request goes out."""
        return self._limit.sent(self._in_flight)

    def answered(self, request: SentRequest, answers: list[Answer]) -> None:
        """Note what came of it."""
        self._limit.answered(request, answers, self._in_flight)

    def failed(self, request: SentRequest, fault: TransientError, longest_wait: float) -> None:
        """Note its fault, and hold back everybody for as long as a provider asks that is full."""
        full = self._limit.is_full
        if fault.cause == "rate_limited":
            self._limit.refused(request)
        if fault.retry_after and (full or self._limit.is_full or self._in_flight <= 1):
            until = asyncio.get_running_loop().time() + min(fault.retry_after, longest_wait)
            self._held_until = max(self._held_until, until)

    def _is_free(self) -> bool:
        return self._in_flight < self._limit.limit and not self._is_held()

    def _is_held(self) -> bool:
        return bool(self._held_until) and asyncio.get_running_loop().time() < self._held_until

    def _wake(self) -> None:
        """Give turns to those who wait; while all are held back, set an alarm for the end of that."""
        while self._waiting and self._is_free():
            place = self._waiting.popleft()
            if not place.done():
                self._in_flight += 1
                place.set_result(None)
        if self._waiting and self._is_held() and self._alarm is None:
            self._alarm = asyncio.get_running_loop().call_at(self._held_until, self._end_hold, self._held_until)

    def _end_hold(self, held_until: float) -> None:
        self._alarm = None
        if held_until >= self._held_until:  # else somebody was told to wait for longer
            self._held_until = 0.0
        self._wake()
