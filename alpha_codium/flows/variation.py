"""How the samples of one problem differ, so that k samples are not the same one k times."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

STEP = 0.1
HIGHEST = 0.7
# A sample's later tries at the same thing must differ from its first.
LOWEST_RETRY = 0.6
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Variation:
    """The variation of one sample; for the first sample, or with `enabled = False`, the flow is unchanged."""

    sample_index: int = 0
    enabled: bool = True

    def temperature(self, own: float, attempt: int = 0) -> float:
        """Return a prompt's temperature, raised by 0.1 a sample up to 0.7; a higher one stays.

        `attempt` counts the sample's earlier tries at the same thing: each raises the temperature as a later sample
        would, to 0.6 at least, even if the variation isn't enabled.
        """
        steps = (self.sample_index if self.enabled else 0) + attempt
        raised = own if own >= HIGHEST or not steps else round(min(HIGHEST, own + STEP * steps), 2)
        return max(raised, LOWEST_RETRY) if attempt else raised

    def first_of(self, names: Sequence[str]) -> str:
        """Return the name whose turn it is, "" if there are none."""
        return next(iter(self.rotate(names)), "")

    def rotate(self, items: Sequence[Item]) -> list[Item]:
        """Return the items, beginning with another one for each sample."""
        if not self.enabled or not items:
            return list(items)
        start = self.sample_index % len(items)
        return [*items[start:], *items[:start]]
