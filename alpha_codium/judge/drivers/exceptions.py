"""Exceptions that cross from one side of a pair to the other, which raises an equal one.

1. `("exception class", name, bases, module, path)`: the other side uses its own class if it finds one at this path of
   this module; otherwise it makes a class of that name with the same bases. A class is found if its module is loaded,
   or imported by the assertions: they can't refer to others. Nothing is imported because the program says so.
2. Classes by which a test is skipped or stopped (`unittest.SkipTest`), and those with comparisons of their own, aren't
   found: a program must not decide about a test by raising one.
3. `("exception", class, arguments, text, attributes)`: the class isn't called, since `__init__` ran on the other side.
   If the class was made, attributes that aren't among `attributes` are fetched from the other side.
"""

import builtins
import sys
from collections.abc import Iterable
from typing import Any

from alpha_codium.judge.codec import Unencodable, encode, unreferred
from alpha_codium.judge.drivers.proxies import new_proxy

# Modules whose exceptions control tests, and those that both sides have but aren't the same.
NOT_FOUND = {"__main__", "program", "unittest", "doctest", "bdb", "pdb", "pytest", "_pytest", "pluggy", "hypothesis"}
NOT_FOUND |= {"nose", "nose2", "twisted", "testtools", "absl", "behave"}
DECIDING = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__bool__")
# Types of attributes that aren't in an object's `__dict__`, such as `errno`.
FIELDS = (type(OSError.errno), type(vars(OSError)["characters_written"]))
CHAIN = ("__cause__", "__context__", "__suppress_context__")
# Exceptions that cross with the one that they led to.
LONGEST_CHAIN = 16


def place_of(cls: type) -> "tuple[str, str]":
    """Return the module and path where a class is found on this side; empty if there is none."""
    module, name = cls.__module__, cls.__qualname__
    loaded = sys.modules.get(module) if type(module) is str else None
    if loaded is None or type(name) is not str or module.partition(".")[0] in NOT_FOUND:
        return "", ""
    if class_at(module, name) is cls:
        return module, name
    # Some have other names than in their modules: `signal.ItimerError`.
    return next(((module, name) for name, value in list(vars(loaded).items()) if value is cls), ("", ""))


def class_at(module: str, path: str) -> "Any":
    """Return what is found at a path of a loaded module; None if there is nothing."""
    value: Any = sys.modules.get(module)
    for name in path.split("."):
        value = getattr(value, "__dict__", {}).get(name)
    return value


def known_class(imports: "Iterable[str]", module: str, path: str) -> "Any":
    """Return this side's exception class at that place; None if there is none, or if it could decide about a test."""
    top = module.partition(".")[0].lstrip("_")  # `queue.Empty` is a class of the module `_queue`
    if class_at(module, path) is None:
        for name in imports:
            if name.partition(".")[0] == top:
                import_if_there(name)
    cls = class_at(module, path)
    if not (isinstance(cls, type) and issubclass(cls, BaseException)):
        return None
    own = cls.__mro__[: cls.__mro__.index(BaseException)]
    decides = any(each.__module__.partition(".")[0] in NOT_FOUND or any(map(vars(each).get, DECIDING)) for each in own)
    return None if decides else cls


def import_if_there(name: str) -> None:
    """Import a module that the assertions import, unless there is none: the name may be that of a function."""
    try:
        __import__(name)
    except ImportError:
        return


class ExceptionOfOther:
    """A mixin for classes that only the other side has; attributes of their objects are fetched from there."""

    def __str__(self) -> str:
        text = self.__dict__.get("_text")
        return super().__str__() if text is None else text

    def __getattr__(self, name: str) -> "Any":
        origin = self.__dict__.get("_origin")
        if origin is None or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)
        return getattr(origin, name)


def description_of(error: BaseException, is_lent: bool) -> "tuple[Any, ...]":
    """Return the description of an exception; of one that is lent, without what isn't a value."""
    arguments = tuple(error.args) if isinstance(error.args, tuple) else ()
    return "exception", type(error), arguments, message_of(error), attributes_of(error, is_lent)


def description_of_class(cls: type) -> "tuple[Any, ...]":
    """Return the description of a class of exceptions."""
    return "exception class", cls.__name__, tuple(cls.__bases__), *place_of(cls)


def message_of(error: BaseException) -> str:
    """Return an exception's text, empty if its `__str__` fails."""
    try:
        return str.__str__(str(error))
    except Exception:  # noqa: BLE001 - its own __str__ raised
        return ""


