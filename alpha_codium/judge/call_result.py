"""Comparing what a function returned with the JSON that is expected, outside of the process that ran it."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from alpha_codium.checkers import Checker
from alpha_codium.judge.codec import Malformed, decode

NUMBERS = {int, float}


@dataclass(frozen=True, slots=True)
class Hashed:
    """A set or a dict that was returned, as its items: a program could make one that takes hours to build."""

    kind: str
    items: Sequence[Any]


BUILD: dict[str, Callable[[list[Any]], Any]] = {
    **dict.fromkeys("LTQ", list),
    **dict.fromkeys("SZ", partial(Hashed, "set")),
    **dict.fromkeys("DCOV", partial(Hashed, "dict")),
}


def call_result(unwrap: bool = True, abs: float = 0.0, rel: float = 0.0, first: bool = False) -> Checker:
    """A checker of what `drivers/call.py` wrote against expected JSON.

    1. Values are compared as Python does, all the way down: `1`, `1.0` and `True` are equal, `"1"` isn't. Where `abs`
       or `rel` is above 0, a number within either of the expected one is right, if either is a float.
    2. A tuple is as good as a list: JSON has no tuples.
    3. `unwrap`: where the expected value is a list of one item, that item alone is right, too: the APPS dataset has
       many values in a list of their own. `first`: the first item of a longer list is right, too, as in the metric that
       APPS was published with: 1 for `[1, 2]`.
    4. A dict whose keys are integers is compared with an object whose keys spell those: keys of JSON are text.
    5. A set is equal to nothing: JSON has no sets.

    Raises ValueError where the expected output is no JSON: the judge sees to that before anything runs.
    """

    def close(expected: Any, actual: Any) -> bool:
        if expected == actual or not (abs or rel) or not {type(expected), type(actual)} <= NUMBERS:
            return expected == actual
        try:
            near = math.isclose(expected, actual, rel_tol=rel, abs_tol=abs)
        except OverflowError:
            return False
        return near and float in (type(expected), type(actual))

    def same(expected: Any, actual: Any) -> bool:
        if isinstance(expected, list):
            return isinstance(actual, list) and len(expected) == len(actual) and all(map(same, expected, actual))
        if isinstance(expected, dict):
            return isinstance(actual, Hashed) and actual.kind == "dict" and same_items(expected, actual.items)
        return not isinstance(actual, list | Hashed) and close(expected, actual)

    def same_items(expected: dict[str, Any], items: Sequence[Any]) -> bool:
        if len(items) != 2 * len(expected):
            return False
        keyed = {_key(key): item for key, item in zip(items[::2], items[1::2], strict=True)}
        return len(keyed) == len(expected) and all(key in keyed and same(expected[key], keyed[key]) for key in expected)

    def check(_input: str, expected: str, actual: str, /) -> bool:
        wanted = json.loads(expected)
        try:
            # A value of JSON takes at least one character.
            returned = decode(actual, BUILD, most=len(expected))
        except Malformed:
            return False
        if same(wanted, returned):
            return True
        stands_for_first = isinstance(wanted, list) and bool(wanted) and (first or (unwrap and len(wanted) == 1))
        return stands_for_first and same(wanted[0], returned)

    return check


def _key(key: Any) -> str | None:
    """A dict's key as JSON spells it; text has hashes that nobody foresees."""
    return key if type(key) is str else str(key) if type(key) is int and key.bit_length() < 256 else None
