"""Code that runs before a program, in the same file.

1. It is put at the top, after a docstring and imports from `__future__`, which must come first. A byte order mark,
   which Python accepts at the very beginning only, is removed.
2. Those are found by tokens, up to the first other statement, since parsing the whole program could cost too much. A
   program that can't be read doesn't compile anyway.
"""

import io
import tokenize
from collections.abc import Iterator

from alpha_codium.errors import SettingsError
from alpha_codium.languages.python.syntax import UNPARSABLE, parse

IGNORED = (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING)
# A program with neither of them needs nothing at its top.
NAMES_OF_THE_TOP = ("__future__", "__doc__")


def check_header(header: str) -> None:
    """Raise SettingsError if the code to run before each program isn't Python: all programs would fail."""
    try:
        parse(header)
    except UNPARSABLE as error:
        reason = str(error) or "it is nested too deep"
        raise SettingsError(f"the header {header[:80]!r} isn't Python: {reason}") from error


def with_prelude(prelude: str, program: str) -> str:
    """Return the program with `prelude` run before it."""
    if not prelude:
        return program
    program, end = program.removeprefix("\ufeff"), 0
    if any(name in program for name in NAMES_OF_THE_TOP):
        program = program.replace("\r\n", "\n").replace("\r", "\n")  # as Python reads a file, and `tokenize` doesn't
        end = _end_of_top(program)
    if not end:
        return f"{prelude}\n{program}"
    # Code after a semicolon, on the same line, moves to a line of its own.
    rest = program[end:].lstrip(" \t\f;")
    return f"{program[:end]}\n{prelude}\n{rest}"


def _end_of_top(program: str) -> int:
    """Return where the docstring and the imports from `__future__` end; 0 if there are none."""
    end, is_first = 0, True
    try:
        for statement in _statements(program):
            docstring = is_first and all(token.type == tokenize.STRING or token.string in "()" for token in statement)
            if not docstring and [token.string for token in statement[:2]] != ["from", "__future__"]:
                break
            end, is_first = _offset(program, *statement[-1].end), False
    except (tokenize.TokenError, SyntaxError, ValueError):
        return end
    return end


def _statements(program: str) -> Iterator[list[tokenize.TokenInfo]]:
    """Yield the tokens of each simple statement, without the line break or semicolon that ends it."""
    statement: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(program, newline="\n").readline):
        if token.type == tokenize.NEWLINE or token.string == ";":
            if statement:
                yield statement
            statement = []
        elif token.type not in IGNORED:
            statement.append(token)


def _offset(program: str, row: int, column: int) -> int:
    """Return the offset of a place, given as a line from 1 and a column."""
    start = 0
    for _ in range(row - 1):
        start = program.index("\n", start) + 1
    return start + column
