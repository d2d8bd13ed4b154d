"""`first`: the rule of the metric that APPS was published with, where it is asked for."""

import json

import pytest

from alpha_codium.judge.call import call_result
from alpha_codium.judge.codec import encode


def right(expected: object, returned: object, **arguments: object) -> bool:
    return call_result(**arguments)("", json.dumps(expected), encode(returned))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("expected", "returned"), [([1, 2], 1), ([[1, 2], 3], [1, 2]), ([[1, 2], 3], (1, 2)), ([1, 2], [1, 2]), ([1], 1)]
)
def test_the_first_item_of_a_list_is_right_with_first(expected, returned):
    assert right(expected, returned, first=True)


@pytest.mark.parametrize(("expected", "returned"), [([1, 2], 2), ([], None), ([], 0), ("ab", "a"), ([[1]], 1)])
def test_any_other_answer_is_wrong(expected, returned):
    assert not right(expected, returned, first=True)


@pytest.mark.parametrize("unwrap", [True, False])
def test_the_first_item_of_a_longer_list_is_wrong_without_first(unwrap):
    assert not right([1, 2], 1, unwrap=unwrap)
    assert right([1], 1, unwrap=unwrap) is unwrap
