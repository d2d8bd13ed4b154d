"""Checkers: pure functions that compare a program's output with the expected one.

Each problem names its checker. A factory makes it from the problem's arguments; it is called as
`checker(input, expected, actual)`. Packages can register factories in the entry-point group `alpha_codium.checkers`.
Checkers that are programs are in the judge.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from alpha_codium.errors import UserError
from alpha_codium.plugins import find_plugin, require_plugin
from alpha_codium.problem import CheckerSpec

HALF = 0.5
# Floats represent all integers below this exactly.
EXACT = 2.0**53
DEEPMIND_PRECISION = 1e-5
DEEPMIND_SPACES = re.compile(r"[ \n\t\r\v]+")
# The numbers that absl::SimpleAtod reads, in lower case: decimals, inf, nan.
DEEPMIND_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan(?:\([a-z0-9_]*\))?)"
)
FUSION_PRECISION, FUSION_SMALLEST = 1e-5, 1e-10
YES_OR_NO = re.compile(r"\b(?:yes|no)\b", re.IGNORECASE | re.ASCII)
ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


# A function that decides whether an output is right, given the input, the right output, and the program's.
Checker = Callable[[str, str, str], bool]


def exact(leading: bool = True) -> Checker:
    """Return a checker that accepts the same text, but for white space at its end and, if not `leading`, before it."""
    strip = str.rstrip if leading else str.strip
    return lambda _input, expected, actual: strip(expected) == strip(actual)


def tokens(case_sensitive: bool = True) -> Checker:
    """Return a checker that accepts the same tokens in the same order, with any white space between them."""

    def check(_input: str, expected: str, actual: str, /) -> bool:
        if not case_sensitive:
            expected, actual = expected.lower(), actual.lower()
        return expected.split() == actual.split()

    return check


def lines() -> Checker:
    """Return a checker that accepts the same lines in the same order.

    White space at the ends of lines and empty lines at the end are ignored.
    """

    def lines_of(text: str) -> list[str]:
        return [line.rstrip() for line in text.rstrip().split("\n")]

    return lambda _input, expected, actual: lines_of(expected) == lines_of(actual)


def yes_no() -> Checker:
    """Return a checker that accepts the same tokens, ignoring the case of the words `yes` and `no`, as in `YES,`.

    So does the judge that open-r1 runs for problems of Codeforces.
    """

    def words(text: str) -> list[str]:
        return YES_OR_NO.sub(lambda found: found[0].upper(), text).split()

    return lambda _input, expected, actual: words(expected) == words(actual)


def unordered_lines() -> Checker:
    """Return a checker that accepts the same lines in any order, compared by tokens; empty lines are ignored."""

    def lines_of(text: str) -> Iterator[tuple[str, ...]]:
        return filter(None, (tuple(line.split()) for line in text.splitlines()))

    def check(_input: str, expected: str, actual: str, /) -> bool:
        missing = Counter(lines_of(expected))
        for line in lines_of(actual):
            # The first line that isn't expected decides: an output may have millions of lines.
            if not missing[line]:
                return False
            missing[line] -= 1
        return not missing.total()

    return check


def require_tolerances(**values: object) -> None:
    """Raise TypeError unless all are finite numbers of at least 0."""
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise TypeError(f"{name} must be a number of at least 0, not {value!r}")


def float_tolerance(abs: float = 0.0, rel: float = 0.0, case_sensitive: bool = True) -> Checker:
    """Return a checker that accepts the same tokens, and floats within the absolute or the relative tolerance.

    One of the tolerances is enough (the ICPC rule: icpc.io/problem-package-format, default output validator). Two
    integers are compared as text: 1000000000 is never right for 1000000007, but -0 is for 0. Nor is 1e9: a float is
    right for an expected integer only if that is the nearest integer, as 1 is for 0.9999999.

    A distance equal to the tolerance is accepted (0.500001 and 0.5 with 1e-6). Since it may be larger in floating-point
    arithmetic, four units in the last place of the larger number are added, at most a thousandth of the tolerance.
    """
    require_tolerances(abs=abs, rel=rel)
    same_tokens = tokens(case_sensitive)

    def close(expected: str, actual: str) -> bool:
        if same_tokens("", expected, actual):
            return True
        wanted, got = _number_of(expected), _number_of(actual)
        if wanted is None or got is None:
            return False
        distance = math.fabs(wanted - got)
        if not _is_float(expected) and not _is_float(actual):
            return expected.lstrip("-") == actual.lstrip("-") and not wanted
        if not _is_float(expected) and not (distance < HALF and math.fabs(wanted) < EXACT):
            return False
        bound = max(abs, rel * math.fabs(wanted))
        rounding = min(4 * math.ulp(max(math.fabs(wanted), math.fabs(got))), bound / 1000)
        return distance <= bound + rounding

    return lambda _input, expected, actual: _all_match(close, expected.split(), actual.split())


def deepmind() -> Checker:
    """Return the checker that was published with CodeContests and used for AlphaCode's scores, with its quirks.

    1. Outputs are split at space, tab, newline, carriage return and vertical tab (not at form feed), and ASCII letters
       are lowercased. The same tokens are right.
    2. Otherwise the numbers of tokens must be equal, and pairs of numbers must differ by less than 1e-5 as doubles. So
       2**53 is right for 2**53 + 1, and 1.00000999 for 1. There is no relative tolerance.
    3. Pairs that aren't both numbers must be the same text. `inf` (also a number too large for a double) and `nan` are
       different even from themselves if any other token differs.

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


