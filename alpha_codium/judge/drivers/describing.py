"""Descriptions of objects that stay on one side, and the objects that the other side makes from them.

1. `("made", module, name, arguments)` and `("array", dtype, shape, data)`: a value of the standard library or a NumPy
   array; the other side makes an equal one.
2. `("derived", base, content, name, overridden)`: an object of a class derived from an immutable type, such as a named
   tuple. The other side makes a value with the same content, of a new class derived from that type. Methods that the
   class overrides are called remotely (see `proxies`), except comparisons, which use the content.
3. `("container", base, name, overridden)`: the same for a mutable type; its content is fetched whenever it is compared.
   `("compared", module, name)` for objects of the standard library that change with others, such as views of a dict.
4. `("exception class", ...)` and `("exception", ...)`: see `exceptions`.
5. `("awaitable",)`. All other objects have no description.
"""

import builtins
import sys
from collections.abc import Callable
from itertools import takewhile
from typing import Any

from alpha_codium.judge.drivers.exceptions import (
    description_of,
    description_of_class,
    exception,
    exception_class,
)
from alpha_codium.judge.drivers.proxies import BASES, CHANGING_BASES, awaitable_of, derived_of, new_proxy, subclass_of

# Functions that return the arguments to make an equal value, for exactly these types, by module and name.
MADE: "dict[tuple[str, str], Callable[[Any], tuple[Any, ...]]]" = {
    ("decimal", "Decimal"): lambda value: (str(value),),
    ("fractions", "Fraction"): lambda value: (value.numerator, value.denominator),
    ("datetime", "date"): lambda value: (value.year, value.month, value.day),
    ("datetime", "time"): lambda value: (*_clock(value), value.tzinfo),
    ("datetime", "datetime"): lambda value: (value.year, value.month, value.day, *_clock(value), value.tzinfo),
    ("datetime", "timedelta"): lambda value: (value.days, value.seconds, value.microseconds),
    ("datetime", "timezone"): lambda value: value.__getinitargs__(),
    ("uuid", "UUID"): lambda value: (str(value),),
    ("collections", "defaultdict"): lambda value: (value.default_factory, dict(value)),
    ("collections", "deque"): lambda value: (list(value), value.maxlen),
    ("array", "array"): lambda value: (value.typecode, value.tolist()),
    ("builtins", "slice"): lambda value: (value.start, value.stop, value.step),
    ("pathlib", "PosixPath"): lambda value: (str(value),),
    ("pathlib", "PurePosixPath"): lambda value: (str(value),),
    ("ipaddress", "IPv4Address"): lambda value: (str(value),),
    ("ipaddress", "IPv6Address"): lambda value: (str(value),),
    ("ipaddress", "IPv4Network"): lambda value: (str(value),),
    ("ipaddress", "IPv6Network"): lambda value: (str(value),),
    ("ipaddress", "IPv4Interface"): lambda value: (str(value),),
    ("ipaddress", "IPv6Interface"): lambda value: (str(value),),
    ("pathlib", "PureWindowsPath"): lambda value: (str(value),),
    ("zoneinfo", "ZoneInfo"): lambda value: (value.key,),
    ("re", "Pattern"): lambda value: (value.pattern, value.flags),
}
# Functions that make a value of a type without calling it.
MAKERS = {("re", "Pattern"): "compile"}
# Objects of the standard library that are compared by a value: functions that return it.
COMPARED: "dict[tuple[str, str], Callable[[Any], Any]]" = {
    ("builtins", "dict_keys"): dict.fromkeys,
    ("builtins", "dict_items"): dict,
    ("builtins", "dict_values"): list,
    ("builtins", "odict_keys"): dict.fromkeys,
    ("builtins", "odict_items"): dict,
    ("builtins", "odict_values"): list,
    ("builtins", "mappingproxy"): dict,
    ("builtins", "memoryview"): bytes,
    ("types", "SimpleNamespace"): lambda value: dict(vars(value)),
    ("collections", "ChainMap"): dict,
    ("collections", "UserDict"): dict,
    ("collections", "UserList"): list,
    ("collections", "UserString"): str,
}
# The types of these values, where it isn't dict.
CONTENTS = {"dict_values": list, "odict_values": list, "memoryview": bytes, "UserList": list, "UserString": str}
# Functions that return an object that is compared as the original is, where that isn't the value.
COMPARABLE: "dict[str, Callable[[Any], Any]]" = {
    "dict_keys": dict.keys,
    "dict_items": dict.items,
    "dict_values": lambda content: dict(enumerate(content)).values(),
    "odict_keys": dict.keys,
    "odict_items": dict.items,
    "odict_values": lambda content: dict(enumerate(content)).values(),
    "SimpleNamespace": lambda content: __import__("types").SimpleNamespace(**content),
}
# Objects whose classes aren't in `builtins`, such as generators: assertions check for these with `types` and
# `collections.abc`.
OBJECTS = (len, lambda: 0, (_ for _ in ()), iter([]), iter(()), iter({}), iter({}.items()), iter(range(0)))
UNNAMED: "dict[str, Any]" = {kind.__name__: kind for kind in map(type, OBJECTS)}
# Kinds of NumPy dtypes that can be sent: all but objects and structures.
DTYPES = "biufcSUmM?"


