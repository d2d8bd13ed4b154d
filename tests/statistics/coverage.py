"""How often the bootstrap errs: `python -m tests.statistics.coverage` prints the table of docs/statistics.md.

Splits are drawn from a world whose truth is known: a problem's chance of being solved is Beta(0.5, 1), so that many
problems are hard, some are easy, and the true pass@1 is 1/3; ten samples a problem.
"""

from random import Random

from alpha_codium.statistics import bootstrap_interval, paired_bootstrap, pass_at_k

TRUTH, SAMPLES = 1 / 3, 10


def new_problems(n: int, random: Random) -> list[float]:
    """The chances of n problems to be solved."""
    return [random.betavariate(0.5, 1) for _ in range(n)]


def sampled_scores(chances: list[float], random: Random) -> dict[str, float]:
    """pass@1 of each problem, from ten samples."""
    passes = (sum(random.random() < chance for _ in range(SAMPLES)) for chance in chances)
    return {f"p{place}": pass_at_k(SAMPLES, c, 1) for place, c in enumerate(passes)}


def coverage(n: int, splits: int, resamples: int = 1000) -> float:
    """The share of splits of n problems whose 95 % interval holds the truth; where there is none, it doesn't."""
    random, held = Random(n), 0
    for seed in range(splits):
        scores = sampled_scores(new_problems(n, random), random)
        bounds = bootstrap_interval([*scores.values()], resamples=resamples, seed=seed).bounds
        held += bounds is not None and bounds[0] <= TRUTH <= bounds[1]
    return held / splits


def false_alarms(n: int, splits: int, resamples: int = 1000) -> float:
    """The share of comparisons of a model with itself, sampled anew, that give p <= 0.05."""
    random, alarms = Random(n), 0
    for seed in range(splits):
        chances = new_problems(n, random)
        first, second = sampled_scores(chances, random), sampled_scores(chances, random)
        p_value = paired_bootstrap(first, second, resamples=resamples, seed=seed).p_value
        alarms += p_value <= 0.05
    return alarms / splits


if __name__ == "__main__":
    print("| problems | intervals that hold the truth | false alarms at p <= 0.05 |\n|---|---|---|")
    for size in (3, 5, 10, 20, 50, 150):
        print(f"| {size} | {coverage(size, 2000):.1%} | {false_alarms(size, 2000):.1%} |")
