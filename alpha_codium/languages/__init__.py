"""Programming languages, independent of sandboxes.

To add a language, derive a class from `Language`, and add it to `language_table`. A backend says which languages it
runs: `tool_version` in `sandbox.protocol`.
"""

import functools
import re
from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum
from importlib import import_module
from typing import Self

from alpha_codium.errors import UserError, nearest
from alpha_codium.language_table import LANGUAGES
from alpha_codium.languages.tools import Build, Tool
from alpha_codium.limits import Limits
from alpha_codium.program import Program

# The length of the longest program, and of all texts that are read of one answer, in characters.
MAX_PROGRAM, READING_BUDGET = 100_000, 2_000_000
# The beginning of each line of a trace.
TRACE_MARK = "trace| "


class CodeKind(IntEnum):
    """What a text is as code, from least to most."""

    INERT = 0
    BROKEN = 1
    SNIPPET = 2
    PROGRAM = 3


class Reader:
    """Classifies the texts of one answer, within a budget of characters for the whole answer.

    It reads the same text only once: the rules that clean a text ask about it again and again.
    """

    def __init__(self, language: "Language", budget: int) -> None:
        self.language, self.budget = language, budget
        self._kinds: dict[str, CodeKind] = {}

    def kind_of(self, code: str) -> CodeKind:
        """Return what `code` is; `BROKEN` also if it is too long or costs too much to read."""
        if code not in self._kinds:
            self._kinds[code] = self._kind_of(code)
        return self._kinds[code]

    def with_needed(self, code: str, earlier: Sequence[str]) -> str:
        """Return `code` after those of an answer's `earlier` blocks that define names which it uses and doesn't."""
        return code

    def line_of_error(self, code: str) -> int | None:
        """Return the line, from 1, of the first syntax error; None if there is none or `code` wasn't read."""
        raise NotImplementedError

    def _kind_of(self, code: str) -> CodeKind:
        raise NotImplementedError

    def _may_read(self, code: str) -> bool:
        """Whether a text is short enough, and still within the budget, which then has less left."""
        if len(code) > min(MAX_PROGRAM, self.budget):
            return False
        self.budget -= len(code)
        return True


class Language:
    """How programs of one language are written, compiled, started, driven, traced and found in an answer.

    `title` is its name for people and models, `tag` that of a code fence, and `tag_pattern` matches what may stand in
    its place; `code_line` matches the beginning of a line of code. `driven_by` lists how its programs can be run other
    than by standard input and output: `call` (a function is called), `assertions` (code uses its definitions), `files`
    (it reads and writes files instead of the streams).
    """

    name: str
    title: str
    tag: str
    tag_pattern: re.Pattern[str]
    driven_by: frozenset[str] = frozenset()
    code_line: re.Pattern[str]

    def with_setup(self, program: Program, setup_code: str) -> Program:
        """Return the program with code that runs before it, in the same file."""
        if not setup_code:
            return program
        return replace(program, files={**program.files, program.main: self.after_setup(setup_code, program.source)})

    def after_setup(self, setup_code: str, source: str) -> str:
        """Return a source with code that runs before it."""
        return f"{setup_code}\n{source}"

    def configured(self, compiler: str = "", options: str = "") -> Self:
        """Return the language with another compiler or runtime, and other options for it; empty: as they are."""
        return self

    def tool(self) -> Tool | None:
        """Return the compiler or runtime on this machine; raises SandboxError, with what to install, if it is missing.

        None: programs run in the interpreter of the sandbox, which compiles them itself.
        """

    def build(self, program: Program, limits: Limits) -> Build | None:
        """Return how the program is compiled, once, and run for tests with `limits`; None as for `tool`."""

    def driven(self, program: Program, driver: str) -> Build | None:
        """Return how a program that `driver` runs (see `Job`) is compiled; None as for `tool`.

        Options that users set don't count. Raises SandboxError if the language has no drivers.
        """

    def is_tag(self, text: str) -> bool:
        """Whether the text behind a fence's sign names this language."""
        return bool(self.tag_pattern.match(text))

    def reader(self) -> Reader:
        """Return a reader for one answer."""
        raise NotImplementedError

    def traced(self, source: str, *, depth: int, lines: int) -> str:
        """Return a program that does what `source` does and prints a trace to stderr, each line behind `TRACE_MARK`.

        The trace holds the last `lines` executed lines, in calls no deeper than `depth`, and what they changed; it is
        empty if the language has none.
        """
        return source


@functools.cache
def language_named(name: str) -> Language:
    """Return the language called `name`; raises UserError, with the nearest known name, if there is none."""
    if name not in LANGUAGES:
        raise UserError(f"unsupported language {name!r}{nearest(name, LANGUAGES)}")
    module, _, kind = LANGUAGES[name].home.partition(":")
    return getattr(import_module(f"alpha_codium.languages.{module}"), kind)()
