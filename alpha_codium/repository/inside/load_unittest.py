"""The tests of the module or package `LABEL`, which unittest finds; executed with the names of `unittest_suite`."""

from __future__ import annotations

import os
import unittest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from alpha_codium.repository.inside.unittest_suite import remember

LABEL = ""
FOLDER = ""


def load() -> None:
    """Load the tests of `LABEL`."""
    os.chdir(FOLDER)
    remember(unittest.defaultTestLoader.loadTestsFromName(LABEL))
