"""A driver that runs a program that reads its input from a file or writes its output to one.

1. stdin holds, packed by `packing`, both file names (empty for a stream) and the input, which is written to a file. If
   there is no input name, this file becomes stdin.
2. The program runs as `__main__`. If it has an output file, its stdout is discarded.
3. If the program ends without an exception, the driver does what Python does at exit: it joins the threads, calls the
   exit handlers and flushes open files. Then it copies the output file to stdout.
4. If the program calls `os._exit(0)`, the output file is copied as it is, without flushing.
"""

import gc
import io
import os
import sys
from types import CodeType
from typing import NoReturn

from alpha_codium.judge.packing import unpack

# Text files before the binary files that they write to.
BUFFERED = (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)
CHUNK = 1 << 20


def run_with_files(program: "CodeType") -> None:
    """Write the input file, run the program, copy its output file to stdout."""
    with open(0, "rb", closefd=False) as packed:
        input_file, output_file, text = unpack(packed.read())
    with open(input_file or b"stdin", "wb") as file:  # noqa: PTH123
        file.write(text)
    del text
    _redirect(0, os.devnull if input_file else "stdin", os.O_RDONLY)
    module = type(sys)("__main__")
    module.__file__ = os.getcwd() + "/program.py"  # noqa: PTH109 - pathlib takes long to import
    sys.modules["__main__"] = module
    if not output_file:
        exec(program, module.__dict__)  # noqa: S102 - running it is what a sandbox is for
        return
    own, leave, stdout, here = os.getpid(), os._exit, os.dup(1), os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    _redirect(1, os.devnull, os.O_WRONLY)

    def copy() -> None:
        os._exit = leave
        if os.getpid() == own:  # not in a process that the program forked
            _copy(output_file, here, stdout)

    def copy_and_leave(status: int) -> "NoReturn":
        try:
            if status == 0:
                copy()
        except OSError:
            leave(1)
        leave(status)

    os._exit = copy_and_leave  # pyrefly: ignore[bad-assignment] - its argument has another name
    try:
        exec(program, module.__dict__)  # noqa: S102 - running it is what a sandbox is for
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    _wind_down()
    _flush_all()
    copy()


def _redirect(stream: int, path: str, flags: int) -> None:
    fd = os.open(path, flags)
    os.dup2(fd, stream)
    os.close(fd)


def _wind_down() -> None:
    """Wait for the program's threads, then call its exit handlers, as Python does at its end."""
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()
    if "atexit" in sys.modules:
        try:  # noqa: SIM105 - contextlib takes long to import
            sys.modules["atexit"]._run_exitfuncs()
        except BaseException:  # noqa: BLE001, S110 - Python 3.9 has printed it, and keeps the exit status
            pass


def _flush_all() -> None:
    """Flush every file that the program left open; `gc` doesn't list older ones, such as stdout."""
    files = [each for each in gc.get_objects() if issubclass(type(each), BUFFERED)]
    files.sort(key=lambda file: not isinstance(file, io.TextIOWrapper))
    for file in (sys.stdout, sys.__stdout__, *files):
        try:
            if file is not None:
                file.flush()
        except Exception:  # noqa: BLE001, S112 - it was closed, or only read from, or has a flush of the program's own
            continue


def _copy(name: bytes, folder: int, target: int) -> None:
    """Copy the file of that name in the program's folder, even if the program has changed directories."""
    try:
        source = os.open(name, os.O_RDONLY, dir_fd=folder)
    except FileNotFoundError:
        return
    with open(source, "rb") as file, open(target, "wb", closefd=False) as out:  # noqa: PTH123
        while chunk := file.read(CHUNK):
            out.write(chunk)


if "program" in globals():
    run_with_files(globals()["program"])
