"""Functions, iterators and objects of the assertions that are lent to the program.

The program may call, iterate and read them. It can't use names with a leading underscore, or attributes that lead from
a function or generator to the frames of the assertions.
"""

from collections.abc import Callable
from typing import Any

from alpha_codium.judge.drivers.describing import describe
from alpha_codium.judge.drivers.operations import OPERATIONS
from alpha_codium.judge.drivers.proxies import BINARY, COMPARISONS, CONVERSIONS, ROUNDINGS, UNARY

# Operations on lent objects that the program may ask for.
LENT = {"call", "get", "set", "iterate", "next", "item", "length", "text", "repr", "truth", "hash", "contains"}
LENT |= {"compare", "operate", "enter", "exit", "index", "is_instance", "class", "await", "reversed"}
OPERATORS = {*COMPARISONS, *BINARY, *(f"i{name}" for name in BINARY), *UNARY, *CONVERSIONS, *ROUNDINGS, "divmod"}
HIDDEN_PREFIXES = ("_", "gi_", "cr_", "ag_", "tb_", "f_", "co_")
SHOWN = ("__name__", "__qualname__", "__doc__")
KINDS_LENT = {"function", "builtin_function_or_method", "method", "partial", "generator", "coroutine", "itemgetter"}
KINDS_LENT |= {"StringIO", "BytesIO", "TextIOWrapper", "BufferedReader", "SimpleNamespace"}
KINDS_LENT |= {"method-wrapper", "method_descriptor", "wrapper_descriptor"}
# What runs code, or reads and changes any object, of the assertions, whatever it is given.
NOT_LENT = {"eval", "exec", "compile", "__import__", "getattr", "setattr", "delattr", "vars", "globals", "locals"}
NOT_LENT |= {"format", "format_map", "__getattribute__", "__setattr__", "__delattr__", "__reduce_ex__"}


def is_lendable(value: "Any") -> bool:
    """Whether an object of the assertions that can't be encoded may be lent to the program."""
    kind = type(value)
    if isinstance(value, type):
        return value.__module__ == "__main__" or describe(value) is not None
    if kind.__module__ == "builtins" and getattr(value, "__name__", None) in NOT_LENT and kind.__name__ != "function":
        return False
    if kind.__name__ in KINDS_LENT or kind.__module__ == "__main__" or hasattr(kind, "__next__"):
        return True
    return kind.__name__.startswith("dict_") or describe(value) is not None


def lend(peer: "Any") -> "Callable[..., Any]":
    """Return the `perform` of the assertions' side, for the program's requests on objects that it was lent."""

    def perform(what: str, arguments: "tuple[Any, ...]", keywords: "dict[str, Any]") -> "Any":
        target = next((each for each in arguments if id(each) in peer.numbers), None)
        if what not in LENT or target is None or (target is not arguments[0] and what not in ("compare", "operate")):
            raise TypeError("not lent")
        if what in ("compare", "operate") and arguments[0] not in OPERATORS:
            raise TypeError("not lent")
        if what in ("get", "set"):
            name = arguments[1]
            hidden = type(name) is not str or (name.startswith(HIDDEN_PREFIXES) and name not in SHOWN)
            if hidden or isinstance(target, (str, bytes, type)):
                raise AttributeError(name)
        return OPERATIONS[what](*arguments, **keywords)

    return perform
