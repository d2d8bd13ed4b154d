"""Variation among the samples of one problem, so that they aren't all the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

STEP = 0.1
HIGHEST = 0.7
# Later attempts of a sample at the same thing must differ from the first.
LOWEST_RETRY = 0.6
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Variation:
    """The variation of one sample; for the first sample, or with `enabled = False`, the flow is unchanged."""

    sample_index: int = 0
    enabled: bool = True

    def temperature(self, own: float, attempt: int = 0) -> float:
        """Return a prompt's temperature, raised by 0.1 per sample up to 0.7; a higher one isn't changed.

        `attempt` is the number of the sample's earlier attempts at the same thing. Each raises the temperature by 0.1,
        too, and to at least 0.6, even if the variation isn't enabled.
        """
        steps = (self.sample_index if self.enabled else 0) + attempt
        raised = own if own >= HIGHEST or not steps else round(min(HIGHEST, own + STEP * steps), 2)
        return max(raised, LOWEST_RETRY) if attempt else raised

    def rotate(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in rotation: each sample begins with the next one."""
        if not self.enabled or not items:
            return list(items)
        start = self.sample_index % len(items)
        return [*items[start:], *items[:start]]
