"""What the gvisor backend needs of a machine."""

import functools
import shutil
from typing import Any

import pytest

from alpha_codium.sandbox.gvisor.backend import REMEDY


@functools.cache
def problem() -> str:
    """Why there is no gVisor here, or nothing."""
    return "" if shutil.which("runsc") else f"there is no runsc: {REMEDY}"


def installed() -> dict[str, Any]:
    """The options of the backend; skips the test where it can't be had."""
    if problem():
        pytest.skip(problem())
    return {}


def sandboxes(above: int | None = None) -> list[int]:
    """The gVisor kernels below a process, this one if none is named."""
    # Not at the top: the list of backends, which has these too, imports this module.
    from alpha_codium.sandbox.conformance.processes import command_lines, descendants

    lines = dict(command_lines())
    return [number for number in descendants(above) if lines.get(number, "").startswith("runsc-sandbox")]
