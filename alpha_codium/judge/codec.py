"""An encoding of values as text, for processes that don't trust each other. Standard library, CPython 3.9 and later.

1. Only values of exactly these types can be encoded: None, bool, int, float, complex, str, bytes, bytearray, list,
   tuple, set, frozenset, dict, range, and the containers of `collections` that compare like them. Values of derived
   types can't, since they may define `__eq__`. NumPy scalars are encoded as Python's, but see 4.
2. The text is ASCII. A scalar is a lowercase letter, its text and `;`, a container a capital, its items and `)`:
   `Li1;i-ff;)` is `[1, -255]`. Numbers are hexadecimal, so that decoding takes linear time; strings are their UTF-8 in
   hexadecimal.
3. The text can't name code: `decode` returns values of these types, and raises Malformed for any text that `encode`
   wouldn't write.
4. With `refer`, other values are replaced by reference numbers, and so are those that could be encoded only in part: a
   `defaultdict` with a factory, a `deque` with a maximum length. NumPy's numbers are encoded with their types.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

MAX_DEPTH = 200
MAX_SIZE = 64 << 20
SURROGATES = "surrogatepass"


class Unencodable(TypeError):
    """A value that can't be encoded: of another type, nested too deep, or too large."""


class Excessive(Unencodable):
    """A value of types that can be encoded, but nested too deep or too large."""


class Malformed(ValueError):
    """A text that `encode` didn't write."""


def encode(value: "Any", refer: "Callable[[Any], int | None] | None" = None) -> str:
    """Return the value as text; raises Unencodable."""
    out: list[str] = []
    _write(value, out, refer, MAX_DEPTH)
    text = "".join(out)
    if len(text) > MAX_SIZE:
        raise Excessive("the value is too large to cross")
    return text


def decode(
    text: str,
    build: "Mapping[str, Callable[[list[Any]], Any]] | None" = None,
    referred: "Callable[[int], Any] | None" = None,
    most: int = MAX_SIZE,
) -> "Any":
    """Return the value of a text; raises Malformed.

    `build` maps the capital of a container to a function that makes it from a list of items; the default restores the
    encoded types. `referred` returns the value for a reference number. More than `most` values are malformed.
    """
    if text.count(";") + text.count(")") > most:
        raise Malformed("too many values")
    if len(text) > MAX_SIZE:
        raise Malformed("the text is too long")
    build = build or BUILDERS
    open_items: list[tuple[str, list[Any]]] = [("", [])]
    place = 0
    while place < len(text):
        mark = text[place]
        place += 1
        if mark == ")":
            if len(open_items) == 1:
                raise Malformed("a container ends that didn't begin")
            name, items = open_items.pop()
            open_items[-1][1].append(_built(build[name], items))
        elif mark in build:
            if len(open_items) > MAX_DEPTH:
                raise Malformed("too deep")
            open_items.append((mark, []))
        else:
            end = text.find(";", place)
            if end < 0:
                raise Malformed("a scalar without an end")
            open_items[-1][1].append(_scalar(mark, text[place:end], referred))
            place = end + 1
    if len(open_items) != 1 or len(open_items[0][1]) != 1:
        raise Malformed("not one whole value")
    return open_items[0][1][0]


def unreferred(_value: "Any") -> None:
    """Return None: a `refer` with which values that could be encoded only in part are refused."""


def _write(value: "Any", out: "list[str]", refer: "Callable[[Any], int | None] | None", depth: int) -> None:
    kind = type(value)
    scalar = SPELLINGS.get(kind)
    if scalar is not None:
        out.append(scalar(value))
        return
    name = CONTAINERS.get(kind) or _name_in_collections(kind)
    if name in PARTLY and refer is not None and getattr(value, PARTLY[name]) is not None:
        name = None
    elif name is None and kind.__module__ == "numpy" and getattr(value, "shape", None) == ():
        text = _numpy_scalar(value, refer is not None)
        if text is not None:
            out.append(text)
            return
    if name is None:
        number = None if refer is None else refer(value)
        if number is None:
            raise Unencodable(f"a value of the type {kind.__name__!r} can't cross")
        out.append(f"r{number:x};")
        return
    if depth <= 0:
        raise Excessive("the value is nested too deep to cross")
    out.append(name)
    for item in _pairs(value) if name in MAPPINGS else value:
        _write(item, out, refer, depth - 1)
    out.append(")")


def _numpy_scalar(value: "Any", keeps_type: bool) -> "str | None":
    """Return the text of a NumPy scalar, or of an array without dimensions; None if it has none."""
    if keeps_type:
        if type(value).__name__ == "ndarray":
            return None
        if value.dtype.kind in NUMBERS:
            return f"y{value.dtype.str},{value.tobytes().hex()};"
    item = value.item()
    scalar = SPELLINGS.get(type(item))
    return None if scalar is None else scalar(item)


def _pairs(mapping: "Mapping[Any, Any]") -> "Iterator[Any]":
    for key, item in mapping.items():
        yield key
        yield item


def _name_in_collections(kind: type) -> "str | None":
    module = sys.modules.get("collections")
    for name, attribute in COLLECTIONS.items():
        if module is not None and getattr(module, attribute) is kind:
            return name
    return None


