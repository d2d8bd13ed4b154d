"""Resampled means against all resamples there are."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.statistics.intervals import resampled_means
from tests.statistics.enumeration import largest_gap, resample_means

SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.7, 1.0]), min_size=1, max_size=5)
# By the inequality of Dvoretzky, Kiefer and Wolfowitz, 4,000 draws are farther off with chance 2 exp(-8000 x²): 1e-12.
FAR = 0.06


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(SCORES, st.integers(0, 2**64))
def test_means_are_drawn_from_the_distribution_over_all_resamples(scores, seed) -> None:
    drawn = resampled_means(scores, 4000, seed)
    assert drawn == sorted(drawn)
    assert largest_gap(drawn, resample_means(scores)) < FAR


def test_the_order_of_the_problems_does_not_matter_and_the_seed_does() -> None:
    scores = [0.0] * 30 + [0.5] * 15 + [1.0] * 15
    shuffled = Random(0).sample(scores, len(scores))
    assert resampled_means(scores, 500, seed=3) == resampled_means(shuffled, 500, seed=3)
    assert resampled_means(scores, 500, seed=3) != resampled_means(scores, 500, seed=4)


def test_a_seed_gives_the_same_means_with_every_numpy() -> None:
    assert resampled_means([0.0, 0.5, 1.0], 5, seed=1) == [0.5, 0.5, 0.5, 0.666666666667, 0.833333333333]


def test_means_that_are_equal_but_for_rounding_are_equal() -> None:
    assert set(resampled_means([0.1 + 0.2, 0.3], 100)) == {0.3}
