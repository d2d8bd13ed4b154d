"""Resampled means against all resamples there are."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.statistics.resampling import (
    DRAWS_A_BINOMIAL,
    binomial,
    drawn_means,
    resampled_means,
    tallied_means,
)
from tests.statistics.enumeration import binomial_chances, largest_gap, resample_means

SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.7, 1.0]), min_size=1, max_size=5)
# By the inequality of Dvoretzky, Kiefer and Wolfowitz, 4,000 draws are farther off with chance 2 exp(-8000 x²): 1e-12.
FAR = 0.06


@settings(max_examples=40, deadline=None)
@given(SCORES, st.integers(0, 2**32), st.sampled_from([drawn_means, tallied_means]))
def test_both_ways_draw_from_the_distribution_over_all_resamples(scores, seed, means) -> None:
    drawn = means(scores, 4000, Random(seed))
    assert drawn == sorted(drawn)
    assert largest_gap(drawn, resample_means(scores)) < FAR


@given(st.integers(1, 60), st.integers(1, 99))
def test_a_binomial_number_takes_each_value_for_its_share_of_all_u(n: int, percent: int) -> None:
    p, steps = Fraction(percent, 100), 2000
    counts = [0] * (n + 1)
    for step in range(steps):
        counts[binomial(n, float(p), (step + 0.5) / steps)] += 1
    for count, chance in zip(counts, binomial_chances(n, p), strict=True):
        assert count == pytest.approx(steps * chance, abs=1.001)


@given(st.integers(0, 20_000), st.floats(1e-9, 1 - 1e-9), st.floats(0, 1, exclude_max=True))
def test_a_binomial_number_lies_between_0_and_n_however_extreme(n: int, p: float, u: float) -> None:
    assert 0 <= binomial(n, p, u) <= n


@pytest.mark.parametrize("n", [60, DRAWS_A_BINOMIAL * 3 + 10])
def test_the_order_of_the_problems_does_not_matter_and_the_seed_does(n: int) -> None:
    scores = [0.0] * (n // 2) + [0.5] * (n // 4) + [1.0] * (n // 4)
    shuffled = Random(0).sample(scores, len(scores))
    assert resampled_means(scores, 500, seed=3) == resampled_means(shuffled, 500, seed=3)
    assert resampled_means(scores, 500, seed=3) != resampled_means(scores, 500, seed=4)


def test_few_scores_of_many_problems_are_tallied_and_many_are_drawn() -> None:
    binary = [0.0, 1.0] * DRAWS_A_BINOMIAL * 2
    assert resampled_means(binary, 100, 1) == tallied_means(binary, 100, Random(1))
    distinct = [i / 50 for i in range(50)]
    assert resampled_means(distinct, 100, 1) == drawn_means(distinct, 100, Random(1))


def test_means_that_are_equal_but_for_rounding_are_equal() -> None:
    assert set(resampled_means([0.1 + 0.2, 0.3], 100)) == {0.3}
