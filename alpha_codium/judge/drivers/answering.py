"""A driver that loads a program and answers recorded requests (see `recording`).

1. The first line of stdin is `(program, setup_code, required, seconds)`, encoded by `codec`: the program's source, and
   the names that it has to define. The others are the requests, each of which comes only after the answer to the one
   before. The program's own stdin is empty, and what it prints goes to stderr.
2. Lines go to the real stdout: `uncompiled`, or the answer to `load` and then to each request. An answer is one or more
   messages (see `peer`) separated by spaces, or `other`.
3. After `seconds` of CPU time, SIGPROF ends the process. The program may still be right, and is judged again.
"""

import _signal  # pyrefly: ignore[missing-import] - the C module: `signal` loads enum
import builtins
import os
from collections.abc import Iterator
from typing import Any

from alpha_codium.judge.codec import Excessive, Unencodable, decode, encode, unreferred
from alpha_codium.judge.drivers.changes import answers_to
from alpha_codium.judge.drivers.exceptions import attributes_of
from alpha_codium.judge.drivers.loading import exit_process, load, look_up, print_error, set_stdout_aside, write_all
from alpha_codium.judge.drivers.requests import message_in

# Stack frames below the program's: `answer_all`, `answers_to`, `perform`.
FRAMES = 3


def lines_of(fd: int) -> "Iterator[str]":
    """Yield the lines that come, without their ends."""
    rest = b""
    while piece := os.read(fd, 1 << 16):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.decode()
    if rest:
        yield rest.decode()


def set_stdin_aside() -> int:
    """Return a new descriptor of the real stdin, and leave an empty stdin to the program."""
    kept = os.dup(0)
    empty, writer = os.pipe()
    os.close(writer)
    os.dup2(empty, 0)
    os.close(empty)
    return kept


def answer_all(requests: "Iterator[str]", out: int) -> None:
    """Compile the program, run it, and answer each request."""
    source, setup_code, required, seconds = decode(next(requests))
    _signal.setitimer(_signal.ITIMER_PROF, seconds)
    try:
        # From bytes, as the sandboxes do: a byte order mark or a coding line counts.
        program = compile(source.encode(), "program.py", "exec", 0, True)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the program doesn't compile
        if isinstance(error, SyntaxError) and error.text is not None and error.lineno:
            # Python took it from the file of this name, which has the imports of all programs of a batch.
            error.text = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")[error.lineno - 1]
        print_error(error.with_traceback(None))
        write_all(out, b"uncompiled\n")
        exit_process(1)
    namespace: dict[str, Any] = {}
    found: dict[str, Any] = {}

    def perform(what: str, arguments: "tuple[Any, ...]", keywords: "dict[str, Any]") -> "Any":
        if what == "load":
            namespace.update(load(program, setup_code, FRAMES))
            for each in required:
                look_up(namespace, each)
            return None
        name = arguments[0]
        if name not in found:
            found[name] = look_up(namespace, name)
        return found[name](*arguments[1:], **keywords)

    write_all(out, spelt(answers_to(perform, "load", (), {}, [])[0]))
    for text in requests:
        write_all(out, spelt(answers_to(perform, *message_in(text)[1:])[0]))
    exit_process(0)


def spelt(messages: "list[tuple[Any, ...]]") -> bytes:
    """Return a line with the messages of an answer; `other` if a value in it can't be encoded."""
    kind, value = messages[-1]
    # In a batch, no test changes a container.
    messages = [message for message in messages if message[0] not in ("kept", "twins")]
    if kind == "raised":
        name = type(value).__name__
        if getattr(builtins, name, None) is not type(value):
            return b"other\n"
        attributes = attributes_of(value)
        if attributes.keys() != attributes_of(value, values_only=False).keys():
            return b"other\n"
        messages = [*messages[:-1], ("error", name, value.args, str(value), attributes)]
    try:
        return " ".join([encode(message, unreferred) for message in messages]).encode() + b"\n"
    except Excessive:
        raise
    except Unencodable:
        return b"other\n"


if "program" in globals():
    answer_all(lines_of(set_stdin_aside()), set_stdout_aside())
