"""One side of a pair: a peer that sends requests to the other side, and answers those that it gets.

1. A message is a tuple, sent after its length. `("ask", what, arguments, keywords, same)` is answered by
   `("value", v)`, `("same", i)` (the i-th of the containers among the arguments), `("raised", exception)`, or
   `("error", name, arguments, text, attributes)` for an exception of a builtin class that can be encoded completely.
   Requests can be nested: a side may send one before it answers another.
2. Objects that `codec` can't encode stay on their side and are sent as reference numbers, which are negative for
   objects of the left side. `("known", [[number, description], ...])` precedes the first message with a number whose
   object has a description (see `describing`).
3. `same` lists the top-level arguments that are the same object, or one that is in sync. Containers among the arguments
   that a call changed are sent back in `("changed", ...)` before the answer, and updated in place, so that they and the
   containers in them keep their identity (see `changes`). Containers under the loaded names of the program's module are
   shared: each side sends its changes of them before its next message. So are the last ones that an object or an
   iterator of the program gave, as its attribute, item, or result: `("held", v)`, or `("again", i)` for the i-th of
   them; and arguments that the callee still refers to after a call: `("kept", places)`, before its answer.
   `("twins", pairs)` comes before an answer with containers of the arguments, or with one twice.
"""

import _thread
import builtins
import os
from collections.abc import Callable, Sequence
from typing import Any

from alpha_codium.judge.codec import MAX_SIZE, Malformed, decode, encode
from alpha_codium.judge.drivers.changes import (
    LARGEST_HELD,
    MOST_HELD,
    answers_to,
    apply_changes,
    changes_among,
    containers_in,
    copies_of,
    held_in,
    put_together,
    same_among,
)
from alpha_codium.judge.drivers.describing import build, describe
from alpha_codium.judge.drivers.exceptions import exception_of
from alpha_codium.judge.drivers.loading import write_all
from alpha_codium.judge.drivers.proxies import is_proxy, new_proxy, number_of_proxy

FD = 3
DIGITS = 8
# Messages in which containers among the arguments of a request are named by their places.
OF_ARGUMENTS = ("changed", "kept", "twins", "same")
ENDED = "it ended before its tests did"


class ProgramEnded(Exception):
    """The other side, whose traceback this ends if it is the program, has closed the channel."""


def _size(digits: bytes) -> int:
    try:
        size = int(digits, 16)
    except ValueError:
        raise Malformed("a message without its size") from None
    if not 0 <= size <= MAX_SIZE:
        raise Malformed("a message of an impossible size")
    return size


def _read(size: int) -> bytes:
    chunks = []
    while size:
        chunk = os.read(FD, min(size, 1 << 20))
        if not chunk:
            raise ProgramEnded(ENDED)
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


