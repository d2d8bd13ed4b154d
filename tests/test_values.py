"""Values are read from JSON by the types of their fields."""

import contextlib
import importlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from enum import Enum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import alpha_codium
from alpha_codium.values import JsonValue, parse_json, surrogate_in

PACKAGE = Path(alpha_codium.__file__).parent


@given(st.recursive(st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_is_read_as_python_reads_it(value: object) -> None:
    assert parse_json(json.dumps(value)) == value


@given(st.sampled_from(["", "-"]), st.integers(1, 10**6), st.integers(3990, 9000))
def test_integers_of_any_length_are_read(sign: str, period: int, length: int) -> None:
    digits = (sign + str(period) * length)[:length]
    (found,) = parse_json(f"[{digits}]")
    assert str(Decimal(found)) == digits


@given(st.text())
def test_half_a_surrogate_pair_is_found_wherever_it_stands(text: str) -> None:
    assert surrogate_in(text) == ""
    for half in ("\ud800", "\udfff"):
        assert surrogate_in("", text + half + text).endswith(f"at {len(text)}")


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
