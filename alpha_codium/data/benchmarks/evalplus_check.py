"""How EvalPlus compares a program with its reference. This text is the beginning of the tests that `evalplus` writes.

1. What the program returns must be equal to what the reference returns. Where that is a float or holds only floats, or
   the task has a tolerance, numbers in a value of its type are right within it (plus 1e-7 of the expected).
2. A few tasks of MBPP allow more than the reference says: other orders, other truth values, another reading.
"""

import copy
import math

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

SAME_SET = {
    *("similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly"),
    *("larg_nnum", "intersection_array", "find_dissimilar", "Diff"),
}
SOME_VALUE = {"check_str", "text_match_three", "text_starta_endb"}
RELATIVE, OF_FLOATS = 1e-7, 1e-6


class Oracle:
    """Compares programs with the function `entry_point` of the code `reference`."""

    def __init__(self, entry_point: str, atol: float, reference: str) -> None:
        namespace: dict[str, Any] = {"__name__": "reference"}
        exec(reference, namespace)  # noqa: S102 - the dataset's
        self.reference, self.entry_point, self.atol = namespace[entry_point], entry_point, atol

    def compare(self, candidate: "Callable[..., Any]", arguments: "Sequence[Any]") -> None:
        """Raise AssertionError where the two differ on these arguments."""
        expected = self.reference(*copy.deepcopy(arguments))
        actual = candidate(*copy.deepcopy(arguments))
        right = self.right(actual, expected, arguments)
        assert right, f"{arguments!r:.200} gave {actual!r:.200}, not {expected!r:.200}"

    def right(self, actual: "Any", expected: "Any", arguments: "Sequence[Any]") -> bool:
        """Whether `actual` is as good as `expected`."""
        name = self.entry_point
        if name in SAME_SET:
            return set(actual) == set(expected)
        if name in SOME_VALUE:
            return (expected is not None) == (actual if isinstance(actual, bool) else actual is not None)
        if name == "find_zero" and len(arguments) == 1:
            return abs(sum(c * actual**power for power, c in enumerate(arguments[0]))) <= (self.atol or OF_FLOATS)
        if actual == expected or (name in READINGS and self.near(actual, READINGS[name](*arguments))):
            return True
        atol = self.atol or (OF_FLOATS if only_floats(expected) else 0)
        return bool(atol) and type(actual) is type(expected) and close(actual, expected, atol)

    def near(self, actual: "Any", expected: float) -> bool:
        """Whether a number is within the task's tolerance."""
        return isinstance(actual, (int, float)) and abs(actual - expected) <= self.atol


def only_floats(value: "Any") -> bool:
    """Whether a value is a float, or a list or tuple of floats only."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(isinstance(item, float) for item in value)
    return isinstance(value, float)


def close(actual: "Any", expected: "Any", atol: float) -> bool:
    """Whether numbers are near each other, lists and tuples item by item; infinities only to themselves."""
    if isinstance(expected, (list, tuple)):
        same = isinstance(actual, (list, tuple)) and len(actual) == len(expected)
        return same and all(map(close, actual, expected, [atol] * len(expected)))
    numbers = isinstance(expected, (int, float, complex)) and isinstance(actual, (int, float, complex))
    if actual == expected or not numbers:
        return bool(actual == expected)
    finite = math.isfinite(abs(expected)) and math.isfinite(abs(actual))
    return finite and abs(actual - expected) <= atol + RELATIVE * abs(expected)


def pyramid(edge: float, height: float) -> int:
    """Mbpp/581 with the height for that of the pyramid, not of its sides: surface of the square pyramid, rounded."""
    slant = math.sqrt((edge / 2) ** 2 + height**2)
    return round(edge**2 + 2 * edge * slant)


def digitwise(one: int, other: int) -> int:
    """Mbpp/558 digit by digit: the sum of the distances of the digits at each place."""
    width = max(len(str(one)), len(str(other)))
    digits = map(int, str(one).zfill(width)), map(int, str(other).zfill(width))
    return sum(abs(a - b) for a, b in zip(*digits))  # noqa: B905 - CPython 3.9 has no strict


READINGS = {"surface_Area": pyramid, "digit_distance_nums": digitwise}
