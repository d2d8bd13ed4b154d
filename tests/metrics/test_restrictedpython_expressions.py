"""Objects of the user's become expressions that make them again."""

import collections
import math
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.metrics.restrictedpython_code_eval.expressions import expression_of

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(SCALARS, inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.frozensets(SCALARS, max_size=4)
    ),
    max_leaves=20,
)


def made(value: Any) -> Any:
    return eval(expression_of(value, "x"), {})


@pytest.mark.thorough
@given(VALUES)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert type(made(value)) is type(value)
    assert made(value) == value


def test_nan_comes_back_as_nan() -> None:
    assert math.isnan(made(float("nan")))


@pytest.mark.parametrize("value", [math, collections.abc, len, math.sqrt, collections.Counter, subprocess.run])
def test_what_the_jail_has_is_imported_by_its_name(value: Any) -> None:
    assert made(value) is value
    assert "pickle" not in expression_of(value, "x")


def test_functions_of_a_test_are_sent_by_their_code() -> None:
    factor = 3

    def times(x: int) -> int:
        return factor * helper(x)

    assert made(times)(2) == 9
    assert made(lambda x: x + factor)(1) == 4


def helper(x: int) -> int:
    return x + 1


def test_a_deep_value_is_no_literal() -> None:
    deep: list[Any] = []
    for _ in range(90):
        deep = [deep]
    assert "pickle" in expression_of(deep, "x")
    assert made(deep) == deep
