"""C and C++, compiled by gcc into static programs, with the options of contests."""

import shlex
from dataclasses import replace

from alpha_codium.languages.compiled import Compiled
from alpha_codium.languages.tools import Build
from alpha_codium.limits import Limits
from alpha_codium.program import Program

ONLINE_JUDGE = "-DONLINE_JUDGE"
# The name of a driver's file, without its suffix.
DRIVER = "gencode_driver"


class Gcc(Compiled):
    """A language that gcc or clang compiles; see `Compiled`. `suffixes` are those of source files."""

    suffixes: tuple[str, ...]

    @property
    def options(self) -> tuple[str, ...]:
        """Everything on which a precompiled header depends."""
        return (*self.flags, "-w", "-fmax-errors=5", "-fdiagnostics-color=never")

    def build(self, program: Program, limits: Limits) -> Build:
        """See `Language`."""
        return self.build_with(program, ())

    def driven(self, program: Program, driver: str) -> Build:
        """See `Language`: the driver defines `__wrap_main`, which runs in place of `main`, now called `__real_main`."""
        flags = [flag for flag in type(self).flags if flag != ONLINE_JUDGE]
        plain = self.configured(options=shlex.join(flags))
        linked = replace(program, files={**program.files, DRIVER + self.suffixes[0]: driver})
        return plain.build_with(linked, ("-Wl,--wrap=main",))

    def build_with(self, program: Program, options: tuple[str, ...]) -> Build:
        """Return a build of the program, with further options."""
        tool = self.tool()
        sources = [path for path in sorted(program.files) if path.endswith(self.suffixes)]
        command = (tool.path, *self.options, *options, "-static", "-s", "-I", ".", "-o", "program", *sources, "-lm")
        return Build(command, "program", program.files, tool.version, tool.readable)
