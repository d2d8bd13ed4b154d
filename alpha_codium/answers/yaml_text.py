"""A reader of YAML and JSON in which all scalars are text.

1. Scalars are read as written: `0010`, `YES`, `1e3`, `null` and `1:30` aren't converted.
2. Collections keep their source, for text fields in which the answer has `[1, 2, 3]`.
3. Since the input is a model's, tags, anchors and aliases are refused, and size and depth are limited. A repeated key
   is an error, since there is no reason to prefer one of the values.
4. Characters that YAML forbids (control characters, unpaired surrogates) are replaced by characters that don't occur
   in the text, and restored in the values.
5. Where YAML would silently lose text, reading differs from it: ` #` after a sentence is an error, not a comment (a
   repair then quotes the value), and unquoted lines of numbers keep their line breaks, unless they are so long that a
   program may have folded them.
"""

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

MAX_CHARACTERS = 200_000
MAX_DEPTH = 16
SHORTEST_FOLDED_LINE = 60
FORBIDDEN = re.compile(r"[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
COMMENT = re.compile(r"[ \t]*#")
SPARE_CHARACTERS = range(0xF0000, 0xFFFFE)
LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class FormatError(ValueError):
    """An unreadable answer; the message can be shown to the model.

    `progress` is 0 if the text isn't YAML or JSON, 1 if it is, 2 if it has some of the fields.
    """

    def __init__(self, message: str, progress: int = 0) -> None:
        super().__init__(message)
        self.progress = progress


@dataclass(frozen=True, slots=True)
class Node:
    """One value: a text, a list or a mapping; `source` is its text in the answer, `plain` means without quotes."""

    value: "str | list[Node] | dict[str, Node]"
    source: str = ""
    plain: bool = False


def read(text: str) -> Node:
    """Read JSON or YAML; raises FormatError."""
    if len(text) > MAX_CHARACTERS:
        raise FormatError(f"the answer has more than {MAX_CHARACTERS} characters")
    if not text.lstrip().startswith(("{", "[")):
        return read_yaml(text)
    try:
        return read_json(text)
    except FormatError as error:
        try:
            return read_yaml(text)
        except FormatError:
            raise error from None


def read_yaml(text: str) -> Node:
    """Read the first document of a YAML text; raises FormatError with the number of the invalid line."""
    replacements = _replacements(text)
    builder = _Builder(text.translate(replacements), {ord(spare): char for char, spare in replacements.items()})
    try:
        return builder.document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}: " if mark else ""
        raise FormatError(f"{where}{error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"not valid YAML: {error}") from error


def _replacements(text: str) -> dict[int, str]:
    """Return a table for `str.translate` that maps forbidden characters to unused ones."""
    present = set(text)
    spare = (chr(code) for code in SPARE_CHARACTERS if chr(code) not in present)
    return {ord(char): next(spare) for char in sorted(set(FORBIDDEN.findall(text)))}


class _Builder:
    """Builds nodes from the events of PyYAML's parser, which doesn't construct Python objects."""

    def __init__(self, text: str, restored: dict[int, int]) -> None:
        self.text = text
        self.restored = restored
        self.events: Iterator[Any] = iter(yaml.parse(text, Loader=LOADER))

    def document(self) -> Node:
        next(self.events)  # the start of the stream
        if isinstance(next(self.events), yaml.StreamEndEvent):
            raise FormatError("the answer is empty")
        node = self.node(next(self.events), 0)
        # The parser reports text after the document only when the document's end and the next event are read.
        next(self.events), next(self.events)
        return node

    def node(self, event: Any, depth: int) -> Node:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            raise FormatError(f"line {line}: a value that begins with `*` or `&` must stand in quotes")
        if event.tag is not None:
            raise FormatError(f"line {line}: a value that begins with `!` must stand in quotes")
        if depth > MAX_DEPTH:
            raise FormatError(f"line {line}: nested deeper than {MAX_DEPTH} levels")
        if isinstance(event, yaml.ScalarEvent):
            return self.scalar(event)
        return self.sequence(event, depth) if isinstance(event, yaml.SequenceStartEvent) else self.mapping(event, depth)

    def scalar(self, event: Any) -> Node:
        source = self.text[event.start_mark.index : event.end_mark.index]
        plain = not event.style
        if plain and _loses_text(event.value, self.text, event.end_mark.index):
            raise FormatError(f"line {event.end_mark.line + 1}: a value with `#` must stand in quotes")
        value = _with_line_breaks(event.value, source) if plain or event.style == '"' else event.value
        return Node(value.translate(self.restored), source.translate(self.restored), plain)

    def sequence(self, start: Any, depth: int) -> Node:
        items = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self.node(event, depth + 1))
        return Node(items, self.source(start, event))

    def mapping(self, start: Any, depth: int) -> Node:
        values: dict[str, Node] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            line = event.start_mark.line + 1
            key = self.node(event, depth + 1).value
            if not isinstance(key, str):
                raise FormatError(f"line {line}: a key must be a word; put a value with brackets in quotes")
            if key in values:
                raise FormatError(f"line {line}: the key `{key}` is given twice")
            values[key] = self.node(next(self.events), depth + 1)
        return Node(values, self.source(start, event))

    def source(self, start: Any, end: Any) -> str:
        """Return the text of a collection, without its indentation."""
        written = self.text[start.start_mark.index : end.end_mark.index].rstrip()
        return textwrap.dedent(" " * start.start_mark.column + written).translate(self.restored)


