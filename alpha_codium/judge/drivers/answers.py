"""Doing what was asked, and the messages that say what came of it."""

from alpha_codium.judge.drivers.changes import changes_among, containers_in, copies_of

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def answers_to(
    perform: "Callable[..., Any]",
    what: str,
    arguments: "tuple[Any, ...]",
    keywords: "dict[str, Any]",
    same: "list[tuple[int, int]]",
) -> "list[tuple[Any, ...]]":
    """What `perform(what, arguments, keywords)` returned or raised, and before it what it changed; see `peer`."""
    for place, earlier in same:
        arguments = (*arguments[:place], arguments[earlier], *arguments[place + 1 :])
    held = containers_in(arguments, keywords)
    before = copies_of(held)
    try:
        kind, value = "value", perform(what, arguments, keywords)
    except MemoryError:
        raise  # ends this process, so that the sandbox sees which limit was reached
    except BaseException as error:  # noqa: BLE001 - it is raised on the other side
        kind, value = "raised", error
    changes = changes_among(held, before)
    if kind == "value":
        for index, each in enumerate(held):
            if each is value:
                kind, value = "same", index
    return [("changed", changes), (kind, value)] if changes else [(kind, value)]
