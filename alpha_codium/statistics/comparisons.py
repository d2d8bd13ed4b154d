"""Comparison of two models on the same problems: the difference of their scores, and its significance.

Also the smallest difference that a comparison on n problems can detect.

Scores are paired by the problems' names. Most of the variance of scores is due to differences between problems, which
cancel out in pairs. Scores on different problems are refused.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

from alpha_codium.statistics.intervals import DIGITS, RESAMPLES, Interval, bootstrap, level_quantile
from alpha_codium.wording import counted

# Scores by the problems' names.
Scores = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Difference:
    """The second mean score minus the first; the two-sided `p_value` exists even if the interval doesn't."""

    value: float
    interval: Interval
    p_value: float
    n_problems: int


@dataclass(frozen=True, slots=True)
class Flips:
    """The names of problems that only the second model solves (`gained`), and that only the first solves (`lost`)."""

    gained: tuple[str, ...]
    lost: tuple[str, ...]
    n_problems: int


def paired_differences(first: Scores, second: Scores) -> dict[str, float]:
    """Return the second score minus the first by problem; raises ValueError if problems differ, or there are none."""
    if first.keys() != second.keys():
        only = sorted(first.keys() ^ second.keys())
        raise ValueError(
            f"{counted(len(only), 'problem')} with one score only, such as {only[0]!r}: both must score the same ones"
        )
    if not first:
        raise ValueError("there is no problem to compare on")
    return {name: second[name] - score for name, score in first.items()}


