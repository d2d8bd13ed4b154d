"""A driver that runs assertions without a program, to record the calls that they make.

1. stdin holds a task with the source of the assertions (each `assert x` replaced by `x`), encoded by `codec`. Names
   from the program are functions that record the call and return an object that makes any condition true.
2. If the assertions ran to their end, `end` and the encoded calls go to stdout, one per line. The recording is valid
   only if no call depends on the result of another one, which `replaying` checks.
"""

import os
import sys
from typing import Any, NoReturn

from alpha_codium.judge.codec import decode
from alpha_codium.judge.drivers.changes import same_among
from alpha_codium.judge.drivers.loading import exit_process, print_error, set_stdout_aside
from alpha_codium.judge.drivers.outcomes import CallOnly, names_for, run_in
from alpha_codium.judge.drivers.requests import request_text

# With more calls than this, the assertions are run with each program.
MOST_CALLS = 5_000


class NotRecordable(BaseException):
    """The calls of the assertions can't be recorded."""


class AnyResult:
    """A placeholder for a result: every comparison with it is true, it has any attribute, and no items."""

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
    """A substitute for the program's side of a pair."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.crossed: list[Any] = []

    def load(self, names: "list[str]") -> "dict[str, Any]":
        """Return a recording function for each name."""
        return {name: CallOnly(name, self.record, self.refuse) for name in names}

    def record(self, /, *arguments: "Any", **keywords: "Any") -> AnyResult:
        """Record a call; the first argument is the name of the function."""
        try:
            self.calls.append(request_text(("ask", "call_name", arguments, keywords, same_among(arguments))))
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
    except BaseException as error:  # noqa: BLE001 - without a recording, programs are judged as pairs
        print_error(error)
        exit_process(0)
    os.write(out, "\n".join(["end", *peer.calls]).encode())
    exit_process(0)


if "program" in globals():
    record(decode(sys.stdin.read()))
