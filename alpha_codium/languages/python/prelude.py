"""Code that runs before a program, in the same file.

1. It stands at the top, but for what must stand there: imports from `__future__`, and a docstring before them. A byte
   order mark, which Python takes at the very beginning only, is left out.
2. Those are found by tokens, read no further than to the first other statement: a program may be anything, a bomb for
   the parser too. Where they can't be read it doesn't matter: such a program doesn't compile.
"""

import io
import tokenize
from collections.abc import Iterator

from alpha_codium.errors import SettingsError
from alpha_codium.languages.python.syntax import UNPARSABLE, parse

IGNORED = (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING)
# A program that names neither needs nothing at its top.
NAMES_OF_THE_TOP = ("__future__", "__doc__")


def check_header(header: str) -> None:
    """Raise SettingsError where the code that is to run before each program isn't Python: all of them would fail."""
    try:
        parse(header)
    except UNPARSABLE as error:
        why = str(error) or "it is nested too deep"
        raise SettingsError(f"the header {header[:80]!r} isn't Python: {why}") from error


def with_prelude(prelude: str, program: str) -> str:
    """The program with `prelude` run before it."""
    if not prelude:
        return program
    program, end = program.removeprefix("\ufeff"), 0
    if any(name in program for name in NAMES_OF_THE_TOP):
        program = program.replace("\r\n", "\n").replace("\r", "\n")  # as Python reads a file, and `tokenize` doesn't
        end = _end_of_top(program)
    if not end:
        return f"{prelude}\n{program}"
    # What stood after a semicolon, on the same line, begins a line of its own now.
    rest = program[end:].lstrip(" \t\f;")
    return f"{program[:end]}\n{prelude}\n{rest}"


def _end_of_top(program: str) -> int:
    """Where the docstring and the imports from `__future__` end; 0 where there are none."""
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
    """The tokens of each simple statement, without the line break or semicolon that ends it."""
    statement: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(program, newline="\n").readline):
        if token.type == tokenize.NEWLINE or token.string == ";":
            if statement:
                yield statement
            statement = []
        elif token.type not in IGNORED:
            statement.append(token)


def _offset(program: str, row: int, column: int) -> int:
    """The offset of a place, given as a line from 1 and a column."""
    start = 0
    for _ in range(row - 1):
        start = program.index("\n", start) + 1
    return start + column
