"""How near a failing program is to passing, so that the best of several can be kept."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Self

from alpha_codium.problem import TestCase
from alpha_codium.verdict import Judgement, TestResult, Verdict

# What is compared of long outputs and long words.
COMPARED_TOKENS = 300
COMPARED_CHARACTERS = 50
# A wrong answer is nearer than a crash, however wrong.
FARTHEST_ANSWER = 0.999


@dataclass(frozen=True, slots=True, order=True)
class Nearness:
    """Orders programs: those that ran, then by tests passed, then by the distance of outputs from those expected."""

    ran: bool = False
    tests_passed: int = 0
    closeness: float = -math.inf

    @classmethod
    def of(cls, judgement: Judgement, tests: Sequence[TestCase]) -> Self:
        """Return the nearness of a program that was judged by `tests`."""
        pairs = zip(tests, judgement.tests, strict=False)
        distance = sum(_test_distance(test, result) for test, result in pairs) + (len(tests) - len(judgement.tests))
        ran = any(result.verdict in (Verdict.ACCEPTED, Verdict.WRONG_ANSWER) for result in judgement.tests)
        return cls(ran, judgement.tests_passed, -distance)


def _test_distance(test: TestCase, result: TestResult) -> float:
    if result.verdict is Verdict.ACCEPTED:
        return 0.0
    if result.verdict is not Verdict.WRONG_ANSWER:
        return 1.0
    return min(FARTHEST_ANSWER, output_distance(test.output, result.execution.stdout))


def output_distance(expected: str, actual: str) -> float:
    """Return the mean distance of two outputs token by token, in [0, 1]; a token without a counterpart counts as 1."""
    wanted, got = expected.split()[:COMPARED_TOKENS], actual.split()[:COMPARED_TOKENS]
    longest = max(len(wanted), len(got))
    if not longest:
        return 0.0
    common = sum(_token_distance(w, g) for w, g in zip(wanted, got, strict=False))
    return (common + abs(len(wanted) - len(got))) / longest


def _token_distance(wanted: str, got: str) -> float:
    """Numbers by their relative difference, text by the letters they share; both in [0, 1]."""
    if wanted == got:
        return 0.0
    try:
        a, b = float(wanted), float(got)
    except ValueError:
        return 1.0 - SequenceMatcher(None, wanted[:COMPARED_CHARACTERS], got[:COMPARED_CHARACTERS]).ratio()
    if a == b:
        return 0.0
    size = abs(a) + abs(b)
    return min(1.0, abs(a - b) / size) if math.isfinite(size) and size else 1.0
