import io
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.data.load import load_problems
from alpha_codium.data.statements import MAX_BYTES, load_statement, problem_of_statement, with_examples
from alpha_codium.errors import DatasetError
from alpha_codium.problem import ExecutionSpec, Problem, TestCase
from tests.support import shared_path

MARKDOWN = "# Two Beans\n\nRead *n*, then n numbers.\nPrint their sum.\n"
FUNCTION = '''from typing import List


def total(numbers: List[int]) -> int:
    """The sum.

    >>> total([1])
    1
    """
'''


def stdin_of(content, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    return load_statement("-")


def test_a_title_is_the_name_and_the_rest_the_description(tmp_path):
    (tmp_path / "beans.md").write_text(MARKDOWN)
    problem = load_statement(str(tmp_path / "beans.md"))
    assert (problem.name, problem.description) == ("Two Beans", "Read *n*, then n numbers.\nPrint their sum.")
    assert (problem.public_tests, problem.execution.kind) == ((), "stdin")


def test_without_a_title_the_file_names_the_problem(tmp_path, monkeypatch):
    (tmp_path / "beans.txt").write_text("Print the sum.\n\n## Input\nn\n")
    problem = load_statement(str(tmp_path / "beans.txt"))
    assert (problem.name, problem.description) == ("beans", "Print the sum.\n\n## Input\nn")
    assert stdin_of(b"Print the sum.", monkeypatch).name == "problem"


@pytest.mark.parametrize("text", ["# Print the sum of two numbers", "# Print the sum of two numbers\n\n"])
def test_a_title_alone_is_the_statement_too(text):
    problem = problem_of_statement(text)
    assert (problem.name, problem.description) == ("Print the sum of two numbers",) * 2


@pytest.mark.parametrize("text", ["#hashtag\nPrint.", "## Input\nA number.", "No title.\n# Not at the top"])
def test_what_is_no_title_stays_in_the_description(text):
    assert problem_of_statement(text, "named") == problem_of_statement(text, "named")
    assert (problem_of_statement(text, "named").name, problem_of_statement(text).description) == ("named", text)


def test_code_that_ends_inside_a_function_asks_for_that_function():
    problem = problem_of_statement(FUNCTION, "file")
    assert (problem.name, problem.description) == ("total", FUNCTION)
    assert problem.execution == ExecutionSpec("assertions", entry_point="total")


def test_a_comment_above_a_function_is_no_title():
    text = f"# Sums, with a twist\n{FUNCTION}"
    assert (problem_of_statement(text).name, problem_of_statement(text).description) == ("total", text)


def test_prose_with_code_in_it_is_prose():
    problem = problem_of_statement(f"Complete this:\n```python\n{FUNCTION}```\nThank you.")
    assert problem.execution.kind == "stdin"


@pytest.mark.parametrize("ends", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
def test_ends_of_lines_and_a_byte_order_mark_make_no_difference(tmp_path, ends, mark):
    path = tmp_path / "beans.md"
    path.write_bytes(mark + MARKDOWN.replace("\n", ends).encode())
    assert load_statement(str(path)) == problem_of_statement(MARKDOWN)


def test_stdin_is_read_to_its_end(monkeypatch):
    assert stdin_of(MARKDOWN.encode(), monkeypatch).name == "Two Beans"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b" \n\t\r\n", "empty"),
        (b"caf\xe9", "valid UTF-8: .* at byte 3"),
        (b"\x7fELF\x02\x01\x00", "contains the character"),
        (b"a\x00b", "contains the character 0"),
        (b"x" * (MAX_BYTES + 1), "more than 4 MiB"),
    ],
    ids=["empty", "blank", "latin-1", "ELF", "NUL", "long"],
)
def test_what_is_no_statement_is_refused_in_one_line(tmp_path, monkeypatch, content, said):
    (tmp_path / "s.md").write_bytes(content)
    for load in (lambda: load_statement(str(tmp_path / "s.md")), lambda: stdin_of(content, monkeypatch)):
        with pytest.raises(DatasetError, match=said) as error:
            load()
        assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(DatasetError, match="there is no file"):
        load_statement(str(tmp_path / "none.md"))
    with pytest.raises(DatasetError, match="can't be read: Is a directory"):
        load_statement(str(tmp_path))


@pytest.mark.parametrize("name", ["p.json", "p.jsonl", "P.JSONL.GZ", "p.parquet"])
def test_a_file_of_problems_is_not_read_as_prose(tmp_path, name):
    (tmp_path / name).write_text('{"name": "Beans", "description": "Print the sum."}')
    with pytest.raises(DatasetError, match="use `problem_file`") as error:
        load_statement(str(tmp_path / name))
    assert "\n" not in str(error.value)


