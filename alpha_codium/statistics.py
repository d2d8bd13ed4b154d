"""Estimators of how often a model solves a problem: pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that at least one of k samples, drawn without replacement from n of which c pass, passes.

    1 - C(n-c, k) / C(n, k), the unbiased estimator of Chen et al. 2021, "Evaluating Large Language Models Trained
    on Code" (arXiv 2107.03374), equation 1, computed as a product so that nothing overflows.

    Raises ValueError unless 0 <= c <= n and 1 <= k <= n: below k samples the estimator is undefined.
    """
    if not 0 <= c <= n:
        raise ValueError(f"c must lie between 0 and n={n}, not {c}")
    if not 1 <= k <= n:
        raise ValueError(f"k must lie between 1 and n={n}, not {k}")
    if n - c < k:
        return 1.0
    none_passes = 1.0
    for i in range(k):
        none_passes *= (n - c - i) / (n - i)
    return 1.0 - none_passes


@dataclass(frozen=True, slots=True)
class Estimate:
    """One pass@k over a split; `value` is None where it is undefined, with the reason."""

    k: int
    value: float | None
    reason: str = ""


def mean_pass_at_k(counts: Sequence[tuple[int, int]], k: int) -> Estimate:
    """pass@k averaged over all problems; `counts` holds one `(n, c)` a problem: samples, passing samples.

    A problem without any sample scores 0 and stays in the denominator. If a problem has samples, but fewer than
    k, the estimate is undefined: averaging the others only would score an easier split.
    """
    if not counts:
        return Estimate(k, None, "there is no problem")
    if all(n == 0 for n, _ in counts):
        return Estimate(k, 0.0)
    short = [n for n, _ in counts if 0 < n < k]
    if short:
        some = f"{len(short)} of {len(counts)} problems have" if len(short) > 1 else f"1 of {len(counts)} problems has"
        return Estimate(k, None, f"{some} fewer than {k} samples (least {min(short)})")
    return Estimate(k, sum(pass_at_k(n, c, k) if n else 0.0 for n, c in counts) / len(counts))
