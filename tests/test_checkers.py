"""Comparing outputs."""

import subprocess
import sys
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


def text_of(lines: list[list[str]]) -> str:
    return "\n".join(" ".join(line) for line in lines)


@pytest.mark.parametrize("name", BUILT_IN)
@given(text=st.text())
def test_every_checker_accepts_what_is_expected(name: str, text: str) -> None:
    assert accepts(name, text, text)


@pytest.mark.parametrize("name", BUILT_IN)
def test_an_empty_output_is_wrong_if_one_is_expected(name: str) -> None:
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


def test_tokens_is_case_sensitive_unless_told_otherwise() -> None:
    assert not accepts("tokens", "YES", "Yes")
    assert accepts("tokens", "YES", "Yes", case_sensitive=False)
    assert not accepts("float", "YES 1.0", "Yes 1.0", **FLOAT)
    assert accepts("float", "YES 1.0", "Yes 1.0", **FLOAT, case_sensitive=False)


def test_exact_compares_everything_but_the_end_of_the_output() -> None:
    assert accepts("exact", "a  b\n c\n", "a  b\n c")
    assert not accepts("exact", "a  b\n", "a b\n")
    assert not accepts("exact", "a\n", " a\n")


@given(st.lists(WORDS.filter(bool), max_size=6), st.randoms())
def test_unordered_lines_accepts_any_order_of_lines(lines: list[list[str]], random: object) -> None:
    shuffled = list(lines)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert accepts("unordered_lines", text_of(lines), text_of(shuffled))


def test_unordered_lines_counts_lines_and_compares_the_order_within() -> None:
    assert not accepts("unordered_lines", "a\na\nb", "a\nb\nb")
    assert not accepts("unordered_lines", "a b\nc", "b a\nc")
    assert accepts("unordered_lines", "a b\n\nc\n", "c\r\na   b\r\n")


@given(st.lists(st.text("ab ", max_size=5), min_size=1), st.lists(SPACES, min_size=6, max_size=6))
def test_lines_compares_everything_but_the_ends_of_lines_and_of_the_output(rows: list[str], ends: list[str]) -> None:
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
        ("Yes, 3", "YES, 3", True),
        ("yesterday", "YESterday", False),
    ],
)
def test_yes_no_compares_the_case_of_every_other_word(expected: str, actual: str, right: bool) -> None:
    assert accepts("yes_no", expected, actual) is right


@pytest.mark.parametrize(
    ("expected", "actual", "right"),
    [
        ("YES\n", "yes", True),
        ("1.0", "1.000001", True),
        ("1.0", "1.001", False),
        ("1\n2", "1\n 2 \n\n", True),
        ("1\n2", "1", False),
        ("1 2", "1  2", False),
        ("nan", "0", False),
        ("", "", True),
    ],
)
def test_sandbox_fusion_compares_line_by_line(expected: str, actual: str, right: bool) -> None:
    assert accepts("sandbox_fusion", expected, actual) is right


@pytest.mark.parametrize("leading", [True, False])
def test_exact_may_ignore_white_space_before_the_output(leading: bool) -> None:
    assert accepts("exact", "a b", "\n a b\n", leading=leading) is not leading
    assert not accepts("exact", "a b", "a  b", leading=leading)


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
def test_deepmind_compares_integers_as_doubles(expected: int, actual: int) -> None:
    near = expected == actual or (max(abs(expected), abs(actual)) < 10**300 and float(expected) == float(actual))
    assert accepts("deepmind", str(expected), str(actual)) == near


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (CheckerSpec("token"), "no checker 'token' (did you mean 'tokens'?)"),
        (CheckerSpec("progam"), "no checker 'progam' (did you mean 'program'?)"),
        (CheckerSpec("program", {"files": {}}), "the judge runs it"),
        (CheckerSpec("tokens", {"abs": 1}), "'tokens' doesn't take"),
        (CheckerSpec("float", {"tolerance": 1}), "tolerance"),
        (CheckerSpec("float", {"abs": "1e-6"}), "abs must be a number of at least 0, not '1e-6'"),
        (CheckerSpec("float", {"rel": -1}), "rel must be a number of at least 0, not -1"),
        (CheckerSpec("float", {"rel": float("nan")}), "rel must be"),
    ],
)
def test_an_invalid_checker_is_one_clear_line(spec: CheckerSpec, said: str) -> None:
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
