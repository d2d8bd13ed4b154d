"""Running assertions with what they use, and saying what came of it."""

from alpha_codium.judge.codec import Unencodable, encode
from alpha_codium.judge.drivers.loading import tell

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

# What modules are called that assertions use and leave to the program to import: its own would compare as it likes.
ALIASES = {"np": "numpy", "pd": "pandas"}
# The most characters of an exception's text, and of an encoded value, that a result keeps.
MAX_FAILURE, MAX_OUTPUT = 1 << 12, 1 << 20
REBOUND = (int, float, complex, str, bytes, bool, type(None), tuple, frozenset)


def outcome_of(peer: "Any", test_code: "CodeType", task: "dict[str, Any]") -> "tuple[str, Any]":
    """What came of the assertions, and the text of what they raised, whether the program was believed, the output.

    Where they didn't pass, the traceback is on stderr.
    """
    outcome, failure, namespace = "passed", None, {"__name__": "__main__"}
    try:
        namespace = names_for(peer, task)
        run_in(namespace, test_code, task)
    except BaseException as error:  # noqa: BLE001 - however they end, it is said
        outcome = "raised" if any(error is crossed for crossed in peer.crossed) or is_missing(error, task) else "wrong"
        failure = text_of(error)
        tell(error)
    outcome = peer.spoilt[0] if peer.spoilt else outcome
    return outcome, (failure, peer.asked, output_of(peer, namespace, task["output_variable"]))


def is_missing(error: BaseException, task: "dict[str, Any]") -> bool:
    """Whether an exception says that the program doesn't define what the assertions use."""
    return type(error) is NameError and error.args in [(f"name {name!r} is not defined",) for name in task["names"]]


def run_all(peer: "Any", test_code: "CodeType", task: "dict[str, Any]") -> None:
    """Give the assertions what they use, and run them."""
    run_in(names_for(peer, task), test_code, task)


def run_in(namespace: "dict[str, Any]", test_code: "CodeType", task: "dict[str, Any]") -> None:
    """Run the assertions with those names."""
    exec(test_code, namespace)  # noqa: S102 - the dataset's
    if task["calls_check"]:
        namespace["check"](namespace[task["entry_point"]])


def names_for(peer: "Any", task: "dict[str, Any]") -> "dict[str, Any]":
    """What the assertions use."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    if task["setup_code"]:
        exec(compile(task["setup_code"], "setup.py", "exec", dont_inherit=True), namespace)  # noqa: S102 - the dataset's
    if task["seed"]:
        __import__("random").seed(task["seed"])
    for module in task["modules"]:
        namespace[module] = __import__(ALIASES.get(module, module))
    found = peer.load(task["names"])
    namespace.update(found)
    if task["entry_point"] and task["entry_point"] not in namespace:
        error = NameError(f"name {task['entry_point']!r} is not defined")
        peer.crossed.append(error)
        raise error
    if task["types"]:
        namespace["type"] = lambda value: value.__class__
    rebound = [name for name, value in found.items() if type(value) in REBOUND]
    return AssertionNamespace(peer, namespace, rebound) if rebound else namespace


class AssertionNamespace(dict):
    """The names of the assertions; those of values that the program may bind anew are looked up each time."""

    def __init__(self, peer: "Any", names: "dict[str, Any]", rebound: "list[str]") -> None:
        super().__init__((name, value) for name, value in names.items() if name not in rebound)
        self.peer, self.rebound = peer, rebound

    def __missing__(self, name: str) -> "Any":
        if name not in self.rebound:
            raise KeyError(name)
        return self.peer.request("look up", name)


def text_of(error: BaseException) -> str:
    """The beginning of the text of an exception; the name of its class if it has none."""
    try:
        return str.__str__(str(error))[:MAX_FAILURE]
    except Exception:  # noqa: BLE001 - a __str__ of the assertions' own raised
        return type(error).__name__


def output_of(peer: "Any", namespace: "dict[str, Any]", name: str) -> "Any":
    """The value of a variable of the assertions' or else of the program's, as it crosses, or its repr."""
    if not name:
        return None
    try:
        return crossing(namespace[name] if name in namespace else peer.load([name]).get(name))
    except Exception:  # noqa: BLE001 - the program is gone, or raised when it was loaded: there is no value
        return None


def crossing(value: "Any") -> "Any":
    """The value, or the beginning of its repr if it can't be encoded or is too large for a result."""
    try:
        if len(encode(value)) <= MAX_OUTPUT:
            return value
    except Unencodable:
        pass
    return repr(value)[: MAX_OUTPUT >> 4]
