"""Programming languages, each in a folder of its own that knows no sandbox.

To add a language, write a class with the attributes of `Language` in a folder of its own, and add it to `LANGUAGES`.
"""

import functools
import re
from enum import IntEnum
from importlib import import_module
from typing import Protocol

from alpha_codium.errors import UserError, nearest
from alpha_codium.program import Program

# The module of each language, which has it as its attribute `LANGUAGE`.
LANGUAGES = {"python3": "alpha_codium.languages.python"}
# The longest text that is taken for a program, in characters.
MAX_PROGRAM = 100_000
# Before each line of a trace.
TRACE_MARK = "trace| "


class CodeKind(IntEnum):
    """What a text is as code, from least to most."""

    INERT = 0
    BROKEN = 1
    SNIPPET = 2
    PROGRAM = 3


class Reader(Protocol):
    """Says what the texts in an answer are as code; made anew for each answer, whose reading it bounds."""

    language: "Language"

    def kind_of(self, code: str) -> CodeKind:
        """What `code` is; broken too where it is too long or costs too much to read."""
        ...

    def line_of_error(self, code: str) -> int | None:
        """The line, from 1, at which `code` stops being code; None if it doesn't or wasn't read."""
        ...


class Language(Protocol):
    """How programs of one language are written, compiled, started, driven, traced and found in an answer.

    `title` is its name for people and models, `tag` that of a fence of code, `code_line` the beginning of a line of it.
    `driven_by` lists how its programs can be run other than by standard input and output: `call` (a function of it is
    called), `assertions` (code uses what it defines), `files` (it reads and writes files in place of the streams).
    """

    name: str
    title: str
    tag: str
    suffixes: tuple[str, ...]
    driven_by: frozenset[str]
    code_line: re.Pattern[str]

    def with_setup(self, program: Program, setup_code: str) -> Program:
        """The program with code that runs before it, in the same file."""
        ...

    def compile_command(self, interpreter: str) -> tuple[str, ...]:
        """A command that compiles the main file, which it reads from its standard input."""
        ...

    def start_command(self, interpreter: str, main: str, *, driven: bool) -> tuple[str, ...]:
        """A command that runs the main file, or its driver if the program is `driven`, in the program's folder."""
        ...

    def is_tag(self, text: str) -> bool:
        """Whether what stands behind a fence's sign says that a program of this language follows."""
        ...

    def reader(self) -> Reader:
        """What reads one answer."""
        ...

    def traced(self, source: str, *, depth: int, lines: int) -> str:
        """A program that does what `source` does and ends with a trace on stderr, each line behind `TRACE_MARK`.

        The trace holds the last `lines` lines executed, in calls no deeper than `depth`, with what they changed.
        """
        ...


@functools.cache
def language_named(name: str) -> Language:
    """The language called `name`; raises UserError, with the nearest known name, if there is none."""
    if name not in LANGUAGES:
        raise UserError(f"no language {name!r} is supported{nearest(name, LANGUAGES)}")
    return import_module(LANGUAGES[name]).LANGUAGE
