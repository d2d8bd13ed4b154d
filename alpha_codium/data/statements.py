"""Problems without tests, made from a statement: Markdown or plain text, in a file or on stdin.

1. A problem is named by the first line if that is `# Title`, else by the file. The rest is its description.
2. If the statement is code that ends inside a function, after its docstring, the problem is to complete that function,
   and the whole text is the description.
3. `with_examples` makes the examples in a description public tests: pairs of blocks called "Input" and "Output" after
   the heading "Example", or "Sample Input 1" and "Sample Output 1"; in a function, doctests and `f(1) == 2`.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from alpha_codium.data.files import SUFFIXES
from alpha_codium.data.origin import PathSource, Record
from alpha_codium.data.schema import record_from_problem
from alpha_codium.errors import DatasetError
from alpha_codium.languages.python.beginnings import beginning_of
from alpha_codium.languages.python.examples import examples_in
from alpha_codium.problem import ExecutionSpec, Problem, TestCase

STDIN = "-"
# The endings of statements in a folder.
ENDINGS = (".md", ".txt")
# Larger than any statement.
MAX_BYTES = 4 << 20
TITLE = re.compile(r"#\s+(\S.*)")
# Characters that don't occur in text files.
BINARY = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
# A line such as `### Sample Input 1`, `**Output:**` or `Input: 3 4`; `rest` is the text after the label.
LABEL = re.compile(
    r"[\s#>*_`-]{0,12}(?P<example>example|sample)?s?\s?(?:expected\s)?(?P<kind>input|output)s?\s?#?\d{0,3}[*_`\s]{0,6}"
    r"(?P<colon>:?)[*_`\s]{0,6}(?P<rest>.*)",
    re.IGNORECASE,
)
EXAMPLES = re.compile(
    r"[\s#>*_-]{0,12}(?:(?:for|another)\s)?(?:examples?|samples?)(?:\s(?:tests?|cases?))?\s?#?\d{0,3}[*_:\s]{0,6}",
    re.IGNORECASE,
)
# What follows the examples.
AFTER = re.compile(r"[\s#>*_-]{0,12}(?:explanation|note|constraints|hint|scoring|limits)s?\b.*|#+\s.*", re.IGNORECASE)
FENCE_LINE = re.compile(r"\s*(?:```|~~~)")
# `nums = [2, 7], target = 9` are arguments, not text that a program reads.
ARGUMENTS = re.compile(r"(?<!\w)[A-Za-z_]\w* = ")


class StatementsSource(PathSource):
    """A file with a statement, or a folder of such files; their examples are public tests."""

    any_split = True

    def splits(self) -> tuple[str, ...]:
        """Return the only split."""
        return ("train",)

    def records(self, split: str) -> Iterator[Record]:
        """Yield the record of each statement, in the order of the files' names."""
        for file in statement_files(self.path):
            yield record_from_problem(with_examples(load_statement(str(file))))


def statement_files(path: Path) -> list[Path]:
    """Return the statements that a path stands for: the file itself, or those in a folder; none for anything else."""
    files = sorted(each for each in path.iterdir() if each.stem != "README") if path.is_dir() else [path]
    return [file for file in files if file.suffix.lower() in ENDINGS and file.is_file()]


def with_examples(problem: Problem) -> Problem:
    """Return the problem with the examples in its description as public tests, if it has none."""
    if problem.public_tests:
        return problem
    if problem.execution.is_function:
        return (
            problem if problem.execution.has_outputs else replace(problem, public_tests=examples_in(problem.statement))
        )
    return replace(problem, public_tests=tuple(_examples_of_text(problem.description)))


def _examples_of_text(text: str) -> Iterator[TestCase]:
    """Yield the pairs of an input and the output that follows it."""
    input: str | None = None
    for kind, content in _labelled_blocks(text.splitlines()):
        if kind == "input":
            input = content
        elif input is not None:
            if content.strip() and not ARGUMENTS.search(input):
                yield TestCase(f"{input}\n", f"{content}\n")
            input = None


