"""Estimators of pass@k and pass^k: the probabilities that at least one of k samples passes, and that all pass."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from alpha_codium.wording import counted

# For each problem, the number of samples, and the number of those that pass.
Counts = Sequence[tuple[int, int]]


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the probability that at least one of k samples passes, drawn without replacement from n of which c pass.

    This is 1 - C(n-c, k) / C(n, k), the unbiased estimator of Chen et al. 2021, "Evaluating Large Language Models
    Trained on Code" (arXiv 2107.03374), equation 1, computed as a product to avoid overflow.

    Raises ValueError unless 0 <= c <= n and 1 <= k <= n: with fewer than k samples the estimator is undefined.
    """
    _check(n, c, k)
    return 1.0 - _all_among(n - c, n, k)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Return pass^k, the probability that all of k samples pass, drawn without replacement from n of which c pass.

    This is C(c, k) / C(n, k), the unbiased estimator of Yao et al. 2024, "tau-bench: A Benchmark for Tool-Agent-User
    Interaction in Real-World Domains" (arXiv 2406.12045), section 3. It measures reliability, while pass@k measures
    what a model can achieve with several attempts. pass^1 is pass@1.

    Raises the errors of `pass_at_k`.
    """
    _check(n, c, k)
    return _all_among(c, n, k)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The pass@k or pass^k of a split; if it is undefined, `value` is None, and `reason` says why."""

    k: int
    value: float | None
    reason: str = ""


def mean_pass_at_k(counts: Counts, k: int) -> Estimate:
    """Return pass@k averaged over all problems; `counts` has the samples and passing samples of each problem.

    A problem without samples scores 0. If a problem has samples, but fewer than k, the estimate is undefined, since an
    average over the other problems would be a score of another split.
    """
    return _mean(counts, k, pass_at_k)


def mean_pass_hat_k(counts: Counts, k: int) -> Estimate:
    """Return pass^k averaged over all problems, with the rules of `mean_pass_at_k`."""
    return _mean(counts, k, pass_hat_k)


def problem_scores(
    counts: Counts, k: int, estimator: Callable[[int, int, int], float] = pass_at_k
) -> tuple[float, ...]:
    """Return each problem's pass@k, 0 if it has no samples; intervals and comparisons are computed from these.

    Raises ValueError if a problem has samples, but fewer than k.
    """
    return tuple(estimator(n, c, k) if n else 0.0 for n, c in counts)


def strata(labels: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the indices of each label, with labels in the order of their first occurrence.

    A stratum can be scored like a split. Note that of twenty 95 % intervals, one is expected to miss the true value.
    """
    indices: dict[str, list[int]] = {}
    for index, label in enumerate(labels):
        indices.setdefault(label, []).append(index)
    return {label: tuple(of_label) for label, of_label in indices.items()}


def _mean(counts: Counts, k: int, estimator: Callable[[int, int, int], float]) -> Estimate:
    if not counts:
        return Estimate(k, None, "there is no problem")
    if all(n == 0 for n, _ in counts):
        return Estimate(k, 0.0)
    short = [n for n, _ in counts if 0 < n < k]
    if short:
        some = (
            f"{len(short)} of {counted(len(counts), 'problem')} {'has samples' if len(short) == 1 else 'have samples'}"
        )
        return Estimate(k, None, f"{some}, but fewer than {k} (least {min(short)})")
    return Estimate(k, sum(problem_scores(counts, k, estimator)) / len(counts))


def _check(n: int, c: int, k: int) -> None:
    if not 0 <= c <= n:
        raise ValueError(f"c must lie between 0 and n={n}, not {c}")
    if not 1 <= k <= n:
        raise ValueError(f"k must lie between 1 and n={n}, not {k}")


def _all_among(m: int, n: int, k: int) -> float:
    """Return the probability that k items drawn without replacement from n are all among m of them."""
    if m < k:
        return 0.0
    chance = 1.0
    for i in range(k):
        chance *= (m - i) / (n - i)
    return chance
