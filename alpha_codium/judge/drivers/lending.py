"""What assertions lend to a program: functions, iterators, objects of classes of their own.

The program may call, iterate and read what it was lent, and nothing else: no name with an underscore in front, nothing
of what leads from a function or a generator to the frames in which the assertions run.
"""

from alpha_codium.judge.drivers.describing import describe
from alpha_codium.judge.drivers.operations import OPERATIONS
from alpha_codium.judge.drivers.proxies import BINARY, COMPARISONS, CONVERSIONS, ROUNDINGS, UNARY

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LENT = {"call", "get", "set", "iterate", "next", "item", "length", "text", "repr", "truth", "hash", "contains"}
LENT |= {"compare", "operate", "enter", "exit", "index", "is_instance", "class", "await", "reversed"}
OPERATORS = {*COMPARISONS, *BINARY, *(f"i{name}" for name in BINARY), *UNARY, *CONVERSIONS, *ROUNDINGS, "divmod"}
ATTRIBUTES = {"get", "set"}
FRAMES = ("_", "gi_", "cr_", "ag_", "tb_", "f_", "co_")
NAMING = ("__name__", "__qualname__", "__doc__")
KINDS_LENT = ("function", "builtin_function_or_method", "method", "partial", "generator", "coroutine", "StringIO")
KINDS_LENT += (
    "BytesIO",
    "TextIOWrapper",
    "BufferedReader",
    "SimpleNamespace",
    "method-wrapper",
    "method_descriptor",
    "wrapper_descriptor",
    "itemgetter",
)


def is_lendable(value: "Any") -> bool:
    """Whether the program may have a value of the assertions' own that doesn't cross."""
    kind = type(value)
    if isinstance(value, type):
        return value.__module__ == "__main__" or describe(value) is not None
    if kind.__name__ in KINDS_LENT or kind.__module__ == "__main__" or hasattr(kind, "__next__"):
        return True
    return kind.__name__.startswith("dict_") or describe(value) is not None


def lend(peer: "Any") -> "Callable[..., Any]":
    """What does as the program asks with what it was lent."""

    def perform(what: str, arguments: "tuple[Any, ...]", keywords: "dict[str, Any]") -> "Any":
        target = next((each for each in arguments if id(each) in peer.numbers), None)
        if what not in LENT or target is None or (target is not arguments[0] and what not in ("compare", "operate")):
            raise TypeError("that isn't lent")
        if what in ("compare", "operate") and arguments[0] not in OPERATORS:
            raise TypeError("that isn't lent")
        if what in ATTRIBUTES:
            name = arguments[1]
            hidden = type(name) is not str or (name.startswith(FRAMES) and name not in NAMING)
            if hidden or isinstance(target, (str, bytes, type)):
                raise AttributeError(name)
        return OPERATIONS[what](*arguments, **keywords)

    return perform
