"""The languages of a backend, with the compilers and options that its user has set."""

from collections.abc import Mapping
from dataclasses import dataclass

from alpha_codium.errors import SandboxError
from alpha_codium.languages import Language, language_named
from alpha_codium.languages.tools import Build
from alpha_codium.limits import Limits
from alpha_codium.program import Job, Program, Side


@dataclass(frozen=True, slots=True)
class Toolchains:
    """By language, the `settings` that `open_sandbox` describes.

    `bare` is the name of a backend without runtimes. `hides_proc`: its jails have no namespaces, so /proc is hidden.
    """

    settings: Mapping[str, Mapping[str, str]]
    bare: str = ""
    hides_proc: bool = False

    def language(self, name: str) -> Language:
        """Return a language with its settings."""
        return language_named(name).configured(**self.settings.get(name, {}))

    def version(self, name: str) -> str:
        """See `Sandbox.tool_version`; with the options, unless they are the defaults."""
        tool, options = self.language(name).tool(), self.settings.get(name, {}).get("options")
        if tool is None:
            return ""
        if self.bare or self.hides_proc:
            self.build(Job(Program.from_source(name, "")), Limits())
        return ", ".join([tool.version, *([f"options {options}"] if options else [])])

    def build(self, what: Job | Side, limits: Limits) -> Build | None:
        """Return how a program is built; None if the interpreter runs it. Raises SandboxError if it can't be run."""
        program, language = what.program, self.language(what.program.language)
        build = language.driven(program, what.driver) if what.driver else language.build(program, limits)
        if build is not None and build.start.readable and self.bare:
            raise SandboxError(
                f"programs in {language.name} need a runtime, which the containers of {self.bare} don't have: use "
                "-o code_tester.tester_type=local"
            )
        if build is not None and build.reads_proc and self.hides_proc:
            raise SandboxError(
                f"programs in {language.name} need /proc, which is hidden because this machine doesn't provide "
                "namespaces: see `gencode sandbox check`"
            )
        return build
