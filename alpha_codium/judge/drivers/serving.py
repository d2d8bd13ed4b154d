"""In the program's place, on the right of a pair: does what the assertions on the left ask of the program.

1. stdin holds the setup code, as `codec` spells it. The program runs whole before the first request is read.
2. A request is `(what, arguments, keyword arguments)`, `what` a key of `OPERATIONS`. The answer is `("value", v)`, or
   `("raised", names of the classes, message)` with the classes of the exception that are Python's own, nearest first.
3. What `codec` refuses stays here, and a number stands for it on the left.

The program can do and answer what it likes on this side: it can't make more of it than values on the left.
"""

import sys

from alpha_codium.judge.codec import decode
from alpha_codium.judge.drivers.channel import Gone, receive, send
from alpha_codium.judge.drivers.loading import find, leave, load, tell

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

OPERATIONS: "dict[str, Callable[..., Any]]" = {
    "call": lambda function, *arguments, **keywords: function(*arguments, **keywords),
    "get": getattr,
    "set": setattr,
    "item": lambda container, key: container[key],
    "iterate": iter,
    "next": next,
    "length": len,
    "text": str,
    "repr": repr,
    "truth": bool,
}


def serve(program: "CodeType") -> None:
    """Load the program, then answer until the left side is gone."""
    setup_code = decode(sys.stdin.read())
    try:
        namespace = load(program, setup_code)
    except Exception as error:  # noqa: BLE001 - it ends this process, as it would end the program's
        tell(error)
        leave(1)
    kept: list[Any] = []
    operations = dict(OPERATIONS, find=lambda name: find(namespace, name))

    def refer(value: "Any") -> int:
        kept.append(value)
        return len(kept) - 1

    while True:
        try:
            what, arguments, keywords = receive(kept.__getitem__)
        except Gone:
            leave(0)
        send(answer_of(operations[what], arguments, keywords), refer)


def answer_of(
    operation: "Callable[..., Any]", arguments: "tuple[Any, ...]", keywords: "dict[str, Any]"
) -> "tuple[Any, ...]":
    """The value of an operation, or the exception it raised."""
    try:
        return "value", operation(*arguments, **keywords)
    except MemoryError:
        raise  # ends this process, so that the sandbox sees which limit was reached
    except Exception as error:  # noqa: BLE001 - it is raised on the other side
        names = [cls.__name__ for cls in type(error).__mro__ if cls.__module__ == "builtins"]
        return "raised", names, f"{type(error).__name__}: {error}" if names[0] != type(error).__name__ else str(error)


if "program" in globals():
    serve(globals()["program"])
