"""Comparisons against every outcome that chance could have given."""

import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from alpha_codium.statistics import (
    Flips,
    bootstrap_interval,
    detectable_difference,
    detectable_gain,
    flips,
    mcnemar,
    paired_bootstrap,
    paired_differences,
    smallest_detectable_difference,
    smallest_detectable_gain,
)
from tests.statistics.enumeration import resample_means

TENTHS = st.integers(0, 10).map(lambda tenths: tenths / 10)


def named(scores: list[float]) -> dict[str, float]:
    return {f"p{place}": score for place, score in enumerate(scores)}


def pairs(score: st.SearchStrategy[float], most: int) -> st.SearchStrategy[tuple[dict[str, float], dict[str, float]]]:
    several = st.lists(st.tuples(score, score), min_size=1, max_size=most)
    return several.map(lambda both: (named([first for first, _ in both]), named([second for _, second in both])))


@given(st.integers(0, 12), st.integers(0, 12))
def test_mcnemar_is_the_share_of_all_coin_tosses_that_are_as_lopsided(gained: int, lost: int) -> None:
    n = gained + lost
    assume(n <= 12)
    tosses = itertools.product((0, 1), repeat=n)
    as_lopsided = sum(abs(2 * sum(toss) - n) >= abs(gained - lost) for toss in tosses)
    assert mcnemar(gained, lost) == as_lopsided / 2**n


@pytest.mark.parametrize(
    ("gained", "lost", "p_value"),
    [(0, 0, 1.0), (5, 5, 1.0), (1, 0, 1.0), (6, 0, 0.03125), (0, 6, 0.03125), (9, 1, 0.021484375)],
)
def test_known_values_of_mcnemar(gained: int, lost: int, p_value: float) -> None:
    assert mcnemar(gained, lost) == p_value


def test_mcnemar_of_many_flips_is_finite_and_tiny() -> None:
    assert 0 <= mcnemar(9000, 1000) < 1e-300
    assert mcnemar(5050, 4950) == pytest.approx(0.3222, abs=1e-3)  # the normal approximation, with continuity
    with pytest.raises(ValueError, match="can't be negative"):
        mcnemar(-1, 3)


def test_flips_are_named_in_order() -> None:
    first = {"a": 1, "b": 0, "c": 0, "d": 1, "e": 1}
    second = {"e": 0, "d": 1, "c": 1, "b": 1, "a": 0}
    assert flips(first, second) == Flips(gained=("b", "c"), lost=("a", "e"), n_problems=5)
    with pytest.raises(ValueError, match=r"solved \(1\) or not \(0\), but 'a' scores 0.5"):
        flips({"a": 0.5}, {"a": 1})


@pytest.mark.thorough
@given(pairs(st.sampled_from([0.0, 1.0]), 30))
def test_swapping_the_two_swaps_the_flips_and_the_sign_of_the_difference(both) -> None:
    first, second = both
    there, back = flips(first, second), flips(second, first)
    assert (there.gained, there.lost) == (back.lost, back.gained)
    assert mcnemar(len(there.gained), len(there.lost)) == mcnemar(len(there.lost), len(there.gained))
    assert (len(there.gained) - len(there.lost)) / len(first) == pytest.approx(
        paired_bootstrap(first, second, resamples=100).value
    )


@pytest.mark.thorough
@settings(max_examples=30, deadline=None)
@given(pairs(TENTHS, 5), st.integers(0, 2**32))
def test_the_bootstrap_p_value_is_twice_the_smaller_tail_over_all_resamples(both, seed) -> None:
    first, second = both
    differences = [round(second[name] - first[name], 12) for name in first]
    assume(len(set(differences)) > 1)
    chances = resample_means(differences)
    tails = [sum(c for mean, c in chances.items() if sign * mean <= 0) for sign in (1, -1)]
    exact = min(1.0, max(2 * min(tails), 2.0 ** (1 - sum(d != 0 for d in differences))))
    found = paired_bootstrap(first, second, resamples=20_000, seed=seed)
    assert found.value == pytest.approx(sum(differences) / len(differences))
    assert found.interval == bootstrap_interval(differences, resamples=20_000, seed=seed)
    assert found.p_value == pytest.approx(exact, abs=0.06)  # twice what 20,000 draws may be off: see test_resampling


