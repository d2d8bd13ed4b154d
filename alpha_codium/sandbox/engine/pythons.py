"""Which python runs the programs: found as a shell would find it, and said to be missing before anything runs."""

import shutil
import sys
from pathlib import Path

from alpha_codium.errors import SandboxError


def path_of(interpreter: str) -> str:
    """Where an interpreter is; our own where none is named. Not resolved: a venv's python is a link."""
    return str(Path(shutil.which(interpreter or sys.executable) or interpreter).absolute())


def require(path: str) -> None:
    """Raise SandboxError where there is no interpreter at `path`."""
    if shutil.which(path) is None:
        raise SandboxError(f"there is no interpreter {path!r}: set code_tester.interpreter to the path of a python3")
