"""A driver that runs a checker program in Python on one output of a candidate, or an interactor beside it.

1. stdin holds, packed by `packing`: the checker's protocol (see `judge.checker_programs`), its flags, the test's input,
   its answer, the candidate's output, and then names and texts of the checker's other files. All are written into the
   current folder; stdin becomes the candidate's output. For an interactor, the protocol ends in `interactive`, and
   stdin and stdout become the pipes to the candidate. One that reads beyond the end of what the candidate printed
   (EOFError) rejects it, as interactors of testlib do. Numbers have at most as many digits as the test has characters,
   or `MOST_DIGITS`: Python takes half a minute to read one of a million digits.
2. The checker's verdict is its exit status, so the driver must not exit with one: any failure here aborts. So does an
   uncaught exception in the checker, since Python's status 1 would be a verdict of testlib.
3. `checking.cpp` does the same for C++.
"""

import os
import sys
from types import CodeType

from alpha_codium.judge.packing import unpack, write_file

MOST_DIGITS = 100_000


def check(program: "CodeType") -> None:
    """Write the files and run the checker."""
    with open(0, "rb", closefd=False) as packed:
        protocol, flags, *texts = unpack(packed.read())
    names = (*texts[3::2], b"input", b"answer", b"output", b"feedback/")
    for name, text in zip(names, (*texts[4::2], *texts[:3], b"")):  # noqa: B905 - Python 3.9
        write_file(name, text)
    most_digits = max(MOST_DIGITS, len(texts[0]) + len(texts[1]))
    del texts, text
    protocol, _, interactive = protocol.partition(b" ")
    # What a checker prints is its verdict only for open-r1.
    printed = 1 if protocol == b"open_r1" else 2
    streams = (3, 4) if interactive else (os.open("output", os.O_RDONLY), os.dup(printed))
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    here = os.getcwdb() + b"/"  # noqa: PTH109
    given = {b"testlib": ("input", "output", "answer"), b"open_r1": ("input", "answer", "output")}
    paths = given.get(protocol, ("input", "answer", "feedback/"))
    arguments = [b"checker", *(here + name.encode() for name in paths), *flags.split()]
    getattr(sys, "set_int_max_str_digits", lambda _digits: None)(most_digits)
    sys.argv[:] = map(os.fsdecode, arguments)
    module = type(sys)("__main__")
    sys.modules["__main__"] = module
    try:
        exec(program, module.__dict__)  # noqa: S102 - running it is what a sandbox is for
    except EOFError as error:
        if not interactive:
            raise
        sys.excepthook(type(error), error, error.__traceback__)
        sys.exit(2 if protocol == b"testlib" else 43)


if "program" in globals():
    try:
        check(globals()["program"])
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - it must not become a verdict
        sys.excepthook(type(error), error, error.__traceback__)
        sys.stderr.flush()
        os.abort()
