"""The environment variables of the programs under test."""

import os
from pathlib import Path

# Without it each test would look up anew each function of a library that it calls.
BIND_NOW = {"LD_BIND_NOW": "1"}


def environment_of(folder: Path) -> dict[str, str]:
    """The environment of a program: nothing of ours, and the same each time."""
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    # Some processors crash older OpenBLAS builds unless this is set.
    kept = {name: os.environ[name] for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE") if name in os.environ}
    return environment | kept
