"""Findings of validation: a reason, one line of text, and the evidence."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import Any

from alpha_codium.values import JsonValue

LONGEST_TOKEN = 40


class Reason(StrEnum):
    """A reason why verdicts on a problem can't be trusted, or are at risk."""

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
class Finding(JsonValue):
    """One finding on a problem; a `fault` makes the problem invalid, others are only worth knowing.

    `evidence` is one mapping for each observation: which solution (by its place in the dataset's list), which test
    (type and place), the first token that differs, seconds of CPU.
    """

    reason: Reason
    text: str
    evidence: tuple[dict[str, Any], ...] = ()
    fault: bool = True


def first_difference(expected: str, actual: str) -> dict[str, Any]:
    """Return the first token in which two outputs differ, counted from 0, and both tokens, cut if long.

    If one ends before the other its token is empty; if all tokens are the same, `token` is None.
    """
    for place, (one, other) in enumerate(zip_longest(expected.split(), actual.split(), fillvalue="")):
        if one != other:
            return {"token": place, "expected": _cut(one), "got": _cut(other)}
    return {"token": None, "expected": "", "got": ""}


def _cut(token: str) -> str:
    return token if len(token) <= LONGEST_TOKEN else f"{token[:LONGEST_TOKEN]}..."
