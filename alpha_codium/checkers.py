"""Checkers: pure functions, chosen by name for each problem, that compare an output with the expected one.

A factory makes a checker from the problem's arguments; it is called as `checker(input, expected, actual)`. Packages add
factories under the entry-point group `alpha_codium.checkers`. Checkers that are programs belong to the judge.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from alpha_codium.errors import UserError
from alpha_codium.plugins import find_plugin
from alpha_codium.problem import CheckerSpec

HALF = 0.5
# Below this a float holds every integer.
EXACT = 2.0**53
DEEPMIND_PRECISION = 1e-5
DEEPMIND_SPACES = re.compile(r"[ \n\t\r\v]+")
# What absl::SimpleAtod reads, in lower case: decimals, inf, nan.
DEEPMIND_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan(?:\([a-z0-9_]*\))?)"
)
ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


class Checker(Protocol):
    """Decides whether one output is right."""

    def __call__(self, input: str, expected: str, actual: str, /) -> bool:
        """Whether `actual` is a right answer to `input`, for which `expected` is known to be right."""
        ...


def exact() -> Checker:
    """The same text, except for white space at the end of the whole output."""
    return lambda _input, expected, actual: expected.rstrip() == actual.rstrip()


def tokens(case_sensitive: bool = True) -> Checker:
    """The same tokens in the same order, whatever white space stands between them."""

    def check(_input: str, expected: str, actual: str, /) -> bool:
        if not case_sensitive:
            expected, actual = expected.lower(), actual.lower()
        return expected.split() == actual.split()

    return check


def lines() -> Checker:
    """The same lines in the same order; white space at the ends of lines and empty lines at the end don't count."""

    def lines_of(text: str) -> list[str]:
        return [line.rstrip() for line in text.rstrip().split("\n")]

    return lambda _input, expected, actual: lines_of(expected) == lines_of(actual)


def yes_no() -> Checker:
    """The same tokens, but `yes` and `no` in any case if the expected token is one of them in any case."""

    def same(expected: str, actual: str) -> bool:
        return expected == actual or (expected.lower() == actual.lower() and expected.lower() in ("yes", "no"))

    return lambda _input, expected, actual: _all_match(same, expected.split(), actual.split())


def unordered_lines() -> Checker:
    """The same lines in any order, each compared by its tokens; empty lines don't count."""

    def lines_of(text: str) -> Counter[tuple[str, ...]]:
        return Counter(tuple(line.split()) for line in text.splitlines() if line.strip())

    return lambda _input, expected, actual: lines_of(expected) == lines_of(actual)


def float_tolerance(abs: float = 0.0, rel: float = 0.0, case_sensitive: bool = True) -> Checker:
    """The same tokens, but if one of a pair is a float, a number within `abs` or `rel` of the other is right.

    Within either is enough (the ICPC rule: icpc.io/problem-package-format, default output validator). Two integers
    are compared as text, whatever the tolerance: 1000000000 is no answer to 1000000007. Nor is 1e9: a float is right
    for an expected integer only if no other integer is nearer, as 0.9999999 is for 1.

    A distance equal to the tolerance is within it (0.500001 and 0.5, 1e-6), though as floats the two may be further
    apart: four units in the last place of the larger are allowed for that, but at most a thousandth of the tolerance.
    """
    for name, value in (("abs", abs), ("rel", rel)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise TypeError(f"{name} must be a number of at least 0, not {value!r}")
    same_tokens = tokens(case_sensitive)

    def close(expected: str, actual: str) -> bool:
        if same_tokens("", expected, actual):
            return True
        wanted, got = _number_of(expected), _number_of(actual)
        if wanted is None or got is None:
            return False
        distance = math.fabs(wanted - got)
        if not _is_float(expected) and not (_is_float(actual) and distance < HALF and math.fabs(wanted) < EXACT):
            return False
        bound = max(abs, rel * math.fabs(wanted))
        rounding = min(4 * math.ulp(max(math.fabs(wanted), math.fabs(got))), bound / 1000)
        return distance <= bound + rounding

    return lambda _input, expected, actual: _all_match(close, expected.split(), actual.split())


def deepmind() -> Checker:
    """The comparison that CodeContests was published with, and AlphaCode scored by, with its quirks.

    1. The outputs are split at space, tab, newline, carriage return and vertical tab (not at form feed), and their
       ASCII letters made lower case. The same tokens are right.
    2. Else there must be as many, and in each pair two numbers must differ by less than 1e-5 as doubles: so 2**53 is
       right for 2**53 + 1, and 1.00000999 for 1. There is no relative tolerance.
    3. If one isn't a number, they must be the same text. `inf` (also a number too large for a double) and `nan` equal
       nothing, not even themselves, once any other token differs.

    Source: `OutputsMatch` of google-deepmind/code_contests, execution/tester_sandboxer.cc. Use it only to compare with
    published results: it accepts wrong answers that `tokens` and `float` reject.
    """

    def tokens_of(text: str) -> list[str]:
        return [token for token in DEEPMIND_SPACES.split(text.translate(ASCII_LOWER)) if token]

    def match(expected: str, actual: str) -> bool:
        if DEEPMIND_NUMBER.fullmatch(expected) and DEEPMIND_NUMBER.fullmatch(actual):
            return math.fabs(_as_double(expected) - _as_double(actual)) < DEEPMIND_PRECISION
        return expected == actual

    def check(_input: str, expected: str, actual: str, /) -> bool:
        wanted, got = tokens_of(expected), tokens_of(actual)
        return wanted == got or _all_match(match, wanted, got)

    return check


def _all_match(match: Callable[[str, str], bool], expected: list[str], actual: list[str]) -> bool:
    return len(expected) == len(actual) and all(map(match, expected, actual))


def _as_double(number: str) -> float:
    """The value of a text that `DEEPMIND_NUMBER` matches; `nan(...)` is `nan`."""
    return float(number.partition("(")[0])


def _number_of(token: str) -> float | None:
    """The number that a token spells in plain decimal notation, or None."""
    if not token.isascii() or "_" in token or not any(map(str.isdigit, token)):
        return None
    try:
        number = float(token)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _is_float(number: str) -> bool:
    """Whether a number is spelt as a float, not as an integer."""
    return any(mark in number for mark in ".eE")


BUILT_IN: dict[str, Callable[..., Checker]] = {
    "exact": exact,
    "tokens": tokens,
    "lines": lines,
    "unordered_lines": unordered_lines,
    "yes_no": yes_no,
    "float": float_tolerance,
    "deepmind": deepmind,
}
DEFAULT_CHECKER = CheckerSpec("tokens")


# The name of checkers that are programs, which the judge runs (`judge.checker_programs`).
PROGRAM = "program"


def make_checker(spec: CheckerSpec) -> Checker:
    """Make the checker that `spec` names, with its arguments; raises UserError if there is no such checker."""
    factory = find_plugin("alpha_codium.checkers", spec.name, BUILT_IN | {PROGRAM: _no_function})
    try:
        return factory(**spec.arguments)
    except TypeError as error:
        raise UserError(f"checker {spec.name!r} doesn't take the arguments {spec.arguments}: {error}") from error


def _no_function(**_arguments: object) -> Checker:
    raise UserError("a checker that is a program can't be called: the judge runs it")
