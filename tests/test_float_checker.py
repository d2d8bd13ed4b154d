"""The checker of floats: tolerances are for floats alone, and exact at their edge."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.test_checkers import FLOAT, accepts


@pytest.mark.parametrize(
    ("expected", "actual", "right"),
    [
        ("1000000007", "1000000000", False),
        ("1000000007", "1000000000.0", False),
        ("1000000007", "1000000007.0", True),
        ("0", "-0", True),
        ("-0", "0", True),
        ("0", "-0.0", True),
        ("7", "-7", False),
        ("0", "-1", False),
        ("10", "010", False),
        ("1000000007", "1e9", False),
        ("3", "3.0", True),
        ("9007199254740993", "9007199254740992.0", False),
        ("1", "0.9999999", True),
        ("1", "0.99", False),
        ("0", "1e-7", True),
        ("3000000", "3000001", False),
        ("3000000", "3000000.7", False),
        ("007", "7", False),
        ("3.0", "3", True),
        ("3.0", "3.0000001", True),
        ("3.0", "3.1", False),
        ("0.0", "-0.0", True),
        ("0.0", "0.0000001", True),
        ("1e10", "10000000001", True),
        ("10000000000.0", "10000100000.0", False),
        ("1.5", "+1.5", True),
        ("1.5", "15e-1", True),
        ("1.5", ".15E1", True),
        ("1.0", "nan", False),
        ("1.0", "inf", False),
        ("1.0", "1e999", False),
        ("10.0", "1_0", False),
        ("10.0", "1_0.0", False),
        ("16.0", "0x10", False),
        ("1.0", "\uff11.0", False),
        ("1.0", "1.0f", False),
        ("1.0", "1,0", False),
        ("1.0", "one", False),
        ("yes", "1.0", False),
        ("1.0 2.0", "1.0\n2.0", True),
        ("1.0 2.0", "2.0 1.0", False),
        ("1.0 2.0", "1.0", False),
    ],
)
def test_a_tolerance_is_for_floats_alone(expected: str, actual: str, right: bool) -> None:
    assert accepts("float", expected, actual, **FLOAT) is right


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "NaN", "infinity", "1_0.5", "0x1.8p1"])
def test_anything_but_numbers_is_compared_as_text(text: str) -> None:
    assert accepts("float", text, text, **FLOAT)
    assert not accepts("float", text, text + "0", **FLOAT)
    assert not accepts("float", text, "1.0", abs=1e300)


def test_within_either_tolerance_is_enough() -> None:
    assert accepts("float", "1000.0", "1000.5", abs=0.0, rel=1e-3)
    assert accepts("float", "0.001", "0.501", abs=0.5, rel=0.0)
    assert not accepts("float", "1000.0", "1002.0", abs=1, rel=1e-3)
    assert not accepts("float", "1.0", "1.0000001")


@given(
    expected=st.floats(-1e12, 1e12),
    actual=st.floats(-1e12, 1e12),
    abs_=st.floats(0, 10),
    rel=st.floats(0, 1),
)
def test_float_follows_its_definition(expected: float, actual: float, abs_: float, rel: float) -> None:
    distance, bound = abs(expected - actual), max(abs_, rel * abs(expected))
    accepted = accepts("float", repr(expected), repr(actual), abs=abs_, rel=rel)
    if distance <= bound:
        assert accepted
    if distance > 1.0011 * bound:
        assert not accepted


@pytest.mark.parametrize(
    ("expected", "actual", "tolerance", "right"),
    [
        ("0.5", "0.500001", {"abs": 1e-6}, True),
        ("0.3", "0.4", {"abs": 0.1}, True),
        ("1000000.5", "1000000.500001", {"abs": 1e-6}, True),
        ("1.0", "1.000001", {"rel": 1e-6}, True),
        ("0.5", "0.500001001", {"abs": 1e-6}, False),
        ("0.5", "0.5000010000001", {"abs": 1e-6}, False),
        ("1e17", "100000000000000016.0", {"abs": 1e-6}, False),
        ("1.0", "1.0000000000000002", {}, False),
    ],
)
def test_a_distance_equal_to_the_tolerance_is_within_it(
    expected: str, actual: str, tolerance: dict[str, float], right: bool
) -> None:
    assert accepts("float", expected, actual, **tolerance) is right


@given(st.decimals(-1000, 1000, places=6), st.integers(1, 9), st.booleans())
def test_decimals_just_the_tolerance_apart_are_within_it(expected: Decimal, power: int, less: bool) -> None:
    tolerance = Decimal(10) ** -power
    actual, beyond = (
        expected + sign * tolerance * share for sign, share in ((1 - 2 * less, 1), (1 - 2 * less, Decimal("1.01")))
    )
    assert accepts("float", f"{expected:f}", f"{actual:f}", abs=float(tolerance))
    assert not accepts("float", f"{expected:f}", f"{beyond:f}", abs=float(tolerance))


@given(st.integers(), st.integers(), st.floats(0, 1e9))
def test_integers_are_never_near_enough(expected: int, actual: int, tolerance: float) -> None:
    assert accepts("float", str(expected), str(actual), abs=tolerance, rel=tolerance) == (expected == actual)
