"""Fields of a structured answer, and the conversion of parsed answers to their values.

1. A field is a text, a list of texts, or a list of records, whose own fields are texts or lists of texts.
2. Names are compared in lower case, with `-` and spaces as `_`. Unknown fields are dropped.
3. Values of another type are converted if that is unambiguous: a text or a single record to a list of one, lines with
   bullets to a list, a list to lines of text, a mapping from names to records to a list.
4. A text that only repeats the form that the model was to fill in is missing; lists and records lose such items.
5. An error names all missing fields at once, and is worded for the model, which is asked again.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from alpha_codium.answers.yaml_text import FormatError, Node
from alpha_codium.errors import FlowError, nearest

BULLET = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+")
PROSE = re.compile(r"\b[^\W\d_]{2,}+ [^\W\d_']++ [^\W\d_]{2}")
NUMBERS = re.compile(r"[\[\](){},\s\d.eE+-]++")
WORD = re.compile(r"\w+")
BLANK = re.compile(r"[\s\"'`*]*<([^<>\n]{1,80})>[\s\"'`*.]*")
MAX_PROBLEMS = 5


class FieldKind(StrEnum):
    """The kinds of fields."""

    TEXT = "text"
    LIST = "list"
    RECORDS = "records"


@dataclass(frozen=True, slots=True)
class Field:
    """One field: `about` describes it, `example` is its value in the form; records have `fields`."""

    name: str
    kind: FieldKind = FieldKind.TEXT
    about: str = ""
    example: str = ""
    fields: tuple["Field", ...] = ()

    @property
    def blank(self) -> str:
        """The text in the form that stands for the field's: its example, or its name in angle brackets."""
        return self.example or f"<{self.name}>"

    def is_blank(self, text: str) -> bool:
        """Return whether a text only repeats the form's text or the description, in whatever layout."""
        name = BLANK.fullmatch(text)
        if text.strip() == self.blank or (name and _plain_name(name[1]) == self.name):
            return True
        words = WORD.findall(text.casefold())
        return bool(words) and words == WORD.findall(self.about.casefold())


def field_from_spec(where: str, name: str, spec: Any) -> Field:
    """Return the field that a prompt file describes by `"text: its description"` or by a table; raises FlowError.

    A table has `kind`, and may have `about` and `example`. If its kind is `records`, each other entry is a field of the
    records.
    """
    where = f"{where}.{name}"
    if isinstance(spec, str):
        word, _, about = spec.partition(":")
        spec = {"kind": word.strip(), "about": about.strip()}
    if not isinstance(spec, Mapping):
        raise FlowError(f'{where}: a field is a text such as "text: what it holds", or a table with a `kind`')
    word, kinds = str(spec.get("kind", "")), [kind.value for kind in FieldKind]
    if word not in kinds:
        raise FlowError(f"{where}: there is no kind of field {word!r}{nearest(word, kinds)}")
    kind = FieldKind(word)
    inner = {key: value for key, value in spec.items() if key not in ("kind", "about", "example")}
    if kind is not FieldKind.RECORDS and inner:
        raise FlowError(
            f"{where}: a field of kind {kind} has no {min(inner)!r}; only `records` have fields of their own"
        )
    fields = tuple(field_from_spec(where, key, value) for key, value in inner.items())
    if kind is FieldKind.RECORDS and (not fields or any(field.kind is FieldKind.RECORDS for field in fields)):
        raise FlowError(f"{where}: records need fields, each of kind text or list")
    return Field(name, kind, str(spec.get("about", "")), str(spec.get("example", "")), fields)


def bind(node: Node, fields: Iterable[Field]) -> dict[str, Any]:
    """Return the fields' values from an answer's root node; raises one FormatError for all missing fields."""
    fields = tuple(fields)
    found = _by_name(_root(node, fields))
    problems: list[str] = []
    values: dict[str, Any] = {}
    for field in fields:
        value = found.get(field.name)
        if value is None:
            problems.append(f"the field `{field.name}` is missing")
        elif value.plain and value.value == "":
            problems.append(f"the field `{field.name}` is empty")
        else:
            try:
                values[field.name] = _value_of(field, value)
            except FormatError as error:
                problems.append(str(error))
            else:
                if _is_left_blank(field, values[field.name]):
                    problems.append(f"the field `{field.name}` only repeats the form")
                elif field.kind is not FieldKind.TEXT:
                    values[field.name] = [item for item in values[field.name] if not _is_blank_item(field, item)]
    if problems:
        known = any(field.name in found for field in fields)
        more = f"; and {len(problems) - MAX_PROBLEMS} more" if len(problems) > MAX_PROBLEMS else ""
        raise FormatError("; ".join(problems[:MAX_PROBLEMS]) + more, progress=2 if known else 1)
    return values


