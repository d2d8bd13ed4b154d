"""Lookup of parts by name: built-in ones in a table, plug-ins in an entry-point group."""

import functools
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any

from alpha_codium.errors import UserError, nearest

# entry-point group -> name for messages
KINDS = {
    "alpha_codium.sandboxes": "sandbox",
    "alpha_codium.executors": "executor",
    "alpha_codium.checkers": "checker",
    "alpha_codium.sources": "source",
    "alpha_codium.stages": "kind of stage",
}


def find_plugin(group: str, name: str, built_in: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    """Return the factory called `name`: a built-in one, else the entry point with that name in `group`.

    Raises UserError, with the nearest known name, if there is none, or if it can't be loaded.
    """
    if name in built_in:
        return built_in[name]
    require_plugin(group, name, frozenset(built_in))
    found = entry_points(group=group)[name]
    try:
        return found.load()
    except Exception as error:
        what = f"the {KINDS.get(group, group)} {name!r} ({found.value})"
        raise UserError(f"{what} can't be loaded: {type(error).__name__}: {error}") from error


@functools.cache
def require_plugin(group: str, name: str, built_in: frozenset[str]) -> None:
    """Raise UserError, with the nearest known name, if `group` has no entry point of this name. Loads nothing."""
    names = entry_points(group=group).names
    if name not in names:
        kind = KINDS.get(group, group)
        raise UserError(f"there is no {kind} {name!r}{nearest(name, {*built_in, *names})}")
