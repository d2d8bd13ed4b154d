"""The languages that programs can be written in, and what this machine has of their compilers and runtimes."""

from collections.abc import Iterator
from dataclasses import dataclass

from alpha_codium.config import Settings, load_settings
from alpha_codium.errors import SandboxError
from alpha_codium.language_table import LANGUAGES
from alpha_codium.languages import language_named
from alpha_codium.limits import Limits
from alpha_codium.program import PYTHON, Program
from alpha_codium.sandbox.engine.interpreter import path_of, require_interpreter, version_of
from alpha_codium.values import JsonValue

INDENT = 13


@dataclass(frozen=True, slots=True)
class LanguageFacts(JsonValue):
    """A language: whether its tools are `found`, with their version, or else what is `missing` and how to install it.

    A problem's own time limit is multiplied by `time_limit_factor` for its programs.
    """

    name: str
    title: str
    found: bool
    version: str
    missing: str
    time_limit_factor: float


def languages(settings: Settings | None = None) -> list[LanguageFacts]:
    """Return all languages, with what the settings choose for each; compilers are asked for their versions."""
    settings = settings or load_settings()
    return [facts_of(name, settings) for name in LANGUAGES]


def facts_of(name: str, settings: Settings) -> LanguageFacts:
    """Return the facts of one language."""
    version, missing = "", ""
    try:
        version = version_for(name, settings)
    except SandboxError as error:
        missing = str(error)
    factor = settings.languages.time_limit_factors.get(name, settings.code_tester.time_limit_factor)
    return LanguageFacts(name, language_named(name).title, not missing, version, missing, factor)


def version_for(name: str, settings: Settings) -> str:
    """Return what the tools of a language say of their version; raises SandboxError if one is missing."""
    language = language_named(name).configured(**settings.languages.tools.get(name, {}))
    build = language.build(Program.from_source(name, ""), Limits())
    if build is not None:
        return build.version
    path = path_of(settings.code_tester.interpreter if name == PYTHON else "")
    require_interpreter(path)
    return version_of(path)


def lines_of(facts: list[LanguageFacts]) -> Iterator[str]:
    """Yield a line for each language; the tools that are missing come last, with how to install them."""
    for each in sorted(facts, key=lambda each: not each.found):
        yield f"{each.name:<{INDENT}}{each.version if each.found else f'NOT FOUND: {each.missing}'}"