def _is_left_blank(field: Field, value: Any) -> bool:
    """Return whether a value, or all items of a list that isn't empty, only repeat the form."""
    if field.kind is FieldKind.TEXT:
        return field.is_blank(value)
    return bool(value) and all(_is_blank_item(field, item) for item in value)


def _is_blank_item(field: Field, item: Any) -> bool:
    """Return whether an item of a list, or any text of a record, repeats the form."""
    if field.kind is FieldKind.LIST:
        return field.is_blank(item)
    return any(_is_left_blank(inner, item[inner.name]) for inner in field.fields)


def _root(node: Node, fields: tuple[Field, ...]) -> dict[str, Node]:
    """Return the mapping with the fields: the root, or that under its only key, or the merged items of a root list."""
    names = {field.name for field in fields}
    value = node.value
    if isinstance(value, list):
        mappings = [item.value for item in value if isinstance(item.value, dict)]
        if len(mappings) == len(value) and all(set(_by_name(mapping)) <= names for mapping in mappings):
            return {key: item for mapping in mappings for key, item in mapping.items()}
        if len(fields) == 1 and fields[0].kind is not FieldKind.TEXT:
            return {fields[0].name: node}
    if isinstance(value, dict):
        inner = _only_value(value)
        if inner is not None and not names & set(_by_name(value)) and names & set(_by_name(inner)):
            return inner
        return value
    raise none_of(fields)


def _only_value(mapping: dict[str, Node]) -> dict[str, Node] | None:
    """Return the mapping under the only key of a mapping, or None."""
    [only] = mapping.values() if len(mapping) == 1 else [None]
    return only.value if only is not None and isinstance(only.value, dict) else None


def none_of(fields: Iterable[Field]) -> FormatError:
    """Return the error for an answer without any of the fields."""
    return FormatError(f"the answer holds none of the fields {_names(fields)}", progress=1)


def _by_name(mapping: Mapping[str, Node]) -> dict[str, Node]:
    """Return the mapping with normalized names; names that needn't be changed take precedence."""
    plain = {_plain_name(key): value for key, value in mapping.items()}
    return plain | dict(mapping)


def _plain_name(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip(" *`\"'").lower())


def _value_of(field: Field, node: Node) -> Any:
    """Return the value of one field; raises FormatError if it can't be converted to the field's type."""
    match field.kind:
        case FieldKind.TEXT:
            return _text_of(node)
        case FieldKind.LIST:
            return _texts_of(node)
        case FieldKind.RECORDS:
            return [_record(field, number, item) for number, item in enumerate(_items(field, node), 1)]


def _text_of(node: Node) -> str:
    """Return a value as text: a list of texts as lines, with bullets if they are prose; anything else as written."""
    if isinstance(node.value, str):
        return node.value
    items = [item.value for item in node.value] if isinstance(node.value, list) else []
    flow_of_numbers = node.source.startswith("[") and NUMBERS.fullmatch(node.source)
    if not items or flow_of_numbers or not all(isinstance(item, str) for item in items):
        return node.source
    bullet = "- " if any(PROSE.search(str(item)) for item in items) else ""
    return "\n".join(f"{bullet}{item}" for item in items)


def _texts_of(node: Node) -> list[str]:
    """Return a value as a list of texts; a text with a bullet on each line is split into lines."""
    if isinstance(node.value, list):
        return [_text_of(item) for item in node.value]
    written = node.source if node.plain else _text_of(node)
    lines = [line for line in written.splitlines() if line.strip()]
    if lines and all(BULLET.match(line) for line in lines):
        return [BULLET.sub("", line, count=1).strip() for line in lines]
    return [_text_of(node)]


def _items(field: Field, node: Node) -> list[Node]:
    """Return the records in a list or in a mapping from names to records, or a single record."""
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
    if not isinstance(node.value, dict):
        raise FormatError(f"{where} is no record with {_names(field.fields)}")
    inner_value = _only_value(node.value)
    found = _by_name(node.value if inner_value is None else inner_value)
    missing = [inner.name for inner in field.fields if inner.name not in found]
    if missing:
        raise FormatError(f"{where} lacks " + ", ".join(f"`{name}`" for name in missing))
    return {inner.name: _value_of(inner, found[inner.name]) for inner in field.fields}


def _names(fields: Iterable[Field]) -> str:
    return ", ".join(f"`{field.name}`" for field in fields)
