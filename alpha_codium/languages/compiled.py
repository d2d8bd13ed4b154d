"""Base classes of languages that are compiled, or checked, before they run."""

import copy
import re
import shlex
from typing import Self

from alpha_codium.errors import JobUnsupported
from alpha_codium.languages import MAX_PROGRAM, READING_BUDGET, CodeKind, Language, Reader
from alpha_codium.languages.prose import sentences
from alpha_codium.languages.tools import Build, Tool, find_tool
from alpha_codium.limits import Limits
from alpha_codium.program import Program

OPENING, CLOSING = "([{", ")]}"
WHITE_SPACE = re.compile(r"[ \t]*")
NO_LINE_BREAK = re.compile(r"[^\n]")
# What brackets don't count in: comments, strings and characters. What doesn't end counts,
# too, so that the time to read stays linear.
QUIET = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n]){1,12}'", re.DOTALL)


class Compiled(Language):
    """A language with a compiler or a runtime of its own; see `Language`.

    `main` matches the beginning of a whole program, `quiet` what brackets don't count in. `compiler` is the name or
    path of the tool, which is in `package`, and prints its version for `version_options`; `flags` are its options that
    users can replace. Unless they do, a program that doesn't compile is compiled with each of `older_and_newer` in
    place of the first: other versions of the language.
    """

    main: re.Pattern[str]
    quiet: re.Pattern[str] = QUIET
    compiler: str
    package: str
    version_options: tuple[str, ...] = ("--version",)
    flags: tuple[str, ...] = ()
    older_and_newer: tuple[str, ...] = ()

    def configured(self, compiler: str = "", options: str = "") -> Self:
        """Return the language with another compiler, and options as on a command line; see `Language`."""
        chosen = copy.copy(self)
        chosen.compiler = compiler or self.compiler
        if options:
            chosen.flags, chosen.older_and_newer = tuple(shlex.split(options)), ()
        return chosen

    def versions(self) -> list[Self]:
        """Return the language in the versions in which a program is compiled until one succeeds."""
        others = [copy.copy(self) for _ in self.older_and_newer]
        for other, first in zip(others, self.older_and_newer, strict=True):
            other.flags = (*shlex.split(first), *self.flags[1:])
        return [self, *others]

    def tool(self) -> Tool:
        """See `Language`."""
        return find_tool(self.title, self.compiler, self.package, *self.version_options)

    def build(self, program: Program, limits: Limits) -> Build:
        """See `Language`."""
        raise NotImplementedError

    def driven(self, program: Program, driver: str) -> Build:
        """See `Language`."""
        raise JobUnsupported(f"a driver can't run programs in {self.title}")

    def reader(self) -> Reader:
        """See `Language`."""
        return BracketReader(self)


class BracketReader(Reader):
    """Reads a language with brackets by its surface: its lines, its brackets, and where a program begins.

    A sentence outside of brackets, comments and strings is no code.
    """

    def __init__(self, language: Compiled) -> None:
        super().__init__(language, READING_BUDGET)
        self.main, self.quiet = language.main, language.quiet

    def _kind_of(self, code: str) -> CodeKind:
        if not code.strip() or not self.language.code_line.search(code[:MAX_PROGRAM]):
            return CodeKind.INERT
        if not self._may_read(code) or not is_balanced(self.quiet.sub(" ", code)) or self.line_of_error(code):
            return CodeKind.BROKEN
        return CodeKind.PROGRAM if self.main.search(code) else CodeKind.SNIPPET

    def line_of_error(self, code: str) -> int | None:
        """Return the line of the first sentence outside of brackets, comments and strings; None if there is none.

        Only the compiler finds other errors.
        """
        starts = list(sentences(code))
        if not starts:
            return None
        plain = self.quiet.sub(lambda match: NO_LINE_BREAK.sub(" ", match[0]), code)
        depth = position = 0
        for start in starts:
            part = plain[position:start]
            depth += sum(map(part.count, OPENING)) - sum(map(part.count, CLOSING))
            position = start
            white = WHITE_SPACE.match(code, start)
            first = white.end() if white else start
            if depth <= 0 and plain[first] == code[first]:
                return code.count("\n", 0, start) + 1
        return None


def is_balanced(code: str) -> bool:
    """Whether each bracket has its partner."""
    open_: list[str] = []
    for character in code:
        if character in OPENING:
            open_.append(character)
        elif character in CLOSING and (not open_ or OPENING.index(open_.pop()) != CLOSING.index(character)):
            return False
    return not open_
