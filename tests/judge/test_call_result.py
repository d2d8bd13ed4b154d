"""What a call returned against the JSON that is expected."""

import json
import tracemalloc
from collections import Counter, OrderedDict, deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.judge.call import call_result
from alpha_codium.judge.codec import encode
from alpha_codium.values import integer_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


def right(expected: object, returned: object, **arguments: object) -> bool:
    return call_result(**arguments)("", json.dumps(expected), encode(returned))  # type: ignore[arg-type]


@pytest.mark.thorough
@given(JSON)
def test_json_equals_itself_and_itself_in_a_list(value: object) -> None:
    assert right(value, value)
    assert right([value], value)
    assert right(value, value, unwrap=False)
    assert right([value], value, unwrap=False) == ([value] == value)


@pytest.mark.thorough
@given(JSON, JSON)
def test_without_unwrapping_values_are_equal_as_python_says(expected: object, returned: object) -> None:
    assert right(expected, returned, unwrap=False) == (expected == returned)


@pytest.mark.parametrize(
    ("expected", "returned"),
    [
        ([1, 2], (1, 2)),
        ([[1], [2, []]], [(1,), (2, ())]),
        (1, True),
        (1, 1.0),
        ({"a": 1}, OrderedDict(a=1)),
        ({"a": 2}, Counter("aa")),
        ({"1": "x", "-2": "y"}, {1: "x", -2: "y"}),
        ([[1, 2]], [1, 2]),
    ],
)
def test_what_json_can_not_tell_apart_is_right(expected: object, returned: object) -> None:
    assert right(expected, returned)


@pytest.mark.parametrize(
    ("expected", "returned"),
    [
        ("1", 1),
        (None, 0),
        ([], None),
        ([], 0),
        ([1, 2], {1, 2}),
        ([1, 2], deque([1, 2])),
        ([1, 2], 2),
        ([1, 2], [1, 2, 3]),
        ([0, 1], range(2)),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"a": 1}),
        ({"1": 1, "b": 2}, {1: 1, "1": 1}),
        ({"1": 1}, {True: 1}),
        ({"1.0": 1}, {1.0: 1}),
        (0.1, 0.1000001),
        ("a", b"a"),
    ],
)
def test_what_differs_is_wrong(expected: object, returned: object) -> None:
    assert not right(expected, returned)


def test_a_tolerance_is_for_floats_alone() -> None:
    assert right([0.5], [0.5000001], abs=1e-6)
    assert right(1, 1.0000001, rel=1e-6)
    assert not right(0.5, 0.51, abs=1e-6)
    assert not right(1000000007, 1000000008, rel=1e-3)
    assert not right(True, 1.0000001, abs=0.1)
    assert not right(0.5, 10**400, abs=1.0)


@given(st.integers(4000, 6000), st.integers(-9, 9))
def test_integers_of_any_length_are_compared(digits: int, more: int) -> None:
    text = "7" * digits
    assert call_result()("", f"[{text}]", encode([integer_of(text)]))
    assert call_result()("", text, encode(integer_of(text) + more)) == (more == 0)


@pytest.mark.parametrize("text", ["", "passed", "L", "i5;i5;", "i5;\n"])
def test_an_invalid_value_is_wrong(text: str) -> None:
    assert not call_result()("", "5", text)


def test_a_set_with_colliding_hashes_is_not_built() -> None:
    # Numbers with one and the same hash: building this set would take hours.
    same_hash = "".join(f"i{n * (2**61 - 1):x};" for n in range(300_000))
    assert not call_result()("", "[1]", f"S{same_hash})")
    assert not call_result()("", '{"a": 1}', f"D{same_hash})")


def test_a_value_too_large_to_be_right_is_not_built() -> None:
    tracemalloc.start()
    assert not call_result()("", "[[]]", "L" + "L)" * 1_000_000 + ")")
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_the_first_of_several_items_is_not_the_list():
    assert right([7], 7)
    assert not right([0, 1], 0)
    assert not right([[1, 2], [3, 4]], [1, 2])
