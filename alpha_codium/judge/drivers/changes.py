"""The results of a call: the value or exception, and the changes that it made to containers among its arguments.

1. `containers_in` lists the containers in the same order on both sides, so that an index identifies one.
2. A container has changed if its items aren't the same objects (in a set: equal objects) as in a copy made before the
   call. Its new items are sent, those that are containers in the list by their index, and replace the old ones.
3. A container is kept if something still refers to it after the call: both sides have it in sync from then on.
4. Containers that an answer has twice, or in common with the arguments, are sent as copies, and then put together.
"""

import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

CHANGEABLE = (list, dict, set, bytearray)
OF_COLLECTIONS = ("deque", "OrderedDict", "Counter", "defaultdict")
# Each message has the changes of what is held, so it is little: what was answered last, without large containers.
MOST_HELD, LARGEST_HELD = 32, 128
# Types of answers in which containers are sought that stand elsewhere, too.
OUTER = (list, tuple, dict)
# The names of types whose items may be containers; of dicts, their values may be.
ITERATED = ("list", "tuple", "deque")
SCALARS = frozenset((int, str, float, bool, type(None), bytes, complex))


def containers_in(arguments: "tuple[Any, ...]", keywords: "dict[str, Any]") -> "list[Any]":
    """The containers among the arguments, outer ones first."""
    found: list[Any] = []
    for each in (*arguments, *keywords.values()):
        _collect(each, found)
    return found


def held_in(value: "Any") -> "list[Any]":
    """The containers in an answer that both sides keep in sync; none of an answer with arrays, or with large ones."""
    if type(value) in CHANGEABLE and len(value) > LARGEST_HELD:
        return []
    found = containers_in((value,), {})
    return found if _can_be_held(found) else []


def _can_be_held(found: "list[Any]") -> bool:
    few = len(found) <= MOST_HELD and all(len(each) <= LARGEST_HELD for each in found)
    return few and not any(_is_array(type(each)) for each in found)


def _collect(value: "Any", found: "list[Any]") -> None:
    kind = type(value)
    if kind in CHANGEABLE or (kind.__module__ == "collections" and kind.__name__ in OF_COLLECTIONS) or _is_array(kind):
        found.append(value)
    elif kind is not tuple:
        return
    items = value.values() if isinstance(value, dict) else value if kind.__name__ in ITERATED else ()
    for each in items:
        if type(each) not in SCALARS:
            _collect(each, found)


def _is_array(kind: type) -> bool:
    return kind.__module__ == "numpy" and kind.__name__ == "ndarray"


def copies_of(held: "list[Any]") -> "list[Any]":
    """Shallow copies of containers."""
    return [value.copy() for value in held]


def changes_among(held: "list[Any]", before: "list[Any]") -> "list[tuple[Any, ...]]":
    """Return `(index, items, places)` for each changed one; `places`: `(place, index)` of items that are in `held`."""
    changed = [index for index, value in enumerate(held) if not _is_as_before(value, before[index])]
    if not changed:
        return []
    index_of = {id(value): index for index, value in enumerate(held)}
    changes = []
    for index in changed:
        items = _items_of(held[index])
        places = [(place, index_of[id(each)]) for place, each in enumerate(items) if id(each) in index_of]
        for place, _ in places:
            items[place] = None
        changes.append((index, items, places))
    return changes


def _is_as_before(value: "Any", before: "Any") -> bool:
    try:
        if _is_array(type(value)):
            return value.tobytes() == before.tobytes()
        if isinstance(value, dict):
            return _are_same(value, before) and _are_same(value.values(), before.values())
        if type(value) in (set, bytearray):
            return bool(value == before)
        return _are_same(value, before)
    except Exception:  # noqa: BLE001 - comparing the program's objects failed
        return False


def _are_same(items: "Any", before: "Any") -> bool:
    return len(items) == len(before) and not any(map(operator.is_not, items, before))


def _items_of(value: "Any") -> "list[Any]":
    if isinstance(value, dict):
        return [each for item in value.items() for each in item]
    if _is_array(type(value)):
        return value.ravel().tolist()
    return list(value)


def apply_changes(changes: "list[Any]", held: "Sequence[Any]") -> None:
    """Fill the containers that have changed with their new items."""
    for index, items, places in changes:
        for place, other in places:
            items[place] = held[other]
        value = held[index]
        if _is_array(type(value)):
            value.flat = items
            continue
        value.clear()
        if isinstance(value, dict):
            value.update(dict(zip(items[::2], items[1::2])))  # noqa: B905 - Python 3.9
        elif isinstance(value, set):
            value.update(items)
        else:
            value.extend(items)


