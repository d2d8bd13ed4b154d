"""C and C++, compiled by gcc into static programs, with the options of contests."""

import re
from dataclasses import replace

from alpha_codium.languages.compiled import Compiled
from alpha_codium.languages.tools import PREPARED, Build, first_that_succeeds
from alpha_codium.limits import Limits
from alpha_codium.program import Program

ONLINE_JUDGE = "-DONLINE_JUDGE"
# The name of a driver's file, without its suffix.
DRIVER = "gencode_driver"
DRIVEN = "-Wl,--wrap=main"
# It includes the whole standard library, as most contest programs do; reading it takes two seconds.
HEADER = "bits/stdc++.h"
# A source in which nothing but comments and headers of the standard library is before it: they may be in any order.
# No comment may hide a line's end, so neither a backslash nor the trigraph for one may be in what is matched.
EARLY = re.compile(
    r"""\ufeff?(?>\s+ | /\*.*?\*/ | //[^\n]*\n
        | \#[ \t]*include[ \t]*<(?:[a-z_0-9]+|(?:assert|ctype|errno|float|inttypes|limits|locale|math|setjmp|signal
          |stdarg|stdbool|stddef|stdint|stdio|stdlib|string|time|wchar|wctype)\.h)>[ \t\r]*(?://[^\n]*)?\n
        )*+\#[ \t]*include[ \t]*[<"]bits/stdc\+\+\.h[>"]""",
    re.DOTALL | re.VERBOSE,
)
HIDING = re.compile(r"\\|\?\?/")


class Gcc(Compiled):
    """A language that gcc or clang compiles; see `Compiled`. `suffixes` are those of source files."""

    suffixes: tuple[str, ...]

    @property
    def options(self) -> tuple[str, ...]:
        """Everything on which a precompiled header depends."""
        return (*self.flags, "-w", "-fmax-errors=5", "-fdiagnostics-color=never")

    def build(self, program: Program, limits: Limits) -> Build:
        """See `Language`."""
        return first_that_succeeds([version.build_with(program, ()) for version in self.versions()])

    def driven(self, program: Program, driver: str) -> Build:
        """See `Language`: the driver defines `__wrap_main`, which runs in place of `main`, now called `__real_main`."""
        plain = type(self)().configured(self.compiler)
        plain.flags = tuple(flag for flag in plain.flags if flag != ONLINE_JUDGE)
        linked = replace(program, files={**program.files, DRIVER + self.suffixes[0]: driver})
        return first_that_succeeds([each.build_with(linked, (DRIVEN,)) for each in plain.versions()])

    def build_with(self, program: Program, options: tuple[str, ...]) -> Build:
        """Return a build of the program, with further options."""
        tool = self.tool()
        sources = [path for path in sorted(program.files) if path.endswith(self.suffixes)]
        command = (tool.path, *self.options, *options, "-static", "-s", "-I", ".", "-o", "program", *sources, "-lm")
        return Build(command, "program", program.files, tool.version, tool.readable)


class C(Gcc):
    """See `Gcc`."""

    name = "c"
    title = "C"
    tag = "c"
    tag_pattern = re.compile(r"\{?\s*\.?c(?:\d\d)?(?![\w+#-])|[\w./-]+\.c\b", re.IGNORECASE)
    code_line = re.compile(
        r"^(?:#[ \t]*(?:include|pragma|define|if|ifdef|ifndef|undef)\b|typedef \w|struct \w"
        r"|(?:static |unsigned |const )*"
        r"(?:int|void|long|char|double|float)[ \t]+\**\w+[ \t]*[(=;{,\[])",
        re.MULTILINE,
    )
    main = re.compile(r"\bmain\s*\(")
    suffixes = (".c",)
    compiler, package = "gcc", "gcc libc6-dev"
    flags = ("-std=gnu17", "-O2", ONLINE_JUDGE)
    older_and_newer = ("-std=gnu2x", "-std=gnu17 -fgnu89-inline")


class Cpp(Gcc):
    """See `Gcc`."""

    name = "cpp"
    title = "C++"
    tag = "cpp"
    tag_pattern = re.compile(r"\{?\s*\.?(?:c\+\+|cpp|cxx|cc)\d*(?![\w+#-])|[\w./-]+\.(?:cpp|cc|cxx)\b", re.IGNORECASE)
    code_line = re.compile(
        r"^(?:#[ \t]*(?:include|pragma|define|if|ifdef|ifndef|undef)\b|using (?:namespace )?\w|template[ \t]*<"
        r"|(?:struct|class) \w"
        r"|(?:static |const |unsigned )*"
        r"(?:int|void|long long|long|bool|double|char|auto|string|std::[\w:<>, ]+|vector<[\w<>:, ]+>)"
        r"[ \t]+[*&]*\w+[ \t]*[(=;{,\[])",
        re.MULTILINE,
    )
    main = re.compile(r"\bmain\s*\(")
    suffixes = (".cpp", ".cc", ".cxx", ".c++", ".C")
    compiler, package = "g++", "g++"
    flags = ("-std=gnu++17", "-O2", ONLINE_JUDGE)
    # What each of them rejects of published programs: docs/languages.md.
    older_and_newer = ("-std=gnu++23", "-std=gnu++14", "-std=gnu++98")

    def build_with(self, program: Program, options: tuple[str, ...]) -> Build:
        """Return a build, with a precompiled header if the program includes the whole standard library."""
        if DRIVEN in options or not any(HEADER in text for text in program.files.values()):
            return super().build_with(program, options)
        tool, made = self.tool(), f"{HEADER}.gch"
        command = (tool.path, *self.options, "-x", "c++-header", "-o", made, HEADER)
        # gcc reads the header beside the precompiled one where it is included again.
        files = {HEADER: f"#include_next <{HEADER}>\n"}
        header = Build(command, made, files, tool.version, tool.readable, kept=(HEADER,))
        first = ("-include", HEADER) if may_be_first(program) else ()
        return replace(super().build_with(program, (*options, "-I", PREPARED, *first)), prepared=header)


def may_be_first(program: Program) -> bool:
    """Whether a program means the same if it begins with the header, so that gcc can use the precompiled one.

    gcc uses none behind another header. A pragma or a macro before the header may change what is in it, and in a
    program of several files the name of a header may be that of a file.
    """
    early = EARLY.match(program.source) if len(program.files) == 1 else None
    return early is not None and not HIDING.search(early[0])
