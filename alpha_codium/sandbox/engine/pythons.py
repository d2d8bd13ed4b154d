"""Which python runs the programs: found as a shell would find it, and said to be missing before anything runs."""

import functools
import shutil
import subprocess
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


@functools.cache
def _version_of(path: str, _changed_ns: int) -> str:
    """The version of the interpreter in a file; the time of its last change only makes the cache notice it."""
    ask = "import platform; print(platform.python_implementation(), platform.python_version())"
    try:
        shown = subprocess.run([path, "-I", "-c", ask], capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(f"the interpreter {path!r} doesn't tell its version: {error}") from error
    return shown.stdout.strip()


def version_now(path: str) -> str:
    """The implementation and full version of the interpreter at `path`, as it is now."""
    file = Path(path).resolve()
    return _version_of(str(file), file.stat().st_mtime_ns)