def paired_bootstrap(
    first: Scores, second: Scores, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Difference:
    """Return the difference of the mean scores, its percentile interval and its p-value, by a paired bootstrap.

    The interval is the `bootstrap_interval` of the differences (Efron 1979). The p-value is obtained by inverting the
    interval: it is twice the smaller share of resampled mean differences on either side of 0, including 0 (Efron and
    Tibshirani 1993, "An Introduction to the Bootstrap", section 15.4). The share is (1 + count) / (1 + resamples), so
    that it is never 0 (Phipson and Smyth 2010, "Permutation P-values Should Never Be Zero", arXiv 1603.05766). So the
    p-value is at most 1 - level exactly if 0 is outside the interval, with one exception: if m problems differ, it is
    at least 2**(1 - m), the minimum for any test under whose null hypothesis both signs of each difference are equally
    likely (Fisher 1935, "The Design of Experiments", section 21). If all differences are equal, there is no interval,
    and the p-value is that minimum: 1 for one problem, or if none differs. Valid for any scores; for scores of 0 and 1,
    `mcnemar` is exact.

    Raises the errors of `paired_differences` and `bootstrap_interval`.
    """
    differences = _rounded_differences(first, second)
    interval, means = bootstrap(differences, level, resamples, seed)
    value = fmean(paired_differences(first, second).values())
    return Difference(value, interval, _two_sided(means, differences), len(differences))


def flips(first: Scores, second: Scores) -> Flips:
    """Return the problems that only one of the two models solves, in order; scores are 1 (solved) or 0.

    Raises the errors of `paired_differences`, and ValueError if a score is neither 0 nor 1.
    """
    for name, score in (*first.items(), *second.items()):
        if score not in (0, 1):
            raise ValueError(f"flips are of problems solved (1) or not (0), but {name!r} scores {score}")
    differences = paired_differences(first, second)
    gained = tuple(name for name, difference in differences.items() if difference > 0)
    lost = tuple(name for name, difference in differences.items() if difference < 0)
    return Flips(gained, lost, len(differences))


def mcnemar(gained: int, lost: int) -> float:
    """Return the exact two-sided p-value of McNemar's test.

    Under the null hypothesis, each flip is a gain or a loss with probability 1/2, so that the gains have the
    distribution Binomial(gained + lost, 1/2). The p-value is twice the lower tail of the smaller number, at most 1
    (McNemar 1947, "Note on the sampling error of the difference between correlated proportions or percentages",
    Psychometrika 12:153-157, with the binomial instead of his approximation). It is 1.0 if there are no flips.

    Raises ValueError if a number is negative.
    """
    if min(gained, lost) < 0:
        raise ValueError(f"numbers of flips can't be negative: {gained} gained, {lost} lost")
    n = gained + lost
    tail = ways = 1
    for i in range(min(gained, lost)):
        ways = ways * (n - i) // (i + 1)
        tail += ways
    return min(1.0, 2 * tail / 2**n)


def smallest_detectable_difference(
    first: Scores, second: Scores, power: float = 0.8, level: float = 0.95
) -> float | None:
    """Return the `detectable_difference` for the number of problems and the spread of these differences.

    None if it can't be estimated: for fewer than two problems, or without any spread. Raises the errors of
    `paired_differences` and `detectable_difference`.
    """
    differences = _rounded_differences(first, second)
    spread = stdev(differences) if len(differences) > 1 else 0.0
    return detectable_difference(spread, len(differences), power, level) if spread else None


def smallest_detectable_gain(first: Scores, second: Scores, power: float = 0.8, level: float = 0.95) -> float | None:
    """Return the `detectable_gain` for the number of problems and the share of flips; None if there are too few flips.

    Raises the errors of `flips` and `detectable_gain`.
    """
    found = flips(first, second)
    return detectable_gain((len(found.gained) + len(found.lost)) / found.n_problems, found.n_problems, power, level)


def detectable_difference(spread: float, n: int, power: float = 0.8, level: float = 0.95) -> float:
    """Return the smallest true difference of mean scores that a paired comparison detects with probability `power`.

    This is (z_level + z_power) * spread / sqrt(n), the normal approximation for paired means, where `spread` is the
    standard deviation of the problems' differences (Miller 2024, "Adding Error Bars to Evals", arXiv 2411.00640).

    Raises ValueError unless n >= 1, spread >= 0, 0 < level < 1 and 0.5 <= power < 1.
    """
    if n < 1 or spread < 0:
        raise ValueError(f"there must be a problem (n={n}) and no negative spread ({spread})")
    return (level_quantile(level) + _power_quantile(power)) * spread / math.sqrt(n)


def detectable_gain(flipped: float, n: int, power: float = 0.8, level: float = 0.95) -> float | None:
    """Return the smallest true net gain (share gained - share lost) that McNemar's test finds with probability `power`.

    `flipped` is the share of n problems that only one of the models solves. Connor 1987 ("Sample size for testing
    differences in proportions for the paired-sample design", Biometrics 43:207-211) gives n = ((z_level * sqrt(flipped)
    + z_power * sqrt(flipped - gain**2)) / gain)**2 for the asymptotic test, which is solved for the gain here. The
    exact test needs a slightly larger gain. None if there are too few flips, even if all are gains.

    Raises ValueError unless n >= 1, 0 <= flipped <= 1, 0 < level < 1 and 0.5 <= power < 1.
    """
    if n < 1 or not 0 <= flipped <= 1:
        raise ValueError(f"there must be a problem (n={n}) and a share of flips between 0 and 1 ({flipped})")
    z_level, z_power = level_quantile(level), _power_quantile(power)
    root = n + z_power**2 - z_level**2
    if root < 0:
        return None
    gain = math.sqrt(flipped) * (z_level * math.sqrt(n) + z_power * math.sqrt(root)) / (n + z_power**2)
    return gain if 0 < gain <= flipped else None


def _rounded_differences(first: Scores, second: Scores) -> list[float]:
    """Return the differences, rounded so that 0.3 - 0.1 and 0.2 - 0.0 are equal."""
    return [round(difference, DIGITS) for difference in paired_differences(first, second).values()]


def _two_sided(means: Sequence[float], differences: Sequence[float]) -> float:
    least = min(1.0, 2.0 ** (1 - sum(difference != 0 for difference in differences)))
    if not means:
        return least
    beyond = min(sum(mean <= 0 for mean in means), sum(mean >= 0 for mean in means))
    return min(1.0, max(2 * (1 + beyond) / (1 + len(means)), least))


def _power_quantile(power: float) -> float:
    if not 0.5 <= power < 1:
        raise ValueError(f"the power must be at least 0.5 and below 1, not {power}")
    return NormalDist().inv_cdf(power)
