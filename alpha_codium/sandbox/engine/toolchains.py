"""The languages of a backend, with the compilers and options that its user has set."""

import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from alpha_codium.errors import SandboxError
from alpha_codium.languages import Language, language_named
from alpha_codium.languages.tools import Build
from alpha_codium.limits import Limits
from alpha_codium.paths import programs_folder
from alpha_codium.program import Job, Program, Side
from alpha_codium.sandbox.engine.scratch import unused_user


@dataclass(frozen=True, slots=True)
class Toolchains:
    """By language, the `settings` that `open_sandbox` describes.

    `bare` is the name of a backend without runtimes. `walls`: programs are compiled without namespaces.
    """

    settings: Mapping[str, Mapping[str, str]]
    bare: str = ""
    walls: bool = False

    def language(self, name: str) -> Language:
        """Return a language with its settings."""
        return language_named(name).configured(**self.settings.get(name, {}))

    def version(self, name: str) -> str:
        """See `Sandbox.tool_version`; with the options, unless they are the defaults."""
        tool, options = self.language(name).tool(), self.settings.get(name, {}).get("options")
        if tool is None:
            return ""
        if self.bare or self.walls:
            self.build(Job(Program.from_source(name, "")), Limits())
        return ", ".join([tool.version, *([f"options {options}"] if options else [])])

    def build(self, what: Job | Side, limits: Limits) -> Build | None:
        """Return how a program is built; None if the interpreter runs it. Raises SandboxError if it can't be run."""
        program, language = what.program, self.language(what.program.language)
        build = language.driven(program, what.driver) if what.driver else language.build(program, limits)
        if build is not None and build.start.readable and self.bare:
            raise SandboxError(
                f"programs in {language.name} need a runtime, which the containers of {self.bare} don't have: use "
                "`ac.open_sandbox('local')`"
            )
        return build if build is None or not self.walls else walled(build, language.name)


def walled(build: Build, language: str) -> Build:
    """Return how a program is built without namespaces; raises SandboxError if it can't be.

    There, /proc is hidden, and if gencode runs as root, the user of a jail must be able to reach all files.
    """
    hidden = ["/proc"] if build.reads_proc else []
    changes_user = unused_user(0) != 0
    if changes_user:
        hidden += [path for path in (*build.readable, *build.start.readable) if not is_reachable(Path(path))]
    if hidden:
        raise SandboxError(
            f"programs in {language} need {hidden[0]}, which can't be shown to them because this machine doesn't "
            "provide namespaces: see `gencode sandbox check`"
        )
    if not changes_user or is_reachable(programs_folder()):
        return build
    other = build.otherwise and walled(build.otherwise, language)
    return replace(build, prepared=None, resident=None, otherwise=other)


def is_reachable(path: Path) -> bool:
    """Whether every user can enter a folder, or those above a file; true if it doesn't exist."""
    real = path.resolve()
    folders = (real, *real.parents) if path.is_dir() else real.parents
    return not path.exists() or all(folder.stat().st_mode & stat.S_IXOTH for folder in folders)
