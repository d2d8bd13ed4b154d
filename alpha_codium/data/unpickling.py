"""Reading pickles that others made: nothing in one is imported or called, whatever it asks for.

A pickle is a program for a small machine with a stack. This is that machine without the instructions that import,
call or build: what it can make is None, bool, int, float, text, lists, tuples and dicts.

1. An instruction that isn't known here ends the reading; one that would import or call says so.
2. Every value made counts against `max_bytes`, with what it takes in memory. A value that is used again is copied, and
   counts again, so that a small pickle of shared lists can't unfold into a large value.
3. Keys of a dict are text or integers of 32 bits: larger ones can be chosen so that they all fall into one place.
4. Nothing is deeper than `MAX_DEPTH`, and nothing holds itself.
"""

import codecs
import struct
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from alpha_codium.errors import DatasetError

MAX_DEPTH = 100
# The instructions that import, call, or hand over to the reader's own code, by their byte.
CALLS = {
    **{ord("c"): "GLOBAL", 0x93: "STACK_GLOBAL", ord("R"): "REDUCE", ord("b"): "BUILD", ord("i"): "INST"},
    **{ord("o"): "OBJ", 0x81: "NEWOBJ", 0x92: "NEWOBJ_EX", 0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4"},
    **{ord("P"): "PERSID", ord("Q"): "BINPERSID"},
}
# What a value takes beside its own size: its place in what holds it, and in the memo.
PLACE = 16
MARK = object()


def loads(data: bytes, *, max_bytes: int, where: str = "the pickle") -> Any:
    """The value of a pickle of any protocol, made of None, bool, int, float, str, list, tuple and dict.

    Text of Python 2 is read as UTF-8, or as Latin-1 where it is none. `max_bytes` bounds the pickle and, apart from
    it, the memory that its value takes. Raises DatasetError, which begins with `where`, for everything else.
    """
    if len(data) > max_bytes:
        raise DatasetError(f"{where}: {len(data)} bytes are more than the {max_bytes} that are read of a pickle")
    machine = _Machine(data, max_bytes, where)
    try:
        value = machine.run()
    except (ValueError, OverflowError, struct.error) as error:
        raise DatasetError(f"{where}: no pickle that can be read: {error}") from None
    machine.check_depth(value)
    return value


class _Machine:
    """The stack, the memo, and the place in the data."""

    def __init__(self, data: bytes, max_bytes: int, where: str) -> None:
        self.data, self.place, self.where = data, 0, where
        self.max_bytes = self.left = max_bytes
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        # Lists and dicts that were used again, of the memo: one that grows after that holds itself.
        self.recalled: set[int] = set()

    def run(self) -> Any:
        while True:
            code = self.take(1)[0]
            if code == ord("."):
                value = self.pop()
                if self.stack:
                    self.fail("values are left over at its end")
                return value
            instruction = INSTRUCTIONS.get(code)
            if instruction is None:
                self.refuse(code)
            instruction(self)

    def refuse(self, code: int) -> NoReturn:
        if code in CALLS:
            self.fail(f"it would import or call something ({CALLS[code]}): only lists, dicts and text are read")
        self.fail(f"the instruction {code:#04x} makes no list, dict, text or number")

    def fail(self, why: str) -> NoReturn:
        raise DatasetError(f"{self.where}: {why}")

    def take(self, size: int) -> bytes:
        end = self.place + size
        if end > len(self.data):
            self.fail("the pickle is cut short")
        self.place, taken = end, self.data[self.place : end]
        return taken

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def line(self) -> bytes:
        end = self.data.find(b"\n", self.place)
        if end < 0:
            self.fail("the pickle is cut short")
        self.place, taken = end + 1, self.data[self.place : end]
        return taken

    def push(self, value: Any) -> None:
        self.charge(value)
        self.stack.append(value)

    def charge(self, value: Any) -> None:
        self.left -= sys.getsizeof(value) + PLACE
        if self.left < 0:
            self.fail(f"what it holds takes more than {self.max_bytes} bytes")

    def pop(self) -> Any:
        if not self.stack or self.stack[-1] is MARK:
            self.fail("the pickle takes a value where none is")
        return self.stack.pop()

    def since_mark(self) -> list[Any]:
        place = len(self.stack) - 1
        while place >= 0 and self.stack[place] is not MARK:
            place -= 1
        if place < 0:
            self.fail("a mark is missing")
        items = self.stack[place + 1 :]
        del self.stack[place:]
        return items

    def top(self, kind: type) -> Any:
        if not self.stack or type(self.stack[-1]) is not kind:
            self.fail(f"the pickle adds to a {kind.__name__} where none is")
        if id(self.stack[-1]) in self.recalled:
            self.fail("a list or a dict holds itself")
        return self.stack[-1]

    def add_pairs(self, target: dict[Any, Any], items: list[Any]) -> None:
        if len(items) % 2:
            self.fail("a key has no value")
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not (type(key) is str or (type(key) is int and key.bit_length() < 32)):
                self.fail(f"keys must be text or integers of 32 bits, not {type(key).__name__}")
            target[key] = value

    def remember(self, number: int) -> None:
        if not self.stack or self.stack[-1] is MARK:
            self.fail("the pickle takes a value where none is")
        self.charge(number)
        self.memo[number] = self.stack[-1]

    def recall(self, number: int) -> None:
        if number not in self.memo:
            self.fail("it uses a value that it didn't make")
        value = self.memo[number]
        if isinstance(value, list | dict):
            self.recalled.add(id(value))
        self.push(self.copied(value, MAX_DEPTH))

    def copied(self, value: Any, depth: int) -> Any:
        """A copy that counts as new, but for what `push` counts."""
        if depth < 0:
            self.fail(f"it is nested deeper than {MAX_DEPTH}")
        if isinstance(value, list | tuple):
            return type(value)([self.charged_copy(item, depth - 1) for item in value])
        if isinstance(value, dict):
            return {key: self.charged_copy(item, depth - 1) for key, item in value.items()}
        return value

    def charged_copy(self, value: Any, depth: int) -> Any:
        self.charge(value)
        return self.copied(value, depth)

    def check_depth(self, value: Any) -> None:
        layer, depth = [value], 0
        while layer:
            if depth > MAX_DEPTH:
                self.fail(f"it is nested deeper than {MAX_DEPTH}")
            held = (each.values() if isinstance(each, dict) else each for each in layer if not isinstance(each, str))
            layer = [item for items in held if not isinstance(items, float | int | None) for item in items]
            depth += 1


def _integer(machine: _Machine) -> None:
    line = machine.line()
    machine.push(line == b"01" if line in (b"00", b"01") else int(line))


def _text_of_python2(machine: _Machine) -> None:
    line = machine.line().strip()
    if len(line) < 2 or line[:1] != line[-1:] or line[:1] not in (b"'", b'"'):
        machine.fail("a text has no quotes")
    machine.push(_as_text(codecs.escape_decode(line[1:-1])[0]))


def _as_text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _text(form: str, decode: Callable[[bytes], str]) -> Callable[[_Machine], None]:
    return lambda machine: machine.push(decode(machine.take(machine.number(form))))


def _utf8(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _number(form: str) -> Callable[[_Machine], None]:
    return lambda machine: machine.push(machine.number(form))


def _long(form: str) -> Callable[[_Machine], None]:
    return lambda machine: machine.push(int.from_bytes(machine.take(machine.number(form)), "little", signed=True))


def _tuple(size: int) -> Callable[[_Machine], None]:
    return lambda machine: machine.push(tuple([machine.pop() for _ in range(size)][::-1]))


def _append(machine: _Machine) -> None:
    item = machine.pop()
    machine.top(list).append(item)


def _appends(machine: _Machine) -> None:
    items = machine.since_mark()
    machine.top(list).extend(items)


def _new_dict(machine: _Machine) -> None:
    items = machine.since_mark()
    machine.push({})
    machine.add_pairs(machine.top(dict), items)


def _set_item(machine: _Machine) -> None:
    value, key = machine.pop(), machine.pop()
    machine.add_pairs(machine.top(dict), [key, value])


def _set_items(machine: _Machine) -> None:
    items = machine.since_mark()
    machine.add_pairs(machine.top(dict), items)


INSTRUCTIONS: dict[int, Callable[[_Machine], Any]] = {
    0x80: lambda machine: machine.take(1),  # the protocol
    0x95: lambda machine: machine.take(8),  # the length of a frame
    ord("N"): lambda machine: machine.push(None),
    0x88: lambda machine: machine.push(True),
    0x89: lambda machine: machine.push(False),
    ord("I"): _integer,
    ord("L"): lambda machine: machine.push(int(machine.line().removesuffix(b"L"))),
    **{ord("J"): _number("<i"), ord("K"): _number("B"), ord("M"): _number("<H"), ord("G"): _number(">d")},
    **{0x8A: _long("B"), 0x8B: _long("<I")},
    ord("F"): lambda machine: machine.push(float(machine.line())),
    ord("S"): _text_of_python2,
    **{ord("T"): _text("<I", _as_text), ord("U"): _text("B", _as_text)},
    ord("V"): lambda machine: machine.push(machine.line().decode("raw-unicode-escape")),
    **{ord("X"): _text("<I", _utf8), 0x8C: _text("B", _utf8), 0x8D: _text("<Q", _utf8)},
    ord("("): lambda machine: machine.stack.append(MARK),
    ord("0"): _Machine.pop,
    ord("1"): _Machine.since_mark,
    ord("]"): lambda machine: machine.push([]),
    ord("l"): lambda machine: machine.push(machine.since_mark()),
    ord("a"): _append,
    ord("e"): _appends,
    ord(")"): lambda machine: machine.push(()),
    ord("t"): lambda machine: machine.push(tuple(machine.since_mark())),
    **{0x85: _tuple(1), 0x86: _tuple(2), 0x87: _tuple(3)},
    ord("}"): lambda machine: machine.push({}),
    ord("d"): _new_dict,
    ord("s"): _set_item,
    ord("u"): _set_items,
    **{ord("p"): lambda machine: machine.remember(int(machine.line())), ord("q"): lambda m: m.remember(m.number("B"))},
    **{ord("r"): lambda m: m.remember(m.number("<I")), 0x94: lambda machine: machine.remember(len(machine.memo))},
    **{ord("g"): lambda machine: machine.recall(int(machine.line())), ord("h"): lambda m: m.recall(m.number("B"))},
    ord("j"): lambda m: m.recall(m.number("<I")),
}
