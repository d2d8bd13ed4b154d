import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.data.statements import MAX_BYTES, load_statement, problem_of_statement
from alpha_codium.errors import DatasetError
from alpha_codium.problem import ExecutionSpec

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


@given(st.text())
def test_every_text_is_a_problem_with_a_name_and_a_description_or_is_refused(text):
    try:
        problem = problem_of_statement(text)
    except DatasetError:
        assert not text.strip()
    else:
        assert problem.name.strip()
        assert problem.description.strip()
