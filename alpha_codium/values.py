"""Frozen dataclasses that are converted to JSON and back without loss, and results as tables."""

import csv
import dataclasses
import functools
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args, get_origin, get_type_hints

from alpha_codium.errors import UserError

if TYPE_CHECKING:
    from pandas import DataFrame

# A number of digits that Python converts between integers and text by default.
DIGITS = 4000
# A function that converts a JSON value to a field's value, and such functions by the names of fields.
Reader = Callable[[Any], Any]
Readers = Mapping[str, Reader]
SIMPLE = frozenset({str, int, float, bool, type(None)})


class JsonValue:
    """Base class of a frozen dataclass that is written as JSON, or sent to other processes and machines.

    Enums, tuples and other JSON values are read by the types of the fields; `readers` has functions for fields of other
    types that JSON doesn't return as they are. Entries in `optional` are left out if empty.

    A result that is only written may have other entries than its fields: `in_json` names these, with the attribute of
    each (`named`). In place of an entry in `beside` stand the entries of its own value. The published schemas are made
    of this and of the types (docs/make_schemas.py), in which `Annotated[dict[str, Any], CLS]` is the JSON of a CLS.
    """

    __slots__ = ()
    readers: ClassVar[Readers] = {}
    optional: ClassVar[Sequence[str]] = ()
    in_json: ClassVar[Mapping[str, str]] = {}
    beside: ClassVar[Sequence[str]] = ()

    def to_json(self, without: Collection[str] = ()) -> dict[str, Any]:
        """Return the entries by their names, with lists in place of tuples, for `json.dumps`; none of `without`."""
        values: dict[str, Any] = {}
        for name, attribute in json_names(type(self)).items():
            if name in without:
                continue
            value = _attribute(self, attribute)
            if name in self.beside:
                values |= plain(value) or {}
            elif value or name not in self.optional:
                values[name] = plain(value)
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return the value that `to_json` converted; missing fields get their defaults.

        Raises ValueError if there are unknown fields, or missing ones without a default, or an invalid value.
        """
        readers = _readers_of(cls)
        try:
            return cls(**{name: readers[name](value) if name in readers else value for name, value in values.items()})
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"not a {cls.__name__}: {error}") from error


class Table:
    """Base class of a result with `rows`, which have the keys `columns`."""

    __slots__ = ()
    columns: ClassVar[tuple[str, ...]] = ()

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the table; None stands for what is undefined."""
        raise NotImplementedError

    def to_pandas(self) -> "DataFrame":
        """The rows as a pandas DataFrame."""
        from pandas import DataFrame

        return DataFrame(self.rows(), columns=list(self.columns))

    def to_csv(self, path: str | Path) -> None:
        """Write the rows to a CSV file, None as an empty field; raises UserError if it can't be written."""
        try:
            with Path(path).open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
                writer = csv.DictWriter(file, self.columns)
                writer.writeheader()
                writer.writerows(self.rows())
        except OSError as error:
            raise UserError(f"{path} can't be written: {error.strerror}") from error


def named(*names: str, **attributes: str) -> Mapping[str, str]:
    """Return a `JsonValue.in_json`: entries named as their attributes, and others with theirs, such as `score.k`."""
    return {name: name for name in names} | attributes


def _attribute(value: Any, path: str) -> Any:
    """Return an attribute of an attribute of ...; None if one of them is None."""
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    return value


@functools.cache
def json_names(cls: type[JsonValue]) -> Mapping[str, str]:
    """Return the attribute of each entry in the JSON of a class."""
    return cls.in_json or named(*(each.name for each in dataclasses.fields(cls)))  # type: ignore[arg-type]


@functools.cache
def _readers_of(cls: type[JsonValue]) -> Readers:
    found = {name: _reader_of(kind) for name, kind in get_type_hints(cls).items() if name not in cls.readers}
    return {name: reader for name, reader in found.items() if reader is not None} | dict(cls.readers)


def _reader_of(kind: Any) -> Reader | None:
    """Return the reader of values of a type; None for a type whose values JSON returns as they are."""
    parts = get_args(kind)
    if get_origin(kind) is tuple:
        item, *others = (_reader_of(part) for part in parts if part is not ...)
        if others and any((item, *others)):
            raise TypeError(f"a field of the type {kind} needs an entry in `readers`")
        return tuple if item is None else lambda values: tuple(map(item, values))
    if isinstance(kind, UnionType):
        plain = tuple(part for part in parts if _reader_of(part) is None)
        reader = next(filter(None, map(_reader_of, parts)), None)
        return reader and (lambda value: value if isinstance(value, plain) else reader(value))
    if isinstance(kind, type) and issubclass(kind, JsonValue):
        return kind.from_json
    return kind if isinstance(kind, type) and issubclass(kind, Enum) else None


def parse_json(text: str | bytes) -> Any:
    """Return the value of JSON, with integers of any length; raises ValueError and RecursionError."""
    return json.loads(text, parse_int=integer_of)


def integer_of(digits: str) -> int:
    """Return an integer with any number of digits, where `int` has a limit."""
    if len(digits) <= DIGITS:
        return int(digits)
    if digits[0] == "-":
        return -integer_of(digits[1:])
    half = len(digits) // 2
    return integer_of(digits[:-half]) * 10**half + integer_of(digits[-half:])


def strings(name: str, values: Sequence[str]) -> tuple[str, ...]:
    """Return `values` as a tuple; raises TypeError if they aren't a sequence of strings, or are one string."""
    is_sequence = isinstance(values, Sequence) and not isinstance(values, str)
    if not is_sequence or not all(isinstance(each, str) for each in values):
        raise TypeError(f"{name} must be a list of str, not {type(values).__name__}: {str(values)[:80]!r}")
    return tuple(values)


def surrogate_in(*texts: str) -> str:
    """Return why these texts can't be written as UTF-8, empty if they can."""
    for text in texts:
        try:
            text.isascii() or text.encode()
        except UnicodeEncodeError as error:
            return f"invalid Unicode: it has half a surrogate pair at {error.start}"
    return ""


def require(name: str, value: Any, kind: Any, what: str = "") -> None:
    """Raise TypeError if a value isn't of this type; `what` is the type's name in the message, by default its own."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {what or kind.__name__}, not {shown(value)}")


def require_tuple(name: str, values: tuple[Any, ...], kind: type) -> None:
    """Raise TypeError if `values` isn't a tuple of this kind of items."""
    expected = f"{name} must be a tuple of {kind.__name__}"
    if not isinstance(values, tuple):
        raise TypeError(f"{expected}, not {shown(values)}")
    for place, value in enumerate(values):
        if not isinstance(value, kind):
            raise TypeError(f"{expected}: {name}[{place}] is {shown(value)}")


def shown(value: Any) -> str:
    """Return the type of a value and the beginning of its text, for messages."""
    return f"{type(value).__name__}: {repr(value)[:80]}"


def plain(value: Any) -> Any:
    """Return a value as `json.dumps` takes it: results by their entries, enums by their values, tuples as lists."""
    if type(value) in SIMPLE:  # most are
        return value
    if isinstance(value, JsonValue):
        return value.to_json()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | frozenset):
        return [plain(each) for each in (sorted(value) if isinstance(value, frozenset) else value)]
    return value.isoformat() if isinstance(value, date) else str(value) if isinstance(value, Path) else value
