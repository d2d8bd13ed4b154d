"""In the program's place: runs a program that reads its input from a file or writes its output to one, by their names.

1. stdin holds, as `packing` spells it, both names (empty: the stream) and the input. A file gets that; it is stdin,
   too, where no name was given.
2. The program is `__main__`. With an output file of its own what it prints is dropped.
3. When it has ended without an exception, files that it left open are flushed, and its output file goes to stdout. A
   program that ends itself without that (os._exit) has written nothing.
"""

import gc
import io
import os
import sys

from alpha_codium.judge.packing import unpack

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from types import CodeType

BUFFERED = [io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom]
CHUNK = 1 << 20


def run_with_files(program: "CodeType") -> None:
    """Write, run, copy."""
    with open(0, "rb", closefd=False) as packed:
        input_file, output_file, text = unpack(packed.read())
    with open(input_file or b"stdin", "wb") as file:  # noqa: PTH123
        file.write(text)
    source = os.open(os.devnull if input_file else b"stdin", os.O_RDONLY)
    os.dup2(source, 0)
    stdout = os.dup(1)
    if output_file:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    module = type(sys)("__main__")
    sys.modules["__main__"] = module
    try:
        exec(program, module.__dict__)  # noqa: S102 - running it is what a sandbox is for
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    if output_file:
        _flush_all()
        _copy(output_file, stdout)


def _flush_all() -> None:
    """Flush every file that the program left open, texts before what they are written through."""
    files = [each for each in gc.get_objects() if type(each) in BUFFERED]
    for file in sorted(files, key=lambda file: BUFFERED.index(type(file))):
        try:
            file.flush()
        except (OSError, ValueError):  # it was closed, or only read from
            continue


def _copy(name: bytes, target: int) -> None:
    if not os.path.exists(name):  # noqa: PTH110 - pathlib takes long to import
        return
    with open(name, "rb") as file, open(target, "wb", closefd=False) as out:  # noqa: PTH123
        while chunk := file.read(CHUNK):
            out.write(chunk)


if "program" in globals():
    run_with_files(globals()["program"])
