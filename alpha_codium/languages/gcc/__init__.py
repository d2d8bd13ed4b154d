"""C and C++, compiled by gcc into static programs, with the options of contests."""

from dataclasses import replace

from alpha_codium.languages.compiled import Compiled
from alpha_codium.languages.tools import Build, first_that_succeeds
from alpha_codium.limits import Limits
from alpha_codium.program import Program

ONLINE_JUDGE = "-DONLINE_JUDGE"
# The name of a driver's file, without its suffix.
DRIVER = "gencode_driver"
DRIVEN = "-Wl,--wrap=main"


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
