"""In the place of a program, by itself: runs assertions to learn what they call, whatever that may return.

1. stdin holds, as `codec` spells it, a task with the text of the assertions (`assert x` being `x`). A name of the
   program's is a function here that notes its call and returns something of which all is true.
2. Where the assertions ran to their end, `end` and the texts of the calls go to stdout, a line each. They are right
   where no call depends on what another one returned: `replaying` finds out.
"""

import os
import sys

from alpha_codium.judge.codec import decode, encode, unreferred
from alpha_codium.judge.drivers.changes import same_among
from alpha_codium.judge.drivers.loading import leave, set_stdout_aside, tell
from alpha_codium.judge.drivers.outcomes import run_all

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from typing import Any

# Calls that may be noted: beyond, the assertions are run with each program.
MOST_CALLS = 5_000


class Unrecorded(BaseException):
    """The assertions do what can't be foreseen."""


class Anything:
    """What a call may return: every comparison of it is true, it has every attribute, and no items."""

    def _self(self, *_arguments: "Any", **_keywords: "Any") -> "Any":
        return self

    __getitem__ = __call__ = __getattr__ = __neg__ = __abs__ = __round__ = __enter__ = _self
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _self
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __and__ = __or__ = __xor__ = _self

    def _true(self, *_arguments: "Any") -> bool:
        return True

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = _true

    def __hash__(self) -> int:
        return 0

    def __int__(self) -> int:
        return 0

    __index__ = __len__ = __int__

    def __float__(self) -> float:
        return 0.0

    def __str__(self) -> str:
        return ""

    def __iter__(self) -> "Any":
        return iter(())

    def __exit__(self, *_error: "Any") -> bool:
        return False


class Noted:
    """A function of the program's, whose calls are noted."""

    def __init__(self, name: str, calls: "list[str]") -> None:
        self.__dict__.update(_name=name, _calls=calls)

    def __call__(self, /, *arguments: "Any", **keywords: "Any") -> Anything:
        """Note the call."""
        arguments = (self._name, *arguments)
        try:
            text = encode(("ask", "call_name", arguments, keywords, same_among(arguments)), unreferred)
        except TypeError:
            raise Unrecorded from None
        self._calls.append(text)
        if len(self._calls) > MOST_CALLS:
            raise Unrecorded
        return Anything()

    def _unrecorded(self, *_: "Any") -> "Any":
        raise Unrecorded

    __getattr__ = __setattr__ = __delattr__ = _unrecorded
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = __bool__ = __len__ = _unrecorded
    __iter__ = __getitem__ = __contains__ = __add__ = __radd__ = __str__ = __repr__ = _unrecorded
    __class__ = property(_unrecorded)


class RecordingPeer:
    """Takes the place of the program's side."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.crossed: list[Any] = []

    def load(self, names: "list[str]") -> "dict[str, Any]":
        """All the names."""
        return {name: Noted(name, self.calls) for name in names}


def record(task: "dict[str, Any]") -> None:
    """Run the assertions, and say what they called."""
    out, peer = set_stdout_aside(), RecordingPeer()
    try:
        run_all(peer, compile(task["test_code"], "tests.py", "exec", 0, True), task)
    except BaseException as error:  # noqa: BLE001 - then nothing is known
        tell(error)
        leave(0)
    os.write(out, "\n".join(["end", *peer.calls]).encode())
    leave(0)


if "program" in globals():
    record(decode(sys.stdin.read()))
