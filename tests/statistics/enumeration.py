"""Distributions by counting every outcome: slow, and plain enough to be right."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction


def resample_means(scores: Sequence[float]) -> dict[float, float]:
    """The chance of each mean over all n**n resamples of n scores."""
    n = len(scores)
    means = Counter(round(math.fsum(drawn) / n, 12) for drawn in itertools.product(scores, repeat=n))
    return {mean: count / n**n for mean, count in sorted(means.items())}


def binomial_chances(n: int, p: Fraction) -> list[float]:
    """The chance of each number of successes in n trials of chance p."""
    return [float(math.comb(n, i) * p**i * (1 - p) ** (n - i)) for i in range(n + 1)]


def flip_chances(n: int, gained: float, lost: float) -> Iterator[tuple[int, int, float]]:
    """`(g, lo, chance)` that of n problems g are gained and lo lost, each with its own chance, one by one."""
    for g in range(n + 1):
        for lo in range(n - g + 1):
            ways = math.comb(n, g) * math.comb(n - g, lo)
            yield g, lo, ways * gained**g * lost**lo * (1 - gained - lost) ** (n - g - lo)


def largest_gap(drawn: Sequence[float], chances: dict[float, float]) -> float:
    """The largest distance between the distribution of what was drawn and the exact one (Kolmogorov-Smirnov)."""
    counts = Counter(drawn)
    assert counts.keys() <= chances.keys()
    gap, seen, expected = 0.0, 0, 0.0
    for value, chance in sorted(chances.items()):
        seen += counts[value]
        expected += chance
        gap = max(gap, abs(seen / len(drawn) - expected))
    return gap
