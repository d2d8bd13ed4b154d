"""In the program's place: a checker that is a program, run on one output of a candidate.

1. stdin holds, as `packing` spells it: how the checker is called (`icpc` or `testlib`), whether it is `python` or an
   `image`, its flags, the test's input, its answer, the candidate's output, and then names and texts of files that
   stand beside it. They are written into the folder here; stdin becomes the candidate's output.
2. A checker in Python is the program. Of any other the program holds the image, compressed and in base64, which takes
   this process over.
3. The checker's verdict is its exit status. So nothing of ours may end with one: what fails here aborts, and so does
   an exception that a checker in Python doesn't catch, since Python's 1 would be a verdict of testlib's.
"""

import binascii
import os
import sys
import zlib

from alpha_codium.judge.drivers.image import run_image
from alpha_codium.judge.packing import unpack

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType

NAME = "checker"


def check(program: "CodeType") -> None:
    """Write the files, call the checker."""
    protocol, language, flags, *texts = unpack(_read_all(0))
    names = (*texts[3::2], b"input", b"answer", b"output", b"feedback/")
    for name, text in zip(names, (*texts[4::2], *texts[:3], b"")):  # noqa: B905 - Python 3.9
        _write(name, text)
    del texts, text
    output = os.open("output", os.O_RDONLY)
    os.dup2(output, 0)
    os.close(output)
    os.dup2(2, 1)
    here = os.getcwdb() + b"/"  # noqa: PTH109
    given = ("input", "output", "answer") if protocol == b"testlib" else ("input", "answer", "feedback/")
    arguments = [NAME.encode(), *(here + name.encode() for name in given), *flags.split()]
    if language == b"image":
        namespace = {}
        exec(program, namespace)  # noqa: S102 - it holds a text and does nothing
        run_image(zlib.decompress(binascii.a2b_base64(namespace["IMAGE"])), arguments)
    # Outputs may hold numbers of any length.
    getattr(sys, "set_int_max_str_digits", lambda _digits: None)(0)
    _run_python(program, arguments)


def _run_python(program: "CodeType", arguments: "Sequence[bytes]") -> None:
    sys.argv[:] = map(os.fsdecode, arguments)
    module = type(sys)("__main__")
    sys.modules["__main__"] = module
    exec(program, module.__dict__)  # noqa: S102 - running it is what a sandbox is for


def _read_all(fd: int) -> bytes:
    with open(fd, "rb", closefd=False) as file:
        return file.read()


def _write(name: bytes, text: bytes) -> None:
    """Write a file into the folder here, and make the folders on the way; a name that ends in / is only that."""
    folder, _, last = name.rpartition(b"/")
    os.makedirs(folder or b".", exist_ok=True)  # noqa: PTH103 - pathlib takes long to import
    if last:
        with open(name, "wb") as file:  # noqa: PTH123
            file.write(text)


if "program" in globals():
    try:
        check(globals()["program"])
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever it was, it is no verdict
        sys.excepthook(type(error), error, error.__traceback__)
        sys.stderr.flush()
        os.abort()
