"""A reader of untrusted pickles of lists, tuples, dicts, text and numbers, which imports and calls nothing.

1. Before `pickle` runs, every instruction is checked. Those that could import or call something, or that make other
   types, are refused. So are integers of more than 32 bits, which as keys of a dict could be chosen to collide.
2. The instructions count against `max_bytes`, and so does the resulting value. An object that is used twice counts
   twice, so that a small pickle of shared lists can't become a huge value.
"""

import codecs
import pickle
import pickletools
import sys
from typing import Any, NoReturn

from alpha_codium.errors import DatasetError

MAX_DEPTH = 100
OPCODES = {ord(opcode.code): opcode for opcode in pickletools.opcodes}
ALLOWED = {
    *("PROTO", "FRAME", "STOP", "MARK", "POP", "POP_MARK", "PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"),
    *("GET", "BINGET", "LONG_BINGET", "NONE", "NEWTRUE", "NEWFALSE", "INT", "BININT", "BININT1", "BININT2"),
    *("FLOAT", "BINFLOAT", "STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE"),
    *("BINUNICODE8", "EMPTY_LIST", "LIST", "APPEND", "APPENDS", "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"),
    *("EMPTY_DICT", "DICT", "SETITEM", "SETITEMS"),
}
CALLS = {
    *("GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "EXT1", "EXT2", "EXT4"),
    *("PERSID", "BINPERSID"),
}
LONG_INTEGERS = {"LONG", "LONG1", "LONG4"}
# The length of a line with a 32-bit integer: sign, digits and line break.
INTEGER_LINE = 12
# Bytes of memory for an instruction, besides its argument, and for a reference to a value, besides its size.
INSTRUCTION, PLACE = 64, 16
LENGTH_BYTES = {
    pickletools.TAKEN_FROM_ARGUMENT1: 1,
    pickletools.TAKEN_FROM_ARGUMENT4: 4,
    pickletools.TAKEN_FROM_ARGUMENT4U: 4,
    pickletools.TAKEN_FROM_ARGUMENT8U: 8,
}
UNREADABLE = (pickle.UnpicklingError, ValueError, TypeError, AttributeError, LookupError, EOFError, OverflowError)


def _as_latin1(error: Any) -> tuple[str, int]:
    return error.object[error.start : error.end].decode("latin-1"), error.end


# For Python 2 strings that aren't UTF-8.
codecs.register_error("gencode.latin1", _as_latin1)


def loads(data: bytes, *, max_bytes: int, where: str = "the pickle") -> Any:
    """Return the value of a pickle of any protocol, made of None, bool, int, float, str, list, tuple and dict.

    Python 2 strings are decoded as UTF-8, invalid bytes as Latin-1. `max_bytes` limits the size of the pickle and,
    separately, the memory for its value. Raises DatasetError, with `where`, if the pickle is refused or invalid.
    """
    if len(data) > max_bytes:
        _fail(where, f"a pickle of {len(data)} bytes is larger than the limit of {max_bytes} bytes")
    try:
        left = _check_instructions(data, max_bytes, where)
        value = pickle.loads(data, encoding="utf-8", errors="gencode.latin1") if left >= 0 else None  # noqa: S301
    except UNREADABLE as error:
        _fail(where, f"not a valid pickle: {error}")
    if left < 0 or _left_after(value, max_bytes, MAX_DEPTH, where) < 0:
        _fail(where, f"its value takes more than {max_bytes} bytes")
    return value


def _fail(where: str, why: str) -> NoReturn:
    raise DatasetError(f"{where}: {why}")


def _check_instructions(data: bytes, left: int, where: str) -> int:
    """Return `left` minus the bytes for all instructions, negative if too few; raises DatasetError for a bad one."""
    offset, stored, name = 0, 0, ""
    while name != "STOP" and left >= 0:
        if offset >= len(data):
            _fail(where, "the pickle is cut short")
        opcode = OPCODES.get(data[offset])
        name = opcode.name if opcode else f"{data[offset]:#04x}"
        if name in CALLS:
            _fail(where, f"it would import or call something ({name}): only lists, dicts, text and numbers are read")
        if opcode is None or name not in ALLOWED | LONG_INTEGERS:
            _fail(where, f"unsupported instruction {name}: only lists, dicts, text and numbers are read")
        size = _argument_size(data, offset + 1, opcode.arg.n if opcode.arg else 0)
        if offset + 1 + size > len(data):
            _fail(where, "the pickle is cut short")
        argument = data[offset + 1 : offset + 1 + size] if "PUT" in name else b""
        if name in LONG_INTEGERS or (name == "INT" and size > INTEGER_LINE):
            _fail(where, "it holds an integer of more than 32 bits")
        if name == "MEMOIZE" or argument:
            # `pickle` allocates a table as long as the largest number.
            if argument and (int(argument) if name == "PUT" else int.from_bytes(argument, "little")) > stored + 1:
                _fail(where, "not a valid pickle: it numbers its values with gaps")
            stored += 1
        left -= INSTRUCTION + size
        offset += 1 + size
    return left


def _argument_size(data: bytes, start: int, size: int) -> int:
    """Return the number of bytes of an instruction's argument at `start`; `size` is `pickletools`' code for it."""
    if size == pickletools.UP_TO_NEWLINE:
        end = data.find(b"\n", start)
        return end + 1 - start if end >= 0 else len(data)
    if size < 0:
        width = LENGTH_BYTES[size]
        return width + int.from_bytes(data[start : start + width], "little")
    return size


def _left_after(value: Any, left: int, depth: int, where: str) -> int:
    """Return `left` bytes minus those for a value, negative if too few; raises DatasetError for other keys than text
    and integers, which could collide.
    """
    left -= sys.getsizeof(value) + PLACE
    if left < 0 or not isinstance(value, list | tuple | dict):
        return left
    if depth == 0:
        _fail(where, f"it is nested deeper than {MAX_DEPTH}, or holds itself")
    if isinstance(value, dict):
        if others := [type(key).__name__ for key in value if type(key) not in (str, int)]:
            _fail(where, f"keys must be text or integers, not {others[0]}")
        value = value.values()
    for item in value:
        left = _left_after(item, left, depth - 1, where)
        if left < 0:
            break
    return left