def _labelled_blocks(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield `input` or `output` for each label of an example, and the text that it labels."""
    in_examples, place = False, 0
    while place < len(lines):
        line, place = lines[place], place + 1
        label = LABEL.fullmatch(line)
        if EXAMPLES.fullmatch(line):
            in_examples = True
        elif label is not None and (label["colon"] or not label["rest"]) and (in_examples or label["example"]):
            in_examples = True
            content, place = _content(lines, place, label["rest"])
            yield label["kind"].lower(), content
        elif line.startswith("#"):
            in_examples = False


def _content(lines: list[str], place: int, rest: str) -> tuple[str, int]:
    """Return the text after a label, and the index of the line after it.

    It is a fenced block; or all lines up to the next label; or the first paragraph, if no label follows.
    Sentences that explain the example are left out.
    """
    while not rest and place < len(lines) and lines[place].strip() in ("", "Copy"):
        place += 1
    if not rest and place < len(lines) and FENCE_LINE.match(lines[place]):
        start = place + 1
        end = next((n for n in range(start, len(lines)) if FENCE_LINE.match(lines[n])), len(lines))
        return "\n".join(lines[start:end]), end + 1
    end = next((n for n in range(place, len(lines)) if _ends_content(lines[n])), len(lines))
    found = [rest, *lines[place:end]] if rest else lines[place:end]
    if end == len(lines) or not LABEL.fullmatch(lines[end]):
        blank = next((n for n, line in enumerate(found) if not line.strip()), len(found))
        found = found[:blank]
    return "\n".join(_without_explanation(found, beside=bool(rest))).strip("\n").strip("`"), end


def _without_explanation(lines: list[str], *, beside: bool) -> list[str]:
    """Return the lines before a sentence that follows a blank line, or any line if the text stands beside its label.

    If the first line is a sentence, too, sentences are what is read or printed.
    """
    if lines and not _is_sentence(lines[0]):
        for number in range(1, len(lines)):
            if _is_sentence(lines[number]) and (beside or not lines[number - 1].strip()):
                return lines[:number]
    return lines


def _is_sentence(line: str) -> bool:
    words = line.split()
    return len(words) > 2 and words[0][0].isalpha() and words[-1].endswith((".", ":", "!", "?"))


def _ends_content(line: str) -> bool:
    return bool(LABEL.fullmatch(line) or EXAMPLES.fullmatch(line) or AFTER.fullmatch(line))


def load_statement(source: str) -> Problem:
    """Return the problem of a statement in a file, or on stdin for `-`.

    Raises DatasetError if it isn't text, or its ending is that of a file of problems.
    """
    if source.lower().endswith(SUFFIXES):
        raise DatasetError(f"{source} has the ending of a file of problems: use `problem_file`")
    where = "stdin" if source == STDIN else source
    return problem_of_statement(_text(_read(source, where), where), "" if source == STDIN else Path(source).stem, where)


def problem_of_statement(text: str, name: str = "", where: str = "the statement") -> Problem:
    """Return the problem of a statement, called `name` if it has no title; raises DatasetError if it is empty."""
    if not text.strip():
        raise DatasetError(f"{where} contains no statement: it is empty")
    beginning = beginning_of(text)
    if beginning is not None:
        return Problem(beginning.name, text, execution=ExecutionSpec("assertions", entry_point=beginning.name))
    text = text.strip()
    title = TITLE.match(text)
    rest = text[title.end() :].strip() if title else ""
    heading = title[1].rstrip() if title else ""
    # A one-line statement is both title and description.
    return Problem(heading or name or "problem", rest or heading or text)


def _read(source: str, where: str) -> bytes:
    try:
        if source == STDIN and sys.stdin is None:
            raise DatasetError("cannot read a statement: stdin is closed")
        if source == STDIN:
            content = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(source).open("rb") as file:
                content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise DatasetError(f"there is no file {where} with a statement") from None
    except OSError as error:
        raise DatasetError(f"the statement {where} can't be read: {error.strerror}") from error
    if len(content) > MAX_BYTES:
        raise DatasetError(f"{where} is too long for a statement: it has more than {MAX_BYTES >> 20} MiB")
    return content


def _text(content: bytes, where: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatasetError(f"{where} isn't valid UTF-8: {error.reason} at byte {error.start}") from error
    if found := BINARY.search(text):
        raise DatasetError(f"{where} isn't text: it contains the character {ord(found[0])}")
    return text.replace("\r\n", "\n").replace("\r", "\n")
