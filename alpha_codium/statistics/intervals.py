"""How far a mean over problems may be off: confidence intervals.

The problems of a split stand for all problems like them. An interval says where the mean over all of those may lie; it
holds both reasons why another split would score otherwise: other problems, and other samples of the model.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

WILSON, BOOTSTRAP = "wilson", "bootstrap over problems"
RESAMPLES = 10_000
# Sums that are equal but for rounding are equal; a score's own resolution is far above.
DIGITS = 12


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval: `bounds` are `(low, high)`, or None where there is none, with the reason."""

    bounds: tuple[float, float] | None
    method: str
    level: float = 0.95
    reason: str = ""


def wilson_interval(passes: int, n: int, level: float = 0.95) -> Interval:
    """The score interval of a proportion: `passes` of n problems, each tried once.

    All proportions p that a two-sided z-test of `passes`/n against p doesn't reject (Wilson 1927, "Probable
    Inference, the Law of Succession, and Statistical Inference", JASA 22:209-212). Right where each problem's score is
    0 or 1, above all pass@1 of one sample; good for small n, too, and where none or all pass (Brown, Cai and DasGupta
    2001, "Interval Estimation for a Binomial Proportion", Statistical Science 16:101-133). With several samples
    a problem these aren't independent: take `bootstrap_interval`.

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
    # Both ends are exact where none or all pass; the formula is so only but for rounding.
    low = 0.0 if passes == 0 else middle - half
    high = 1.0 if passes == n else middle + half
    return Interval((low, high), WILSON, level)


def bootstrap_interval(
    scores: Sequence[float], level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """The percentile interval of the mean of any per-problem scores, by resampling problems.

    The problems are drawn anew with replacement `resamples` times; the interval cuts off (1 - level)/2 of the means
    at either end (Efron 1979, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 7:1-26; the
    percentiles: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", section 13.3). Right for pass@k of
    several samples, for pass^k and for differences; a problem's samples stay together, so that they needn't be
    independent. Too narrow for few problems (docs/statistics.md has measured by how much). The same scores, in any
    order, and the same seed give the same interval.

    There is none for fewer than two problems, nor where all have the same score: resampling can't show what
    spread there would be. Raises ValueError unless 0 < level < 1, where `resamples` are too few for the level, or where
    a score is no finite number.
    """
    return bootstrap(scores, level, resamples, seed)[0]


def bootstrap(scores: Sequence[float], level: float, resamples: int, seed: int) -> tuple[Interval, list[float]]:
    """`bootstrap_interval`, and the sorted means that it is cut from; no means where there is no interval."""
    check_level(level)
    if unfit := [score for score in scores if not math.isfinite(score)]:
        raise ValueError(f"scores must be finite numbers, not {unfit[0]}")
    cut = math.floor((resamples + 1) * (1 - level) / 2)
    if cut < 1:
        raise ValueError(f"{resamples} resamples are too few for a level of {level}")
    if reason := _why_none(scores):
        return Interval(None, BOOTSTRAP, level, reason), []
    means = resampled_means(scores, resamples, seed)
    return Interval((means[cut - 1], means[-cut]), BOOTSTRAP, level), means


def resampled_means(scores: Sequence[float], resamples: int = RESAMPLES, seed: int = 0) -> list[float]:
    """The means of `resamples` resamples of the scores, sorted; the same for the same scores in any order and seed.

    A resample of n problems is n draws with replacement: a multinomial vector of how often it holds each score.
    """
    import numpy

    n = len(scores)
    values, counts = numpy.unique(numpy.array(scores, float), return_counts=True)
    # RandomState, since NEP 19 freezes its numbers for a seed; those of a Generator may change with numpy.
    random = numpy.random.RandomState(numpy.random.MT19937(seed))
    # One by one: all counts at once would take gigabytes where thousands of scores differ.
    sums = (float(random.multinomial(n, counts / n) @ values) for _ in range(resamples))
    return sorted(round(total / n, DIGITS) for total in sums)


def level_quantile(level: float) -> float:
    """How many standard deviations a two-sided interval of this level reaches to either side."""
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
