"""Tests that pytest collects below `LABEL`, a folder or file; executed with the names of `pytest_suite`."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from alpha_codium.repository.inside.pytest_suite import collect

LABEL = ""
FOLDER = ""


def load() -> None:
    """Collect the tests of `LABEL`."""
    os.chdir(FOLDER)
    collect(LABEL)
