"""Programs in models' answers: what comes out is what stood there, byte for byte."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.answers.extraction import Extracted, extract_code
from alpha_codium.languages import MAX_PROGRAM, READING_BUDGET, CodeKind
from alpha_codium.languages.python.programs import ProgramReader
from alpha_codium.thinking import split_thinking
from tests.answers.extraction_cases import (
    ADD,
    BRUTE,
    CODE,
    DOCSTRING,
    FENCED,
    FLAT_DOCSTRING,
    NO_CODE,
    SOLVE,
    TABS,
    TRUNCATED,
)


@pytest.mark.parametrize("answer, code", CODE.values(), ids=CODE.keys())
def test_the_program_comes_out_byte_for_byte(answer, code):
    found = extract_code(answer)
    assert found is not None
    assert found.code == code


@pytest.mark.parametrize("answer", NO_CODE.values(), ids=NO_CODE.keys())
def test_an_answer_without_a_program_gives_none(answer):
    assert extract_code(answer) is None


def test_a_cut_answer_is_said_to_be_incomplete():
    assert extract_code(f"Here:\n```python\n{TRUNCATED}") == Extracted(TRUNCATED, complete=False, language="python")
    assert extract_code(f"Here:\n```\n{TRUNCATED}") == Extracted(TRUNCATED, complete=False, language="")
    assert extract_code(FENCED) == Extracted(ADD, complete=True, language="python")


def test_a_program_that_is_followed_by_prose_is_complete_without_its_closing_fence():
    found = extract_code(f"```python\n{ADD}\nThis adds the numbers.\n")
    assert found is not None
    assert found.complete


def test_an_unfinished_second_program_does_not_hide_a_finished_first():
    found = extract_code(f"{FENCED}\nA better one:\n```python\n{TRUNCATED}")
    assert found == Extracted(ADD, complete=True, language="python")


@given(
    st.sampled_from([ADD, SOLVE, DOCSTRING, FLAT_DOCSTRING, TABS, BRUTE]), st.text(max_size=40), st.text(max_size=40)
)
def test_whatever_prose_stands_around_the_program_is_unchanged(code, before, after):
    before, after = (text.replace("`", "").replace("~", "").replace("<", "") for text in (before, after))
    assert getattr(extract_code(f"{before}\n```python\n{code}```\n{after}"), "code", None) == code


@given(st.text(st.sampled_from("`~ \npyx=1:-\t<think>/'\"(){}"), max_size=120))
def test_no_answer_makes_extraction_fail(answer):
    found = extract_code(answer)
    assert found is None or found.code.strip()


@given(
    st.text(max_size=200).filter(lambda text: "think" not in text and "thought" not in text and "reason" not in text)
)
def test_text_without_tags_has_no_thinking(text):
    assert split_thinking(text)[0] == text


THINKING = {
    "before": ("<think>a</think>b", "b"),
    "twice": ("<think>a</think>b\n<think>c</think>d", "b\nd"),
    "never ending": ("b\n<think>a", "b\n"),
    "not opened": ("a\n</think>\nb", "\nb"),
    "nested": ("<think>a <think> b</think> c\n</think>d", "d"),
    "in a fence": ("```\n<think>\n```\nb", "```\n<think>\n```\nb"),
    "in a line": ("print('<think>')", "print('<think>')"),
}


@pytest.mark.parametrize("text, left", THINKING.values(), ids=THINKING.keys())
def test_thinking_is_taken_out(text, left):
    assert split_thinking(text)[0] == left


BOMBS = {
    "brackets": "(" * 50_000,
    "closed brackets": "[" * 5_000 + "]" * 5_000,
    "signs": "-" * 90_000 + "1",
    "a long sum": "1" + "+1" * 40_000,
    "attributes": "a" + ".b" * 40_000,
    "a dotted import": "import a" + ".a" * 40_000,
    "a dotted import over lines": "import a" + " . \\\n a" * 10_000,
    "lambdas": "lambda:" * 12_000 + "0",
    "conditions": "a if a else " * 8_000 + "a",
    "a long number": "9" * 90_000,
    "indentation": "".join(" " * depth + "if 1:\n" for depth in range(400)),
    "null bytes": "print(1)\0" * 5_000,
    "half a pair": "print('\ud83d')",
}


@pytest.mark.parametrize("code", BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_for_the_parser_is_just_broken_code(code):
    assert ProgramReader().kind_of(code) is CodeKind.BROKEN
    found = extract_code(f"```python\n{code}\n```\n")
    assert found is not None
    assert found.code == code + "\n"
    extract_code(code)


HUGE = {
    "prose": "The answer is long. " * 125_000,
    "spaces": " " * 2_500_000,
    "fences": "```python\n" * 250_000,
    "closed fences": "```\nx\n```\n" * 250_000,
    "backticks": "`" * 2_500_000,
    "open thinking": "<think>" * 350_000,
    "closed thinking": "<think>a</think>\n" * 150_000,
    "lines of code": "x = (1\n" * 350_000,
    "a program in a fence": f"```python\n{'x = 1' + chr(10)}" * 200_000,
    "braces": "{" * 2_500_000,
    "YAML": "code: |\n" + "  a: b\n" * 350_000,
    "tokens": "<|im_end|>" * 250_000,
    "quotes": "code: '" * 350_000,
    "names on lines": "a,\n" * 800_000,
    "headings": "```python\nx = (\n" + "- a\n" * 600_000,
    "capitals": "A\n" * 1_250_000,
}


@pytest.mark.thorough
@pytest.mark.parametrize("answer", HUGE.values(), ids=HUGE.keys())
def test_the_parser_sees_a_bounded_part_of_a_huge_answer(answer, monkeypatch):
    seen = []
    monkeypatch.setattr(ast, "parse", lambda code, parse=ast.parse: seen.append(len(code)) or parse(code))
    extract_code(answer)
    assert sum(seen) <= READING_BUDGET
    assert max(seen, default=0) <= MAX_PROGRAM


def test_a_program_after_megabytes_of_prose_is_found():
    found = extract_code("Let me think about it.\n" * 250_000 + FENCED)
    assert found is not None
    assert found.code == ADD


@pytest.mark.parametrize(
    "code, kind",
    [
        ("", CodeKind.INERT),
        ("5", CodeKind.INERT),
        ("YES", CodeKind.INERT),
        ("pass", CodeKind.INERT),
        ("Output: 5", CodeKind.INERT),
        ("1 2 3", CodeKind.BROKEN),
        ("n = 1", CodeKind.SNIPPET),
        ("print(1)", CodeKind.SNIPPET),
        ("def test_f():\n    assert f(1)\n", CodeKind.SNIPPET),
        ("def f(): pass", CodeKind.PROGRAM),
        (ADD, CodeKind.PROGRAM),
        ("import sys\nsys.stdout.write(sys.stdin.read())", CodeKind.PROGRAM),
        ("print('\\d')", CodeKind.SNIPPET),
    ],
)
def test_a_text_is_told_from_a_program(code, kind):
    assert ProgramReader().kind_of(code) is kind


def test_an_exhausted_budget_makes_everything_broken():
    reader = ProgramReader(budget=10)
    assert reader.kind_of("print(1)") is CodeKind.SNIPPET
    assert reader.kind_of("print(2)") is CodeKind.BROKEN
