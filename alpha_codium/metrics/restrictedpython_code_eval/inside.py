"""Code for the jail, sent as text: compiles and runs a candidate with RestrictedPython, and exposes its names.

1. The candidate runs in a separate namespace, with the selected builtins and the user's guards, or else those of
   RestrictedPython.
2. The engine looks up the names of a program in its module's `__dict__`. It is replaced by a `ModuleNames`, which finds
   the candidate's names with their current values. Its builtins are Python's, so that a test that runs there isn't
   restricted.

Standard library and RestrictedPython only. The guards aren't a protection, they only restrict the language; the jail
protects from programs.
"""

import operator
import sys

from RestrictedPython import (
    RestrictingNodeTransformer,
    compile_restricted_exec,
    limited_builtins,
    safe_builtins,
    utility_builtins,
)
from RestrictedPython.Eval import default_guarded_getitem, default_guarded_getiter
from RestrictedPython.Guards import (
    full_write_guard,
    guarded_iter_unpack_sequence,
    guarded_unpack_sequence,
    safer_getattr,
)
from RestrictedPython.PrintCollector import PrintCollector

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

# The module that the engine loads a program as; its classes say so, too.
MODULE = "program"
# RestrictedPython's name for the collector of printed text.
COLLECTOR = "_print"
# The name by which a program reads that text.
PRINTED = "printed"
# Functions of utility_builtins that tests may call, too; they have its modules and sets anyway.
UTILITIES = ("same_type", "reorder", "test")
OPERATORS = {
    "+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "/=": operator.itruediv, "%=": operator.imod,
    "**=": operator.ipow, "<<=": operator.ilshift, ">>=": operator.irshift, "|=": operator.ior, "^=": operator.ixor,
    "&=": operator.iand, "//=": operator.ifloordiv, "@=": operator.imatmul,
}  # fmt: skip
MISSING = object()


class ModuleNames(dict):  # type: ignore[type-arg] - Python 3.9 doesn't subscribe it
    """The module's own names, and as a fallback those that the candidate defined or changed."""

    def __init__(self, own: "dict[str, Any]", namespace: "dict[str, Any]") -> None:
        super().__init__(own)
        self.namespace, self.given = namespace, dict(namespace)
        self.copied: dict[str, Any] = {}

    def copy_in(self) -> None:
        """Copy the candidate's names, for code that copies all names at once."""
        for name in (PRINTED, *UTILITIES, *self.namespace):
            value = MISSING if dict.__contains__(self, name) else self.current(name)
            if value is not MISSING:
                self.copied[name] = value
        self.update(self.copied)

    def current(self, name: str) -> "Any":
        """The candidate's value of that name, its printed text, or a utility of RestrictedPython for tests."""
        if name == PRINTED:
            return self.namespace[COLLECTOR]() if COLLECTOR in self.namespace else ""
        value = self.namespace.get(name, MISSING)
        if value is not self.given.get(name, MISSING):
            return value
        return utility_builtins[name] if name in UTILITIES else MISSING

    def __getitem__(self, name: str) -> "Any":
        value = super().get(name, MISSING)
        # A value that differs from the copy was set by the test itself.
        if value is self.copied.get(name, MISSING):
            value = self.current(name)
        if value is MISSING:
            raise KeyError(name)
        return value

    def get(self, name: "Any", default: "Any" = None) -> "Any":
        """See `dict`."""
        try:
            return self[name]
        except KeyError:
            return default

    def __contains__(self, name: object) -> bool:
        return self.get(name, MISSING) is not MISSING


def run(own: "dict[str, Any]", source: str, options: "dict[str, Any]") -> None:
    """Run the candidate `source` as `options` say (see `wrapping`), in the module with the names `own`."""
    module = sys.modules[MODULE]
    namespace = namespace_of({name: own[name] for name in options["shared"]} | options["globals"], options)
    policy = options["policy"] or RestrictingNodeTransformer
    if options["underscores"]:
        policy = allowing_underscores(policy, namespace)
    names = ModuleNames(own, namespace)
    namespace.update(options["locals"])
    compiled = compile_restricted_exec(source, "candidate.py", policy=policy)
    if compiled.code is None:
        # As compile_restricted does it.
        raise SyntaxError(compiled.errors)
    exec(compiled.code, namespace)  # noqa: S102 - running it is what a sandbox is for
    names.copy_in()
    module.__class__ = type("Module", (type(module),), {"__dict__": property(lambda _: names)})


