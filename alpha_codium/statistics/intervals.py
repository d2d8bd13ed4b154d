"""Confidence intervals of means over problems.

The problems of a split are treated as a sample of all similar problems, and the interval is for the mean over these. It
covers both sources of variation: the choice of problems, and the samples of the model.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from alpha_codium.wording import counted

WILSON, BOOTSTRAP = "wilson", "bootstrap over problems"
RESAMPLES = 10_000
# Means are rounded to this many digits, so that rounding errors don't make equal means differ.
DIGITS = 12
# How many counts of scores are in memory at once: 8 MB.
COUNTS_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval; `bounds` are `(low, high)`, or None if it doesn't exist; then `reason` says why."""

    bounds: tuple[float, float] | None
    method: str
    level: float = 0.95
    reason: str = ""


def wilson_interval(passes: int, n: int, level: float = 0.95) -> Interval:
    """Return Wilson's score interval for a proportion, `passes` of n problems with one sample each.

    It consists of all proportions p that a two-sided z-test of `passes`/n against p doesn't reject (Wilson 1927,
    "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22:209-212). It is valid if each
    problem's score is 0 or 1, as for pass@1 with one sample, also for small n, and if none or all pass (Brown, Cai and
    DasGupta 2001, "Interval Estimation for a Binomial Proportion", Statistical Science 16:101-133). Several samples of
    a problem aren't independent: use `bootstrap_interval` for them.

    Raises ValueError unless 0 <= passes <= n and 0 < level < 1.
    """
    z = level_quantile(level)
    if not 0 <= passes <= n:
        raise ValueError(f"passes must lie between 0 and n={n}, not {passes}")
    if n == 0:
        return Interval(None, WILSON, level, "there is no problem")
    share = passes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # If none or all pass, the formula gives exactly 0 or 1 except for rounding errors.
    low = 0.0 if passes == 0 else middle - half
    high = 1.0 if passes == n else middle + half
    return Interval((low, high), WILSON, level)


def bootstrap_interval(
    scores: Sequence[float], level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Return the percentile interval of the mean of per-problem scores, by resampling problems.

    The problems are drawn with replacement `resamples` times; the interval cuts off (1 - level)/2 of the means at each
    end (Efron 1979, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 7:1-26; percentiles: Efron
    and Tibshirani 1993, "An Introduction to the Bootstrap", section 13.3). It is valid for pass@k with several samples,
    for pass^k and for differences: a problem's samples stay together, so they needn't be independent. It is too narrow
    for few problems (docs/statistics.md has measurements). It depends only on the scores, in any order, and the seed.

    It doesn't exist for fewer than two problems, or if all scores are equal, since resampling then shows no spread.
    Raises ValueError unless 0 < level < 1, if `resamples` is too small for the level, or if a score isn't finite.
    """
    return bootstrap(scores, level, resamples, seed)[0]


def bootstrap(scores: Sequence[float], level: float, resamples: int, seed: int) -> tuple[Interval, list[float]]:
    """Return the `bootstrap_interval`, and the sorted resampled means; without an interval there are no means."""
    check_level(level)
    if unfit := [score for score in scores if not math.isfinite(score)]:
        raise ValueError(f"scores must be finite numbers, not {unfit[0]}")
    cut = math.floor((resamples + 1) * (1 - level) / 2)
    if cut < 1:
        raise ValueError(f"{counted(resamples, 'resample')} can't give an interval for a level of {level}")
    if reason := _why_none(scores):
        return Interval(None, BOOTSTRAP, level, reason), []
    means = resampled_means(scores, resamples, seed)
    return Interval((means[cut - 1], means[-cut]), BOOTSTRAP, level), means


def resampled_means(scores: Sequence[float], resamples: int = RESAMPLES, seed: int = 0) -> list[float]:
    """Return the sorted means of `resamples` resamples, which depend only on the scores, in any order, and the seed.

    A resample is n draws with replacement from n problems; the counts of each score are a multinomial vector.
    """
    import numpy

    n = len(scores)
    values, counts = numpy.unique(numpy.array(scores, float), return_counts=True)
    # RandomState, since its numbers for a seed are frozen by NEP 19; a Generator's may change with numpy versions.
    random = numpy.random.RandomState(numpy.random.MT19937(seed))
    # In parts, since all counts together would take gigabytes if there are thousands of different scores.
    part = max(1, COUNTS_AT_ONCE // len(values))
    sizes = (min(part, resamples - start) for start in range(0, resamples, part))
    sums = (total for size in sizes for total in (random.multinomial(n, counts / n, size) @ values).tolist())
    return sorted(round(total / n, DIGITS) for total in sums)


def level_quantile(level: float) -> float:
    """Return the half-width of a two-sided normal interval with this level, in standard deviations."""
    check_level(level)
    return NormalDist().inv_cdf((1 + level) / 2)


def check_level(level: float) -> None:
    """Raise ValueError unless the level lies between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"the level must lie between 0 and 1, not {level}")


def _why_none(scores: Sequence[float]) -> str:
    if len(scores) < 2:
        return "there is one problem only" if scores else "there is no problem"
    return "all problems have the same value, so resampling them shows no spread" if min(scores) == max(scores) else ""