def describe(value: "Any", is_lent: bool = False) -> "tuple[Any, ...] | None":
    """Return the description of a value that `codec` can't encode; None if it has none.

    `is_lent`: whether the assertions lend it to the program.
    """
    kind = type(value)
    if isinstance(value, type):
        return _of_class(value)
    if value is Ellipsis or value is NotImplemented:
        return "made", "builtins", repr(value), ()
    # A module that the program added could make values with comparisons of its own.
    key = (kind.__module__.partition(".")[0], kind.__name__)
    if key in MADE and getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind:
        return "made", *key, MADE[key](value)
    if kind.__module__ == "numpy" and kind.__name__ == "ndarray" and value.dtype.kind in DTYPES:
        return "array", value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, BaseException):
        return description_of(value, is_lent)
    for base in BASES.values():
        if isinstance(value, base):
            return "derived", base.__name__, _content_of(value, base), kind.__name__, _overridden(kind, base)
    for base in (*_ordered_kinds(), *CHANGING_BASES.values()):
        if isinstance(value, base):
            return "container", base.__name__, kind.__name__, _overridden(kind, base)
    if hasattr(kind, "__await__"):
        return ("awaitable",)
    if key in COMPARED and not is_lent:
        return "compared", *key
    return None


def _of_class(value: type) -> "tuple[Any, ...] | None":
    if getattr(builtins, value.__name__, None) is value or UNNAMED.get(value.__name__) is value:
        return "made", "builtins", value.__name__, ()
    if issubclass(value, BaseException):
        return description_of_class(value)
    return None


def _clock(value: "Any") -> "tuple[Any, ...]":
    return value.hour, value.minute, value.second, value.microsecond


def _overridden(kind: type, base: type) -> "list[str]":
    """Return the names of the special methods of `base` that `kind` overrides, and of those it adds."""
    own = takewhile(lambda cls: cls is not base, kind.__mro__)  # `base` may only be what `__class__` says
    names = {name for cls in own for name in vars(cls)}
    return sorted(name for name in names if name.startswith("__") and name.endswith("__"))


def content_of(value: "Any") -> "Any":
    """Return the builtin value of an object of a derived class, by the methods of its builtin type.

    Of an object in `COMPARED`, it is the value by which that is compared.
    """
    kind = type(value)
    if (kind.__module__, kind.__name__) in COMPARED:
        return COMPARED[kind.__module__, kind.__name__](value)
    for base in (*BASES.values(), *_ordered_kinds(), *CHANGING_BASES.values()):
        if isinstance(value, base):
            return _content_of(value, base)
    raise TypeError("not derived from a type of values")


def _content_of(value: "Any", base: type) -> "Any":
    if base in (int, float, complex):
        return base.__pos__(value)  # type: ignore[attr-defined]
    if base is str:
        return str.__str__(value)
    if base in (bytes, tuple, list, bytearray):
        return base.__getitem__(value, slice(None))  # type: ignore[attr-defined]
    if base in (set, frozenset):
        return base(base.__iter__(value))  # type: ignore[attr-defined,call-arg]
    if base is dict:
        return dict(dict.items(value))
    if base.__name__ == "OrderedDict":
        return base(base.items(value))  # type: ignore[attr-defined,call-arg]
    return base(base.__iter__(value), base.maxlen.__get__(value))  # type: ignore[attr-defined,call-arg]


def _ordered_kinds() -> "tuple[Any, ...]":
    """The classes in `collections` that aren't compared as a dict or list, if that is loaded."""
    module = sys.modules.get("collections")
    return () if module is None else (module.deque, module.OrderedDict)


def build(peer: "Any", number: int, description: "tuple[Any, ...]") -> "Any":
    """Make the local representation of the object with that number from its description."""
    kind, *rest = description
    if kind == "made":
        return _made(*rest)
    if kind == "array":
        return _array(*rest)
    if kind == "derived":
        return derived_of(peer, number, *rest)
    if kind == "container":
        base = CHANGING_BASES.get(rest[0]) or next(each for each in _ordered_kinds() if each.__name__ == rest[0])
        return new_proxy(peer, number, subclass_of(base, *rest[1:]))
    if kind == "compared":
        return new_proxy(peer, number, _type_of_compared(*rest))
    if kind == "awaitable":
        return awaitable_of(peer, number)
    if kind == "exception class":
        return exception_class(peer, *rest)
    if kind == "exception":
        return exception(peer, number, *rest)
    raise ValueError("a description of an unknown kind")


def _made(module: str, name: str, arguments: "tuple[Any, ...]") -> "Any":
    if module == "builtins" and not arguments:
        value = UNNAMED.get(name) or getattr(builtins, name)
        if isinstance(value, type) or value is Ellipsis or value is NotImplemented:
            return value
    if (module, name) not in MADE:
        raise ValueError("a value of an unknown type")
    return getattr(__import__(module), MAKERS.get((module, name), name))(*arguments)


def _type_of_compared(module: str, name: str) -> type:
    if (module, name) not in COMPARED:
        raise ValueError("an object of an unknown type")
    if module != "builtins":
        return getattr(__import__(module), name)
    empty = __import__("collections").OrderedDict() if name[0] == "o" else {}
    samples = (empty.keys(), empty.values(), empty.items(), vars(type), memoryview(b""))
    return next(type(each) for each in samples if type(each).__name__ == name)


def comparable(base: type, content: "Any") -> "Any":
    """Return an object that is compared as that of the other side, whose type is `base`, given its content."""
    if not is_compared(base):
        if type(content) not in base.__mro__:
            raise ValueError("content of another type")
        return content
    if type(content) is not CONTENTS.get(base.__name__, dict):
        raise ValueError("content of another type")
    make = COMPARABLE.get(base.__name__)
    return content if make is None else make(content)


def is_compared(base: "Any") -> bool:
    """Whether a type is one of `COMPARED`."""
    return base is not None and (base.__module__, base.__name__) in COMPARED


def _array(dtype: str, shape: "tuple[int, ...]", data: bytes) -> "Any":
    import numpy

    if numpy.dtype(dtype).kind not in DTYPES:
        raise ValueError("an array of an unknown type")
    return numpy.frombuffer(data, numpy.dtype(dtype)).reshape(shape).copy()
