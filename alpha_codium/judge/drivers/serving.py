"""In the program's place, on the right of a pair: does what the assertions on the left ask of the program.

1. stdin holds the setup code, as `codec` spells it. The program runs whole before the first request is read.
2. The first request is `load` with the names that are wanted: the answer has those that exist, or the exception that
   the program raised while it ran. The others are those of `OPERATIONS`; see `peer`.
3. What `codec` refuses stays here, and a number stands for it on the left.

The program can do and answer what it likes on this side: on the left it is never more than values.
"""

import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from alpha_codium.judge.codec import decode
from alpha_codium.judge.drivers.loading import exit_process, find, load, print_error
from alpha_codium.judge.drivers.operations import OPERATIONS
from alpha_codium.judge.drivers.peer import ChannelClosed, Peer

# Calls below those of the program: `serve`, `take`, `answers_to`, `do`, and the operation.
FRAMES = 5


def _requesting(what: str) -> "Callable[..., Any]":
    return lambda peer, *arguments: peer.request(what, *arguments)


class RightPeer(Peer):
    """The program's side, which may ask for whatever the left side lets it."""

    def __init__(self, namespace: "Callable[[], dict[str, Any]]") -> None:
        super().__init__(False, self.do)
        self.namespace = namespace
        self.kept: list[Any] = []

    def do(self, what: str, arguments: "tuple[Any, ...]", keywords: "dict[str, Any]") -> "Any":
        """Do what was asked."""
        if what == "load":
            found = found_in(self.namespace(), *arguments)
            self.share(found)
            return found
        if what == "look up":
            return find(self.namespace(), arguments[0])
        if what == "capture":
            return self.capture()
        if what == "captured":
            return self.captured()
        return OPERATIONS[what](*arguments, **keywords)

    def capture(self) -> None:
        """Keep what is printed from here on."""
        own = (__import__("io").StringIO(), __import__("io").StringIO())
        self.kept.append((sys.stdout, sys.stderr, own))
        sys.stdout, sys.stderr = own

    def captured(self) -> "tuple[str, str]":
        """What was printed meanwhile to stdout and stderr, which are what they were."""
        sys.stdout, sys.stderr, (out, errors) = self.kept.pop()
        return out.getvalue(), errors.getvalue()

    def request(self, what: str, /, *arguments: "Any", **keywords: "Any") -> "Any":
        """Ask the left side; returns its answer or raises its exception."""
        kind, value = self.ask(what, *arguments, **keywords)
        if kind == "raised":
            raise value
        return value

    def call(self, proxy: "Any", arguments: "tuple[Any, ...]", keywords: "dict[str, Any]") -> "Any":
        """Call a function of the left side's."""
        return self.request("call", proxy, *arguments, **keywords)

    get, compare, operate, contains = map(_requesting, ("get", "compare", "operate", "contains"))


def found_in(namespace: "dict[str, Any]", names: "list[str]") -> "dict[str, Any]":
    """Those of the names that the program defines."""
    found = {}
    for name in names:
        try:
            found[name] = find(namespace, name)
        except NameError:
            continue
    return found


def loader(program: "CodeType", setup_code: str) -> "Callable[[], dict[str, Any]]":
    """Run the program; returns a function that returns its namespace, or raises the exception that it raised."""
    try:
        namespace = load(program, setup_code, FRAMES)
    except MemoryError:
        raise  # ends this process, so that the sandbox sees which limit was reached
    except BaseException as error:  # noqa: BLE001 - it is raised to whoever asks
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
        except ChannelClosed:
            exit_process(0)
        peer.take(message[0], list(message[1:]), (), {})


if "program" in globals():
    serve(globals()["program"])
