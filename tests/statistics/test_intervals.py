"""Intervals against what defines them: the test that Wilson's turns round, all resamples, how often each holds."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.statistics import Interval, bootstrap_interval, wilson_interval
from tests.statistics.coverage import coverage, false_alarms
from tests.statistics.enumeration import binomial_chances, resample_means

Z95 = 1.959963984540054
PASSES = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def bounds(interval: Interval) -> tuple[float, float]:
    assert interval.bounds is not None, interval.reason
    return interval.bounds


@given(PASSES)
def test_wilson_holds_every_proportion_that_a_z_test_does_not_reject_and_no_other(numbers: tuple[int, int]) -> None:
    passes, n = numbers
    low, high = bounds(wilson_interval(passes, n))
    for step in range(1, 400):
        p = step / 400
        distance = abs(passes / n - p) - Z95 * math.sqrt(p * (1 - p) / n)
        if abs(distance) > 1e-9:
            assert (low <= p <= high) == (distance < 0)


@given(PASSES)
def test_wilson_lies_in_0_to_1_holds_the_share_and_mirrors(numbers: tuple[int, int]) -> None:
    passes, n = numbers
    low, high = bounds(wilson_interval(passes, n))
    assert 0.0 <= low <= passes / n <= high <= 1.0
    assert low < high
    assert bounds(wilson_interval(n - passes, n)) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@pytest.mark.parametrize(
    ("passes", "n", "low", "high"),
    # n/(n + z²) and z²/(n + z²) where none or all pass; the middle one worked out by hand.
    [(0, 10, 0.0, 0.27753), (10, 10, 0.72247, 1.0), (1, 1, 0.20655, 1.0), (5, 10, 0.23659, 0.76341)],
)
def test_known_values_of_wilson(passes: int, n: int, low: float, high: float) -> None:
    assert bounds(wilson_interval(passes, n)) == pytest.approx((low, high), abs=1e-5)


@pytest.mark.parametrize("n", [5, 20, 100])
def test_wilson_holds_the_truth_as_often_as_it_says(n: int) -> None:
    intervals = [bounds(wilson_interval(passes, n)) for passes in range(n + 1)]
    held = []
    for step in range(1, 200):
        p = Fraction(step, 200)
        chances = binomial_chances(n, p)
        held.append(sum(chance for chance, (low, high) in zip(chances, intervals, strict=True) if low <= p <= high))
    assert sum(held) / len(held) == pytest.approx(0.95, abs=0.01)
    assert min(held) > 0.83  # the known worst is 0.832, for p near 0 or 1


def test_a_higher_level_is_wider_and_more_problems_are_narrower() -> None:
    def width(interval: Interval) -> float:
        low, high = bounds(interval)
        return high - low

    assert width(wilson_interval(5, 10, 0.8)) < width(wilson_interval(5, 10)) < width(wilson_interval(5, 10, 0.99))
    assert width(wilson_interval(50, 100)) < width(wilson_interval(5, 10))
    few, many = [0.0, 0.5, 1.0] * 5, [0.0, 0.5, 1.0] * 50
    assert width(bootstrap_interval(few, 0.8)) < width(bootstrap_interval(few)) < width(bootstrap_interval(few, 0.99))
    assert width(bootstrap_interval(many)) < width(bootstrap_interval(few))


@pytest.mark.thorough
@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.2, 0.5, 2 / 3, 1.0]), min_size=2, max_size=5).filter(lambda s: len(set(s)) > 1),
    st.integers(0, 2**32),
    st.sampled_from([0.5, 0.8, 0.95]),
)
def test_the_bootstrap_cuts_its_share_off_the_distribution_over_all_resamples(scores, seed, level) -> None:
    low, high = bounds(bootstrap_interval(scores, level, resamples=40_000, seed=seed))
    chances = resample_means(scores)
    tail, off = (1 - level) / 2, 0.02  # what 40,000 draws may be off: see test_resampling
    assert {low, high} <= chances.keys()
    for bound, sign in ((low, 1), (high, -1)):
        beyond = sum(chance for mean, chance in chances.items() if sign * mean < sign * bound)
        assert beyond <= tail + off
        assert beyond + chances[bound] >= tail - off


def test_the_bootstrap_of_many_problems_is_the_normal_interval() -> None:
    scores = [0.0, 0.25, 0.5, 1.0] * 250
    mean = sum(scores) / len(scores)
    error = math.sqrt(sum((s - mean) ** 2 for s in scores)) / len(scores)
    assert bounds(bootstrap_interval(scores)) == pytest.approx(
        (mean - Z95 * error, mean + Z95 * error), abs=0.1 * error
    )


def test_the_same_scores_and_seed_give_the_same_interval_in_any_order() -> None:
    scores = [i / 40 for i in range(41)]
    assert bootstrap_interval(scores) == bootstrap_interval(scores[::-1])
    assert bootstrap_interval(scores, seed=1) != bootstrap_interval(scores, seed=2)


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([], "there is no problem"),
        ([0.5], "there is one problem only"),
        ([0.0] * 9, "all problems have the same value, so resampling them shows no spread"),
        ([1.0] * 9, "all problems have the same value, so resampling them shows no spread"),
    ],
)
def test_where_resampling_shows_nothing_there_is_no_interval_but_a_reason(scores: list[float], reason: str) -> None:
    assert bootstrap_interval(scores) == Interval(None, "bootstrap over problems", 0.95, reason)


def test_wilson_of_no_problem_is_none_with_the_reason() -> None:
    assert wilson_interval(0, 0) == Interval(None, "wilson", 0.95, "there is no problem")


@pytest.mark.parametrize("level", [-0.5, 0.0, 1.0, 95.0])
def test_a_level_that_is_none_is_an_error(level: float) -> None:
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        wilson_interval(1, 2, level)
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        bootstrap_interval([0, 1], level)


def test_passes_beyond_n_and_too_few_resamples_are_errors() -> None:
    with pytest.raises(ValueError, match="passes must lie between 0 and n=2"):
        wilson_interval(3, 2)
    with pytest.raises(ValueError, match="30 resamples can't give an interval for a level of"):
        bootstrap_interval([0, 1], resamples=30)


@pytest.mark.thorough
def test_the_bootstrap_holds_the_truth_nearly_as_often_as_it_says_from_fifty_problems_on() -> None:
    # 300 splits: 0.95 gives 285, and below 270 with chance 2e-4; the seeds are fixed.
    assert 0.90 < coverage(50, 300, resamples=400) < 0.98


@pytest.mark.thorough
def test_a_model_compared_with_itself_rarely_seems_better() -> None:
    assert 0.02 < false_alarms(50, 300, resamples=400) < 0.10


@pytest.mark.parametrize("unfit", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("others", [[], [0.5], [0.0, 1.0]])
def test_a_score_that_is_no_number_is_refused(unfit: float, others: list[float]) -> None:
    with pytest.raises(ValueError, match="must be finite numbers"):
        bootstrap_interval([*others, unfit])
