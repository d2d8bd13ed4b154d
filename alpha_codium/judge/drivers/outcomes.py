"""Functions that run assertions with the names that they use, and determine their outcome."""

import builtins
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from alpha_codium.judge.codec import Unencodable, encode
from alpha_codium.judge.drivers.exceptions import ExceptionOfOther
from alpha_codium.judge.drivers.loading import print_error
from alpha_codium.judge.drivers.proxies import is_proxy

# Modules that assertions use by these names without importing them. The program's own could forge comparisons.
ALIASES = {"np": "numpy", "pd": "pandas", "numpy": "numpy", "pandas": "pandas"}
# Characters of an exception's text, and of an encoded value, that a result keeps at most.
MAX_FAILURE, MAX_OUTPUT = 1 << 12, 1 << 20
LOADING = "The program raised this while it was loaded, before the tests:\n"
REBOUND = (int, float, complex, str, bytes, bool, type(None), tuple, frozenset)


def outcome_of(peer: "Any", test_code: "CodeType", task: "dict[str, Any]") -> "tuple[str, Any]":
    """Run the assertions; return their outcome and its details, as described in `asserting`.

    If they don't pass, the traceback is printed to stderr, and that of the program to its stderr.
    """
    outcome, failure, raised, namespace = "passed", None, None, {"__name__": "__main__"}
    try:
        namespace = names_for(peer, task)
        run_in(namespace, test_code, task)
    except BaseException as error:  # noqa: BLE001 - it is reported
        outcome = "raised" if any(error is crossed for crossed in peer.crossed) or is_missing(error, task) else "wrong"
        failure, raised = text_of(error), error
        print_error(error)
    outcome = peer.final_outcomes[0] if peer.final_outcomes else outcome
    returned = peer.last_answer() if outcome == "wrong" else ""
    details = failure, peer.believed, returned, output_of(peer, namespace, task["output_variable"])
    peer.show(raised)
    return outcome, details


def is_missing(error: BaseException, task: "dict[str, Any]") -> bool:
    """Whether an exception shows that the program doesn't define a name that the assertions use."""
    names = (*task["names"], *task["modules"])
    return type(error) is NameError and error.args in [(f"name {name!r} is not defined",) for name in names]


def run_in(namespace: "dict[str, Any]", test_code: "CodeType", task: "dict[str, Any]") -> None:
    """Run the assertions in `namespace`."""
    exec(test_code, namespace)  # noqa: S102 - the dataset's
    if task["calls_check"]:
        namespace["check"](namespace[task["entry_point"]])


def names_for(peer: "Any", task: "dict[str, Any]") -> "dict[str, Any]":
    """The namespace with the names that the assertions use."""
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": "tests.py"}
    if task["setup_code"]:
        exec(compile(task["setup_code"], "setup.py", "exec", dont_inherit=True), namespace)  # noqa: S102 - the dataset's
    if task["seed"]:
        __import__("random").seed(task["seed"])
    try:
        found = peer.load([*task["names"], *task["modules"], *task["required"], *task["errors"]])
    except BaseException:
        sys.stderr.write(LOADING)
        raise
    require(peer, task["required"], {**namespace, **found})
    # A builtin is the program's only if that has an exception of this name: a class that can't decide anything.
    for name in task["errors"]:
        if name in found and not is_of_other(found[name]):
            del found[name]
    for module in task["modules"]:
        # The program must have imported it, as if both were one file, but the assertions use their own.
        if module in found:
            del found[module]
            namespace[module] = __import__(ALIASES.get(module, module))
    namespace.update(found)
    entry_point = task["entry_point"]
    # A builtin of this name isn't what the assertions are about.
    if task["calls_check"] or hasattr(builtins, entry_point):
        require(peer, [entry_point], namespace)
    if "StopIteration" not in task["catches"] and "next" not in found:
        namespace["next"] = next_item
    for name in ("callable", "hasattr"):
        if name not in found:
            namespace[name] = asked_of_program(peer, name)
    if task["types"]:
        namespace["type"] = lambda value: value.__class__
    rebound = [name for name, value in found.items() if type(value) in REBOUND]
    return AssertionNamespace(peer, namespace, rebound) if rebound else namespace


