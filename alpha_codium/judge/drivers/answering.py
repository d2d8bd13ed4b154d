"""In the place of a program, by itself: answers a list of requests that is known beforehand (see `recording`).

1. stdin holds, as `codec` spells it, `(program, setup_code, requests, seconds)`: the text of the program and the texts
   of the requests. What it prints goes to stderr.
2. Lines go to the real stdout, each as soon as it is known: `compiled` or `uncompiled`, the answer to `load`, and that
   to each request. An answer is one or more messages (see `peer`) with spaces between, or `other`.
3. After `seconds` of CPU time it is ended by SIGPROF: what takes longer may be right, and is tried in another way.
"""

import _signal  # pyrefly: ignore[missing-import] - the C module: `signal` loads enum
import builtins
import os
import sys

from alpha_codium.judge.codec import Excessive, Unencodable, decode, encode, unreferred
from alpha_codium.judge.drivers.changes import answers_to
from alpha_codium.judge.drivers.loading import find, leave, load, set_stdout_aside, tell

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any


# Calls below those of the program: `answer_all`, `answers_to`, `perform`.
FRAMES = 3


def answer_all(source: str, setup_code: str, requests: "list[str]", seconds: float) -> None:
    """Compile the program, run it, answer each request."""
    out = set_stdout_aside()
    _signal.setitimer(_signal.ITIMER_PROF, seconds)
    program = compiled(source)
    if program is None:
        write_line(out, "uncompiled")
        leave(1)
    write_line(out, "compiled")
    code = program
    namespace: dict[str, Any] = {}
    found: dict[str, Any] = {}

    def perform(what: str, arguments: "tuple[Any, ...]", keywords: "dict[str, Any]") -> "Any":
        if what == "load":
            namespace.update(load(code, setup_code, FRAMES))
            return None
        name = arguments[0]
        if name not in found:
            found[name] = find(namespace, name)
        return found[name](*arguments[1:], **keywords)

    write_line(out, spelt(answers_to(perform, "load", (), {}, [])))
    for text in requests:
        write_line(out, spelt(answers_to(perform, *decode(text)[1:])))
    leave(0)


def spelt(messages: "list[tuple[Any, ...]]") -> str:
    """The messages of an answer; `other` where something in it doesn't cross by itself."""
    kind, value = messages[-1]
    if kind == "raised":
        name = type(value).__name__
        if getattr(builtins, name, None) is not type(value):
            return "other"
        messages = [*messages[:-1], ("error", name, value.args, str(value))]
    try:
        return " ".join([encode(message, unreferred) for message in messages])
    except Excessive:
        raise
    except Unencodable:
        return "other"


def write_line(out: int, text: str) -> None:
    """Write all of a line at once, before anything else is done."""
    line = memoryview(text.encode() + b"\n")
    while line:
        line = line[os.write(out, line) :]


def compiled(source: str) -> "CodeType | None":
    """The program's code; None, with the reason on stderr, where it can't be compiled."""
    try:
        # As the sandboxes do, which know of a byte order mark and of a line that names an encoding.
        return compile(source.encode(), "program.py", "exec", 0, True)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the program doesn't compile
        tell(error.with_traceback(None))
        return None


if "program" in globals():
    answer_all(*decode(sys.stdin.read()))