@pytest.mark.thorough
@settings(deadline=None)
@given(pairs(TENTHS, 40), st.sampled_from([0.8, 0.9, 0.95]))
def test_the_p_value_is_small_just_where_the_interval_leaves_0_out(both, level) -> None:
    first, second = both
    assume(sum(second[name] != first[name] for name in first) >= 6)
    found = paired_bootstrap(first, second, level, resamples=500)
    assume(found.interval.bounds is not None)
    low, high = found.interval.bounds
    assert (found.p_value <= 1 - level + 1e-12) == (low > 0 or high < 0)


def test_a_few_problems_never_make_a_tiny_p_value() -> None:
    first, second = named([0.0, 0.0, 0.0]), named([1.0, 1.0, 0.9])
    found = paired_bootstrap(first, second)
    assert found.interval.bounds is not None and found.interval.bounds[0] > 0
    assert found.p_value == 0.25


def test_where_nothing_differs_p_is_1_and_where_all_differ_alike_signs_alone_tell() -> None:
    scores = named([0.0, 0.5, 1.0])
    same = paired_bootstrap(scores, scores)
    assert (same.value, same.p_value, same.interval.bounds) == (0.0, 1.0, None)
    shifted = paired_bootstrap(named([0.1, 0.2, 0.3]), named([0.3, 0.4, 0.5]))
    assert (shifted.value, shifted.p_value, shifted.interval.bounds) == (pytest.approx(0.2), 0.25, None)
    all_gained = paired_bootstrap(named([0.0] * 10), named([1.0] * 10))
    assert (all_gained.p_value, all_gained.interval.bounds) == (2**-9, None)
    assert all_gained.p_value == mcnemar(10, 0)
    assert paired_bootstrap(named([0.0]), named([1.0])).p_value == 1.0
    assert "all problems have the same value" in shifted.interval.reason
    assert paired_bootstrap({"a": 0.0}, {"a": 1.0}).interval.reason == "there is one problem only"


def test_the_difference_itself_is_not_rounded() -> None:
    assert paired_bootstrap({"a": 0.0, "b": 0.0}, {"a": 1 / 3, "b": 1 / 3}).value == 1 / 3


def test_problems_are_paired_by_name_whatever_their_order() -> None:
    first, second = {"a": 0.1, "b": 0.9, "c": 0.4}, {"a": 0.3, "b": 0.8, "c": 0.4}
    shuffled = {name: second[name] for name in ("c", "a", "b")}
    assert paired_differences(first, shuffled) == pytest.approx({"a": 0.2, "b": -0.1, "c": 0.0})
    assert paired_bootstrap(first, second) == paired_bootstrap(first, shuffled)


@pytest.mark.parametrize(
    "compare", [paired_differences, paired_bootstrap, flips, smallest_detectable_difference, smallest_detectable_gain]
)
def test_scores_of_different_problems_are_refused(compare) -> None:
    with pytest.raises(ValueError, match="2 problems with one score only, such as 'b'"):
        compare({"a": 1.0, "b": 1.0}, {"a": 1.0, "c": 0.0})
    with pytest.raises(ValueError, match="no problem to compare on"):
        compare({}, {})


@given(pairs(TENTHS, 20))
def test_the_smallest_detectable_difference_is_that_of_the_spread_of_the_differences(both) -> None:
    first, second = both
    differences = [round(second[name] - first[name], 12) for name in first]
    n, mean = len(differences), sum(differences) / len(differences)
    found = smallest_detectable_difference(first, second, power=0.9)
    if len(set(differences)) < 2:
        assert found is None
    else:
        spread = (sum((d - mean) ** 2 for d in differences) / (n - 1)) ** 0.5
        assert found == pytest.approx(detectable_difference(spread, n, power=0.9))


def test_the_smallest_detectable_gain_is_that_of_the_share_of_flips() -> None:
    first = named([1.0] * 50 + [0.0] * 50)
    second = named([1.0] * 40 + [0.0] * 40 + [1.0] * 20)
    assert smallest_detectable_gain(first, second) == detectable_gain(0.3, 100)
    assert smallest_detectable_gain(first, first) is None