class Peer:
    """One side of a pair; `perform(what, arguments, keywords)` carries out a request of the other side."""

    def __init__(self, is_left: bool, perform: "Callable[..., Any]") -> None:
        self.is_left, self.perform = is_left, perform
        # Modules that may be imported to find the class of an exception.
        self.imports: tuple[str, ...] = ()
        self.own: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.news: list[list[Any]] = []
        self.foreign: dict[int, Any] = {}
        self.stand_ins: dict[int, int] = {}
        self.lock = _thread.RLock()
        self.shared: list[Any] = []
        self.held: list[Any] = []
        # Copies of both.
        self.before: list[Any] = []
        # Characters of the last message received.
        self.size = 0

    def ask(self, what: str, /, *arguments: "Any", **keywords: "Any") -> "tuple[str, Any]":
        """Ask the other side to do something; returns `("value", v)` or `("raised", exception)`.

        Raises ProgramEnded, Malformed, Unencodable, or whatever a nonsensical answer leads to.
        """
        with self.lock:
            same: list[tuple[Any, int]] = [*same_among(arguments)]
            if self.before:
                self.send_changes()  # after which the places are those of the other side
                same += self.in_sync_among(arguments, keywords)
            self.send(("ask", what, arguments, keywords, same))
            return self.await_answer(arguments, keywords)

    def in_sync_among(self, arguments: "tuple[Any, ...]", keywords: "dict[str, Any]") -> "list[tuple[Any, int]]":
        """Return the places or names of arguments that are in sync, and which they are: `-1 - i` for the i-th."""
        which = {id(each): -1 - place for place, each in enumerate(self.shared + self.held)}
        given = (*enumerate(arguments), *keywords.items())
        return [(place, which[id(each)]) for place, each in given if id(each) in which]

    def await_answer(self, arguments: "tuple[Any, ...]", keywords: "dict[str, Any]") -> "tuple[str, Any]":
        """Wait for the answer to a request with those arguments; answer the other side's requests meanwhile."""
        # The places in messages are those before the call, which may put containers elsewhere.
        given = containers_in(arguments, keywords) if self.before else None
        twins: list[tuple[int, int]] = []
        while True:
            kind, *rest = self.receive()
            if given is None and kind in OF_ARGUMENTS:
                given = containers_in(arguments, keywords)
            if twins and kind in ("value", "held"):
                rest[0] = put_together(rest[0], twins, given or [])
            if kind in ("value", "raised"):
                return kind, rest[0]
            if kind == "error":
                return "raised", exception_of(getattr(builtins, rest[0]), *rest[1:])
            if kind == "same" and given is not None:
                return "value", given[rest[0]]
            if kind == "held":
                self.hold(held_in(rest[0]))
                return "value", rest[0]
            if kind == "again":
                return "value", self.held[rest[0]]
            if kind == "twins":
                twins = rest[0]
            else:
                self.take(kind, rest, given or [])

    def take(self, kind: str, rest: "list[Any]", given: "Sequence[Any]" = ()) -> None:
        """Handle a message that isn't an answer; `given` are the containers among the arguments of the last request."""
        if kind == "known":
            self.learn(rest[0])
        elif kind == "changed":
            apply_changes(rest[0], given)
        elif kind == "kept":
            self.hold([given[place] for place in rest[0]])
        elif kind == "shared":
            apply_changes(rest[0], self.shared + self.held)
            self.before = copies_of(self.shared + self.held)
            self.drop_large()
        elif kind == "ask":
            messages, given = answers_to(self.perform, *rest, in_sync=self.shared + self.held)
            for message in messages:
                self.send_answer(message)
                if message[0] == "kept":
                    self.hold([given[place] for place in message[1]])
        else:
            raise Malformed("a message of an unknown kind")

    def share(self, values: "dict[str, Any]") -> None:
        """Keep the containers among these values, which both sides have, in sync from now on."""
        self.shared += containers_in(tuple(values.values()), {})
        self.before = copies_of(self.shared + self.held)

    def hold(self, containers: "list[Any]") -> None:
        """Keep containers of an answer in sync, too, in place of the earliest."""
        self.held = [*self.held, *containers][-MOST_HELD:]
        self.before[len(self.shared) :] = copies_of(self.held)

    def drop_large(self) -> None:
        """Keep what has become large no longer in sync; the other side, where it is the same, does so, too."""
        if any(len(each) > LARGEST_HELD for each in self.held):
            self.held = [each for each in self.held if len(each) <= LARGEST_HELD]
            self.hold([])

    def send_answer(self, message: "tuple[Any, ...]") -> None:
        """Answer a request."""
        self.send(message)

    def send(self, message: "tuple[Any, ...]") -> None:
        """Send a message, and before it the changes of shared containers and the descriptions of new objects.

        Raises Unencodable, and ProgramEnded if the other side has closed the channel.
        """
        self.send_changes()
        texts = [encode(message, self.refer)]
        if self.news:
            news, self.news = self.news, []
            texts.insert(0, encode(("known", news)))
        try:
            for text in texts:
                write_all(FD, b"%0*x%s" % (DIGITS, len(text), text.encode("ascii")))
        except OSError:
            raise ProgramEnded(ENDED) from None

    def send_changes(self) -> None:
        """Send the changes of what is in sync."""
        if self.before and (changes := changes_among(self.shared + self.held, self.before)):
            self.before = copies_of(self.shared + self.held)
            self.send(("shared", changes))
            self.drop_large()

    def receive(self) -> "Any":
        """Return the next message; raises ProgramEnded at the end of the channel, Malformed for an invalid one."""
        try:
            self.size = _size(_read(DIGITS))
            return decode(_read(self.size).decode("ascii"), referred=self.referred)
        except UnicodeDecodeError:
            raise Malformed("a message that isn't ASCII") from None
        except OSError:
            raise ProgramEnded(ENDED) from None

    def refer(self, value: "Any") -> int:
        """Return the reference number of an object."""
        if is_proxy(value):
            return number_of_proxy(value)
        number = self.stand_ins.get(id(value))
        if number is not None:
            return number
        number = self.numbers.get(id(value))
        if number is None:
            number = -1 - len(self.own) if self.is_left else len(self.own)
            self.own.append(value)
            description = describe(value, self.is_left)
            # These are described anew each time: they may have changed.
            if description is None or description[0] not in ("made", "array"):
                self.numbers[id(value)] = number
            if description is not None:
                self.news.append([number, encode(description, self.refer)])
        return number

    def referred(self, number: int) -> "Any":
        """Return the object for a reference number."""
        if (number < 0) == self.is_left:
            return self.own[-1 - number if self.is_left else number]
        if number not in self.foreign:
            self.stand_in(number, new_proxy(self, number))
        return self.foreign[number]

    def learn(self, news: "list[list[Any]]") -> None:
        """Make local representations of objects of the other side."""
        for number, text in news:
            is_new = number not in self.foreign
            if is_new or is_proxy(self.foreign[number]):
                description = decode(text, referred=self.referred)
                # An exception may have a proxy already: its attributes, which come first, can refer to it.
                if is_new or description[0] == "exception":
                    self.stand_in(number, build(self, number, description))

    def stand_in(self, number: int, value: "Any") -> None:
        """Use `value` to represent an object of the other side from now on."""
        self.foreign[number] = value
        self.stand_ins.setdefault(id(value), number)