def attributes_of(error: BaseException, values_only: bool = True) -> "dict[str, Any]":
    """Return the attributes that are values; unless `values_only`, also those that are objects, and the chain.

    Of a class that isn't found, only those of the class that it is derived from.
    """
    found = {}
    for name, field in fields_of(type(error)).items():
        value = value_of_field(error, field)
        if value is not None and crosses(value, unreferred):
            found[name] = value
    if type(error) in vars(builtins).values() or place_of(type(error))[0]:
        refer = unreferred if values_only else refer_to_all
        own = vars(error).items()
        found.update((name, value) for name, value in own if is_name(name) and crosses(value, refer))
    if not values_only and has_short_chain(error):
        found.update((name, value) for name in CHAIN if (value := getattr(error, name)))
    return found


def fields_of(kind: type) -> "dict[str, Any]":
    """Return the descriptors of attributes that objects of a class have beside their `__dict__`, by name."""
    items = [item for cls in reversed(kind.__mro__) for item in vars(cls).items()]
    return {name: value for name, value in items if type(value) in FIELDS and name[0] != "_" and name != "args"}


def value_of_field(error: BaseException, field: "Any") -> "Any":
    """Return what a descriptor gets; None if it isn't set."""
    try:
        return field.__get__(error)
    except AttributeError:
        return None


def is_name(name: "Any") -> bool:
    """Whether an attribute of this name may cross."""
    return type(name) is str and (name == "__notes__" or not name.startswith("__"))


def refer_to_all(_value: "Any") -> int:
    """Return a number for any object: a `refer` that only finds out what is too large."""
    return 0


def crosses(value: "Any", refer: "Any") -> bool:
    """Whether a value can be encoded."""
    try:
        encode(value, refer)
    except Unencodable:
        return False
    return True


def has_short_chain(error: BaseException) -> bool:
    """Whether so few exceptions led to this one that they can cross with it; in a recursion there are thousands."""
    waiting, count = [error], 0
    while waiting and count <= LONGEST_CHAIN:
        each, count = waiting.pop(), count + 1
        waiting += [led for led in (each.__cause__, each.__context__) if led is not None]
    return not waiting


def exception_class(peer: "Any", name: str, bases: "tuple[Any, ...]", module: str, path: str) -> type:
    """Return this side's class, or make one."""
    known = known_class(peer.imports, module, path) if path else None
    if known is not None:
        return known
    bases = tuple(base for base in bases if isinstance(base, type) and issubclass(base, BaseException)) or (Exception,)
    mixed = () if any(issubclass(base, ExceptionOfOther) for base in bases) else (ExceptionOfOther,)
    try:
        return type(name, (*mixed, *bases), {"__module__": "program"})
    except TypeError:
        # The bases have different layouts, or an order that Python refuses.
        return type(name, (*mixed, bases[0]), {"__module__": "program"})


def exception(
    peer: "Any", number: int, cls: "Any", arguments: "tuple[Any, ...]", text: str, attributes: "dict[str, Any]"
) -> BaseException:
    """Make an exception of the other side that has this number."""
    error = exception_of(cls, arguments, text, attributes)
    if isinstance(error, ExceptionOfOther):
        error.__dict__.update(_text=text, _origin=new_proxy(peer, number))
    return error


def exception_of(cls: "Any", arguments: "tuple[Any, ...]", text: str, attributes: "dict[str, Any]") -> BaseException:
    """Make an exception, calling builtin classes only; a RuntimeError if the arguments are impossible."""
    if not (isinstance(cls, type) and issubclass(cls, BaseException)):
        raise ValueError("not an exception class")
    base: Any = next(each for each in cls.__mro__ if each.__module__ == "builtins")
    try:
        error = cls(*arguments) if cls is base else base.__new__(cls, *arguments)
    except (TypeError, ValueError):
        return RuntimeError(text)
    error.args = arguments
    fields = {**fields_of(cls), **{name: vars(BaseException)[name] for name in CHAIN}}
    for name, value in attributes.items():
        if name in fields:
            set_field(error, fields[name], value)
        elif is_name(name):
            error.__dict__[name] = value
    return error


def set_field(error: BaseException, field: "Any", value: "Any") -> None:
    """Set what a descriptor gets, unless it can't be changed, like the exceptions of a group."""
    try:
        field.__set__(error, value)
    except (AttributeError, TypeError, ValueError):
        return
