"""Removal of the folders TIME-PROCESS-NUMBER that the sandbox leaves in /tmp, one per call, with the program in it.

The child removes them after each call, and the host those of a child that was killed.
"""

from __future__ import annotations

import shutil
from pathlib import Path

PLACE = Path("/tmp")  # noqa: S108 - whatever TMPDIR says
DIGITS = 13


def remove(process: int, since: float) -> None:
    """Remove the folders of a process made since that time (Unix seconds); the process id may have been used before."""
    for folder in PLACE.glob(f"*-{process}-*"):
        milliseconds = folder.name.partition("-")[0]
        if len(milliseconds) == DIGITS and milliseconds.isdigit() and int(milliseconds) >= int(since * 1000):
            shutil.rmtree(folder, ignore_errors=True)
