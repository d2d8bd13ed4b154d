"""Go, compiled to static programs."""

import re
import shlex
from pathlib import Path

from alpha_codium.languages.compiled import QUIET, Compiled
from alpha_codium.languages.tools import PREPARED, Build, Start
from alpha_codium.limits import Limits
from alpha_codium.program import Program

# The compiled standard library, which Go 1.20 and later don't contain: the part that contest programs use.
CACHE = "cache.tar"
# Of the heap.
RESERVED = 128 << 20
IMPORTS = (
    "bufio bytes container/heap container/list container/ring errors fmt io math math/big math/bits math/cmplx "
    "math/rand os reflect regexp runtime/debug sort strconv strings sync sync/atomic time unicode unicode/utf8"
)
TYPICAL = "package main\n\nimport (\n{}\n)\n\nfunc main() {{}}\n".format(
    "\n".join(f'\t_ "{name}"' for name in IMPORTS.split())
)


class Go(Compiled):
    """See `Compiled`."""

    name = "go"
    title = "Go"
    tag = "go"
    tag_pattern = re.compile(r"\{?\s*\.?(?:go|golang)(?![\w+#-])|[\w./-]+\.go\b", re.IGNORECASE)
    code_line = re.compile(
        r"^(?:package \w|import [\"(]|func[ (]|type \w+ |var [\w(]|const [\w(]|[ \t]+\w[\w, ]* := )", re.MULTILINE
    )
    main = re.compile(r"^func\s+main\s*\(", re.MULTILINE)
    quiet = re.compile(f"{QUIET.pattern}|`[^`]*`?", re.DOTALL)
    compiler, package = "go", "golang-go"
    version_options = ("version",)

    def build(self, program: Program, limits: Limits) -> Build:
        """See `Language`."""
        tool = self.tool()
        root = str(Path(tool.file).parents[1])
        # `src` is a link in Debian.
        readable = (*tool.readable, root, str(Path(root, "src").resolve()))
        # No modules: programs use the standard library only.
        environment = {"GOROOT": root, "GO111MODULE": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
        building = shlex.join((tool.path, "build", *self.flags, "-o", "program", "main.go"))
        library = Build(
            ("/bin/sh", "-c", f"{building} && tar -cf {CACHE} -C . .cache"),
            CACHE,
            {"main.go": TYPICAL},
            tool.version,
            readable,
            environment,
        )
        return Build(
            ("/bin/sh", "-c", f"[ ! -f {PREPARED}/{CACHE} ] || tar -xmf {PREPARED}/{CACHE}; {building}"),
            "program",
            {"main.go": program.source},
            tool.version,
            readable,
            environment,
            prepared=library,
            start=Start(reserved_bytes=RESERVED),
        )
