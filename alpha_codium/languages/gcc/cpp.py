"""C++."""

import re
from dataclasses import replace

from alpha_codium.languages.gcc import DRIVEN, ONLINE_JUDGE, Gcc
from alpha_codium.languages.tools import PREPARED, Build
from alpha_codium.program import Program

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


LANGUAGE = Cpp()
