"""The standard streams of the agent and of what comes of it, where a program may look at them."""

from __future__ import annotations

import io
import os
import sys

from alpha_codium.sandbox.engine import files


def renew() -> None:
    """Make Python's own streams anew, as of files: those of a pipe, as ours are, can't be told to seek, ever."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        kept, file = os.dup(number), files.output_file(name)
        os.dup2(file, number)
        raw = io.FileIO(number, "w" if number else "r", closefd=False)
        raw.name = "<%s>" % name
        size = os.fstat(number).st_blksize
        buffer = io.BufferedWriter(raw, size) if number else io.BufferedReader(raw, size)
        text = io.TextIOWrapper(
            buffer, old.encoding, old.errors, "\n", line_buffering=old.line_buffering, write_through=old.write_through
        )
        text.mode = "w" if number else "r"  # pyrefly: ignore[read-only] - the interpreter sets it, too
        setattr(sys, name, text)
        setattr(sys, "__%s__" % name, text)
        os.dup2(kept, number)
        os.close(kept)
        os.close(file)


def forget_errors() -> None:
    """Have nothing in a runner's stderr, once its program is compiled, that two tests could find there."""
    null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    os.dup2(null, 2)
    os.close(null)
