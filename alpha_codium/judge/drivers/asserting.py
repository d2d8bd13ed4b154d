"""In the place of a program, on the left of a pair: runs assertions against proxies of what is on the right.

1. stdin holds, as `codec` spells it, `(token, setup_code, entry_point, names, modules, calls_check)`; the program is
   the code with the assertions. The setup code and the modules are run and imported here, where the program under test
   can't touch them; `names` stand for what the program defines.
2. Calls and results cross as values of exact types. What can't cross stays on the right and is a `Remote` here: it can
   be called, passed on, iterated, its attributes read and set, but never compared, so that no `__eq__` of the program's
   decides. What a call does to its arguments doesn't come back: assertions see a list as they passed it.
3. An exception of the program's is raised here as the nearest of Python's own classes, or as a ProgramError.
4. Last, the token and the outcome go to stdout: `passed`, `wrong` (an assertion), `raised` (by the program), `ended`
   (the program was gone, or answered nonsense), `foreign` (an object of the program's had to be compared) or
   `unsupported` (the assertions pass what can't cross). The last three stay, whatever the assertions catch.
"""

import builtins
import os
import sys

from alpha_codium.judge.codec import Excessive, Malformed, Unencodable, decode
from alpha_codium.judge.drivers.channel import Gone, receive, send
from alpha_codium.judge.drivers.loading import leave, set_stdout_aside, tell

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any, NoReturn

# The first outcome that can't be undone by catching an exception, and the exceptions that came from the program.
SPOILT: "list[str]" = []
CROSSED: "list[Exception]" = []
# What text and sets are asked for in place of a comparison: `candidate(x).issubset(y)`.
PREDICATES = {
    name for kind in (str, set, float) for name in dir(kind) if name.startswith("is") or name.endswith("with")
}


class ProgramError(RuntimeError):
    """An exception of a class that the program made, or that can't be made from a message."""


class Foreign(TypeError):
    """An object of the program's was to be compared outside of it."""


def ask(what: str, *arguments: "Any", **keywords: "Any") -> "Any":
    """Let the program do something; its value, or its exception raised."""
    try:
        send((what, arguments, keywords), _number_of)
        kind, *answer = receive(Remote)
        if kind == "value" and len(answer) == 1:
            return answer[0]
        names, message = answer
        error = exception_of(names, message)
    except (Gone, Malformed, TypeError, ValueError) as fault:
        # A program can make a value too deep or too large: that must not lead to where it decides by itself.
        other_type = isinstance(fault, Unencodable) and not isinstance(fault, Excessive)
        SPOILT.append("unsupported" if other_type else "ended")
        raise
    CROSSED.append(error)
    raise error


def exception_of(names: "Any", message: "Any") -> Exception:
    """The exception of the first of `names` that is one of Python's own and takes a message."""
    for name in names:
        cls = getattr(builtins, name, Exception)
        if isinstance(cls, type) and issubclass(cls, Exception) and cls is not Exception:
            try:
                return cls(message)
            except TypeError:
                continue
    return ProgramError(message)


def _refuse(*_: "Any") -> "NoReturn":
    SPOILT.append("foreign")
    raise Foreign("an object of the program's own can't be compared outside of it")


class Remote:
    """Stands for an object of the program's."""

    __slots__ = ("_number",)

    def __init__(self, number: int) -> None:
        object.__setattr__(self, "_number", number)

    def __call__(self, *arguments: "Any", **keywords: "Any") -> "Any":
        """What the program's function returns, or raises."""
        return ask("call", self, *arguments, **keywords)

    def __getattr__(self, name: str) -> "Any":
        if name.startswith("__"):
            raise AttributeError(name)
        if name in PREDICATES:
            _refuse()
        return ask("get", self, name)

    def __setattr__(self, name: str, value: "Any") -> None:
        ask("set", self, name, value)

    def __getitem__(self, key: "Any") -> "Any":
        return ask("item", self, key)

    def __iter__(self) -> "Any":
        return ask("iterate", self)

    def __next__(self) -> "Any":
        return ask("next", self)

    def __len__(self) -> int:
        return ask("length", self)

    def __bool__(self) -> bool:
        return ask("truth", self)

    def __str__(self) -> str:
        return ask("text", self)

    def __repr__(self) -> str:
        return ask("repr", self)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _refuse


def _number_of(value: "Any") -> "int | None":
    return object.__getattribute__(value, "_number") if type(value) is Remote else None


def run(test_code: "CodeType") -> None:
    """Run the assertions, and say on stdout what came of it."""
    token, *task = decode(sys.stdin.read())
    stdout = set_stdout_aside()
    outcome = outcome_of(test_code, *task)
    os.write(stdout, f"{token} {outcome}\n".encode())
    leave(0 if outcome == "passed" else 1)


def outcome_of(test_code: "CodeType", *task: "Any") -> str:
    """What came of the assertions; where they didn't pass, the traceback is on stderr."""
    outcome = "passed"
    try:
        run_all(test_code, *task)
    except BaseException as error:  # noqa: BLE001 - however they end, it is said
        outcome = "raised" if any(error is crossed for crossed in CROSSED) else "wrong"
        tell(error)
    return SPOILT[0] if SPOILT else outcome


def run_all(
    test_code: "CodeType",
    setup_code: str,
    entry_point: str,
    names: "list[str]",
    modules: "list[str]",
    calls_check: bool,
) -> None:
    """Give the assertions what they use, and run them."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    if setup_code:
        exec(compile(setup_code, "setup.py", "exec", dont_inherit=True), namespace)  # noqa: S102 - the dataset's
    for module in modules:
        namespace[module] = __import__(module)
    for name in names:
        try:
            namespace[name] = ask("find", name)
        except NameError:
            if name == entry_point:
                raise
    exec(test_code, namespace)  # noqa: S102 - the dataset's
    if calls_check:
        namespace["check"](namespace[entry_point])


if "program" in globals():
    run(globals()["program"])
