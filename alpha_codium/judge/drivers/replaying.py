"""In the place of a program, by itself: runs assertions against what programs have answered (see `answering`).

1. stdin holds, as `codec` spells it, `(token, task, requests, answers)`: for each program the lines that it wrote.
   The text of the assertions is in the task; they run anew for each program.
2. Each call must be the next of the requests, to the letter; a call in the message of an assertion, one that was made
   before. If it isn't, or if anything else is asked of the program, the outcome is `abandoned`: the program itself has
   to be asked.
3. For each program a line goes to stdout, with the token, the outcome, its details (see `asserting`) and the traceback.
"""

import _io
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from alpha_codium.judge.codec import Unencodable, decode, encode, unreferred
from alpha_codium.judge.drivers.assertion_side import LeftPeer
from alpha_codium.judge.drivers.loading import exit_process, set_stdout_aside
from alpha_codium.judge.drivers.outcomes import CallOnly, outcome_of
from alpha_codium.judge.drivers.peer import ENDED, ChannelClosed

# The function that makes a message, in the text of the assertions; see `assertion_batches`.
MESSAGE = "_message_of_"
# Characters of a traceback that a result keeps at most.
MAX_TRACEBACK = 1 << 14


class Abandoned(BaseException):
    """The recorded answers don't suffice."""


class ReplayingPeer(LeftPeer):
    """The assertions' side, with a list of answers in place of a program."""

    def __init__(self, task: "dict[str, Any]", requests: "list[str]", answers: "list[str]") -> None:
        super().__init__(task["catches"], task["has_class"])
        self.requests, self.answers, self.place = requests, answers, 0
        self.waiting: list[str] = []
        self.in_message = False

    def load(self, names: "list[str]") -> "dict[str, Any]":
        """Return functions of those names; raises what the program raised when it ran."""
        self.request("load")
        return {MESSAGE: self.message, **{name: CallOnly(name, self.call_by_name, self.abandon) for name in names}}

    def call_by_name(self, /, *arguments: "Any", **keywords: "Any") -> "Any":
        """The next answer."""
        return self.request("call_name", *arguments, **keywords)

    def message(self, make: "Callable[[], Any]") -> "Any":
        """Return the message of a failed assertion; the calls that it makes were made before."""
        self.in_message = True
        try:
            return make()
        finally:
            self.in_message = False

    def send(self, message: "tuple[Any, ...]") -> None:
        """Find the answer to a request."""
        place = 0 if message[1] == "load" else self.place_of(self.text_of(message))
        if place >= len(self.answers):
            raise ChannelClosed(ENDED)
        self.waiting = self.answers[place].split(" ")
        if self.waiting == ["other"]:
            self.abandon()

    def place_of(self, request: str) -> int:
        """The place of the answer to a request; the first answer is that to `load`."""
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
            raise ChannelClosed(ENDED)
        return decode(self.waiting.pop(0), referred=self.referred)

    def abandon(self) -> "NoReturn":
        """Report that the program itself has to be asked."""
        self.final_outcomes.insert(0, "abandoned")
        raise Abandoned


def replay(token: str, task: "dict[str, Any]", requests: "list[str]", answers: "list[list[str]]") -> None:
    """Run the assertions with each program's answers, and write their outcomes to stdout."""
    out = set_stdout_aside()
    tests = compile(task["test_code"], "tests.py", "exec", 0, True)
    own = sys.stderr
    for each in answers:
        sys.stderr = _io.StringIO()
        outcome, said = outcome_of(ReplayingPeer(task, requests, each), tests, task)
        text, sys.stderr = sys.stderr.getvalue()[-MAX_TRACEBACK:], own
        os.write(out, f"{token} {outcome} {encode((said, text))}\n".encode())
    exit_process(0)


if "program" in globals():
    replay(*decode(sys.stdin.read()))
