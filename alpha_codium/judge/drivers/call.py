"""A driver that calls a function of the program with the arguments on stdin, and writes the result to stdout.

1. stdin holds a line with `(entry_point, setup_code)`, encoded by `codec`, and after it the list of arguments: encoded
   likewise, or as JSON, which is faster for large lists; for small ones, importing `json` would take longer.
2. What the program prints while it is loaded and called goes to stderr.
3. The returned value goes to the real stdout, encoded by `codec`, and is compared outside the sandbox: the program
   can't forge a verdict. What is derived from a builtin type, such as a named tuple, is sent as its builtin value, and
   a `Decimal` or `Fraction` as the number that it equals.
"""

import os
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from alpha_codium.judge.codec import Unencodable, decode, encode
from alpha_codium.judge.drivers.loading import exit_process, find, load, print_error, set_stdout_aside

# How the value of an object is read whose class is derived from one of these.
CONTENTS: "dict[type, Callable[[Any], Any]]" = {int: int.__pos__, float: float.__pos__, str: str.__str__}


def call(program: "CodeType") -> None:
    """Load the program, call its function, write the result."""
    stdout = set_stdout_aside()
    entry_point, setup_code = decode(sys.stdin.readline().rstrip("\n"))
    text = sys.stdin.read()
    arguments = decode(text) if text.startswith("L") else __import__("json").loads(text)
    try:
        result = encoded(find(load(program, setup_code), entry_point)(*arguments))
    except Exception as error:  # noqa: BLE001 - it ends this process, as an uncaught exception does
        print_error(error)
        exit_process(1)
    with os.fdopen(stdout, "w", encoding="ascii") as out:
        out.write(result)
    exit_process(0)


def encoded(value: "Any") -> str:
    """Return a value as text; raises Unencodable."""
    try:
        return encode(value)
    except Unencodable:
        pass  # here, the traceback of the next one would show this one, too
    return encode(builtin(value))


def builtin(value: "Any") -> "Any":
    """Return an equal value of builtin types, if there is one; else the value itself."""
    if isinstance(value, (list, tuple)):
        return [builtin(each) for each in value]
    if isinstance(value, dict):
        return {builtin(key): builtin(each) for key, each in value.items()}
    for kind, content in CONTENTS.items():
        if isinstance(value, kind) and type(value) is not bool:
            return content(value)
    if type(value).__name__ in ("Decimal", "Fraction"):
        try:
            number = int(value) if value == int(value) else float(value)
        except (ValueError, OverflowError):
            return value
        return number if number == value else value
    return value


if "program" in globals():
    call(globals()["program"])
