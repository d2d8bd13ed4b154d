"""Comparing outputs."""

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.checkers import BUILT_IN, make_checker
from alpha_codium.errors import UserError
from alpha_codium.problem import CheckerSpec

WORDS = st.lists(st.text(st.characters(codec="ascii", categories=("L", "N", "P")), min_size=1), max_size=8)
SPACES = st.text(" \t\n\r", min_size=1, max_size=3)
FLOAT = {"abs": 1e-6, "rel": 1e-6}


def accepts(name: str, expected: str, actual: str, **arguments: object) -> bool:
    return make_checker(CheckerSpec(name, arguments))("", expected, actual)


@pytest.mark.parametrize("name", BUILT_IN)
@given(text=st.text())
def test_every_checker_accepts_what_is_expected(name: str, text: str) -> None:
    assert accepts(name, text, text)


@pytest.mark.parametrize("name", BUILT_IN)
def test_an_empty_output_is_no_answer_where_one_is_expected(name: str) -> None:
    assert not accepts(name, "1\n", "")
    assert not accepts(name, "", "1\n")
    assert accepts(name, "", "\n")


@given(words=WORDS, spaces=st.data())
def test_tokens_are_compared_whatever_stands_between_them(words: list[str], spaces: st.DataObject) -> None:
    text = "".join(word + spaces.draw(SPACES) for word in words)
    assert accepts("tokens", " ".join(words), text)


@given(WORDS, WORDS)
def test_tokens_accepts_the_same_tokens_only(first: list[str], second: list[str]) -> None:
    assert accepts("tokens", " ".join(first), "\n".join(second)) == (first == second)


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize(("expected", "actual"), [("1 2 3", "12 3"), ("1 2 3", "1 2"), ("1 2", "1 2 3"), ("ab", "a b")])
def test_joined_split_or_missing_tokens_are_wrong(name: str, expected: str, actual: str) -> None:
    assert not accepts(name, expected, actual)


def test_tokens_minds_the_case_unless_it_is_told_not_to() -> None:
    assert not accepts("tokens", "YES", "Yes")
    assert accepts("tokens", "YES", "Yes", case_sensitive=False)
    assert not accepts("float", "YES 1.0", "Yes 1.0", **FLOAT)
    assert accepts("float", "YES 1.0", "Yes 1.0", **FLOAT, case_sensitive=False)


def test_exact_minds_all_but_the_end_of_the_output() -> None:
    assert accepts("exact", "a  b\n c\n", "a  b\n c")
    assert not accepts("exact", "a  b\n", "a b\n")
    assert not accepts("exact", "a\n", " a\n")


@given(st.lists(WORDS.filter(bool), max_size=6), st.randoms())
def test_unordered_lines_accepts_any_order_of_lines(lines: list[list[str]], random: object) -> None:
    shuffled = list(lines)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert accepts("unordered_lines", text_of(lines), text_of(shuffled))


def test_unordered_lines_counts_them_and_minds_the_order_within() -> None:
    assert not accepts("unordered_lines", "a\na\nb", "a\nb\nb")
    assert not accepts("unordered_lines", "a b\nc", "b a\nc")
    assert accepts("unordered_lines", "a b\n\nc\n", "c\r\na   b\r\n")


@given(st.lists(st.text("ab ", max_size=5), min_size=1), st.lists(SPACES, min_size=6, max_size=6))
def test_lines_minds_all_but_the_ends_of_lines_and_of_the_output(rows: list[str], ends: list[str]) -> None:
    blanks = [end.replace("\n", "") for end in ends]
    padded = "\n".join(row + blanks[place % len(blanks)] for place, row in enumerate(rows))
    assert accepts("lines", "\n".join(rows), padded)
    assert accepts("lines", "\n".join(rows), padded + "".join(ends))
    assert accepts("lines", "\n".join(rows), "\n" + padded) == (not any(row.strip() for row in rows))


@pytest.mark.parametrize(
    ("expected", "actual", "right"),
    [
        ("a b\nc\n", "a b\r\nc", True),
        ("a b\nc\n", "a  b\nc\n", False),
        ("a b\nc\n", " a b\nc\n", False),
        ("a\nb\n", "b\na\n", False),
        ("a\nb\n", "a\n\nb\n", False),
        ("a\nb\n", "a\nb\n\n \n", True),
        ("a\nb\n", "a b\n", False),
    ],
)
def test_lines_are_compared_in_order(expected: str, actual: str, right: bool) -> None:
    assert accepts("lines", expected, actual) is right


