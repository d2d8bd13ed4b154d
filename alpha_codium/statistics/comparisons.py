"""Two models on the same problems: which is better, by how much, and could it be chance?

Scores are given by the problems' names, and paired by them: most of what makes scores differ is the problems, and that
cancels out in pairs. Scores of different problems can't be compared, and are refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from alpha_codium.statistics.intervals import DIGITS, RESAMPLES, Interval, bootstrap
from alpha_codium.statistics.power import detectable_difference, detectable_gain

# Each problem's score, by its name.
Scores = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Difference:
    """How much higher the second mean score is; `p_value` is two-sided, and there even where no interval is."""

    value: float
    interval: Interval
    p_value: float
    n_problems: int


@dataclass(frozen=True, slots=True)
class Flips:
    """The problems that only the second solves (`gained`) and that only the first solves (`lost`), by name."""

    gained: tuple[str, ...]
    lost: tuple[str, ...]
    n_problems: int


def paired_differences(first: Scores, second: Scores) -> dict[str, float]:
    """The second score less the first, by problem; raises ValueError where the problems aren't the same, or none."""
    if first.keys() != second.keys():
        only = sorted(first.keys() ^ second.keys())
        raise ValueError(
            f"{len(only)} problems have one score only, such as {only[0]!r}: both must score the same ones"
        )
    if not first:
        raise ValueError("there is no problem to compare on")
    return {name: second[name] - score for name, score in first.items()}


def paired_bootstrap(
    first: Scores, second: Scores, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Difference:
    """The difference of the mean scores, its percentile interval and its p-value, by resampling problems in pairs.

    The interval is `bootstrap_interval` of the differences (Efron 1979). The p-value turns it round: twice the smaller
    share of resampled differences that lie at 0 or beyond (Efron and Tibshirani 1993, "An Introduction to the
    Bootstrap", section 15.4), the share being (1 + those) / (1 + resamples), so that it is never 0 (Phipson and Smyth
    2010, "Permutation P-values Should Never Be Zero", arXiv 1603.05766). It is at most 1 - level just where 0 lies
    outside the interval, with one exception: where m problems differ it is at least 2**(1 - m), the least that any test
    can give which takes either sign of each difference for equally likely (Fisher 1935, "The Design of
    Experiments", section 21). Where all differences are the same there is no interval, and that least is the p-value:
    1 for one problem, or where none differs. Right for any scores; for solved or not, `mcnemar` is exact.

    Raises ValueError as `paired_differences` and `bootstrap_interval` do.
    """
    differences = _rounded_differences(first, second)
    interval, means = bootstrap(differences, level, resamples, seed)
    value = fmean(paired_differences(first, second).values())
    return Difference(value, interval, _two_sided(means, differences), len(differences))


def flips(first: Scores, second: Scores) -> Flips:
    """Which problems only one of the two solves, in the order given; scores are 1 (solved) or 0.

    Raises ValueError as `paired_differences` does, or where a score is neither 0 nor 1.
    """
    for name, score in (*first.items(), *second.items()):
        if score not in (0, 1):
            raise ValueError(f"flips are of problems solved (1) or not (0), but {name!r} scores {score}")
    differences = paired_differences(first, second)
    gained = tuple(name for name, difference in differences.items() if difference > 0)
    lost = tuple(name for name, difference in differences.items() if difference < 0)
    return Flips(gained, lost, len(differences))


def mcnemar(gained: int, lost: int) -> float:
    """The exact two-sided p-value that as many flips or more go one way, if each goes either way by chance.

    Of gained + lost flips, the smaller number is Binomial(gained + lost, 1/2) under the null hypothesis; twice its
    lower tail, at most 1 (McNemar 1947, "Note on the sampling error of the difference between correlated proportions
    or percentages", Psychometrika 12:153-157; the binomial instead of his approximation). 1.0 where nothing flips.

    Raises ValueError where a number is negative.
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
    """`detectable_difference` with the spread of these two's differences: what this many problems can show.

    None where it can't be known: fewer than two problems, or no spread. Raises ValueError as `paired_differences` and
    `detectable_difference` do.
    """
    differences = _rounded_differences(first, second)
    spread = stdev(differences) if len(differences) > 1 else 0.0
    return detectable_difference(spread, len(differences), power, level) if spread else None


def smallest_detectable_gain(first: Scores, second: Scores, power: float = 0.8, level: float = 0.95) -> float | None:
    """`detectable_gain` with the share of flips of these two; None where so few show nothing.

    Raises ValueError as `flips` and `detectable_gain` do.
    """
    found = flips(first, second)
    return detectable_gain((len(found.gained) + len(found.lost)) / found.n_problems, found.n_problems, power, level)


def _rounded_differences(first: Scores, second: Scores) -> list[float]:
    """The differences, rounded so that 0.3 - 0.1 and 0.2 - 0.0 are one."""
    return [round(difference, DIGITS) for difference in paired_differences(first, second).values()]


def _two_sided(means: Sequence[float], differences: Sequence[float]) -> float:
    least = min(1.0, 2.0 ** (1 - sum(difference != 0 for difference in differences)))
    if not means:
        return least
    beyond = min(sum(mean <= 0 for mean in means), sum(mean >= 0 for mean in means))
    return min(1.0, max(2 * (1 + beyond) / (1 + len(means)), least))
