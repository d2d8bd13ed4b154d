"""Servers under load: verdicts don't depend on it, what is refused is told so, and nothing piles up.

`python -m tests.serve.traffic` does the same with other numbers, and prints what it saw.
"""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.support import ROOT

SOAK = int(os.environ.get("GENCODE_SOAK_REQUESTS", "100000"))
# The memory of a server may differ so much between the second quarter of the requests and the last.
GROWTH = 1.05

pytestmark = pytest.mark.timeout(3600)


def traffic(what: str, *amounts: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.serve.traffic", what, *map(str, amounts)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    return json.loads(done.stdout.splitlines()[-1])


def few_or_many(few: int, many: int) -> pytest.MarkDecorator:
    """The amount: few in CI, many where there is more time."""
    return pytest.mark.parametrize(
        "amount", [pytest.param(few, marks=pytest.mark.thorough), pytest.param(many, marks=pytest.mark.slow)]
    )


@few_or_many(150, 10_000)
def test_verdicts_under_four_times_the_load_are_the_same(amount: int) -> None:
    seen = traffic("verdicts", amount)
    assert seen["differ_otherwise"] == []
    assert seen["wrong"] == {}
    assert seen["internal_errors"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("amount", [300])
def test_of_twice_as_many_requests_as_can_be_judged_each_is_judged_or_refused(amount: int) -> None:
    seen = traffic("overload", amount)
    assert seen["lost"] == {}
    assert (seen["wrong"], seen["refused_without_retry_after"]) == ({}, 0)
    assert set(seen["statuses"]) == {"200", "429"}
    assert seen["after"]["zombies"] == 0
    assert seen["after"]["descriptors"] <= seen["before"]["descriptors"] + 20
    assert seen["memory_last"] < 1.2 * seen["memory_first"]


@few_or_many(3_000, SOAK)
def test_many_requests_leave_nothing_behind(amount: int) -> None:
    # Of the few, one in five is judged, which is what takes long.
    seen = traffic("soak", amount, 1 if amount == SOAK else 5)
    assert seen["wrong"] == {}
    assert seen["growth"] < GROWTH
    assert seen["after"]["descriptors"] <= seen["before"]["descriptors"] + 2
    assert seen["after"]["processes"] <= seen["before"]["processes"] + 2
    assert seen["after"]["zombies"] == 0
