"""Honest and hostile programs at full load, for 8 seconds or, where slow tests are asked for, for half an hour.

All of it runs in `soak_driver`, in namespaces of its own: a fault of the sandbox can't reach the machine's processes.
GENCODE_SOAK_SECONDS sets the time of both.
"""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from alpha_codium.sandbox.portable.isolation import namespaces_command
from tests.support import ROOT

SHORT, LONG = 8.0, 1800.0
# How often the sandbox is measured beside a new one: the short one only shows that it can be.
FEW, MANY = 1, 9
# What Python's allocator keeps or gives back from one moment to the next.
RESIDENT_NOISE = 24 * 2**20


def soak(seconds: float, probes: int) -> dict[str, Any]:
    """What the driver saw; it is printed too."""
    namespaces = namespaces_command()
    if not namespaces:
        pytest.skip("this machine gives no namespaces: run as root or allow user namespaces")
    seconds = float(os.environ.get("GENCODE_SOAK_SECONDS") or seconds)
    command = [*namespaces, sys.executable, "-m", "tests.sandbox.soak_driver", str(seconds), "local", str(probes)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=2 * seconds + 200, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    seen = json.loads(done.stdout)
    print(json.dumps(seen, indent=1))
    return seen


def check(seen: dict[str, Any]) -> None:
    """What must be so however long it took."""
    assert seen["wrong"] == []
    assert seen["faults"] == []
    assert seen["honest_tests"] > 0 and sum(seen["hostile"].values()) > 0
    assert seen["open_last"]["descriptors"] <= seen["open_first"]["descriptors"]
    assert seen["open_last"]["zombies"] == 0
    assert seen["open_last"]["files"] <= seen["open_first"]["files"]
    assert seen["resident_last"] - seen["resident_first"] < RESIDENT_NOISE
    assert seen["left"] == {}


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_full_load_of_honest_and_hostile_programs_gives_right_verdicts_and_leaves_nothing() -> None:
    check(soak(SHORT, FEW))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_half_an_hour_of_full_load_makes_it_no_slower() -> None:
    seen = soak(LONG, MANY)
    check(seen)
    assert seen["last"]["against_fresh"] < 1.1
