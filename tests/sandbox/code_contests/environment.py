"""The C++ sandbox's environment, installed once for all test runs of this user."""

import functools
import os
from pathlib import Path
from typing import Any

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.sandbox.code_contests import environment
from tests.support import gencode

TESTS_HOME = Path(os.environ.get("GENCODE_TEST_HOME") or Path.home() / ".cache" / "gencode-tests")


@functools.cache
def problem() -> str:
    """Install it, if need be, and try it: why it can't be had here, or nothing."""
    try:
        environment.install(TESTS_HOME / "environments" / "code_contests", say=lambda _: None)
    except SandboxError as error:
        return str(error)
    checked = gencode("sandbox", "check", "-o", "code_tester.tester_type=code_contests", home=TESTS_HOME)
    assert checked.returncode in (0, 2), checked.stderr
    return checked.stderr.strip()


def home_with_it() -> Path:
    """A GENCODE_HOME that has the environment; skips the test where it can't be had."""
    if problem():
        pytest.skip(problem())
    return TESTS_HOME


def installed() -> dict[str, Any]:
    """The options of the backend; skips the test where it can't be had."""
    return {"environment": str(environment_folder())}


def environment_folder() -> Path:
    """Where it is; skips the test where it can't be had."""
    return home_with_it() / "environments" / "code_contests"
