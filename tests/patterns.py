"""The regular expressions of the package, and texts on which each of them might take long.

A pattern takes more than linear time if a part that is repeated without bound is tried from many places, or together
with another one. So the texts repeat what such a part matches, after what the pattern matches before it.
"""

import ast
import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import alpha_codium
from alpha_codium.language_table import LANGUAGES
from alpha_codium.languages import language_named

METHODS = ("match", "fullmatch", "search", "finditer", "findall", "sub", "split")
REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
SIGNS = 'x ."1\n-`\t'
NAMED = {
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
}


@dataclass(frozen=True)
class Use:
    """A pattern, where it stands, and a method with which it is used."""

    where: str
    pattern: re.Pattern[Any]
    method: str

    def run(self, text: str) -> None:
        """Apply the pattern to a text, as often as it matches."""
        subject: Any = text.encode("latin-1", "replace") if isinstance(self.pattern.pattern, bytes) else text
        if self.method in ("match", "fullmatch"):
            getattr(self.pattern, self.method)(subject)
        else:
            for _ in self.pattern.finditer(subject):
                pass

    def __str__(self) -> str:
        return f"{self.where}.{self.method}"


def uses_of_patterns() -> list[Use]:
    """Return the uses of patterns in variables of modules, of languages, and in calls such as `re.sub("...", ...)`."""
    names = [module.name for module in pkgutil.walk_packages(alpha_codium.__path__, "alpha_codium.")]
    names = [name for name in names if ".conformance" not in name and "__main__" not in name]
    sources = {name: Path(importlib.util.find_spec(name).origin or "").read_text() for name in names}  # type: ignore[union-attr]
    used_with: dict[str, set[str]] = {}
    for variable, method in re.findall(rf"\b(\w+)\.({'|'.join(METHODS)})\b", "\n".join(sources.values())):
        used_with.setdefault(variable, set()).add(method)
    uses = []
    for name, source in sources.items():
        if not re.search(r"^import re$", source, re.MULTILINE):
            continue
        short = name.removeprefix("alpha_codium.")
        for variable, value in vars(importlib.import_module(name)).items():
            for pattern in value if isinstance(value, tuple) else (value,):
                if isinstance(pattern, re.Pattern) and re.search(rf"^{variable} = ", source, re.MULTILINE):
                    methods = sorted(used_with.get(variable, {"search"}))
                    uses += [Use(f"{short}.{variable}", pattern, method) for method in methods]
        uses += [Use(f"{short}:{line}", *rest) for line, *rest in _inline(ast.parse(source))]
    return [*uses, *_uses_of_languages()]


def _uses_of_languages() -> Iterator[Use]:
    """Yield the patterns that languages have as attributes; some share one."""
    seen = set()
    for name in LANGUAGES:
        language = language_named(name)
        for attribute in dir(language):
            pattern = getattr(language, attribute)
            if isinstance(pattern, re.Pattern) and pattern not in seen:
                seen.add(pattern)
                yield Use(f"languages.{name}.{attribute}", pattern, "match" if attribute == "tag_pattern" else "search")


def _inline(tree: ast.Module) -> Iterator[tuple[Any, ...]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {f"re.{method}" for method in METHODS}:
            words, first = ast.unparse(node), node.args[0]
            flags = sum(getattr(re, flag) for flag in ("MULTILINE", "IGNORECASE", "DOTALL") if f"re.{flag}" in words)
            if isinstance(first, ast.Constant):
                yield node.lineno, re.compile(first.value, flags), ast.unparse(node.func).removeprefix("re.")


def pumped(pattern: re.Pattern[Any]) -> list[tuple[str, str, str]]:
    """Return beginnings, units to repeat, and ends of texts for a pattern."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    shapes: dict[tuple[str, str, str], None] = {}
    for before, unit in _pumps(parser.parse(text, pattern.flags & ~re.UNICODE), ""):
        for prefix, repeated in ((before, unit), ("", unit), (before, before + unit), ("", before + unit)):
            if repeated:
                shapes.update(dict.fromkeys((prefix, repeated, end) for end in ("", "\0", "!\n")))
    return list(shapes)


def _pumps(parts: Any, before: str) -> Iterator[tuple[str, str]]:
    """Yield what comes before each unbounded repeat, and what it repeats; at the end, the whole sample."""
    for part in parts:
        kind, value = part
        if kind in REPEATS:
            if value[1] is codes.MAXREPEAT:
                yield from ((before, unit) for unit in _units(value[2]))
            yield from _pumps(value[2], before)
        elif kind is codes.BRANCH:
            for branch in value[1]:
                yield from _pumps(branch, before)
        elif kind in (codes.SUBPATTERN, codes.ATOMIC_GROUP, codes.ASSERT, codes.ASSERT_NOT):
            yield from _pumps(value if kind is codes.ATOMIC_GROUP else value[-1], before)
        before += _sample_of_part(part)
    yield "", before
    yield "", before[:-1]


def _units(parts: Any) -> list[str]:
    """Return what one repetition may match."""
    if len(parts) == 1:
        kind, value = parts[0]
        if (characters := _characters(parts[0])) is not None:
            return characters
        if kind is codes.BRANCH:
            return [_sample(branch) for branch in value[1]]
        if kind is codes.SUBPATTERN:
            return _units(value[-1])
    return [_sample(parts)]


def _sample(parts: Any) -> str:
    return "".join(map(_sample_of_part, parts))


def _sample_of_part(part: Any) -> str:
    kind, value = part
    characters = _characters(part)
    if characters is not None:
        return (characters or [""])[0]
    if kind in REPEATS:
        return _sample(value[2]) * value[0]
    if kind is codes.BRANCH:
        return _sample(value[1][0])
    if kind in (codes.SUBPATTERN, codes.ATOMIC_GROUP):
        return _sample(value if kind is codes.ATOMIC_GROUP else value[-1])
    return ""


def _characters(part: Any) -> list[str] | None:
    """Return some characters that a part matches, None if it doesn't match one character."""
    kind, value = part
    if kind is codes.LITERAL:
        return [chr(value)]
    if kind is codes.RANGE:
        return [chr(value[0])]
    if kind is codes.ANY:
        return ["x", " "]
    if kind is codes.NOT_LITERAL:
        return [sign for sign in SIGNS if ord(sign) != value]
    if kind is codes.CATEGORY:
        return [sign for sign in SIGNS + "a" if re.match(NAMED[value], sign)]
    if kind is codes.IN:
        if value[0][0] is codes.NEGATE:
            return [sign for sign in SIGNS if not any(_has(each, sign) for each in value[1:])]
        return [sign for each in value for sign in _characters(each) or ()][:6]
    return None


def _has(part: Any, sign: str) -> bool:
    kind, value = part
    if kind is codes.RANGE:
        return value[0] <= ord(sign) <= value[1]
    return sign in (_characters(part) or ())
