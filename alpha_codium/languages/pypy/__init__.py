"""Python 3 run by PyPy."""

import re
from pathlib import Path

from alpha_codium.languages import Reader
from alpha_codium.languages.compiled import Script
from alpha_codium.languages.python import LANGUAGE as PYTHON
from alpha_codium.languages.tools import Tool

FILE = "main.py"
# The size of the first generation of objects: PyPy would look for that of the cache, which a jail doesn't show.
ENVIRONMENT = {"PYPY_GC_NURSERY": "4M"}


class PyPy(Script):
    """See `Script`."""

    name = "pypy3"
    title = "Python 3 (PyPy)"
    tag = "python"
    tag_pattern = re.compile(r"\{?\s*\.?pypy[\d.]*(?![\w+#-])", re.IGNORECASE)
    code_line = PYTHON.code_line
    compiler, package = "pypy3", "pypy3"
    # Neither the settings of the user nor those of the site are of use in a jail.
    file, always = FILE, ("-s", "-S", "-B")
    check = ("-c", f"compile(open({FILE!r}, 'rb').read(), {FILE!r}, 'exec')")
    environment = ENVIRONMENT
    # `sys.setrecursionlimit(10**6)` reserves 1.3 GB.
    reserved_bytes = 1500 << 20

    def reader(self) -> Reader:
        """See `Language`."""
        return PYTHON.reader()

    def libraries(self, tool: Tool) -> tuple[str, ...]:
        """Return the folders of the modules of a PyPy that lies among the system's programs."""
        prefix = Path(tool.path).parent.parent
        return () if tool.folder else tuple(str(folder) for folder in sorted(prefix.glob("lib/pypy3*")))


LANGUAGE = PyPy()
