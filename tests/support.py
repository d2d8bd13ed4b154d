"""What several tests need: the shared data, and the command line as a user types it."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.json_results import check_json

ROOT = Path(__file__).resolve().parent.parent
# The file of an `AnswerStore` that is kept in memory.
NOWHERE = Path(":memory:")


def shared_path(name: str) -> Path:
    """A file of the shared folder (real problems, attackers); skips the test where a clone has none."""
    folder = Path(os.environ.get("GENCODE_SHARED") or ROOT.parent / "shared")
    path = folder / name
    if not path.exists():
        pytest.skip(f"{path} is not there: set GENCODE_SHARED to the folder of shared data")
    return path


def share_a_loop(items: Iterable[pytest.Item], folder: Path, fixtures: set[str]) -> None:
    """Run tests in `folder` that use one of these async fixtures, which are a module's, in the loop it was made in."""
    for item in items:
        if item.path.is_relative_to(folder) and fixtures & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)


def gencode(
    *arguments: object, home: Path, env: dict[str, str] | None = None, timeout: float = 240
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, with GENCODE_HOME at `home`."""
    done = subprocess.run(
        [sys.executable, "-m", "alpha_codium", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=os.environ | {"GENCODE_HOME": str(home), "COLUMNS": "200"} | (env or {}),
        check=False,
    )
    check_json([*map(str, arguments)], done.stdout)
    return done
