"""Languages whose runtime checks a program and then runs its source: Ruby, Python 2, and Python 3 run by PyPy."""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from alpha_codium.languages import Reader
from alpha_codium.languages.compiled import Compiled
from alpha_codium.languages.python import Python
from alpha_codium.languages.tools import ARTIFACT, SYSTEM, Build, Start, Tool
from alpha_codium.limits import Limits
from alpha_codium.program import Program

FILE = "main.py"
# `compile` doesn't check that the encoding of a text that isn't ASCII is declared (PEP 263); running the file does.
CHECK = f"""
import re
text = open({FILE!r}).read()
head = "\\n".join(text.split("\\n", 2)[:2])
if not text.startswith("\\xef\\xbb\\xbf") and not re.search(r"(?m)^[ \\t\\f]*#.*?coding[:=][ \\t]*[-\\w.]", head):
    try:
        text.decode("ascii")
    except UnicodeDecodeError:
        raise SyntaxError("Non-ASCII characters, but no encoding declared; see PEP 263")
compile(text, {FILE!r}, "exec")
"""


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


class Ruby(Script):
    """See `Script`."""

    name = "ruby"
    title = "Ruby"
    tag = "ruby"
    tag_pattern = re.compile(r"\{?\s*\.?(?:ruby|rb)(?![\w+#-])|[\w./-]+\.rb\b", re.IGNORECASE)
    code_line = re.compile(
        r"^[ \t]*(?:require(?:_relative)? ['\"]|def \w|class \w|module \w|puts\b|print\b|p \w|\w[\w, ]* = |\$\w+"
        r"|\w[\w.]*\.(?:each|times|map|upto)\b)",
        re.MULTILINE,
    )
    main = re.compile(r"\b(?:gets|STDIN|ARGF|readlines?|\$stdin|\$<|puts|print|p)\b")
    quiet = re.compile(r"(?:^|(?<=\s))#[^\n]*|\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])*'?|\?\\?\S(?!\w)", re.DOTALL)
    compiler, package = "ruby", "ruby"
    flags = ("--disable=gems",)
    file, always, check = "main.rb", ("-W0",), ("-c", "main.rb")
    # Bytes: recursion may be as deep as in other languages.
    environment = MappingProxyType({"RUBY_THREAD_VM_STACK_SIZE": str(64 << 20)})
    modules = "ruby"


class Python2(Script):
    """See `Script`."""

    name = "python2"
    title = "Python 2"
    tag = "python"
    tag_pattern = re.compile(r"\{?\s*\.?py(?:thon)?(?:2[\d.]*)?(?![\w+#.-])|[\w./-]+\.py\b", re.IGNORECASE)
    code_line = Python.code_line
    main = re.compile(r"\b(?:raw_input|input|stdin|stdout|print)\b")
    quiet = re.compile(
        r"#[^\n]*|'''.*?(?:'''|\Z)|\"\"\".*?(?:\"\"\"|\Z)|'(?:\\.|[^'\\\n])*'?|\"(?:\\.|[^\"\\\n])*\"?", re.DOTALL
    )
    compiler, package = "python2.7", "python2.7 (in Debian 11 and Ubuntu 22.04)"
    # Neither settings nor modules of the user, and no files of bytecode.
    file, always, check = FILE, ("-E", "-s", "-B"), ("-c", CHECK)
    modules = "python2.7"


class PyPy(Script):
    """See `Script`."""

    name = "pypy3"
    title = "Python 3 (PyPy)"
    tag = "python"
    tag_pattern = re.compile(r"\{?\s*\.?pypy[\d.]*(?![\w+#-])", re.IGNORECASE)
    code_line = Python.code_line
    compiler, package = "pypy3", "pypy3"
    # Neither the settings of the user nor those of the site are of use in a jail.
    file, always = FILE, ("-s", "-S", "-B")
    check = ("-c", f"compile(open({FILE!r}, 'rb').read(), {FILE!r}, 'exec')")
    # The size of the first generation of objects: PyPy would look for that of the cache, which a jail doesn't show.
    environment = MappingProxyType({"PYPY_GC_NURSERY": "4M"})
    # `sys.setrecursionlimit(10**6)` reserves 1.3 GB.
    reserved_bytes = 1500 << 20

    def reader(self) -> Reader:
        """See `Language`."""
        return Python().reader()

    def libraries(self, tool: Tool) -> tuple[str, ...]:
        """Return the folders of the modules of a PyPy that lies among the system's programs."""
        prefix = Path(tool.path).parent.parent
        return () if tool.folder else tuple(str(folder) for folder in sorted(prefix.glob("lib/pypy3*")))
