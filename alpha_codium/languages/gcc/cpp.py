"""C++."""

import re
from dataclasses import replace

from alpha_codium.languages.gcc import Gcc
from alpha_codium.languages.tools import PREPARED, Build
from alpha_codium.limits import Limits
from alpha_codium.program import Program

# It includes the whole standard library, as most contest programs do; reading it takes two seconds.
HEADER = "bits/stdc++.h"


class Cpp(Gcc):
    """See `Gcc`."""

    name = "cpp"
    title = "C++"
    tag = "cpp"
    tag_pattern = re.compile(r"\{?\s*\.?(?:c\+\+|cpp|cxx|cc)\d*(?![\w+#-])|[\w./-]+\.(?:cpp|cc|cxx)\b", re.IGNORECASE)
    code_line = re.compile(
        r"^(?:#include\b|#define \w|using (?:namespace )?\w|template[ \t]*<|(?:struct|class) \w"
        r"|(?:static |const |unsigned )*"
        r"(?:int|void|long long|long|bool|double|char|auto|string|std::[\w:<>, ]+|vector<[\w<>:, ]+>)"
        r"[ \t]+[*&]*\w+[ \t]*[(=;{,\[])",
        re.MULTILINE,
    )
    main = re.compile(r"\bmain\s*\(")
    suffixes = (".cpp", ".cc", ".cxx", ".c++", ".C")
    compiler, package = "g++", "g++"
    flags = ("-std=gnu++17", "-O2", "-DONLINE_JUDGE")

    def build(self, program: Program, limits: Limits) -> Build:
        """See `Language`; with a precompiled header if the program includes the whole standard library."""
        if not any(HEADER in text for text in program.files.values()):
            return super().build(program, limits)
        tool, made = self.tool(), f"{HEADER}.gch"
        command = (tool.path, *self.options, "-x", "c++-header", "-o", made, "bits/all.h")
        header = Build(command, made, {"bits/all.h": f"#include <{HEADER}>\n"}, tool.version, tool.readable)
        return replace(self.build_with(program, ("-I", PREPARED)), prepared=header)


LANGUAGE = Cpp()
