"""What one side may ask the other to do with an object, by name."""

import builtins
import operator

from alpha_codium.judge.drivers.describing import content_of

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _operate(name: str, *operands: "Any") -> "Any":
    if name in ("int", "float", "complex", "round", "divmod") or (name == "pow" and len(operands) > 2):
        return getattr(builtins, name)(*operands)
    if name in ("trunc", "floor", "ceil"):
        return getattr(__import__("math"), name)(*operands)
    return getattr(operator, f"{name}_" if name in ("and", "or") else name)(*operands)


def _call_special(name: str) -> "Callable[..., Any]":
    return lambda value, *arguments: getattr(type(value), name)(value, *arguments)


def _exit(value: "Any", cls: "Any", error: "Any") -> "Any":
    return type(value).__exit__(value, cls, error, None)


def _await(name: str = "") -> "Callable[..., Any]":
    def wait(value: "Any", *arguments: "Any") -> "Any":
        if name == "__aexit__":
            arguments = (*arguments, None)
        waited = getattr(type(value), name)(value, *arguments) if name else value
        return event_loop().run_until_complete(_awaited(waited))

    return wait


async def _awaited(value: "Any") -> "Any":
    return await value


LOOPS: "list[Any]" = []


def event_loop() -> "Any":
    """The loop in which this side awaits; the same one every time, for what is bound to it."""
    if not LOOPS:
        LOOPS.append(__import__("asyncio").new_event_loop())
    return LOOPS[0]


def _copied(name: str) -> "Callable[[Any], Any]":
    def copied(value: "Any") -> "Any":
        return getattr(__import__("copy"), name)(value)

    return copied


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
    "content": content_of,
    "enter": _call_special("__enter__"),
    "exit": _exit,
    "copy": _copied("copy"),
    "deepcopy": _copied("deepcopy"),
    "await": _await(),
    "iterate_async": _call_special("__aiter__"),
    "next_async": _await("__anext__"),
    "enter_async": _await("__aenter__"),
    "exit_async": _await("__aexit__"),
}
