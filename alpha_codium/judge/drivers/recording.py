"""In the place of a program, by itself: runs assertions to learn what they call, whatever the calls may return.

1. stdin holds, as `codec` spells it, a task with the text of the assertions (`assert x` being `x`). A name of the
   program's is a function here that records its call and returns an object that makes any condition true.
2. If the assertions ran to their end, `end` and the texts of the calls go to stdout, a line each. They are right if no
   call depends on what another one returned: `replaying` finds out.
"""

import os
import sys
from typing import Any, NoReturn

from alpha_codium.judge.codec import decode, encode, unreferred
from alpha_codium.judge.drivers.changes import same_among
from alpha_codium.judge.drivers.loading import exit_process, print_error, set_stdout_aside
from alpha_codium.judge.drivers.outcomes import CallOnly, names_for, run_in

# With more calls than this, the assertions are run with each program.
MOST_CALLS = 5_000


class NotRecordable(BaseException):
    """The assertions do what can't be foreseen."""


class AnyResult:
    """What a call may return: every comparison of it is true, it has every attribute, and no items."""

    def _self(self, *_arguments: "Any", **_keywords: "Any") -> "Any":
        return self

    __getitem__ = __call__ = __getattr__ = __neg__ = __abs__ = __round__ = __enter__ = _self
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _self
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __and__ = __or__ = __xor__ = _self

    def _true(self, *_arguments: "Any") -> bool:
        return True

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = _true

    def _zero(self) -> int:
        return 0

    __hash__ = __int__ = __index__ = __len__ = _zero

    def __float__(self) -> float:
        return 0.0

    def __str__(self) -> str:
        return ""

    def __iter__(self) -> "Any":
        return iter(())

    def __exit__(self, *_error: "Any") -> bool:
        return False


class RecordingPeer:
    """Takes the place of the program's side."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.crossed: list[Any] = []

    def load(self, names: "list[str]") -> "dict[str, Any]":
        """All the names."""
        return {name: CallOnly(name, self.record, self.refuse) for name in names}

    def record(self, /, *arguments: "Any", **keywords: "Any") -> AnyResult:
        """Record a call; the first argument is the name of the function."""
        try:
            self.calls.append(encode(("ask", "call_name", arguments, keywords, same_among(arguments)), unreferred))
        except TypeError:
            self.refuse()
        if len(self.calls) > MOST_CALLS:
            self.refuse()
        return AnyResult()

    def refuse(self) -> "NoReturn":
        """Stop recording."""
        raise NotRecordable


def record(task: "dict[str, Any]") -> None:
    """Run the assertions, and write what they called."""
    out, peer = set_stdout_aside(), RecordingPeer()
    try:
        run_in(names_for(peer, task), compile(task["test_code"], "tests.py", "exec", 0, True), task)
    except BaseException as error:  # noqa: BLE001 - nothing is known then
        print_error(error)
        exit_process(0)
    os.write(out, "\n".join(["end", *peer.calls]).encode())
    exit_process(0)


if "program" in globals():
    record(decode(sys.stdin.read()))
