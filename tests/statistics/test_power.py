"""The smallest detectable differences against the power of the tests, counted over all outcomes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.statistics import detectable_difference, detectable_gain, mcnemar
from tests.statistics.enumeration import flip_chances

Z95, Z80 = 1.959963984540054, 0.8416212335729143


def power_of(rejects, n: int, flipped: float, gain: float) -> float:
    gained, lost = (flipped + gain) / 2, (flipped - gain) / 2
    return sum(chance for g, lo, chance in flip_chances(n, gained, lost) if rejects(g, lo))


@given(st.integers(5, 5000), st.floats(0.05, 1.0), st.sampled_from([0.5, 0.8, 0.9]))
def test_the_gain_solves_connors_formula_for_the_number_of_problems(n: int, flipped: float, power: float) -> None:
    gain = detectable_gain(flipped, n, power)
    z_power = {0.5: 0.0, 0.8: Z80, 0.9: 1.2815515655446004}[power]

    def needed(gain: float) -> float:
        return ((Z95 * math.sqrt(flipped) + z_power * math.sqrt(flipped - gain**2)) / gain) ** 2

    if gain is None:
        assert needed(flipped) > n
    else:
        assert needed(gain) == pytest.approx(n, rel=1e-6)


@pytest.mark.parametrize(("n", "flipped"), [(60, 0.5), (100, 0.3), (100, 0.6)])
def test_mcnemars_test_finds_that_gain_as_often_as_asked(n: int, flipped: float) -> None:
    gain = detectable_gain(flipped, n)
    assert gain is not None

    def asymptotic(gained: int, lost: int) -> bool:
        return gained + lost > 0 and (gained - lost) ** 2 / (gained + lost) > Z95**2

    assert power_of(asymptotic, n, flipped, gain) == pytest.approx(0.8, abs=0.04)
    exact = power_of(lambda gained, lost: mcnemar(gained, lost) <= 0.05, n, flipped, gain)
    assert 0.6 < exact < 0.8  # it is conservative, as the docstring says
    assert power_of(asymptotic, n, flipped, gain=0.0) == pytest.approx(0.05, abs=0.015)


@pytest.mark.parametrize(("n", "flipped"), [(60, 0.5), (100, 0.3)])
def test_a_z_test_of_the_mean_difference_finds_that_difference_as_often_as_asked(n: int, flipped: float) -> None:
    # Differences of -1, 0 and 1 whose spread is known: the only ones whose every outcome can be counted.
    gain = 0.0
    for _ in range(60):
        gain = detectable_difference(math.sqrt(flipped - gain**2), n)
    spread = math.sqrt(flipped - gain**2)
    found = power_of(lambda g, lo: abs(g - lo) / n / (spread / math.sqrt(n)) > Z95, n, flipped, gain)
    assert found == pytest.approx(0.8, abs=0.04)


def test_four_times_the_problems_halve_the_difference() -> None:
    assert detectable_difference(0.5, 100) == pytest.approx((Z95 + Z80) * 0.05)
    assert detectable_difference(0.5, 400) == pytest.approx(detectable_difference(0.5, 100) / 2)
    assert detectable_difference(0.0, 100) == 0.0


@pytest.mark.parametrize(("flipped", "n"), [(0.0, 100), (0.01, 100), (1.0, 1), (0.5, 3)])
def test_too_few_flips_show_nothing_even_if_all_go_one_way(flipped: float, n: int) -> None:
    assert detectable_gain(flipped, n) is None


@pytest.mark.parametrize(
    "arguments", [{"n": 0}, {"flipped": -0.1}, {"flipped": 1.1}, {"power": 1.0}, {"power": 0.4}, {"level": 1.0}]
)
def test_what_makes_no_sense_is_an_error(arguments: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"there must be|must lie|must be"):
        detectable_gain(**({"flipped": 0.3, "n": 100} | arguments))  # type: ignore[arg-type]
    spread = {"spread": -1.0} if "flipped" in arguments else {"spread": 0.3} | arguments
    with pytest.raises(ValueError, match=r"there must be|must lie|must be"):
        detectable_difference(**({"n": 100} | spread))  # type: ignore[arg-type]
