"""C#, compiled and run by Mono."""

import re

from alpha_codium.languages.compiled import Compiled
from alpha_codium.languages.tools import ARTIFACT, Build, Start, find_tool
from alpha_codium.limits import Limits
from alpha_codium.program import Program

# What a program loads beside the libraries of the system.
LIBRARIES = ("/usr/lib/mono", "/usr/lib/libMonoPosixHelper.so", "/usr/lib/libmono-native.so", "/etc/mono")
# Of the stacks of its threads, and of the heap.
RESERVED = 128 << 20


class CSharp(Compiled):
    """See `Compiled`."""

    name = "csharp"
    title = "C#"
    tag = "csharp"
    tag_pattern = re.compile(r"\{?\s*\.?(?:c#|csharp|cs|mono)(?![\w+#-])|[\w./-]+\.cs\b", re.IGNORECASE)
    code_line = re.compile(
        r"^[ \t]*(?:using [\w.= ]+;|namespace \w|(?:(?:public|private|internal|static|sealed|abstract|partial) )*"
        r"(?:class|struct|interface|enum) \w|(?:public|private|static) [\w<>\[\], ]+\()",
        re.MULTILINE,
    )
    main = re.compile(r"\bstatic\s+(?:async\s+)?\w+\s+Main\s*\(")
    compiler, package = "mcs", "mono-mcs"
    flags = ("-optimize+", "-d:ONLINE_JUDGE")

    def build(self, program: Program, limits: Limits) -> Build:
        """See `Language`."""
        compiler, mono = self.tool(), find_tool(self.title, "mono", "mono-runtime")
        libraries = ("-r:System.Numerics", "-r:System.Core")
        return Build(
            (compiler.path, *self.flags, "-warn:0", *libraries, "-out:main.exe", "main.cs"),
            "main.exe",
            {"main.cs": program.source},
            f"{compiler.version}, {mono.version}",
            (*compiler.readable, *LIBRARIES),
            start=Start((mono.file, ARTIFACT), (*mono.runtime, *LIBRARIES), reserved_bytes=RESERVED),
            reads_proc=True,
        )
