"""Behaviour of programs on inputs without a known answer, in a form in which two programs can be compared.

1. An input depends on the kind of tests: text on stdin, a JSON list of arguments, or, for assertions, an expression.
2. Two programs behave alike if their keys are equal: printed words, or returned values as `==` sees them. Floats are
   rounded to nine digits, sets and dicts have no order, and addresses in a `repr` don't count.
3. A program that crashes, reaches a limit or exits without returning a value has an empty key, equal to no other.
4. Shown texts contain no addresses of objects: they differ between runs, so prompts couldn't be replayed.
"""

import hashlib
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from alpha_codium.judge.codec import Malformed, decode
from alpha_codium.verdict import Execution, Status

# Longer keys, in characters, are hashed.
KEPT = 1 << 12
# Integers with more bits are shown in hexadecimal; Python limits the conversion of long ones to decimal.
LARGE_BITS = 10_000
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
DRIVER_LINES = re.compile(r'^  File "(?:/[^"\n]*/)?driver\.py".*\n(?:    .*\n)*', re.MULTILINE)
ENDED = "(the program ended, and gave no value)"


@dataclass(frozen=True, slots=True)
class Unordered:
    """The items of a set or dict that a program returned. Building the container itself could take hours."""

    kind: str
    items: Sequence[Any]


# Builders for `decode` of values that a program returned.
SAFE_BUILDERS: dict[str, Callable[[list[Any]], Any]] = {
    **dict.fromkeys("LTQ", list),
    **dict.fromkeys("SZ", partial(Unordered, "set")),
    **dict.fromkeys("DCOV", partial(Unordered, "dict")),
}


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a program did on one input: `key` to compare with other programs, `shown` for people and models."""

    status: Status
    key: str = ""
    shown: str = ""

    @property
    def ran(self) -> bool:
        """Whether the program ended without an error or a limit."""
        return self.status is Status.FINISHED


def error_shown(execution: Execution) -> str:
    """Return why a run ended: its traceback without addresses, or the limit that it reached."""
    if execution.status in (Status.FINISHED, Status.RUNTIME_ERROR, Status.COMPILATION_ERROR):
        return without_addresses(DRIVER_LINES.sub("", execution.stderr))
    return f"({execution.status.value.replace('_', ' ')})"


def without_addresses(text: str) -> str:
    """The text without the addresses of objects in it."""
    return ADDRESS.sub("", text)


def returned(text: str, *, exact: bool = True, tuples: bool = False) -> str | None:
    """Return the value that a call returned, as text (see `spelt`); None if there is none.

    Tuples are shown as lists, since the tests are JSON, unless `tuples` is true.
    """
    try:
        return spelt(decode(text, {**SAFE_BUILDERS, "T": tuple} if tuples else SAFE_BUILDERS), exact=exact)
    except Malformed:
        return None


def key_of_output(text: str) -> str:
    """The key of a printed output."""
    return key_of(" ".join(map(_word, text.split())))


def spelt(value: Any, *, exact: bool = True) -> str:
    """Return a value as text, the same for equal values; items of sets and dicts are sorted.

    With `exact`, numbers are as in Python; else `1`, `1.0` and `True` are the same, and floats have nine digits.
    """
    if isinstance(value, Unordered):
        items = list(value.items)
        return _braces(_pairs(items[::2], items[1::2], exact) if value.kind == "dict" else _all(items, exact))
    if isinstance(value, dict):
        return _braces(_pairs(list(value), list(value.values()), exact))
    if isinstance(value, set | frozenset):
        return _braces(_all(value, exact))
    if isinstance(value, tuple):
        return f"({', '.join(_all(value, exact))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(_all(value, exact))}]"
    if isinstance(value, bool | int | float):
        return _number(value, exact)
    return ADDRESS.sub("", repr(value))


def _all(values: Any, exact: bool) -> list[str]:
    return [spelt(value, exact=exact) for value in values]


def _pairs(keys: Sequence[Any], values: Sequence[Any], exact: bool) -> list[str]:
    return [f"{spelt(k, exact=exact)}: {spelt(v, exact=exact)}" for k, v in zip(keys, values, strict=False)]


def _braces(items: list[str]) -> str:
    return "{" + ", ".join(sorted(items)) + "}"


def _number(value: float, exact: bool) -> str:
    if isinstance(value, float):
        whole = not exact and math.isfinite(value) and value == int(value)
        return _number(int(value), exact) if whole else repr(value) if exact else f"{value:.9g}"
    if value.bit_length() > LARGE_BITS:
        return hex(value)
    return repr(value if exact else int(value))


def _word(word: str) -> str:
    """Return a printed word; a float is rounded to nine digits."""
    if "." not in word:
        return word
    try:
        return f"{float(word):.9g}"
    except ValueError:
        return word


def key_of(key: str) -> str:
    """Return the text, or its hash if it is long."""
    return key if len(key) <= KEPT else hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
