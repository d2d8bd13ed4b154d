"""How the samples of one problem differ, so that k samples are k tries and not one try k times."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

STEP = 0.1
HIGHEST = 0.7
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Variation:
    """The variation of one sample; the first sample, or `enabled = False`, is the flow as it stands."""

    sample_index: int = 0
    enabled: bool = True

    def temperature(self, own: float) -> float:
        """A prompt's temperature, raised by 0.1 a sample up to 0.7; one that is higher already stays."""
        if not self.enabled or own >= HIGHEST:
            return own
        return round(min(HIGHEST, own + STEP * self.sample_index), 2)

    def rotate(self, items: Sequence[Item]) -> list[Item]:
        """The items beginning at another one for each sample."""
        if not self.enabled or not items:
            return list(items)
        start = self.sample_index % len(items)
        return [*items[start:], *items[:start]]
