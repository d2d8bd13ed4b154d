"""The languages of Piston's dialect, and which of them a request means."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from alpha_codium.program import PYTHON
from alpha_codium.serve.dialects.asking import Server
from alpha_codium.serve.dialects.jobs import INTERPRETED, CannotRun

NUMBER = re.compile(r"\d+(?:\.\d+){0,2}")
CONDITION = re.compile(r"(\^|~|>=|<=|>|<|=)?\s*v?(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?")
LONGEST_CONDITION = 100
Version = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Runtime:
    """A language of the dialect, and `ours`. `codeforces`: programs are judged, see `codeforces`."""

    language: str
    aliases: tuple[str, ...]
    ours: str
    version: str = ""
    codeforces: bool = False

    @property
    def compiled(self) -> bool:
        """Whether an answer has a stage for the compiler."""
        return self.codeforces or self.ours not in INTERPRETED


# Python 3 comes last: clients may keep the last runtime of a name.
RUNTIMES = (
    Runtime("python", ("py", "python2"), "python2"),
    Runtime("python", ("py", "py3", "python3"), PYTHON),
    Runtime("c++", ("cpp", "g++"), "cpp"),
    Runtime("c", ("gcc",), "c"),
    Runtime("java", (), "java"),
    Runtime("kotlin", ("kt",), "kotlin"),
    Runtime("javascript", ("node-javascript", "node-js", "js"), "javascript"),
    Runtime("typescript", ("ts", "node-ts"), "typescript"),
    Runtime("go", ("golang",), "go"),
    Runtime("rust", ("rs",), "rust"),
    Runtime("csharp", ("mono", "csharp.net", "c#", "cs"), "csharp"),
    Runtime("ruby", ("ruby3", "rb"), "ruby"),
    Runtime("cf_python3", ("Python 3",), PYTHON, "1.0.0", codeforces=True),
    Runtime("c++17", ("cf_c++17", "C++17 (GCC 7-32)", "C++17 (GCC 9-64)"), "cpp", "1.0.0", codeforces=True),
)


def runtimes_of(server: Server) -> list[Runtime]:
    """Return the languages that the server runs, each with its version."""
    found = [runtime for runtime in RUNTIMES if runtime.ours in server.languages]
    return [runtime if runtime.version else replace(runtime, version=_version(server, runtime)) for runtime in found]


def _version(server: Server, runtime: Runtime) -> str:
    found = NUMBER.search(server.languages[runtime.ours])
    return ".".join(map(str, _numbers(found[0] if found else "0")))


def find_runtime(runtimes: Sequence[Runtime], language: str, version: str) -> Runtime:
    """Return the language that a request means, in its newest version; raises CannotRun if there is none."""
    named = [runtime for runtime in runtimes if language == runtime.language or language in runtime.aliases]
    fitting = [runtime for runtime in named if fulfils(_numbers(runtime.version), version)]
    if not fitting:
        raise CannotRun(f"{language}-{version} runtime is unknown")
    return max(fitting, key=lambda runtime: _numbers(runtime.version))


def _numbers(text: str) -> Version:
    numbers = [*map(int, text.split(".")), 0, 0]
    return numbers[0], numbers[1], numbers[2]


def fulfils(version: Version, wanted: str) -> bool:
    """Whether a version fulfils conditions of semantic versioning: `*`, `3`, `3.11.x`, `^3.9`, `>=3.9 <4`, `2 || 3`."""
    if len(wanted) > LONGEST_CONDITION:
        return False
    return any(_fulfils_all(version, part.strip()) for part in wanted.split("||"))


def _fulfils_all(version: Version, wanted: str) -> bool:
    at = 0
    while at < len(wanted):
        found = CONDITION.match(wanted, at)
        if found is None or not _fulfils(version, found):
            return False
        at = found.end() + len(wanted[found.end() :]) - len(wanted[found.end() :].lstrip())
    return bool(wanted)


def _fulfils(version: Version, condition: "re.Match[str]") -> bool:
    given: list[int] = []
    for text in condition.groups()[1:]:
        if text is None or not text.isdigit():
            break
        given.append(int(text))
    lowest = (*given, 0, 0, 0)[:3]
    begins = list(version[: len(given)]) == given
    sign = condition[1] or "="
    if sign == "^":
        # Up to the next change of the first number that isn't 0.
        kept = next((place for place, number in enumerate(given) if number), max(0, len(given) - 1)) + 1
        return version >= lowest and list(version[:kept]) == given[:kept]
    if sign == "~":
        return version >= lowest and list(version[: min(2, len(given))]) == given[:2]
    return {
        "=": begins,
        ">=": version >= lowest,
        "<": version < lowest,
        ">": version > lowest and not begins,
        "<=": version <= lowest or begins,
    }[sign]
