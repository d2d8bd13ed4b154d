"""What completions got, why some have no reward, and how many of them there are."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from loguru import logger

from alpha_codium.wording import counted

Fault = Literal["", "data", "infra"]
# The kinds of reasons that were logged already: a trainer meets the same rows in every epoch.
_logged = set[str]()


@dataclass(frozen=True, slots=True)
class Scored:
    """A completion's reward, its program (None if there is none), its passed tests, and why it has no reward.

    `fault` says whose fault that is: of the row's tests (`data`), or of the sandbox, a server or the deadline
    (`infra`); empty if the tests decided the reward.
    """

    reward: float | None
    code: str | None
    tests_passed: int
    tests_total: int
    message: str = ""
    fault: Fault = ""

    @property
    def judged(self) -> bool:
        """Whether the tests decided the reward."""
        return not self.message


def rates(scores: Sequence[Scored]) -> dict[str, float]:
    """Return numbers for a trainer's log.

    `asked` is the number of completions, `judged` that of those whose tests decided the reward, `infra_failed` and
    `data_failed` those of the others. `judged_rate`, `infra_failed_rate` and `data_failed_rate` are their shares, from
    0 to 1.
    """
    faults = Counter(scored.fault for scored in scores)
    found = {"judged": faults[""], "infra_failed": faults["infra"], "data_failed": faults["data"]}
    shares = {f"{name}_rate": number / max(1, len(scores)) for name, number in found.items()}
    return {"asked": float(len(scores)), **{name: float(number) for name, number in found.items()}, **shares}


def log_unjudged(scores: Sequence[Scored]) -> None:
    """Log each kind of reason once in this process, with the first completion that has it."""
    reasons: dict[str, list[int]] = {}
    for place, scored in enumerate(scores):
        if not scored.judged:
            # Reasons of one kind differ only in numbers, quoted values, and what there is in place of what is needed.
            reasons.setdefault(re.sub(r"\d+|'[^']*'|\"[^\"]*\"|, not .*", "", scored.message), []).append(place)
    for kind, places in reasons.items():
        if kind not in _logged:
            _logged.add(kind)
            logger.warning(
                f"{counted(len(places), 'completion')} of {len(scores)} couldn't be judged (such reasons are logged "
                f"once); completion {places[0]}: {scores[places[0]].message}"
            )