def _built(builder: "Callable[[list[Any]], Any]", items: "list[Any]") -> "Any":
    try:
        return builder(items)
    except (TypeError, ValueError) as error:
        raise Malformed(str(error)) from None


def _scalar(mark: str, body: str, referred: "Callable[[int], Any] | None") -> "Any":
    if mark not in READERS:
        raise Malformed("an unknown kind of scalar")
    if mark in "ry" and referred is None:
        raise Malformed("an unexpected reference")
    try:
        value = READERS[mark](body)
        if mark == "r" and referred is not None:
            return referred(value)
        if mark == "y":
            return value
        spelt = SPELLINGS[type(value)](value)
    except (ValueError, OverflowError, LookupError):
        raise Malformed(f"an invalid scalar {mark!r}") from None
    if spelt != f"{mark}{body};":
        raise Malformed(f"an unusual spelling of a scalar {mark!r}")
    return value


def _complex(body: str) -> complex:
    real, _, imaginary = body.partition(",")
    return complex(float.fromhex(real), float.fromhex(imaginary))


def _numpy_number(body: str) -> "Any":
    name, _, digits = body.partition(",")
    data = bytes.fromhex(digits)
    try:
        import numpy

        dtype = numpy.dtype(name)
    except (ImportError, SyntaxError, TypeError) as error:
        raise ValueError(str(error)) from None
    if dtype.kind not in NUMBERS or dtype.str != name or len(data) != dtype.itemsize or data.hex() != digits:
        raise ValueError("not a number of NumPy")
    return numpy.frombuffer(data, dtype)[0]


def _mapping(items: "list[Any]") -> "dict[Any, Any]":
    made = dict(zip(items[::2], items[1::2]))  # noqa: B905 - `strict` is of 3.10
    if 2 * len(made) != len(items):
        raise ValueError("a key twice, or without its value")
    return made


def _distinct(kind: "Callable[[Any], Any]", other: "Callable[[Any], Any]") -> "Callable[[list[Any]], Any]":
    def build(items: "list[Any]") -> "Any":
        made = kind(items)
        if len(made) != len(items):
            raise ValueError("an item stands twice")
        # A set copied from another set, as literals are, may have its items in another order.
        return made if _same_items(made, items) or not _same_items(copy := kind(other(items)), items) else copy

    return build


def _same_items(made: "Any", items: "list[Any]") -> bool:
    return all(one is another for one, another in zip(made, items))  # noqa: B905 - `strict` is of 3.10


def _range(items: "list[Any]") -> range:
    if len(items) != 3 or any(type(item) is not int for item in items):
        raise ValueError("a range has three integers")
    return range(*items)


def _of_collections(attribute: str, prepare: "Callable[[list[Any]], Any]") -> "Callable[[list[Any]], Any]":
    def build(items: "list[Any]") -> "Any":
        import collections

        made = prepare(items)
        kind = getattr(collections, attribute)
        return kind(None, made) if attribute == "defaultdict" else kind(made)

    return build


SPELLINGS: "dict[type, Callable[[Any], str]]" = {
    type(None): lambda _: "n;",
    bool: lambda value: "t;" if value else "f;",
    int: lambda value: f"i{value:x};",
    float: lambda value: f"d{value.hex()};",
    complex: lambda value: f"c{value.real.hex()},{value.imag.hex()};",
    str: lambda value: f"s{value.encode('utf-8', SURROGATES).hex()};",
    bytes: lambda value: f"b{value.hex()};",
    bytearray: lambda value: f"a{value.hex()};",
    range: lambda value: f"Ri{value.start:x};i{value.stop:x};i{value.step:x};)",
}
READERS: "dict[str, Callable[[str], Any]]" = {
    "n": lambda _: None,
    "t": lambda _: True,
    "f": lambda _: False,
    "i": lambda body: int(body, 16),
    "d": float.fromhex,
    "c": _complex,
    "s": lambda body: bytes.fromhex(body).decode("utf-8", SURROGATES),
    "b": bytes.fromhex,
    "a": bytearray.fromhex,
    "r": lambda body: int(body, 16),
    "y": _numpy_number,
}
CONTAINERS: "dict[type, str]" = {list: "L", tuple: "T", set: "S", frozenset: "Z", dict: "D"}
COLLECTIONS = {"C": "Counter", "O": "OrderedDict", "V": "defaultdict", "Q": "deque"}
MAPPINGS = "DCOV"
# Kinds of NumPy dtypes that are numbers, dates or times.
NUMBERS = "biufcmM"
# Attributes that the encoding of a container loses.
PARTLY = {"V": "default_factory", "Q": "maxlen"}
BUILDERS: "dict[str, Callable[[list[Any]], Any]]" = {
    "L": lambda items: items,
    "T": tuple,
    "S": _distinct(set, frozenset),
    "Z": _distinct(frozenset, set),
    "D": _mapping,
    "R": _range,
    **{name: _of_collections(attribute, _mapping) for name, attribute in COLLECTIONS.items() if name != "Q"},
    "Q": _of_collections("deque", list),
}