def require(peer: "Any", names: "list[str]", namespace: "dict[str, Any]") -> None:
    """Raise the program's NameError unless it defines these names."""
    for name in names:
        if name not in namespace:
            error = NameError(f"name {name!r} is not defined")
            peer.crossed.append(error)
            raise error


def is_of_other(value: "Any") -> bool:
    """Whether a value is a class of exceptions that only the program has; a stand-in for a function isn't asked.

    Classes that derive from another than Exception would catch, or hide, what the assertions raise themselves.
    """
    if not issubclass(type(value), type) or not issubclass(value, ExceptionOfOther):
        return False
    bases = {base for base in value.__mro__ if base.__module__ == "builtins"}
    return bases == {Exception, BaseException, object}


def asked_of_program(peer: "Any", name: str) -> "Callable[..., Any]":
    """Return a builtin that asks the program about its own objects: a proxy has all methods, and can be called."""

    def ask(value: "Any", *rest: "Any") -> "Any":
        return bool(peer.request(name, value, *rest)) if is_proxy(value) else getattr(builtins, name)(value, *rest)

    return ask


def next_item(iterator: "Any", *default: "Any") -> "Any":
    """Do what `next` does, but an exhausted iterator must not silently end a `map` of the assertions."""
    try:
        return next(iterator, *default)
    except StopIteration:
        raise RuntimeError("an iterator has no more items") from None


class CallOnly:
    """A stand-in for a function of an absent program: calls become `call(name, ...)`; any other use calls `refuse`."""

    def __init__(self, name: str, call: "Callable[..., Any]", refuse: "Callable[[], Any]") -> None:
        self.__dict__.update(_name=name, _call=call, _refuse=refuse)

    def __call__(self, /, *arguments: "Any", **keywords: "Any") -> "Any":
        """Call it."""
        return self._call(self._name, *arguments, **keywords)

    def _refused(self, *_: "Any") -> "Any":
        self._refuse()

    __getattr__ = __setattr__ = __delattr__ = _refused
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = __bool__ = __len__ = _refused
    __iter__ = __getitem__ = __contains__ = __add__ = __radd__ = __str__ = __repr__ = _refused
    __class__ = property(_refused)


class AssertionNamespace(dict):
    """The namespace of assertions; names that the program may rebind are looked up on each use."""

    def __init__(self, peer: "Any", names: "dict[str, Any]", rebound: "list[str]") -> None:
        super().__init__((name, value) for name, value in names.items() if name not in rebound)
        self.peer, self.rebound = peer, rebound

    def __missing__(self, name: str) -> "Any":
        if name not in self.rebound:
            raise KeyError(name)
        return self.peer.request("look up", name)


def text_of(error: BaseException) -> str:
    """Return the beginning of an exception's text, or the name of its class if `str` fails."""
    try:
        return str.__str__(str(error))[:MAX_FAILURE]
    except Exception:  # noqa: BLE001 - its __str__ raised
        return type(error).__name__


def output_of(peer: "Any", namespace: "dict[str, Any]", name: str) -> "Any":
    """Return the value of a variable of the assertions, or else of the program, in a form that can be encoded."""
    if not name:
        return None
    try:
        return crossing(namespace[name] if name in namespace else peer.load([name]).get(name))
    except Exception:  # noqa: BLE001 - the program has ended, or raised when it was loaded: there is no value
        return None


def crossing(value: "Any") -> "Any":
    """Return the value, or the beginning of its repr if it can't be encoded or is too large for a result."""
    try:
        if len(encode(value)) <= MAX_OUTPUT:
            return value
    except Unencodable:
        pass
    return repr(value)[: MAX_OUTPUT >> 4]
