"""What a solved problem costs, and how sure that is."""

import math
from collections.abc import Sequence
from random import Random

from alpha_codium.statistics import Interval
from alpha_codium.statistics.intervals import BOOTSTRAP

RESAMPLES = 1_000


def ratio_interval(costs: Sequence[float], solved: Sequence[bool], resamples: int = RESAMPLES) -> Interval:
    """The percentile interval, at 95 %, of the sum of `costs` by the number `solved`, by resampling problems.

    Each problem's cost and whether it is solved stay together (Efron and Tibshirani 1993, "An Introduction to the
    Bootstrap", chapter 13). A resample in which nothing is solved costs infinitely much; where that is among the
    highest fortieth, the upper bound is infinite; what costs nothing costs nothing, however little is solved. There is
    none where nothing is solved, for fewer than two problems, or where all are alike. The same problems, in any order,
    give the same interval.
    """
    pairs = sorted(zip(costs, solved, strict=True))
    if not any(solved):
        return Interval(None, BOOTSTRAP, reason="no problem is solved")
    if not any(costs):
        return Interval((0.0, 0.0), BOOTSTRAP)
    if len(set(pairs)) == 1:
        return Interval(None, BOOTSTRAP, reason="no two problems differ, so resampling them shows no spread")
    random, n = Random(0), len(pairs)
    ratios = sorted(_ratio(random.choices(pairs, k=n)) for _ in range(resamples))
    cut = math.floor((resamples + 1) * 0.025)
    return Interval((ratios[cut - 1], ratios[-cut]), BOOTSTRAP)


def _ratio(pairs: Sequence[tuple[float, bool]]) -> float:
    solved = sum(is_solved for _, is_solved in pairs)
    return sum(cost for cost, _ in pairs) / solved if solved else math.inf
