"""pass@k and pass^k: of k samples, does one pass, and do all pass?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

# One a problem: how many samples it has, and how many of them pass.
Counts = Sequence[tuple[int, int]]


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that at least one of k samples, drawn without replacement from n of which c pass, passes.

    1 - C(n-c, k) / C(n, k), the unbiased estimator of Chen et al. 2021, "Evaluating Large Language Models Trained
    on Code" (arXiv 2107.03374), equation 1, computed as a product so that nothing overflows.

    Raises ValueError unless 0 <= c <= n and 1 <= k <= n: below k samples the estimator is undefined.
    """
    _check(n, c, k)
    return 1.0 - _all_among(n - c, n, k)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """pass^k: the chance that all of k samples, drawn without replacement from n of which c pass, pass.

    C(c, k) / C(n, k), the unbiased estimator of Yao et al. 2024, "tau-bench: A Benchmark for Tool-Agent-User
    Interaction in Real-World Domains" (arXiv 2406.12045), section 3: how reliable a model is, where pass@k says what
    it can reach. pass^1 is pass@1.

    Raises ValueError as `pass_at_k` does.
    """
    _check(n, c, k)
    return _all_among(c, n, k)


@dataclass(frozen=True, slots=True)
class Estimate:
    """One pass@k or pass^k over a split; `value` is None where it is undefined, with the reason."""

    k: int
    value: float | None
    reason: str = ""


def mean_pass_at_k(counts: Counts, k: int) -> Estimate:
    """pass@k averaged over all problems; `counts` holds one `(n, c)` a problem: samples, passing samples.

    A problem without any sample scores 0 and stays in the denominator. If a problem has samples, but fewer than
    k, the estimate is undefined: averaging the others only would score an easier split.
    """
    return _mean(counts, k, pass_at_k)


def mean_pass_hat_k(counts: Counts, k: int) -> Estimate:
    """pass^k averaged over all problems, under the rules of `mean_pass_at_k`."""
    return _mean(counts, k, pass_hat_k)


def problem_scores(
    counts: Counts, k: int, estimator: Callable[[int, int, int], float] = pass_at_k
) -> tuple[float, ...]:
    """Each problem's pass@k, 0 where it has no sample: what intervals and comparisons are made of.

    Raises ValueError where a problem has samples, but fewer than k.
    """
    return tuple(estimator(n, c, k) if n else 0.0 for n, c in counts)


def strata(labels: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the places of each label, by label, in the order in which the labels first occur.

    The functions that score a split score a stratum, too. Of twenty intervals at 95 %, side by side, one may miss.
    """
    places: dict[str, list[int]] = {}
    for place, label in enumerate(labels):
        places.setdefault(label, []).append(place)
    return {label: tuple(of_label) for label, of_label in places.items()}


def _mean(counts: Counts, k: int, estimator: Callable[[int, int, int], float]) -> Estimate:
    if not counts:
        return Estimate(k, None, "there is no problem")
    if all(n == 0 for n, _ in counts):
        return Estimate(k, 0.0)
    short = [n for n, _ in counts if 0 < n < k]
    if short:
        some = f"{len(short)} of {len(counts)} problems have" if len(short) > 1 else f"1 of {len(counts)} problems has"
        return Estimate(k, None, f"{some} fewer than {k} samples (least {min(short)})")
    return Estimate(k, sum(problem_scores(counts, k, estimator)) / len(counts))


def _check(n: int, c: int, k: int) -> None:
    if not 0 <= c <= n:
        raise ValueError(f"c must lie between 0 and n={n}, not {c}")
    if not 1 <= k <= n:
        raise ValueError(f"k must lie between 1 and n={n}, not {k}")


def _all_among(m: int, n: int, k: int) -> float:
    """The chance that k drawn without replacement from n are all among m of them: C(m, k) / C(n, k)."""
    if m < k:
        return 0.0
    chance = 1.0
    for i in range(k):
        chance *= (m - i) / (n - i)
    return chance
