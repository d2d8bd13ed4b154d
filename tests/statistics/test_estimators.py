"""pass@k and pass^k against their definitions."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.statistics import mean_pass_at_k, mean_pass_hat_k, pass_at_k, pass_hat_k, problem_scores


@st.composite
def counts(draw: st.DrawFn, most: int) -> tuple[int, int, int]:
    n = draw(st.integers(1, most))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@given(counts(8))
def test_pass_at_k_is_the_share_of_all_subsets_that_hold_a_pass(numbers: tuple[int, int, int]) -> None:
    n, c, k = numbers
    subsets = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, subsets)) / len(subsets), abs=1e-12)


@given(counts(8))
def test_pass_hat_k_is_the_share_of_all_subsets_that_hold_passes_only(numbers: tuple[int, int, int]) -> None:
    n, c, k = numbers
    subsets = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, subsets)) / len(subsets), abs=1e-12)


@given(counts(2000))
def test_pass_hat_k_is_the_quotient_of_binomials_for_any_n(numbers: tuple[int, int, int]) -> None:
    n, c, k = numbers
    exact = Fraction(math.comb(c, k), math.comb(n, k))
    assert pass_hat_k(n, c, k) == pytest.approx(float(exact), rel=1e-9, abs=1e-300)


@given(counts(200))
def test_pass_hat_k_never_exceeds_pass_at_k_and_both_are_one_for_k_1(numbers: tuple[int, int, int]) -> None:
    n, c, k = numbers
    assert 0.0 <= pass_hat_k(n, c, k) <= pass_at_k(n, c, k) + 1e-12
    assert pass_hat_k(n, c, 1) == pytest.approx(pass_at_k(n, c, 1))
    assert pass_hat_k(n, c, n) == float(c == n)


@given(counts(2000))
def test_pass_at_k_is_one_minus_the_binomials_for_any_n(numbers: tuple[int, int, int]) -> None:
    n, c, k = numbers
    exact = 1 - Fraction(math.comb(n - c, k), math.comb(n, k))
    assert pass_at_k(n, c, k) == pytest.approx(float(exact), abs=1e-11)


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),
    [(10, 0, 1, 0.0), (10, 1, 1, 0.1), (10, 10, 10, 1.0), (10, 3, 8, 1.0), (1000, 1, 500, 0.5), (1, 0, 1, 0.0)],
)
def test_known_values(n: int, c: int, k: int, value: float) -> None:
    assert pass_at_k(n, c, k) == pytest.approx(value, abs=1e-12)


@given(counts(200))
def test_pass_at_1_is_the_share_that_passes_and_no_pass_is_0_for_every_k(numbers: tuple[int, int, int]) -> None:
    n, c, k = numbers
    assert pass_at_k(n, c, 1) == pytest.approx(c / n)
    assert pass_at_k(n, 0, k) == 0.0
    assert 0.0 <= pass_at_k(n, c, k) <= 1.0


@given(counts(60))
def test_more_draws_or_more_passes_never_lower_it(numbers: tuple[int, int, int]) -> None:
    n, c, k = numbers
    if k < n:
        assert pass_at_k(n, c, k + 1) >= pass_at_k(n, c, k) - 1e-12
    if c < n:
        assert pass_at_k(n, c + 1, k) >= pass_at_k(n, c, k) - 1e-12


@pytest.mark.parametrize(("n", "c", "k"), [(5, 6, 1), (5, -1, 1), (5, 1, 0), (5, 1, 6), (0, 0, 1)])
def test_where_it_is_undefined_it_is_an_error_and_no_number(n: int, c: int, k: int) -> None:
    for estimator in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="must lie between"):
            estimator(n, c, k)


def test_the_mean_is_over_all_problems_and_one_without_samples_counts_0() -> None:
    estimate = mean_pass_at_k([(2, 2), (2, 1), (0, 0), (0, 0)], 1)
    assert estimate.value == pytest.approx((1 + 0.5) / 4)


def test_a_problem_with_too_few_samples_makes_it_undefined_with_the_reason() -> None:
    estimate = mean_pass_at_k([(10, 3), (4, 4), (3, 0), (0, 0)], 5)
    assert estimate.value is None
    assert estimate.reason == "2 of 4 problems have samples, but fewer than 5 (least 3)"
    assert mean_pass_at_k([(10, 3), (4, 4)], 5).reason == "1 of 2 problems has samples, but fewer than 5 (least 4)"


def test_no_samples_at_all_is_0_and_no_problem_at_all_is_undefined() -> None:
    assert mean_pass_at_k([(0, 0)] * 3, 10).value == 0.0
    assert mean_pass_at_k([], 1).value is None
    assert mean_pass_at_k([], 1).reason == "there is no problem"


@given(st.lists(st.tuples(st.integers(5, 9), st.integers(0, 5)), min_size=1), st.integers(1, 5))
def test_the_mean_is_the_mean(problems: list[tuple[int, int]], k: int) -> None:
    values = [pass_at_k(n, c, k) for n, c in problems]
    assert mean_pass_at_k(problems, k).value == pytest.approx(sum(values) / len(values))
    all_of_k = [pass_hat_k(n, c, k) for n, c in problems]
    assert mean_pass_hat_k(problems, k).value == pytest.approx(sum(all_of_k) / len(all_of_k))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)).map(lambda nc: (max(nc), min(nc)))), st.integers(1, 7))
def test_pass_hat_k_is_undefined_just_where_pass_at_k_is_and_for_the_same_reason(
    problems: list[tuple[int, int]], k: int
) -> None:
    one, all_of_k = mean_pass_at_k(problems, k), mean_pass_hat_k(problems, k)
    assert (one.value is None) == (all_of_k.value is None)
    assert (one.k, one.reason) == (all_of_k.k, all_of_k.reason)
    if one.value is not None and all_of_k.value is not None:
        assert all_of_k.value <= one.value + 1e-12


def test_a_problem_without_samples_scores_0_and_one_with_too_few_has_no_score() -> None:
    assert problem_scores([(2, 2), (2, 1), (0, 0)], 1) == (1.0, 0.5, 0.0)
    assert problem_scores([(2, 2), (2, 1), (0, 0)], 2, pass_hat_k) == (1.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="k must lie between"):
        problem_scores([(2, 2), (1, 1)], 2)
