"""Faults injected into the local backend at work: no hang, no lost candidate, no wrong verdict, nothing left behind.

Each fault happens in a `faults_driver` of its own, in namespaces of its own, since processes are killed there by what
they are.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from alpha_codium.sandbox.portable.isolation import namespaces_command
from tests.sandbox.faults_driver import FAULTS, PATIENCE
from tests.support import ROOT

# The sandbox may say of these that it could not run a program; of the others it must find out by itself.
MAY_BE_OUR_FAULT = {
    "workers are killed again and again",
    "every runner is killed while it compiles",
    "every zygote is killed while its runner compiles",
    "no worker can be made anew",
    "no more descriptors",
}
Injected = Callable[[str], dict[str, Any]]
# Drivers at work at a time: most of what they do is to wait until the sandbox sees what was done to it.
AT_A_TIME = 3


@pytest.fixture(scope="module")
def injected(request: pytest.FixtureRequest) -> Iterator[Injected]:
    """What the driver saw of a fault; all faults of the tests that are run are under way from the first one on."""
    if not namespaces_command():
        pytest.skip("this machine gives no namespaces: run as root or allow user namespaces")
    # Not from a thread: pytest changes ours between two tests, and a process that starts just then reads freed memory.
    environment = dict(os.environ)
    items = (getattr(item, "callspec", None) for item in request.session.items)
    asked = [item.params["fault"] for item in items if item is not None and "fault" in item.params]
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        start = partial(pool.submit, inject, environment)
        # First what hangs, for that is waited for longest.
        ordered = sorted(FAULTS, key=lambda fault: "stopped" not in fault)
        under_way = {fault: start(fault) for fault in ordered if fault in asked}
        yield lambda fault: (under_way.get(fault) or under_way.setdefault(fault, start(fault))).result()
        pool.shutdown(cancel_futures=True)


def inject(environment: dict[str, str], fault: str) -> dict[str, Any]:
    """What the driver sees of a fault."""
    command = [*namespaces_command(), sys.executable, "-m", "tests.sandbox.faults_driver", fault]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE + 60, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


@pytest.mark.thorough
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_costs_no_verdict_and_leaves_nothing(injected: Injected, fault: str) -> None:
    seen = injected(fault)
    if not seen["happened"] and "fork" in fault:
        pytest.skip("this machine gives no cgroup that counts processes: run as root, or with a delegated cgroup")
    assert seen["happened"], seen
    assert [report for report in seen["reports"] if not is_right(report, fault)] == []
    assert seen["next"] == ["0a\n", "1a\n", "2a\n", "3a\n"]
    assert seen["left"] == {}


def is_right(report: dict[str, Any], fault: str) -> bool:
    """Whether both tests of a program have the outputs that they must have, or the fault was said to be ours."""
    statuses = [report["compilation"], *(status for status, _, _ in report["executions"])]
    if "internal_error" in statuses:
        return fault in MAY_BE_OUR_FAULT and set(statuses) <= {"finished", "internal_error"}
    outputs = [stdout for _, stdout, _ in report["executions"]]
    return statuses == ["finished"] * 3 and outputs[0].strip().isdigit() and outputs[1] == "b\n"


@pytest.mark.thorough
def test_nothing_lives_on_where_gencode_is_killed(injected: Injected) -> None:
    seen = injected("the parent is killed")
    assert seen["happened"]
    assert (seen["gone"], seen["survivors"]) == (True, [])
    assert seen["next"] == ["1\n"]
    assert seen["left"] == {}


def test_cgroups_of_a_killed_gencode_are_removed_by_the_next_one(injected: Injected) -> None:
    assert injected("the parent is killed")["groups_later"] == []


@pytest.mark.thorough
def test_a_sandbox_that_may_open_few_files_works_or_says_why(injected: Injected) -> None:
    seen = injected("the sandbox is opened with few descriptors")
    for outcome in seen["outcomes"]:
        assert "Too many open files" in outcome.get("error", "") or is_right(outcome, "no more descriptors"), outcome
    assert seen["left"] == {}
