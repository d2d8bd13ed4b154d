"""The folders that the sandbox leaves in /tmp, one a call, with the program in it: TIME-PROCESS-NUMBER.

The child removes them after each call, and the host those of a child that was killed.
"""

from __future__ import annotations

import shutil
from pathlib import Path

PLACE = Path("/tmp")  # noqa: S108 - whatever TMPDIR says
DIGITS = 13


def remove(process: int, since: float) -> None:
    """Remove those of a process made since that second of the epoch: others may have had its number before."""
    for folder in PLACE.glob(f"*-{process}-*"):
        milliseconds = folder.name.partition("-")[0]
        if len(milliseconds) == DIGITS and milliseconds.isdigit() and int(milliseconds) >= int(since * 1000):
            shutil.rmtree(folder, ignore_errors=True)
