"""Values are read from JSON by the types of their fields."""

import contextlib
import importlib
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path

import pytest

import alpha_codium
from alpha_codium.values import JsonValue

PACKAGE = Path(alpha_codium.__file__).parent


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Inner(JsonValue):
    colour: Colour


@dataclass(frozen=True)
class Outer(JsonValue):
    colours: tuple[Colour, ...]
    inner: tuple[Inner, ...]
    either: str | Inner
    span: tuple[int, int]
    maybe: Inner | None = None


@dataclass(frozen=True)
class Mixed(JsonValue):
    pair: tuple[Colour, int]


@pytest.mark.parametrize(
    "value",
    [
        Outer((), (), "a text", (1, 2)),
        Outer((Colour.RED,), (Inner(Colour.RED),), Inner(Colour.RED), (1, 2), Inner(Colour.RED)),
    ],
)
def test_nested_values_enums_and_tuples_are_read_by_their_types(value: Outer) -> None:
    assert Outer.from_json(value.to_json()) == value


def test_a_field_that_the_types_cannot_describe_needs_a_reader() -> None:
    with pytest.raises(TypeError, match="needs an entry in `readers`"):
        Mixed.from_json({"pair": ["red", 1]})


def values_of_the_package(kind: type[JsonValue] = JsonValue) -> Iterator[type[JsonValue]]:
    for below in kind.__subclasses__():
        yield from values_of_the_package(below)
        if below.__module__.startswith("alpha_codium.") and is_dataclass(below) and fields(below):
            yield below


def test_the_types_of_the_fields_of_every_value_are_known() -> None:
    for path in PACKAGE.rglob("*.py"):
        if "(JsonValue" in path.read_text():
            importlib.import_module(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))
    found = list(values_of_the_package())
    assert len(found) > 30
    for kind in found:
        with contextlib.suppress(ValueError):  # a field without a default is missing
            kind.from_json({})