def same_among(arguments: "tuple[Any, ...]") -> "list[tuple[int, int]]":
    """Which arguments that can be changed are the same object as an earlier one."""
    if len(arguments) < 3:
        return []
    first: dict[int, int] = {}
    found = []
    for place, each in enumerate(arguments):
        if type(each) in CHANGEABLE and first.setdefault(id(each), place) != place:
            found.append((place, first[id(each)]))
    return found


def answers_to(
    perform: "Callable[..., Any]",
    what: str,
    arguments: "tuple[Any, ...]",
    keywords: "dict[str, Any]",
    same: "list[tuple[Any, int]]",
    in_sync: "Sequence[Any]" = (),
) -> "tuple[list[tuple[Any, ...]], list[Any]]":
    """Run `perform(what, arguments, keywords)`; return messages with its changes and its result (see `peer`).

    Return the containers among the arguments before the call, too, which the messages name by their places. `same` has
    places of arguments, or names, each with that of an equal one, or `-1 - i` for the i-th of those in sync.
    """
    arguments = _with_same(arguments, keywords, same, in_sync)
    held = containers_in(arguments, keywords)
    references, before = _references_to(held), copies_of(held)
    try:
        kind, value = "value", perform(what, arguments, keywords)
    except MemoryError:
        raise  # ends this process, so that the sandbox sees which limit was reached
    except BaseException as error:  # noqa: BLE001 - it is raised on the other side
        kind, value = "raised", error
    changes = changes_among(held, before)
    before.clear()  # whose items have one reference more
    returned = [index for index, each in enumerate(held) if each is value]
    messages: list[tuple[Any, ...]] = [("changed", changes)] if changes else []
    if held and kind == "value" and (kept := kept_among(held, references, value)):
        messages.append(("kept", kept))
    if kind == "value" and type(value) in OUTER and not returned and (twins := twins_in(value, held)):
        messages.append(("twins", twins))
    return [*messages, ("same", returned[-1]) if kind == "value" and returned else (kind, value)], held


def _with_same(
    arguments: "tuple[Any, ...]", keywords: "dict[str, Any]", same: "list[tuple[Any, int]]", in_sync: "Sequence[Any]"
) -> "tuple[Any, ...]":
    for place, other in same:
        value = arguments[other] if other >= 0 else in_sync[-1 - other]
        if type(place) is str:
            keywords[place] = value
        else:
            arguments = (*arguments[:place], value, *arguments[place + 1 :])
    return arguments


def twins_in(value: "Any", held: "list[Any]") -> "list[tuple[int, int]]":
    """Return `(place, earlier)` of containers in an answer that are among the arguments' `held`, or earlier in it.

    `earlier` is the place among both, of which `held` comes first. None are sought in a large answer.
    """
    items = value.values() if type(value) is dict else value
    if len(items) > LARGEST_HELD or all(type(each) in SCALARS for each in items):
        return []
    first = {id(each): place for place, each in enumerate(held)}
    found = enumerate(containers_in((value,), {}), len(held))
    return [(at - len(held), first[id(each)]) for at, each in found if first.setdefault(id(each), at) != at]


def put_together(value: "Any", twins: "list[tuple[int, int]]", held: "Sequence[Any]") -> "Any":
    """Return an answer with the containers that its copies stand for."""
    found = containers_in((value,), {})
    originals = {id(found[place]): [*held, *found][earlier] for place, earlier in twins}

    def original(item: "Any") -> "Any":
        return tuple(map(original, item)) if type(item) is tuple else originals.get(id(item), item)

    for each in found:
        if type(each) is list:
            each[:] = map(original, each)
        elif isinstance(each, dict):
            each.update({key: original(item) for key, item in each.items()})
    return original(value)


def kept_among(held: "list[Any]", references: "list[int]", value: "Any") -> "list[int]":
    """Return the places of the containers among arguments that are kept, with what is in them.

    They have more than their `references` before the call, not counting the two variables with the `value` that it
    returned. None are if some are large, or arrays.
    """
    now = _references_to(held)
    referred = [each for i, each in enumerate(held) if now[i] > references[i] + 2 * (each is value)]
    if not referred:
        return []
    found = {id(each) for each in containers_in(tuple(referred), {})}
    kept = [place for place, each in enumerate(held) if id(each) in found]
    return kept if _can_be_held([held[place] for place in kept]) else []


def _references_to(held: "list[Any]") -> "list[int]":
    return [sys.getrefcount(each) for each in held]