def sandbox_fusion() -> Checker:
    """Return the checker of SandboxFusion's datasets of the type `CommonOJDataset`.

    It accepts the same lines, without regard to case, to white space around them, and to empty lines around the whole.
    Lines that are numbers may differ by a relative error below 1e-5.
    """

    def lines_of(text: str) -> list[str]:
        return [line.strip().lower() for line in text.strip().split("\n")]

    def same(wanted: str, got: str) -> bool:
        if wanted == got:
            return True
        try:
            expected, actual = float(wanted), float(got)
        except ValueError:
            return False
        return math.fabs(actual - expected) / max(math.fabs(expected), FUSION_SMALLEST) < FUSION_PRECISION

    return lambda _input, expected, actual: _all_match(same, lines_of(expected), lines_of(actual))


def _all_match(match: Callable[[str, str], bool], expected: list[str], actual: list[str]) -> bool:
    return len(expected) == len(actual) and all(map(match, expected, actual))


def _as_double(number: str) -> float:
    """Return the value of a text that `DEEPMIND_NUMBER` matches; `nan(...)` is `nan`."""
    return float(number.partition("(")[0])


def _number_of(token: str) -> float | None:
    """Return the number that a token denotes in decimal notation, or None."""
    if not token.isascii() or "_" in token or not any(map(str.isdigit, token)):
        return None
    try:
        number = float(token)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _is_float(number: str) -> bool:
    """Return whether a number is written as a float, not as an integer."""
    return any(mark in number for mark in ".eE")


BUILT_IN: dict[str, Callable[..., Checker]] = {
    "exact": exact,
    "tokens": tokens,
    "lines": lines,
    "unordered_lines": unordered_lines,
    "yes_no": yes_no,
    "float": float_tolerance,
    "deepmind": deepmind,
    "sandbox_fusion": sandbox_fusion,
}
DEFAULT_CHECKER = CheckerSpec("tokens")


# The names of checkers that are programs, which are run by the judge, after the candidate (`judge.checker_programs`) or
# beside it (`judge.interactive`).
PROGRAM, INTERACTOR = "program", "interactor"
# The name of the checker of what a call returns (`judge.call`).
CALL_RESULT = "call_result"


def make_checker(spec: CheckerSpec, others: Mapping[str, Callable[..., Checker]] | None = None) -> Checker:
    """Return the checker for `spec`; raises UserError if there is no such checker, or its arguments are invalid.

    `others` are factories that count as built-in.
    """
    factory = find_plugin("alpha_codium.checkers", spec.name, {**BUILT_IN, **_PROGRAMS, **(others or {})})
    try:
        return factory(**spec.arguments)
    except TypeError as error:
        raise UserError(f"checker {spec.name!r} doesn't take the arguments {spec.arguments}: {error}") from error


def check_checker(spec: CheckerSpec) -> None:
    """Raise UserError if there is no such checker, or if a built-in one doesn't take the arguments.

    A checker of another package isn't loaded; the judge checks the arguments of those that are its own.
    """
    if spec.name in BUILT_IN:
        make_checker(spec)
    elif spec.name not in (*_PROGRAMS, CALL_RESULT):
        require_plugin("alpha_codium.checkers", spec.name, frozenset({*BUILT_IN, *_PROGRAMS, CALL_RESULT}))


def _no_function(**_arguments: object) -> Checker:
    raise UserError("a checker that is a program can't be called: the judge runs it")


_PROGRAMS: dict[str, Callable[..., Checker]] = dict.fromkeys((PROGRAM, INTERACTOR), _no_function)
