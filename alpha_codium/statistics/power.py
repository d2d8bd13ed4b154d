"""The smallest difference that a comparison on n problems can detect."""

import math
from statistics import NormalDist

from alpha_codium.statistics.intervals import level_quantile


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


def _power_quantile(power: float) -> float:
    if not 0.5 <= power < 1:
        raise ValueError(f"the power must be at least 0.5 and below 1, not {power}")
    return NormalDist().inv_cdf(power)
