"""What validation finds: a reason, one line that says it, and the evidence."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from alpha_codium.verdict import Verdict

LONGEST_TOKEN = 40


class Reason(StrEnum):
    """Why a verdict on a problem can't be trusted, or is near to that."""

    NO_TESTS = "no_tests"
    NOT_JUDGED = "not_judged"
    MALFORMED_TEST = "malformed_test"
    WRONG_TEST = "wrong_test"
    SEVERAL_ANSWERS = "several_answers"
    STRICT_CHECKER = "strict_checker"
    REJECTED_SOLUTION = "rejected_solution"
    TIGHT_LIMIT = "tight_limit"
    NEAR_LIMIT = "near_limit"
    WEAK_TESTS = "weak_tests"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding on a problem; `fault` says whether it makes the problem invalid, or is only worth knowing.

    `evidence` names what was seen, one mapping each: which solution (by its place in the dataset's list), which test
    (type and place), the first token that differs, seconds of CPU.
    """

    reason: Reason
    text: str
    evidence: tuple[dict[str, Any], ...] = ()
    fault: bool = True

    def to_json(self) -> dict[str, Any]:
        """The finding as `--json` writes it."""
        return {"reason": self.reason.value, "fault": self.fault, "text": self.text, "evidence": list(self.evidence)}


def first_difference(expected: str, actual: str) -> dict[str, Any]:
    """The first token in which two outputs differ, counted from 0, and both tokens, cut if long.

    Where one ends before the other its token is empty; where all tokens are the same, `token` is None.
    """
    wanted, got = expected.split(), actual.split()
    for place in range(max(len(wanted), len(got))):
        pair = (of[place] if place < len(of) else "" for of in (wanted, got))
        one, other = pair
        if one != other:
            return {"token": place, "expected": _cut(one), "got": _cut(other)}
    return {"token": None, "expected": "", "got": ""}


def plural(count: int, thing: str) -> str:
    """`1 test`, `2 tests`."""
    return f"{count} {thing}{'' if count == 1 else 's'}"


def spoken(verdict: Verdict) -> str:
    """A verdict in plain words."""
    return verdict.value.replace("_", " ")


def _cut(token: str) -> str:
    return token if len(token) <= LONGEST_TOKEN else f"{token[:LONGEST_TOKEN]}..."
