"""Frozen dataclasses that go to JSON and back without loss."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

# What makes a field's value of what JSON holds, by the field's name.
Readers = Mapping[str, Callable[[Any], Any]]


class JsonValue:
    """Base class of a frozen dataclass that crosses processes and machines as JSON.

    `to_json` gives what `json.dumps` takes; `from_json` makes an equal value of that. Fields that JSON doesn't give
    back as they are have an entry in `readers`. Those in `optional` are left out where they are empty.
    """

    __slots__ = ()
    readers: ClassVar[Readers] = {}
    optional: ClassVar[Sequence[str]] = ()

    def to_json(self) -> dict[str, Any]:
        """The fields by their names, with lists in place of tuples."""
        fields = ((each.name, getattr(self, each.name)) for each in dataclasses.fields(self))  # type: ignore[arg-type]
        return {name: _plain(value) for name, value in fields if value or name not in self.optional}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """The value of what `to_json` gave; missing fields have their defaults.

        Raises ValueError if `values` has unknown fields, lacks one that has no default, or holds an impossible value.
        """
        try:
            return cls(**{name: cls._read(name, value) for name, value in values.items()})
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"not a {cls.__name__}: {error}") from error

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        reader = cls.readers.get(name)
        return reader(value) if reader is not None else value


def many(reader: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    """A reader of a list whose items `reader` reads."""
    return lambda values: tuple(map(reader, values))


def strings(name: str, values: Sequence[str]) -> tuple[str, ...]:
    """`values` as a tuple; raises TypeError if they are not a sequence of strings, or are one string."""
    is_sequence = isinstance(values, Sequence) and not isinstance(values, str)
    if not is_sequence or not all(isinstance(each, str) for each in values):
        raise TypeError(f"{name} must be a list of str, not {type(values).__name__}: {str(values)[:80]!r}")
    return tuple(values)


def _plain(value: Any) -> Any:
    if isinstance(value, JsonValue):
        return value.to_json()
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return dict(value) if isinstance(value, Mapping) else value
