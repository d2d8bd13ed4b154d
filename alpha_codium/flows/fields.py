"""What a structured answer must hold, and how it is taken from what was read.

1. A field is a text, a list of texts, or a list of records, whose own fields are texts or lists of texts.
2. Names are compared in lower case, `-` and spaces being `_`. Fields that nobody asked for are dropped.
3. What came in another shape is taken where it can mean one thing only: a single text as a list of one, lines with
   bullets as a list, a list as lines of text, a single record as a list of one, records under names as a list.
4. What is missing is named, every field of it at once, in words for the model that is asked again.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from alpha_codium.errors import FlowError, nearest
from alpha_codium.flows.yaml_text import FormatError, Node

BULLET = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+")
PROSE = re.compile(r"\b[^\W\d_]{2,}+ [^\W\d_']++ [^\W\d_]{2}")
NUMBERS = re.compile(r"[\[\](){},\s\d.eE+-]++")
MOST_PROBLEMS = 5


class FieldKind(StrEnum):
    """The kinds of fields."""

    TEXT = "text"
    LIST = "list"
    RECORDS = "records"


@dataclass(frozen=True, slots=True)
class Field:
    """One field: `about` says what it holds, `example` is a value for the example; records have `fields`."""

    name: str
    kind: FieldKind = FieldKind.TEXT
    about: str = ""
    example: str = ""
    fields: tuple["Field", ...] = ()


def field_from_spec(where: str, name: str, spec: Any) -> Field:
    """A field from a prompt file: `"text: what it holds"` or a table with `kind`; raises FlowError.

    A table may hold `about` and `example`; a table of kind `records` holds one more entry for each field.
    """
    where = f"{where}.{name}"
    if isinstance(spec, str):
        kind, _, about = spec.partition(":")
        spec = {"kind": kind.strip(), "about": about.strip()}
    if not isinstance(spec, Mapping):
        raise FlowError(f'{where}: a field is a text such as "text: what it holds", or a table with a `kind`')
    kind = _kind(where, str(spec.get("kind", "")))
    inner = {key: value for key, value in spec.items() if key not in ("kind", "about", "example")}
    if kind is not FieldKind.RECORDS and inner:
        raise FlowError(
            f"{where}: a field of kind {kind} has no {min(inner)!r}; only `records` have fields of their own"
        )
    fields = tuple(field_from_spec(where, key, value) for key, value in inner.items())
    if kind is FieldKind.RECORDS and (not fields or any(field.kind is FieldKind.RECORDS for field in fields)):
        raise FlowError(f"{where}: records need fields, each of kind text or list")
    return Field(name, kind, str(spec.get("about", "")), str(spec.get("example", "")), fields)


def _kind(where: str, word: str) -> FieldKind:
    if word not in list(FieldKind):
        raise FlowError(
            f"{where}: there is no kind of field {word!r}{nearest(word, [kind.value for kind in FieldKind])}"
        )
    return FieldKind(word)


def bind(node: Node, fields: Iterable[Field]) -> dict[str, Any]:
    """The fields' values from an answer's root; raises FormatError, which names all that is missing."""
    fields = tuple(fields)
    found = _by_name(_root(node, fields))
    problems: list[str] = []
    values: dict[str, Any] = {}
    for field in fields:
        if field.name not in found:
            problems.append(f"the field `{field.name}` is missing")
        elif _is_empty(found[field.name]):
            problems.append(f"the field `{field.name}` is empty")
        else:
            _collect(values, problems, field.name, lambda field=field: value_of(field, found[field.name]))
    if problems:
        known = any(field.name in found for field in fields)
        raise FormatError(_join(problems), progress=2 if known else 1)
    return values


def _collect(values: dict[str, Any], problems: list[str], name: str, make: Callable[[], Any]) -> None:
    try:
        values[name] = make()
    except FormatError as error:
        problems.append(str(error))


def _join(problems: list[str]) -> str:
    more = f"; and {len(problems) - MOST_PROBLEMS} more" if len(problems) > MOST_PROBLEMS else ""
    return "; ".join(problems[:MOST_PROBLEMS]) + more


def _root(node: Node, fields: tuple[Field, ...]) -> dict[str, Node]:
    """The mapping that holds the fields: the root, one below a single key, or what a root list stands for."""
    names = {field.name for field in fields}
    value = node.value
    if isinstance(value, list):
        mappings = [item.value for item in value if isinstance(item.value, dict)]
        if len(mappings) == len(value) and all(set(_by_name(mapping)) <= names for mapping in mappings):
            return {key: item for mapping in mappings for key, item in mapping.items()}
        if len(fields) == 1 and fields[0].kind is not FieldKind.TEXT:
            return {fields[0].name: node}
    if isinstance(value, dict):
        [inner] = value.values() if len(value) == 1 else [None]
        if (
            inner
            and isinstance(inner.value, dict)
            and not names & set(_by_name(value))
            and names & set(_by_name(inner.value))
        ):
            return inner.value
        return value
    raise none_of(fields)


def none_of(fields: Iterable[Field]) -> FormatError:
    """The error of an answer in which no field is."""
    return FormatError(f"the answer holds none of the fields {_names(fields)}", progress=1)


def _by_name(mapping: Mapping[str, Node]) -> dict[str, Node]:
    """The mapping with its names made plain; a name that was already plain wins."""
    plain = {re.sub(r"[\s-]+", "_", key.strip(" *`\"'").lower()): value for key, value in mapping.items()}
    return plain | dict(mapping)


def _is_empty(node: Node) -> bool:
    return node.plain and node.value == ""


def value_of(field: Field, node: Node) -> Any:
    """The value of one field; raises FormatError where it has no shape that the field can take."""
    match field.kind:
        case FieldKind.TEXT:
            return text_of(node)
        case FieldKind.LIST:
            return texts_of(node)
        case FieldKind.RECORDS:
            return [_record(field, number, item) for number, item in enumerate(_items(field, node), 1)]


def text_of(node: Node) -> str:
    """Any value as text: a list of texts as lines, with bullets where they are prose; else what was written."""
    if isinstance(node.value, str):
        return node.value
    items = [item.value for item in node.value] if isinstance(node.value, list) else []
    flow_of_numbers = node.source.startswith("[") and NUMBERS.fullmatch(node.source)
    if not items or flow_of_numbers or not all(isinstance(item, str) for item in items):
        return node.source
    bullet = "- " if any(PROSE.search(str(item)) for item in items) else ""
    return "\n".join(f"{bullet}{item}" for item in items)


def texts_of(node: Node) -> list[str]:
    """Any value as a list of texts; a text whose lines all have bullets is as many items."""
    if isinstance(node.value, list):
        return [text_of(item) for item in node.value]
    written = node.source if node.plain else text_of(node)
    lines = [line for line in written.splitlines() if line.strip()]
    if lines and all(BULLET.match(line) for line in lines):
        return [BULLET.sub("", line, count=1).strip() for line in lines]
    return [text_of(node)]


def _items(field: Field, node: Node) -> list[Node]:
    """The records of a list, of a mapping from names to records, or a single record."""
    if isinstance(node.value, list):
        return node.value
    if isinstance(node.value, dict):
        names = {inner.name for inner in field.fields}
        nested = list(node.value.values())
        if not names & set(_by_name(node.value)) and all(isinstance(item.value, dict) for item in nested):
            return nested
        return [node]
    raise FormatError(f"the field `{field.name}` must be a list of records with {_names(field.fields)}")


def _record(field: Field, number: int, node: Node) -> dict[str, Any]:
    where = f"item {number} of `{field.name}`"
    value = node.value
    if isinstance(value, dict) and len(value) == 1 and isinstance((only := next(iter(value.values()))).value, dict):
        value = only.value
    if not isinstance(value, dict):
        raise FormatError(f"{where} is no record with {_names(field.fields)}")
    found = _by_name(value)
    missing = [inner.name for inner in field.fields if inner.name not in found]
    if missing:
        raise FormatError(f"{where} lacks " + ", ".join(f"`{name}`" for name in missing))
    return {inner.name: value_of(inner, found[inner.name]) for inner in field.fields}


def _names(fields: Iterable[Field]) -> str:
    return ", ".join(f"`{field.name}`" for field in fields)
