"""A driver that runs assertions against the recorded answers of programs (see `answering`).

1. stdin holds `(token, task, requests, answers)`, encoded by `codec`; `answers` has the lines that each program wrote.
   The source of the assertions is in the task; they run anew for each program.
2. Each call must be exactly the next of the requests; a call in an assertion's message must repeat an earlier one.
   Otherwise, or if the assertions use the program in any other way, the outcome is `abandoned`, and the program is
   judged as a pair.
3. For each program a line goes to stdout, with the token, the outcome, its details (see `asserting`) and the traceback.
"""

import _io
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from alpha_codium.judge.codec import decode, encode
from alpha_codium.judge.drivers.assertion_side import MAX_SHOWN, LeftPeer
from alpha_codium.judge.drivers.loading import exit_process, set_stdout_aside
from alpha_codium.judge.drivers.outcomes import CallOnly, outcome_of
from alpha_codium.judge.drivers.peer import ENDED, ProgramEnded
from alpha_codium.judge.drivers.requests import is_text_of

# The function that the rewritten assertions call for their messages; see `assertion_rewriting`.
MESSAGE = "_message_of_"
# The messages that `answering` writes.
RECORDED = ("changed", "same", "value", "error")
# Characters of a traceback that a result keeps at most.
MAX_TRACEBACK = 1 << 14


class Abandoned(BaseException):
    """The recorded answers aren't sufficient."""


class ReplayingPeer(LeftPeer):
    """The assertions' side, with a list of recorded answers instead of a program."""

    def __init__(self, task: "dict[str, Any]", requests: "list[str]", answers: "list[str]") -> None:
        super().__init__(task["catches"], task["has_class"], imports=task["imports"])
        self.requests, self.answers, self.place = requests, answers, 0
        self.waiting: list[str] = []
        self.in_message = False

    def load(self, names: "list[str]") -> "dict[str, Any]":
        """Return functions of those names; raises what the program raised when it ran."""
        self.request("load")
        return {MESSAGE: self.message, **{name: CallOnly(name, self.call_by_name, self.abandon) for name in names}}

    def call_by_name(self, /, *arguments: "Any", **keywords: "Any") -> "Any":
        """Return the answer to a call."""
        self.returned = []
        value = self.request("call_name", *arguments, **keywords)
        if self.size <= MAX_SHOWN:
            self.returned = [value]
        return value

    def message(self, make: "Callable[[], Any]") -> "Any":
        """Return the message of a failed assertion; its calls must repeat earlier ones."""
        self.in_message = True
        try:
            return make()
        finally:
            self.in_message = False

    def send(self, message: "tuple[Any, ...]") -> None:
        """Find the answer to a request."""
        place = 0 if message[1] == "load" else self.place_of(message)
        if place >= len(self.answers):
            raise ProgramEnded(ENDED)
        self.waiting = self.answers[place].split(" ")
        if self.waiting == ["other"]:
            self.abandon()

    def place_of(self, message: "tuple[Any, ...]") -> int:
        """Return the index of the answer to a request; the first answer is that to `load`."""
        if self.in_message:
            earlier = (i for i, text in enumerate(self.requests[: self.place], 1) if is_text_of(text, message))
            return next(earlier, 0) or self.abandon()
        if self.place >= len(self.requests) or not is_text_of(self.requests[self.place], message):
            self.abandon()
        self.place += 1
        return self.place

    def receive(self) -> "Any":
        """Return the next message of an answer."""
        if not self.waiting:
            raise ProgramEnded(ENDED)
        text = self.waiting.pop(0)
        self.size = len(text)
        message = decode(text, referred=self.referred)
        if message[0] not in RECORDED:
            self.abandon()
        return message

    def abandon(self) -> "NoReturn":
        """Stop: the program has to be judged as a pair."""
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
