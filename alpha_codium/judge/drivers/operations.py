"""Operations on objects that one side may request from the other, by name."""

import builtins
import operator
import sys
from collections.abc import Callable
from typing import Any

from alpha_codium.judge.drivers.describing import content_of


def _operate(name: str, *operands: "Any") -> "Any":
    if name in ("int", "float", "complex", "round", "divmod") or (name == "pow" and len(operands) > 2):
        return getattr(builtins, name)(*operands)
    if name in ("trunc", "floor", "ceil"):
        return getattr(__import__("math"), name)(*operands)
    return getattr(operator, f"{name}_" if name in ("and", "or") else name)(*operands)


def _seed(module: str, *seed: "Any", **keywords: "Any") -> None:
    """Seed random numbers, if the program uses the package; NumPy imports `numpy.random` when it is used."""
    if module.partition(".")[0] in sys.modules:
        __import__(module)
        sys.modules[module].seed(*seed, **keywords)


def _call_special(name: str, *last: "Any") -> "Callable[..., Any]":
    return lambda value, *arguments: getattr(type(value), name)(value, *arguments, *last)


# The event loop in which this side awaits, always the same one: objects may be bound to it.
LOOPS: "list[Any]" = []


def _wait_for(awaitable: "Any") -> "Any":
    async def result() -> "Any":
        return await awaitable

    if not LOOPS:
        LOOPS.append(__import__("asyncio").new_event_loop())
    return LOOPS[0].run_until_complete(result())


def _await_special(name: str, *last: "Any") -> "Callable[..., Any]":
    return lambda value, *arguments: _wait_for(getattr(type(value), name)(value, *arguments, *last))


OPERATIONS: "dict[str, Callable[..., Any]]" = {
    "call": lambda function, /, *arguments, **keywords: function(*arguments, **keywords),
    "get": getattr,
    "set": setattr,
    "delete": delattr,
    "item": lambda container, key: container[key],
    "put": operator.setitem,
    "remove": operator.delitem,
    "contains": operator.contains,
    "iterate": iter,
    "next": next,
    "reversed": reversed,
    "length": len,
    "text": str,
    "seed": _seed,
    "repr": repr,
    "format": format,
    "truth": bool,
    "hash": hash,
    "index": operator.index,
    "compare": lambda name, one, other: getattr(operator, name)(one, other),
    "operate": _operate,
    "is_instance": lambda cls, value: isinstance(value, cls),
    "is_subclass": lambda cls, other: issubclass(other, cls),
    "class": type,
    "callable": callable,
    "hasattr": hasattr,
    "dir": dir,
    "content": content_of,
    "enter": _call_special("__enter__"),
    "exit": _call_special("__exit__", None),
    "copy": lambda value: __import__("copy").copy(value),
    "deepcopy": lambda value: __import__("copy").deepcopy(value),
    "await": _wait_for,
    "iterate_async": _call_special("__aiter__"),
    "next_async": _await_special("__anext__"),
    "enter_async": _await_special("__aenter__"),
    "exit_async": _await_special("__aexit__", None),
}
