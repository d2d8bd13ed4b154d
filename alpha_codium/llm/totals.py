"""What a client's calls took in all."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from alpha_codium.llm.messages import Answer


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over a client's calls, as they stood when they were asked for.

    `attempts` are the requests sent, `retries` those of them that followed a fault, by its cause (rate_limited,
    timeout, server_error, connection, malformed). `cost` is the sum of the known prices in US dollars; `unpriced`
    counts the answers whose price is unknown, which it leaves out. `latency_seconds` sums over answers. Of the prompts'
    tokens, `cached_tokens` were read from a provider's cache.
    """

    calls: int = 0
    answers: int = 0
    attempts: int = 0
    retries: Mapping[str, int] = field(default_factory=dict)
    fallbacks: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    truncated: int = 0
    filtered: int = 0
    latency_seconds: float = 0.0

    @property
    def known_cost(self) -> float | None:
        """The cost of all answers, None where the price of one is unknown."""
        return None if self.unpriced else self.cost


class Tally:
    """Counts while calls are made."""

    def __init__(self) -> None:
        self.calls = 0
        self.attempts = 0
        self.fallbacks = 0
        self.retries: Counter[str] = Counter()
        self._answers = Totals()

    def add(self, answer: Answer) -> None:
        """Count one answer, be it of use or not."""
        so_far = self._answers
        self._answers = Totals(
            answers=so_far.answers + 1,
            prompt_tokens=so_far.prompt_tokens + answer.prompt_tokens,
            completion_tokens=so_far.completion_tokens + answer.completion_tokens,
            cached_tokens=so_far.cached_tokens + answer.cached_tokens,
            cost=so_far.cost + (answer.cost or 0.0),
            unpriced=so_far.unpriced + (answer.cost is None),
            truncated=so_far.truncated + answer.truncated,
            filtered=so_far.filtered + answer.filtered,
            latency_seconds=so_far.latency_seconds + answer.latency_seconds,
        )

    def snapshot(self) -> Totals:
        """The sums so far."""
        return replace(
            self._answers,
            calls=self.calls,
            attempts=self.attempts,
            retries=dict(self.retries),
            fallbacks=self.fallbacks,
        )
