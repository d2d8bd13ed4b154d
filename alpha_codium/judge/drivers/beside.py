"""A driver that runs a program with other files beside it, and with arguments.

stdin holds, packed by `packing`: what the program reads, the number of its arguments, these, and then name and contents
of each file, the contents in base64. The files are written into the program's folder; the program runs as `__main__`.
"""

import binascii
import os
import sys
from types import CodeType

from alpha_codium.judge.packing import unpack, write_file

STDIN = b".stdin"


def run_beside_files(program: "CodeType") -> None:
    """Write the files, set stdin and the arguments, run the program."""
    with open(0, "rb", closefd=False) as packed:
        text, count, *rest = unpack(packed.read())
    _become_stdin(text)
    files = rest[int(count) :]
    for name, contents in zip(files[::2], files[1::2]):  # noqa: B905 - Python 3.9
        write_file(name, binascii.a2b_base64(contents))
    sys.argv[1:] = map(os.fsdecode, rest[: int(count)])
    del text, rest, files
    module = type(sys)("__main__")
    module.__file__ = os.getcwd() + "/program.py"  # noqa: PTH109 - pathlib takes long to import
    sys.modules["__main__"] = module
    exec(program, module.__dict__)  # noqa: S102 - running it is what a sandbox is for


def _become_stdin(text: bytes) -> None:
    """Make `text` what this process reads from stdin, by a file without a name."""
    write_file(STDIN, text)
    fd = os.open(STDIN, os.O_RDONLY)
    os.unlink(STDIN)  # noqa: PTH108
    os.dup2(fd, 0)
    os.close(fd)


if "program" in globals():
    run_beside_files(globals()["program"])
