"""Waits before retries.

1. The wait is exponential: it doubles from `first_wait` with every retry, up to `longest_wait`. It is multiplied by a
   random number from 0.5 to 1, so that calls that failed together aren't repeated together.
2. It is at least the provider's `Retry-After` plus a random part of `first_wait`, and never more than `longest_wait`.
3. So a call to one model takes at most `max_retries` + 1 time-outs and `max_retries` times `longest_wait`.
"""

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from loguru import logger
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from alpha_codium.llm.errors import TransientError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The number of retries, and the waits before them in seconds."""

    max_retries: int = 5
    first_wait: float = 1.0
    longest_wait: float = 120.0

    def retrying(self) -> AsyncRetrying:
        """Return what repeats a call that raises TransientError; the last one is raised when no retry is left."""
        return AsyncRetrying(
            retry=retry_if_exception_type(TransientError),
            stop=stop_after_attempt(self.max_retries + 1),
            wait=lambda state: self.wait_before(state.attempt_number, _error_of(state).retry_after),
            before_sleep=lambda state: logger.debug("{}; retrying in {:.1f} s", _error_of(state), state.upcoming_sleep),
            reraise=True,
        )

    def wait_before(self, retry: int, retry_after: float | None = None) -> float:
        """Return the seconds to wait before retry number `retry`, counted from 1."""
        usual = min(self.longest_wait, self.first_wait * 2.0 ** min(retry - 1, 60)) * random.uniform(0.5, 1.0)
        asked = 0.0 if retry_after is None else retry_after + random.uniform(0.0, self.first_wait)
        return min(self.longest_wait, max(usual, asked))


def _error_of(state: RetryCallState) -> TransientError:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, TransientError)
    return error


def parse_retry_after(text: str, now: datetime | None = None) -> float | None:
    """Return the seconds in a `Retry-After` header, a number or a date (RFC 9110, 10.2.3); None if it is invalid.

    A past date is 0 seconds.
    """
    text = text.strip()
    if text.replace(".", "", 1).isdecimal() and text.isascii():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - (now or datetime.now(UTC))).total_seconds())
