"""In the place of a program, by itself: runs assertions against what programs have answered (see `answering`).

1. stdin holds, as `codec` spells it, `(token, task, requests, answers)`: for each program the lines that it wrote.
   The text of the assertions is in the task; they are run anew for each program.
2. Each call must be the next of the requests, to the letter; one in the message of an assertion, one that was made
   before. Where it isn't, or where an object of the program's is asked for anything, the outcome is `abandoned`: that
   program must be asked itself.
3. A line goes to stdout for each program, with the token, the outcome, what is said of it and the traceback.
"""

import _io
import os
import sys

from alpha_codium.judge.codec import Unencodable, decode, encode, unreferred
from alpha_codium.judge.drivers.assertion_side import LeftPeer
from alpha_codium.judge.drivers.loading import leave, set_stdout_aside
from alpha_codium.judge.drivers.outcomes import outcome_of
from alpha_codium.judge.drivers.peer import ENDED, Gone

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

# What makes a message, in the assertions' text; see `assertion_batches`.
MESSAGE = "_message_of_"
# The most characters of a traceback that a result keeps.
MAX_TRACEBACK = 1 << 14


class Abandoned(BaseException):
    """What was recorded doesn't do."""


class Answered:
    """A function of the program's, whose answers are known."""

    def __init__(self, peer: "ReplayingPeer", name: str) -> None:
        self.__dict__.update(_peer=peer, _name=name)

    def __call__(self, /, *arguments: "Any", **keywords: "Any") -> "Any":
        """The next answer."""
        return self._peer.request("call_name", self._name, *arguments, **keywords)

    def _abandon(self, *_: "Any") -> "Any":
        self._peer.abandon()

    __getattr__ = __setattr__ = __delattr__ = _abandon
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = __bool__ = __len__ = _abandon
    __iter__ = __getitem__ = __contains__ = __add__ = __radd__ = __str__ = __repr__ = _abandon
    __class__ = property(_abandon)


class ReplayingPeer(LeftPeer):
    """The side of the assertions, with a list of answers in place of a program."""

    def __init__(self, task: "dict[str, Any]", requests: "list[str]", answers: "list[str]") -> None:
        super().__init__(task["catches"], task["has_class"])
        self.requests, self.answers, self.place = requests, answers, 0
        self.waiting: list[str] = []
        self.in_message = False

    def load(self, names: "list[str]") -> "dict[str, Any]":
        """The functions of those names; raises what the program raised when it ran."""
        self.request("load")
        return {MESSAGE: self.message, **{name: Answered(self, name) for name in names}}

    def message(self, make: "Callable[[], Any]") -> "Any":
        """The message of an assertion that has failed; what it asks for was asked for before."""
        self.in_message = True
        try:
            return make()
        finally:
            self.in_message = False

    def send(self, message: "tuple[Any, ...]") -> None:
        """Take the answer to a request, if it is the one that was answered."""
        place = 0 if message[1] == "load" else self.place_of(self.text_of(message))
        if place >= len(self.answers):
            raise Gone(ENDED)
        self.waiting = self.answers[place].split(" ")
        if self.waiting == ["other"]:
            self.abandon()

    def place_of(self, request: str) -> int:
        """Where the answer to a request stands: the first one is that to `load`."""
        if self.in_message and request in self.requests[: self.place]:
            return 1 + self.requests.index(request)
        if self.in_message or self.place >= len(self.requests) or request != self.requests[self.place]:
            self.abandon()
        self.place += 1
        return self.place

    def text_of(self, message: "tuple[Any, ...]") -> str:
        """The text of a request without references."""
        try:
            return encode(message, unreferred)
        except Unencodable:
            return ""

    def receive(self) -> "Any":
        """The next message of an answer."""
        if not self.waiting:
            raise Gone(ENDED)
        return decode(self.waiting.pop(0), referred=self.referred)

    def abandon(self) -> "NoReturn":
        """Say that this program must be asked itself."""
        self.spoilt.insert(0, "abandoned")
        raise Abandoned


def replay(token: str, task: "dict[str, Any]", requests: "list[str]", answers: "list[list[str]]") -> None:
    """Say what comes of the assertions with each program's answers."""
    out = set_stdout_aside()
    tests = compile(task["test_code"], "tests.py", "exec", 0, True)
    own = sys.stderr
    for each in answers:
        sys.stderr = _io.StringIO()
        outcome, said = outcome_of(ReplayingPeer(task, requests, each), tests, task)
        text, sys.stderr = sys.stderr.getvalue()[-MAX_TRACEBACK:], own
        os.write(out, f"{token} {outcome} {encode((said, text))}\n".encode())
    leave(0)


if "program" in globals():
    replay(*decode(sys.stdin.read()))
