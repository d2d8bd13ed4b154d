"""C and C++, compiled by gcc into static programs, with the options of contests."""

from alpha_codium.languages.compiled import Compiled
from alpha_codium.languages.tools import Build
from alpha_codium.limits import Limits
from alpha_codium.program import Program


class Gcc(Compiled):
    """A language that gcc or clang compiles; see `Compiled`."""

    @property
    def options(self) -> tuple[str, ...]:
        """Everything on which a precompiled header depends."""
        return (*self.flags, "-w", "-fmax-errors=5", "-fdiagnostics-color=never")

    def build(self, program: Program, limits: Limits) -> Build:
        """See `Language`."""
        return self.build_with(program, ())

    def build_with(self, program: Program, options: tuple[str, ...]) -> Build:
        """Return a build of the program, with further options."""
        tool = self.tool()
        sources = [path for path in sorted(program.files) if path.endswith(self.suffixes)]
        command = (tool.path, *self.options, *options, "-static", "-s", "-I", ".", "-o", "program", *sources, "-lm")
        return Build(command, "program", program.files, tool.version, tool.readable)