@given(st.text())
def test_every_text_is_a_problem_with_a_name_and_a_description_or_is_refused(text):
    try:
        problem = problem_of_statement(text)
    except DatasetError:
        assert not text.strip()
    else:
        assert problem.name.strip()
        assert problem.description.strip()


CODEFORCES = """Print the sum.

Input

The first line contains n. The second line contains n numbers.

Output

Print one number.

Examples

Input


2
1 2


Output


3


Input

1
7

Output

7

Note

In the first example 1 + 2 = 3.
"""


@pytest.mark.parametrize(
    ("text", "tests"),
    [
        (CODEFORCES, [("2\n1 2\n", "3\n"), ("1\n7\n", "7\n")]),
        ("Add.\n\n### Sample Input 1\n\n```\n1 2\n\n3\n```\n\n### Sample Output 1\n\n```\n6\n```\n\nDone.",
         [("1 2\n\n3\n", "6\n")]),
        ("Add.\n\n**Example 1:**\n**Input:** 1 2\n**Output:** 3\n\nSo it is.", [("1 2\n", "3\n")]),
        ("Add.\n\n## Example\nInput: `1 2`\nOutput: `3`", [("1 2\n", "3\n")]),
        ("Add.\nExample input:\n1 2\nExample output:\n3\n\nThat is all.", [("1 2\n", "3\n")]),
        ("Examples\ninput\nCopy\n1 2\noutput\nCopy\n3\n", [("1 2\n", "3\n")]),
        ("Add.\n\nSample Input 1:\n1\n\n2\nSample Output 1:\n3\nSample Input 2:\n4\n5\nSample Output 2:\n9\nNote: ok",
         [("1\n\n2\n", "3\n"), ("4\n5\n", "9\n")]),
        ("For example:\nInput: 4\nOutput: 8\nbecause 4 * 2 is 8.", [("4\n", "8\n")]),
        ("Sample Input 1\n\n1 2\n\nSample Output 1\n\n3\n\nThe sum of 1 and 2 is 3.\n\n"
         "Sample Input 2\n\n4 5\n\nSample Output 2\n\n9\n", [("1 2\n", "3\n"), ("4 5\n", "9\n")]),
        ("Example:\nInput:\n1\nOutput:\n2\n\nAnother example:\nInput:\n3\nOutput:\n4",
         [("1\n", "2\n"), ("3\n", "4\n")]),
        ("Example:\nInput: 1\nOutput: We have a winner.\nIt is player 1.",
         [("1\n", "We have a winner.\nIt is player 1.\n")]),
        ("Two sum.\n\nExample 1:\nInput: nums = [2, 7], target = 9\nOutput: [0, 1]", []),
        ("Input\n\nTwo numbers.\n\nOutput\n\nTheir sum.\n", []),
        ("# Example\nInput\n1\n", []),
        ("Input: two numbers. Output: their sum.", []),
        ("", []),
    ],
)  # fmt: skip
def test_the_examples_of_a_statement_are_public_tests(text, tests):
    found = with_examples(Problem("p", text)).public_tests
    assert [(test.input, test.output) for test in found] == tests


def test_examples_of_a_function_are_assertions():
    text = 'def double(n):\n    """Twice.\n\n    >>> double(2)\n    4\n    """\n'
    problem = with_examples(problem_of_statement(text))
    assert [test.input for test in problem.public_tests] == ["assert double(2) == 4"]


def test_public_tests_that_are_given_stay():
    problem = Problem("p", CODEFORCES, public_tests=(TestCase("1\n", "1\n"),))
    assert with_examples(problem) is problem


@given(st.lists(st.sampled_from(["Example", "Input", "Output", "```", "1 2", "", "Note", "Sample Input 1", "x: y"])))
def test_any_statement_can_be_searched_for_examples(lines):
    for test in with_examples(Problem("p", "\n".join(lines))).public_tests:
        assert test.output.strip()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["codecontests_test", "codecontests_train"])
def test_the_examples_of_real_statements_are_found(name):
    problems = load_problems(shared_path(f"data/{name}.jsonl"))
    for problem in problems:
        known = {test.input.split()[0] for test in problem.public_tests if test.input.split()}
        found = with_examples(replace(problem, public_tests=())).public_tests
        assert found or not known, problem.name
