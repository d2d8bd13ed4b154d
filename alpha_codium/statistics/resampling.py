"""Drawing problems anew: the distribution of a mean under the bootstrap, quickly and in plain Python.

1. A resample of n problems is n draws with replacement. Where there are few different scores (pass@k of ten samples has
   eleven), only how often each of them is drawn matters: a multinomial vector, drawn as a chain of binomials
   (Devroye 1986, "Non-Uniform Random Variate Generation", section XI.1). That costs a step a score, not a problem.
2. A binomial number is drawn by inversion, searched outwards from its mode (Kemp 1986, "A modal method for generating
   binomial variables", Communications in Statistics - Theory and Methods 15:805-813): exact, some sqrt(n) steps.
3. Scores are sorted first and means rounded: neither the order of the problems nor the last bit of a sum counts.
"""

import math
from collections import Counter
from collections.abc import Sequence
from random import Random

RESAMPLES = 10_000
# How many problems are drawn one by one in the time that one binomial number takes.
DRAWS_A_BINOMIAL = 32
# Sums that are equal but for rounding are equal; a score's own resolution is far above.
DIGITS = 12


def resampled_means(scores: Sequence[float], resamples: int = RESAMPLES, seed: int = 0) -> list[float]:
    """The means of `resamples` resamples of the scores, sorted; the same for the same scores in any order and seed."""
    different = len(set(scores))
    means = tallied_means if different * DRAWS_A_BINOMIAL < len(scores) else drawn_means
    return means(scores, resamples, Random(seed))


def drawn_means(scores: Sequence[float], resamples: int, random: Random) -> list[float]:
    """The sorted means, each resample drawn problem by problem."""
    ordered, n = sorted(scores), len(scores)
    return sorted(round(sum(random.choices(ordered, k=n)) / n, DIGITS) for _ in range(resamples))


def tallied_means(scores: Sequence[float], resamples: int, random: Random) -> list[float]:
    """The sorted means, each resample drawn as how often it holds each score."""
    tally, n = sorted(Counter(scores).items()), len(scores)
    return sorted(round(_tallied_sum(tally, n, random) / n, DIGITS) for _ in range(resamples))


def binomial(n: int, p: float, u: float) -> int:
    """The number of n trials of chance p that succeed; u, uniform in [0, 1), chooses which. 0 < p < 1."""
    low = high = mode = min(int((n + 1) * p), n)
    odds = p / (1 - p)
    ways = math.lgamma(n + 1) - math.lgamma(mode + 1) - math.lgamma(n - mode + 1)
    below = above = math.exp(ways + mode * math.log(p) + (n - mode) * math.log1p(-p))
    left = u - above
    while left >= 0 and (below or above):
        above *= (n - high) / (high + 1) * odds
        high += 1
        left -= above
        if left < 0:
            return high
        below *= low / ((n - low + 1) * odds)
        low -= 1
        left -= below
        if left < 0:
            return low
    return mode


def _tallied_sum(tally: Sequence[tuple[float, int]], n: int, random: Random) -> float:
    """The sum of n draws from the scores of a tally `(score, problems)`."""
    total, to_draw, problems = 0.0, n, n
    for score, count in tally[:-1]:
        drawn = binomial(to_draw, count / problems, random.random())
        total += drawn * score
        to_draw -= drawn
        problems -= count
    return total + to_draw * tally[-1][0]