@pytest.mark.parametrize(
    ("expected", "actual", "right"),
    [
        ("YES", "Yes", True),
        ("yes", "YES", True),
        ("NO\nYES", "no yes", True),
        ("YES", "NO", False),
        ("YES", "Y", False),
        ("YES\naB", "yes\naB", True),
        ("YES\naB", "yes\nab", False),
        ("aB", "AB", False),
        ("yes", "ye\u017f", False),
    ],
)
def test_yes_no_minds_the_case_of_every_other_word(expected: str, actual: str, right: bool) -> None:
    assert accepts("yes_no", expected, actual) is right


@pytest.mark.parametrize(
    ("expected", "actual", "right"),
    [
        ("YES", "yes", True),
        ("1 2\n3", "1\n2 3", True),
        ("1\f2", "1 2", False),
        ("1\v2", "1 2", True),
        ("\u00c4", "\u00e4", False),
        ("1.0", "1", True),
        ("1", "1.00000999", True),
        ("1", "1.00001001", False),
        ("100000000", "100000000.1", False),
        ("9007199254740993", "9007199254740992", True),
        ("3", "03", True),
        ("3", "+3.", True),
        ("3", "+-3", False),
        ("5", "five", False),
        ("0x10", "16", False),
        ("1_0", "10", False),
        ("1e2", "100", True),
        ("1e2", "1e", False),
        ("inf", "INF", True),
        ("inf a", "inf A", True),
        ("inf 1.0", "inf 1", False),
        ("nan 1.0", "nan 1", False),
        ("nan(q) 1.0", "nan(q) 1", False),
        ("nan(-) 1.0", "nan(-) 1", True),
        ("1e999 1.0", "1e999 1", False),
        ("1e999", "1e999", True),
        ("1 2", "1", False),
        ("\uff11", "1", False),
    ],
)
def test_deepmind_keeps_the_quirks_of_the_published_comparison(expected: str, actual: str, right: bool) -> None:
    assert accepts("deepmind", expected, actual) is right


@given(st.floats(-1e9, 1e9), st.floats(-2e-5, 2e-5))
def test_deepmind_compares_numbers_as_doubles_within_an_absolute_error(number: float, off: float) -> None:
    assert accepts("deepmind", repr(number), repr(number + off)) == (abs(number - (number + off)) < 1e-5)


@given(st.integers(), st.integers())
def test_deepmind_knows_no_integers(expected: int, actual: int) -> None:
    near = expected == actual or (max(abs(expected), abs(actual)) < 10**300 and float(expected) == float(actual))
    assert accepts("deepmind", str(expected), str(actual)) == near


def text_of(lines: list[list[str]]) -> str:
    return "\n".join(" ".join(line) for line in lines)


@pytest.mark.parametrize(
    ("expected", "actual", "right"),
    [
        ("1000000007", "1000000000", False),
        ("1000000007", "1000000000.0", False),
        ("1000000007", "1000000007.0", True),
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
def test_what_is_no_number_is_compared_as_text(text: str) -> None:
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
def test_a_distance_of_just_the_tolerance_is_within_it(
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


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (CheckerSpec("token"), "no checker 'token' (did you mean 'tokens'?)"),
        (CheckerSpec("progam"), "no checker 'progam' (did you mean 'program'?)"),
        (CheckerSpec("program", {"files": {}}), "a judge runs it"),
        (CheckerSpec("tokens", {"abs": 1}), "'tokens' doesn't take"),
        (CheckerSpec("float", {"tolerance": 1}), "tolerance"),
        (CheckerSpec("float", {"abs": "1e-6"}), "abs must be a number from 0, not '1e-6'"),
        (CheckerSpec("float", {"rel": -1}), "rel must be a number from 0, not -1"),
        (CheckerSpec("float", {"rel": float("nan")}), "rel must be"),
    ],
)
def test_a_checker_that_can_not_be_had_is_one_clear_line(spec: CheckerSpec, said: str) -> None:
    with pytest.raises(UserError) as caught:
        make_checker(spec)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_package_of_the_user_adds_a_checker(tmp_path: Path) -> None:
    install_plugin(tmp_path)
    program = """
from alpha_codium.checkers import make_checker
from alpha_codium.problem import CheckerSpec
check = make_checker(CheckerSpec("divisor", {"least": 2}))
print(check("12", "", "3"), check("12", "", "5"), check("12", "", "1"))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env={"PYTHONPATH": str(tmp_path)}
    )
    assert (done.stdout, done.stderr) == ("True False False\n", "")


def install_plugin(folder: Path) -> None:
    """What `pip install` of a small package leaves behind."""
    (folder / "divisors.py").write_text(
        "def divisor(least):\n"
        "    return lambda input, expected, actual: int(actual) >= least and int(input) % int(actual) == 0\n"
    )
    info = folder / "divisors-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: divisors\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[alpha_codium.checkers]\ndivisor = divisors:divisor\n")
