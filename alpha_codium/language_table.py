"""What is known of each programming language before its module is loaded.

A new language is added to this table; all else about it is in its module, see `languages.Language`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from alpha_codium.errors import UserError, nearest


@dataclass(frozen=True, slots=True)
class LanguageEntry:
    """A language: its module and class in `alpha_codium.languages`, and the suffix of its source files.

    A problem's own time limit, which is meant for C++, is multiplied by `time_limit_factor`. Samples and benchmarks may
    call the language by one of the `aliases`, in lower case. In a language that isn't `compiled`, the dialects of the
    service report a syntax error as a failure of the test, as the original services do. `least_mib` is what
    an empty program uses and some more, in MiB: a lower limit of memory is refused. The `variants` are other ways to
    compile or run a program, as some of these services do (`Program.variant`).
    """

    home: str
    suffix: str
    time_limit_factor: float
    aliases: tuple[str, ...] = ()
    compiled: bool = True
    least_mib: int = 16
    variants: tuple[str, ...] = ()


# Datasets number the languages in this order: new ones come last.
LANGUAGES: Mapping[str, LanguageEntry] = {
    "python3": LanguageEntry("python:Python", ".py", 3.0, ("py", "python", "py3", "python 3"), compiled=False),
    "python2": LanguageEntry("scripts:Python2", ".py", 3.0, ("py2", "python 2", "python2.7"), compiled=False),
    "cpp": LanguageEntry("gcc:Cpp", ".cpp", 1.0, ("c++", "cc", "cxx", "c++17", "c++20", "cpp17", "cpp20")),
    "java": LanguageEntry("jvm.java:Java", ".java", 2.0, least_mib=64, variants=("assertions", "first_class")),
    "c": LanguageEntry("gcc:C", ".c", 1.0),
    "csharp": LanguageEntry("mono:CSharp", ".cs", 2.0, ("cs", "c#"), least_mib=32),
    "go": LanguageEntry("go:Go", ".go", 2.0, ("golang",)),
    "javascript": LanguageEntry("node:JavaScript", ".js", 2.0, ("js", "node"), compiled=False, least_mib=64),
    "kotlin": LanguageEntry("jvm.kotlin:Kotlin", ".kt", 2.0, ("kt",), least_mib=64),
    "pypy3": LanguageEntry("scripts:PyPy", ".py", 3.0, compiled=False, least_mib=64),
    "ruby": LanguageEntry("scripts:Ruby", ".rb", 3.0, ("rb",), compiled=False, least_mib=32),
    "rust": LanguageEntry("rust:Rust", ".rs", 1.0, ("rs",)),
    "typescript": LanguageEntry("node:TypeScript", ".ts", 2.0, ("ts",), least_mib=64, variants=("unchecked",)),
}
ALIASES = {alias: name for name, language in LANGUAGES.items() for alias in language.aliases}


def canonical(name: str) -> str:
    """Return our name of a language, whatever its case; the name in lower case if it isn't known."""
    name = name.strip().lower()
    return ALIASES.get(name, name)


def language_asked_for(name: str) -> str:
    """Return our name of a language that a user names; raises UserError if programs in it can't be run."""
    found = canonical(name)
    if found not in LANGUAGES:
        raise UserError(f"unsupported language {name!r}{nearest(found, LANGUAGES)}")
    return found
