"""In which order tests are run where the first failure ends it: those first that failed most programs so far."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from alpha_codium.problem import TestCase


class FailureCounts:
    """How many programs each test failed, by problem. Of a test no more is kept than its hash."""

    def __init__(self) -> None:
        self._counts: defaultdict[str, Counter[int]] = defaultdict(Counter)

    def add(self, problem: str, test: TestCase) -> None:
        """Count one program that a test failed."""
        self._counts[problem][hash(test)] += 1

    def places(self, problem: str, tests: Sequence[TestCase]) -> list[int]:
        """The places of `tests`, that of the one which failed most programs first; equals in the dataset's order."""
        counts = self._counts.get(problem, {})
        return sorted(range(len(tests)), key=lambda place: -counts.get(hash(tests[place]), 0))
