"""Expressions that recreate the user's objects in the jail.

A value of plain types becomes a literal. A module, and an object that can be imported from a module of the jail, is
imported there. Everything else is pickled by `cloudpickle`: functions and classes of a script, a notebook, a test or a
module that the jail doesn't have, by their code.
"""

import contextlib
import importlib
import math
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from alpha_codium.errors import UserError

# Literals that are nested deeper might be too deep for Python's parser, and are pickled.
MAX_DEPTH = 20
PLAIN = (type(None), bool, int, str, bytes)
# This package isn't in the jail: see `sandbox.engine.interpreter`.
OURS = "alpha_codium"


def expression_of(value: Any, name: str) -> str:
    """An expression for `value`, the user's `name`; raises UserError if it can't be sent."""
    if _is_literal(value, MAX_DEPTH):
        return repr(value)
    if isinstance(value, ModuleType):
        return _imported(value.__name__)
    path = _path_of(value)
    return f"{_imported(path[0])}.{path[1]}" if path else f"__import__('pickle').loads({_pickled(value, name)!r})"


def _is_literal(value: Any, depth: int) -> bool:
    kind = type(value)
    if kind in PLAIN or (kind is float and math.isfinite(value)):
        return True
    if depth and kind is dict:
        return all(_is_literal(each, depth - 1) for pair in value.items() for each in pair)
    return bool(depth) and kind in (list, tuple) and all(_is_literal(each, depth - 1) for each in value)


def _imported(module: str) -> str:
    return f"__import__('importlib').import_module({module!r})"


def _path_of(value: Any) -> tuple[str, str] | None:
    """The module and the name in it from which the jail can import `value`, if it can."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or not _in_jail(module):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return (module, name) if found is value else None


def _in_jail(module: str) -> bool:
    """Whether the jail has the module: it is Python's own, or installed beside it."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return top != "__main__"
    places = [*getattr(sys.modules.get(top), "__path__", [])] or [getattr(sys.modules.get(top), "__file__", None) or ""]
    return top != OURS and any("-packages/" in place for place in places)


def _pickled(value: Any, name: str) -> bytes:
    try:
        cloudpickle = importlib.import_module("cloudpickle")
    except ImportError as error:
        raise UserError(f"sending {name!r} to the sandbox needs cloudpickle: pip install cloudpickle") from error
    try:
        with _by_value(cloudpickle):
            return cloudpickle.dumps(value)
    except Exception as error:
        raise UserError(
            f"{name!r} can't be sent to the sandbox's processes ({type(error).__name__}: {error}): give a value, a "
            "function or a class that can be pickled"
        ) from error


@contextlib.contextmanager
def _by_value(cloudpickle: Any) -> Iterator[None]:
    """Pickle objects of modules that the jail doesn't have by their code, inside this context."""
    foreign = [each for name, each in list(sys.modules.items()) if _is_foreign(name, each)]
    foreign = [each for each in foreign if each.__name__ not in cloudpickle.list_registry_pickle_by_value()]
    for module in foreign:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in foreign:
            cloudpickle.unregister_pickle_by_value(module)


def _is_foreign(name: str, module: Any) -> bool:
    named = isinstance(module, ModuleType) and module.__name__ == name and name != "__main__"
    return named and not _in_jail(name)
