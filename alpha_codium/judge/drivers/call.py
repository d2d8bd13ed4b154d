"""A driver that calls a function of the program with the arguments on stdin, and writes the result to stdout.

1. stdin holds a line with `(entry_point, setup_code)`, encoded by `codec`, and after it the list of arguments: encoded
   likewise, or as JSON, which is faster for large lists; for small ones, importing `json` would take longer.
2. What the program prints while it is loaded and called goes to stderr.
3. The returned value goes to the real stdout, encoded by `codec`, and is compared outside the sandbox: the program
   can't forge a verdict.
"""

import os
import sys
from types import CodeType

from alpha_codium.judge.codec import decode, encode
from alpha_codium.judge.drivers.loading import exit_process, find, load, print_error, set_stdout_aside


def call(program: "CodeType") -> None:
    """Load the program, call its function, write the result."""
    stdout = set_stdout_aside()
    entry_point, setup_code = decode(sys.stdin.readline().rstrip("\n"))
    text = sys.stdin.read()
    arguments = decode(text) if text.startswith("L") else __import__("json").loads(text)
    try:
        result = encode(find(load(program, setup_code), entry_point)(*arguments))
    except Exception as error:  # noqa: BLE001 - it ends this process, as an uncaught exception does
        print_error(error)
        exit_process(1)
    with os.fdopen(stdout, "w", encoding="ascii") as out:
        out.write(result)
    exit_process(0)


if "program" in globals():
    call(globals()["program"])