def namespace_of(namespace: "dict[str, Any]", options: "dict[str, Any]") -> "dict[str, Any]":
    """The user's values, the builtins that were asked for, and the guards that the user didn't give."""
    own = namespace.get("__builtins__", {})
    allowed = dict(own if isinstance(own, dict) else vars(own))
    sets = {"safe": safe_builtins, "limited": limited_builtins, "utility": utility_builtins}
    for name in options["builtins"]:
        allowed.update(sets[name])
    if options["imports"] is not None:
        allowed["__import__"] = importer(options["imports"])
    namespace["__builtins__"] = allowed
    for name, guard in guards(options["str_format"]).items():
        namespace.setdefault(name, guard)
    return namespace


def guards(str_format: bool) -> "dict[str, Any]":
    """Return the functions that restricted code calls to read and write attributes and items, iterate and print."""
    getter = getattr_with_format if str_format else getattr_or_error
    return {
        "__metaclass__": type,
        "__name__": MODULE,
        "getattr": getter,
        "_getattr_": getter,
        "_getitem_": default_guarded_getitem,
        "_getiter_": default_guarded_getiter,
        "_iter_unpack_sequence_": guarded_iter_unpack_sequence,
        "_unpack_sequence_": guarded_unpack_sequence,
        "_write_": write_guard,
        "_inplacevar_": in_place,
        "_apply_": apply,
        "_print_": PrintCollector,
    }


def getattr_or_error(target: "Any", name: str, *default: "Any") -> "Any":
    """Act as RestrictedPython's guard, but raise AttributeError for a missing attribute instead of returning None."""
    value = safer_getattr(target, name, MISSING)
    return getattr(target, name, *default) if value is MISSING else value


def getattr_with_format(target: "Any", name: str, *default: "Any") -> "Any":
    """Act as `getattr_or_error`, but allow `str.format` and `str.format_map`."""
    if name in ("format", "format_map") and issubclass(target if isinstance(target, type) else type(target), str):
        return getattr(target, name)
    return getattr_or_error(target, name, *default)


def write_guard(target: "Any") -> "Any":
    """RestrictedPython's `full_write_guard`, which refuses writing to modules and the like, but lets programs write to
    their own classes, to the objects of those, and to containers.
    """
    if isinstance(target, type):
        free = target.__module__ == MODULE
    else:
        free = type(target).__module__ in (MODULE, "collections") or type(target) is bytearray
    return target if free else full_write_guard(target)


def in_place(symbol: str, left: "Any", right: "Any") -> "Any":
    """`left += right`, or another operation by its symbol."""
    return OPERATORS[symbol](left, right)


def apply(function: "Callable[..., Any]", *arguments: "Any", **keywords: "Any") -> "Any":
    """A call with `*` or `**`."""
    return function(*arguments, **keywords)


def importer(allowed: "list[str]") -> "Callable[..., Any]":
    """An `__import__` of the modules `allowed`, and of what is in them."""

    def import_allowed(
        name: str,
        globals: "Mapping[str, Any] | None" = None,
        locals: "Mapping[str, Any] | None" = None,
        fromlist: "tuple[str, ...] | None" = (),
        level: int = 0,
    ) -> "Any":
        if level or not any(name == each or name.startswith(f"{each}.") for each in allowed):
            raise ImportError(f"import of {name!r} is not allowed", name=name)
        return __import__(name, globals, locals, fromlist or (), level)

    return import_allowed


def allowing_underscores(policy: type, namespace: "dict[str, Any]") -> type:
    """The policy with names that begin with `_`, except those of the guards."""
    reserved = {name for name in namespace if name.startswith("_")} - {"__name__"} | {COLLECTOR}

    class AllowingUnderscores(policy):  # pyrefly: ignore[invalid-inheritance]
        def check_name(self, node: "Any", name: "str | None", allow_magic_methods: bool = False) -> None:
            ours = name in reserved or (name or "").startswith("_tmp") or (name or "").endswith("__roles__")
            if ours or not (name or "").startswith("_"):
                super().check_name(node, name, allow_magic_methods)

    return AllowingUnderscores
