"""Problems without tests, made from a statement: Markdown or plain text, in a file or on stdin.

1. A problem is named by the first line if that is `# Title`, else by the file. The rest is its description.
2. If the statement is code that ends inside a function, after its docstring, the problem is to complete that function,
   and the whole text is the description.
"""

import re
import sys
from pathlib import Path

from alpha_codium.errors import DatasetError
from alpha_codium.languages.python.beginnings import beginning_of
from alpha_codium.problem import ExecutionSpec, Problem

STDIN = "-"
# Larger than any statement.
MAX_BYTES = 4 << 20
TITLE = re.compile(r"#\s+(\S.*)")
# Characters that don't occur in text files.
BINARY = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def load_statement(source: str) -> Problem:
    """Return the problem of a statement in a file, or on stdin for `-`; raises DatasetError if it isn't text."""
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
