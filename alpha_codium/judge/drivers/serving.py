"""The driver of a pair's right side: loads the program, and answers requests of the assertions on the left side.

1. stdin holds the setup code, encoded by `codec`. The program runs to its end before the first request is read.
2. The first request is `load` with a list of names: the answer has those that exist, or the exception that the program
   raised. The last may be `show`, with an exception that ended the assertions: its traceback goes to stderr. Other
   requests are those of `OPERATIONS`; see `peer`.
3. Objects that `codec` can't encode stay here, and are sent as reference numbers.

The program controls this process and can forge any answer; on the left side, answers are only values.
"""

import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from alpha_codium.judge.codec import decode
from alpha_codium.judge.drivers.changes import held_in
from alpha_codium.judge.drivers.loading import exit_process, load, look_up, print_error, trace_of
from alpha_codium.judge.drivers.operations import OPERATIONS
from alpha_codium.judge.drivers.peer import Peer, ProgramEnded

# Stack frames below the program's: `serve`, `take`, `answers_to`, `do`, `result_of`, and the operation.
FRAMES = 6
# Requests to objects and iterators of the program, whose answers may be parts of them.
HELD = ("get", "item", "next", "next_async", "call", "enter", "enter_async", "await")


def _requesting(what: str) -> "Callable[..., Any]":
    return lambda peer, *arguments: peer.request(what, *arguments)


class RightPeer(Peer):
    """The program's side, which may request whatever the left side allows."""

    def __init__(self, namespace: "Callable[[], dict[str, Any]]") -> None:
        super().__init__(False, self.do)
        self.namespace = namespace
        self.kept: list[Any] = []
        # The objects that the assertions know by name.
        self.named: list[Any] = []
        # Whether the last answer has containers to keep in sync.
        self.holds = False

    def do(self, what: str, arguments: "tuple[Any, ...]", keywords: "dict[str, Any]") -> "Any":
        """Carry out a request."""
        value = self.result_of(what, arguments, keywords)
        # Calls by name may be recorded and their answers replayed, so these are copies.
        by_name = what == "call" and any(each is arguments[0] for each in self.named)
        self.holds = False
        if what in HELD and not by_name:
            outer, inner = references_to(value)
            self.holds = outer > NEW_OUTER or inner > NEW_INNER
        return value

    def send_answer(self, message: "tuple[Any, ...]") -> None:
        """Answer a request; containers that the program still refers to stay in sync."""
        held = held_in(message[1]) if message[0] == "value" and self.holds else []
        if not held:
            return self.send(message)
        self.send_changes()  # after which the places are those of the other side
        place = next((place for place, each in enumerate(self.held) if each is message[1]), None)
        if place is not None:
            return self.send(("again", place))
        self.send(("held", message[1]))
        return self.hold(held)

    def result_of(self, what: str, arguments: "tuple[Any, ...]", keywords: "dict[str, Any]") -> "Any":
        """Return the result of a request."""
        if what == "load":
            found = found_in(self.namespace(), *arguments)
            self.named = list(found.values())
            self.share(found)
            return found
        if what == "look up":
            return look_up(self.namespace(), arguments[0])
        if what == "capture":
            return self.capture()
        if what == "captured":
            return self.captured()
        if what == "show":
            # One raised while the program was loaded has no frames any more, and was printed then.
            return print_error(*arguments) if trace_of(*arguments) else None
        return OPERATIONS[what](*arguments, **keywords)

    def capture(self) -> None:
        """Start capturing stdout and stderr."""
        own = (__import__("io").StringIO(), __import__("io").StringIO())
        self.kept.append((sys.stdout, sys.stderr, own))
        sys.stdout, sys.stderr = own

    def captured(self) -> "tuple[str, str]":
        """Return what was captured of stdout and stderr, and restore both."""
        sys.stdout, sys.stderr, (out, errors) = self.kept.pop()
        return out.getvalue(), errors.getvalue()

    def request(self, what: str, /, *arguments: "Any", **keywords: "Any") -> "Any":
        """Ask the left side; returns its answer or raises its exception."""
        kind, value = self.ask(what, *arguments, **keywords)
        if kind == "raised":
            raise value
        return value

    def call(self, proxy: "Any", arguments: "tuple[Any, ...]", keywords: "dict[str, Any]") -> "Any":
        """Call a function of the left side."""
        return self.request("call", proxy, *arguments, **keywords)

    get, compare, operate, contains = map(_requesting, ("get", "compare", "operate", "contains"))


def references_to(value: "Any") -> "tuple[int, int]":
    """Return how many references there are to an answer that is a container, and the most to a container in it."""
    outer = inner = 0
    for each in held_in(value):
        if each is value:
            outer = sys.getrefcount(each)
        else:
            inner = max(inner, sys.getrefcount(each))
    return outer, inner


def _references_to_new() -> "tuple[int, int]":
    value: list[list[int]] = [[]]
    return references_to(value)


# Those to containers that nothing else in the program refers to, so that they can't change.
NEW_OUTER, NEW_INNER = _references_to_new()


def found_in(namespace: "dict[str, Any]", names: "list[str]") -> "dict[str, Any]":
    """Return the objects under those of the names that the program defines."""
    return {name: namespace[name] for name in names if name in namespace}


def loader(program: "CodeType", setup_code: str) -> "Callable[[], dict[str, Any]]":
    """Run the program; return a function that returns its namespace, or raises the program's exception."""
    try:
        namespace = load(program, setup_code, FRAMES)
    except MemoryError:
        raise  # ends this process, so that the sandbox sees which limit was reached
    except BaseException as error:  # noqa: BLE001 - raised again on each use
        print_error(error)
        raised = error.with_traceback(None)

        def fail() -> "dict[str, Any]":
            raise raised

        return fail
    return lambda: namespace


def serve(program: "CodeType") -> None:
    """Load the program, then answer until the left side has ended."""
    peer = RightPeer(loader(program, decode(sys.stdin.read())))
    while True:
        try:
            message = peer.receive()
        except ProgramEnded:
            exit_process(0)
        peer.take(message[0], list(message[1:]))


if "program" in globals():
    serve(globals()["program"])
