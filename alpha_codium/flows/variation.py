"""Variation: among the samples of a problem, and among the requests of one sample, so that no two are the same."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from alpha_codium.config.sections import ConfigSection
from alpha_codium.llm.messages import SEEDS_APART, ChatRequest

STEP = 0.1
HIGHEST = 0.7
# The number of later attempts with temperatures of their own.
TEMPERATURES = 100
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Variation:
    """The variation of one sample; for the first sample, or with `enabled = False`, the flow is unchanged."""

    sample_index: int = 0
    enabled: bool = True

    def temperature(self, own: float, attempt: int = 0) -> float:
        """Return a prompt's temperature, raised by 0.1 per sample up to 0.7; a higher one isn't changed.

        `attempt` is the number of the sample's earlier attempts at the same thing. At a low temperature a model often
        repeats itself, so each later attempt has another one between 0.6 and 0.7, or just below a higher one, even if
        the variation isn't enabled.
        """
        steps = self.sample_index if self.enabled else 0
        raised = own if own >= HIGHEST or not steps else round(min(HIGHEST, own + STEP * steps), 2)
        if not attempt:
            return raised
        # 0.6, 0.61, ..., 0.69, 0.601, ...
        tens, ones = divmod((attempt - 1) % TEMPERATURES, 10)
        return round(max(HIGHEST, raised) - STEP + ones / 100 + tens / 1000, 3)

    def rotate(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in rotation: each sample begins with the next one."""
        if not self.enabled or not items:
            return list(items)
        start = self.sample_index % len(items)
        return [*items[start:], *items[:start]]


@dataclass
class Attempts:
    """The requests of one sample, each of which differs from all others in its messages, temperature or seed."""

    config: ConfigSection
    variation: Variation
    _made: set[Any] = field(default_factory=set)

    @property
    def repeats_answers(self) -> bool:
        """Whether the user fixed the temperature at 0, so that the same messages always get the same answer."""
        return self.config.temperature == 0

    def new(self, request: ChatRequest, own: float, attempt: int, retry: int = 0) -> ChatRequest | None:
        """Return the request with the temperature and the seed of an attempt, or of the next one that is new.

        `own` is the prompt's temperature. A `retry` after an unreadable answer changes the seed, too. If the user fixed
        a temperature above 0, and there is no seed, requests may be equal, since their answers differ. None means
        that the model could only repeat an answer.
        """
        for number in range(attempt, attempt + TEMPERATURES + 1):
            found = self._at(request, own, number, retry)
            key = (found.model, found.messages, found.temperature, None if self.repeats_answers else found.seed)
            if key not in self._made:
                self._made.add(key)
                return found
        only_repeats = self.repeats_answers or "seed" in self.config.extra
        return None if only_repeats else self._at(request, own, attempt, retry)

    def _at(self, request: ChatRequest, own: float, attempt: int, retry: int) -> ChatRequest:
        config, sample = self.config, self.variation.sample_index
        temperature = self.variation.temperature(own, attempt) if config.temperature is None else config.temperature
        seed = None if config.seed is None else config.seed + sample + SEEDS_APART * (attempt + retry)
        return replace(request, temperature=temperature, seed=seed)
