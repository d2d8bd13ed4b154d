"""Python 3."""

import re

from alpha_codium.languages import Language, Reader

DRIVER = "driver.py"
COMPILE = "import sys; compile(sys.stdin.buffer.read(), sys.argv[1], 'exec')"
# Runs a driver, which doesn't see these variables, and removes its file, so that the program finds only its own.
DRIVE = f"""
import os, sys
main = sys.argv[1]
sys.argv[:] = [{DRIVER!r}]
with open({DRIVER!r}, "rb") as file:
    driver = file.read()
os.remove({DRIVER!r})
with open(main, "rb") as file:
    program = compile(file.read(), main, "exec", dont_inherit=True)
exec(compile(driver, {DRIVER!r}, "exec"), {{"__name__": "__main__", "__file__": {DRIVER!r}, "program": program}})
"""


class Python(Language):
    """See `Language`."""

    name = "python3"
    title = "Python 3"
    tag = "python"
    tag_pattern = re.compile(r"\{?\s*\.?(?:i?python|py|pypy)[\d.]*(?![\w+#-])|[\w./-]+\.py\b", re.IGNORECASE)
    driven_by = frozenset({"call", "assertions", "files"})
    code_line = re.compile(
        r"^(?:import |from \w[\w.]* import |(?:async )?def \w|class \w|@\w|#!|(?:if|for|while|with) .+:|try:|print\b"
        r"|sys\.|[A-Za-z_][\w.\[\]]*(?:[ \t]*,[ \t]*[A-Za-z_]\w*)*[ \t]*[-+*/%|&^]?=[^=])",
        re.MULTILINE,
    )

    def after_setup(self, setup_code: str, source: str) -> str:
        """See `Language`."""
        from alpha_codium.languages.python.prelude import with_prelude

        return with_prelude(setup_code, source)

    def compile_command(self, interpreter: str, main: str) -> tuple[str, ...]:
        """Return a command that checks the main file, read from standard input, for interpreters outside the engine."""
        return (interpreter, "-I", "-S", "-c", COMPILE, main)

    def start_command(self, interpreter: str, main: str, *, driven: bool) -> tuple[str, ...]:
        """Return a command that runs the main file, or the driver of a `driven` program, in the program's folder."""
        return (interpreter, "-c", DRIVE, main) if driven else (interpreter, main)

    def reader(self) -> Reader:
        """See `Language`."""
        from alpha_codium.languages.python.programs import ProgramReader

        return ProgramReader()

    def traced(self, source: str, *, depth: int, lines: int) -> str:
        """See `Language`."""
        from alpha_codium.languages.python.tracing import traced

        return traced(source, depth, lines)
