"""Base classes of languages that are compiled, or checked, before they run."""

import copy
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Self

from alpha_codium.errors import SandboxError
from alpha_codium.languages import MAX_PROGRAM, CodeKind, Language, Reader
from alpha_codium.languages.prose import sentences
from alpha_codium.languages.tools import ARTIFACT, SYSTEM, Build, Start, Tool, find_tool
from alpha_codium.limits import Limits
from alpha_codium.program import Program

OPENING, CLOSING = "([{", ")]}"
# In characters, of all texts of one answer.
READING_BUDGET = 2_000_000
WHITE_SPACE = re.compile(r"[ \t]*")
NO_LINE_BREAK = re.compile(r"[^\n]")
# What brackets don't count in: comments, strings and characters. What doesn't end counts,
# too, so that the time to read stays linear.
QUIET = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n]){1,12}'", re.DOTALL)


class Compiled(Language):
    """A language with a compiler or a runtime of its own; see `Language`.

    `tag_pattern` matches the text behind a fence's sign, `main` the beginning of a whole program, `quiet` what brackets
    don't count in. `compiler` is the name or path of the tool, which is in `package`, and prints its version for
    `version_options`; `flags` are its options that users can replace. Unless they do, a program that doesn't compile is
    compiled with each of `older_and_newer` in place of the first: other versions of the language.
    """

    driven_by: frozenset[str] = frozenset()
    tag_pattern: re.Pattern[str]
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
        raise SandboxError(f"a driver can't run programs in {self.title}")

    def with_setup(self, program: Program, setup_code: str) -> Program:
        """See `Language`."""
        if not setup_code:
            return program
        return replace(program, files={**program.files, program.main: f"{setup_code}\n{program.source}"})

    def is_tag(self, text: str) -> bool:
        """See `Language`."""
        return bool(self.tag_pattern.match(text))

    def reader(self) -> Reader:
        """See `Language`."""
        return BracketReader(self)

    def traced(self, source: str, *, depth: int, lines: int) -> str:
        """Return the program without a trace."""
        return source


class Script(Compiled):
    """A language whose runtime checks the syntax of a program, and then runs its source; see `Compiled`.

    `always` are options of the runtime beside the user's, and `check` those with which it only checks the program,
    which is in the file `file`. `modules` is the name of the folder of its modules, below those of the system's
    libraries. `environment` and `reserved_bytes` are as for `Start`.
    """

    file: str
    always: tuple[str, ...] = ()
    check: tuple[str, ...]
    modules: str
    environment: Mapping[str, str] = MappingProxyType({})
    reserved_bytes: int | None = None

    def libraries(self, tool: Tool) -> tuple[str, ...]:
        """Return the folders of the runtime's modules, some of which may not exist."""
        return tuple(f"{folder}/{self.modules}" for folder in SYSTEM if "/lib" in folder)

    def build(self, program: Program, limits: Limits) -> Build:
        """See `Language`."""
        tool, options, environment = self.tool(), (*self.always, *self.flags), dict(self.environment)
        readable = (*tool.runtime, *self.libraries(tool))
        return Build(
            (tool.path, *options, *self.check),
            self.file,
            {self.file: program.source},
            tool.version,
            tool.readable,
            environment,
            start=Start((tool.file, *options, ARTIFACT), readable, environment, self.reserved_bytes),
        )


class BracketReader:
    """Reads a language with brackets by its surface: its lines, its brackets, and where a program begins.

    A sentence outside of brackets, comments and strings is no code.
    """

    def __init__(self, language: Compiled, budget: int = READING_BUDGET) -> None:
        self.language: Language = language
        self.main, self.quiet = language.main, language.quiet
        self.budget = budget
        self.kinds: dict[str, CodeKind] = {}

    def kind_of(self, code: str) -> CodeKind:
        """See `Reader`."""
        if code not in self.kinds:
            self.kinds[code] = self._kind_of(code)
        return self.kinds[code]

    def _kind_of(self, code: str) -> CodeKind:
        if not code.strip() or not self.language.code_line.search(code[:MAX_PROGRAM]):
            return CodeKind.INERT
        if len(code) > MAX_PROGRAM or len(code) > self.budget:
            return CodeKind.BROKEN
        self.budget -= len(code)
        if not is_balanced(self.quiet.sub(" ", code)) or self.line_of_error(code) is not None:
            return CodeKind.BROKEN
        return CodeKind.PROGRAM if self.main.search(code) else CodeKind.SNIPPET

    def with_needed(self, code: str, earlier: Sequence[str]) -> str:
        """Return `code`: a program in several blocks isn't put together."""
        return code

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
