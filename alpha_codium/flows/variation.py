"""How the samples of one problem differ, so that k samples are k tries and not one try k times."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

STEP = 0.1
HIGHEST = 0.7
# Tries at the same thing by one sample must differ from the first, or they are no tries.
LOWEST_RETRY = 0.6
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Variation:
    """The variation of one sample; the first sample, or `enabled = False`, is the flow as it stands."""

    sample_index: int = 0
    enabled: bool = True

    def temperature(self, own: float, attempt: int = 0) -> float:
        """A prompt's temperature, raised by 0.1 a sample up to 0.7; one that is higher already stays.

        `attempt` counts this sample's tries at the same thing: each after the first raises it as a later sample would,
        to 0.6 at least, whether samples are to differ or not.
        """
        steps = (self.sample_index if self.enabled else 0) + attempt
        raised = own if own >= HIGHEST or not steps else round(min(HIGHEST, own + STEP * steps), 2)
        return max(raised, LOWEST_RETRY) if attempt else raised

    def first_of(self, names: Sequence[str]) -> str:
        """The name whose turn it is, empty where there are none; the first one if samples aren't to differ."""
        return next(iter(self.rotate(names)), "")

    def rotate(self, items: Sequence[Item]) -> list[Item]:
        """The items beginning at another one for each sample."""
        if not self.enabled or not items:
            return list(items)
        start = self.sample_index % len(items)
        return [*items[start:], *items[:start]]
