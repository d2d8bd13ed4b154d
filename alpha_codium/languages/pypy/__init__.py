"""Python 3 run by PyPy."""

import re
from collections.abc import Sequence
from pathlib import Path

from alpha_codium.languages import Reader
from alpha_codium.languages.compiled import Compiled
from alpha_codium.languages.python import LANGUAGE as PYTHON
from alpha_codium.languages.tools import ARTIFACT, Build, Start, Tool
from alpha_codium.limits import Limits
from alpha_codium.program import Program

FILE = "main.py"
# Neither the settings of the user nor those of the site are of use in a jail.
ISOLATED = ("-s", "-S", "-B")
# The size of the first generation of objects: PyPy would look for that of the cache, which a jail doesn't show.
ENVIRONMENT = {"PYPY_GC_NURSERY": "4M"}
# `sys.setrecursionlimit(10**6)` reserves 1.3 GB.
RESERVED = 1500 << 20


class PyPy(Compiled):
    """See `Compiled`."""

    name = "pypy3"
    title = "Python 3 (PyPy)"
    tag = "python"
    tag_pattern = re.compile(r"\{?\s*\.?pypy[\d.]*(?![\w+#-])", re.IGNORECASE)
    code_line = PYTHON.code_line
    suffixes = (".py",)
    compiler, package = "pypy3", "pypy3"

    def reader(self) -> Reader:
        """See `Language`."""
        return PYTHON.reader()

    def build(self, program: Program, limits: Limits) -> Build:
        """See `Language`: PyPy checks the syntax."""
        tool = self.tool()
        checking = f"compile(open({FILE!r}, 'rb').read(), {FILE!r}, 'exec')"
        return Build(
            (tool.path, *ISOLATED, "-c", checking),
            FILE,
            {FILE: program.source},
            tool.version,
            tool.readable,
            ENVIRONMENT,
            start=Start(
                (tool.file, *ISOLATED, *self.flags, ARTIFACT),
                (*tool.runtime, *libraries_of(tool)),
                ENVIRONMENT,
                reserved_bytes=RESERVED,
            ),
        )


def libraries_of(tool: Tool) -> Sequence[str]:
    """Return the folders of the modules of a PyPy that lies among the system's programs."""
    prefix = Path(tool.path).parent.parent
    return () if tool.folder else [str(folder) for folder in sorted(prefix.glob("lib/pypy3*"))]


LANGUAGE = PyPy()