def _loses_text(value: str, text: str, end: int) -> bool:
    """Return whether a comment hides text: it follows an empty value, or one space after a sentence."""
    if not value:
        return bool(COMMENT.match(text, end))
    return text.startswith(" #", end) and " " in value and any(map(str.isalpha, value))


def _with_line_breaks(value: str, source: str) -> str:
    """Return a scalar's value; the line breaks of numbers on several short lines are restored."""
    lines = source.strip('"').split("\n")
    if len(lines) < 2 or "\\" in source or any(map(str.isalpha, value)):
        return value
    short = all(len(line) < SHORTEST_FOLDED_LINE for line in lines)
    return "\n".join(line.strip() for line in lines) if short and any(map(str.isdigit, value)) else value


class _Literal(str):
    """A number or constant of a JSON text, as written."""

    __slots__ = ()


class _Pairs(list):  # type: ignore[type-arg]
    """The pairs of a JSON object, duplicates included."""


DECODER = json.JSONDecoder(
    strict=False, parse_int=_Literal, parse_float=_Literal, parse_constant=_Literal, object_pairs_hook=_Pairs
)
TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\(?:.|\Z))*+(?:"|\Z))|,(?=\s*+[}\]])', re.DOTALL)


def read_json(text: str) -> Node:
    """Read one JSON value with nothing after it; line breaks in strings and trailing commas are accepted."""
    body = text.strip()
    try:
        try:
            return _from_json(DECODER.decode(body), 0)
        except json.JSONDecodeError:
            return _from_json(DECODER.decode(TRAILING_COMMA.sub(lambda match: match[1] or "", body)), 0)
    except json.JSONDecodeError as error:
        raise FormatError(f"line {error.lineno}: not valid JSON: {error.msg}") from error
    except RecursionError as error:
        raise FormatError(f"nested deeper than {MAX_DEPTH} levels") from error


def json_objects(text: str, most: int = 8) -> Iterator[str]:
    """Yield the JSON objects in prose, the last first."""
    found, position = [], text.find("{")
    for _ in range(4 * most):
        if position < 0 or len(found) == most:
            break
        try:
            _, end = DECODER.raw_decode(text, position)
            found.append(text[position:end])
        except (json.JSONDecodeError, RecursionError):
            end = position + 1
        position = text.find("{", end)
    yield from reversed(found)


def _from_json(value: Any, depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise FormatError(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, _Pairs):
        [(key, count)] = Counter(key for key, _ in value).most_common(1) or [("", 0)]
        if count > 1:
            raise FormatError(f"the key `{key}` is given twice")
        return Node({key: _from_json(item, depth + 1) for key, item in value}, _written(value))
    if isinstance(value, list):
        return Node([_from_json(item, depth + 1) for item in value], _written(value))
    if isinstance(value, str):
        return Node(str(value), _written(value), isinstance(value, _Literal))
    return Node(_written(value), _written(value), plain=True)


def _written(value: Any) -> str:
    """Return a JSON value as text, with its numbers as written."""
    if isinstance(value, _Pairs):
        return "{" + ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {_written(item)}" for key, item in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    return str(value) if isinstance(value, _Literal) else json.dumps(value, ensure_ascii=False)
