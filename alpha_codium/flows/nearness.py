"""The nearness of failing programs to passing, by which the best of several is chosen."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Self

from alpha_codium.problem import TestCase
from alpha_codium.verdict import Judgement, TestResult, Verdict

# Only the beginnings of long outputs and long words are compared.
COMPARED_TOKENS = 300
COMPARED_CHARACTERS = 50
# A wrong answer is always nearer than a crash.
FARTHEST_ANSWER = 0.999


@dataclass(frozen=True, slots=True, order=True)
class Nearness:
    """The nearness of a program to passing: whether it ran, the tests passed, and the closeness of its outputs."""

    ran: bool = False
    tests_passed: int = 0
    closeness: float = -math.inf

    @classmethod
    def of(cls, judgement: Judgement, tests: Sequence[TestCase]) -> Self:
        """Return the nearness of a program with this judgement on `tests`."""
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
    """Return the mean distance of two outputs' tokens, in [0, 1]; a token without a counterpart has distance 1."""
    left, right = expected.split()[:COMPARED_TOKENS], actual.split()[:COMPARED_TOKENS]
    longest = max(len(left), len(right))
    if not longest:
        return 0.0
    distance = sum(_token_distance(a, b) for a, b in zip(left, right, strict=False))
    return (distance + abs(len(left) - len(right))) / longest


def _token_distance(expected: str, actual: str) -> float:
    """Return the relative difference of numbers, or the dissimilarity of texts; both in [0, 1]."""
    if expected == actual:
        return 0.0
    try:
        a, b = float(expected), float(actual)
    except ValueError:
        return 1.0 - SequenceMatcher(None, expected[:COMPARED_CHARACTERS], actual[:COMPARED_CHARACTERS]).ratio()
    if a == b:
        return 0.0
    size = abs(a) + abs(b)
    return min(1.0, abs(a - b) / size) if math.isfinite(size) and size else 1.0
