"""The standard streams of the agent and its children, as a program may see them."""

from __future__ import annotations

import io
import os
import sys

from alpha_codium.sandbox.engine import files


def renew() -> None:
    """Replace Python's own streams by those of files: the ones it made for pipes could never seek."""
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
