"""Dialogues, with workers that are slow to end a test."""

import time
from collections import Counter
from types import SimpleNamespace
from typing import cast

import pytest

from alpha_codium.program import Dialogue, PairJob
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.conformance.running import side
from alpha_codium.sandbox.engine.pairs import LOOK_SECONDS, Idleness
from alpha_codium.sandbox.engine.worker import Worker
from alpha_codium.verdict import Status

WAITS = {"left": "import os\nos.read(3, 1)", "right": "import sys\nsys.stdin.read()"}


@pytest.mark.parametrize("late", [0, 1], ids=WAITS)
async def test_a_side_that_is_ended_later_finds_no_end_of_its_input(monkeypatch: pytest.MonkeyPatch, late: int) -> None:
    """Or it would end by itself, and be `finished` instead of idle."""
    end_test, asked = Worker.end_test, Counter[Worker]()

    def end_late(worker: Worker) -> None:
        asked[worker] += 1
        if list(asked).index(worker) != late or asked[worker] > 5:
            end_test(worker)

    monkeypatch.setattr(Worker, "end_test", end_late)
    async with open_sandbox("local", workers=2) as sandbox:
        report = await sandbox.execute_pair(PairJob(*map(side, WAITS.values()), dialogue=Dialogue((7,), 0.3)))
    for execution in (report.left.last, report.right.last):
        assert execution.status is Status.TIME_LIMIT_EXCEEDED, execution
        assert execution.stderr.startswith("idleness limit exceeded")
    assert asked.total() > 5


def test_programs_are_not_idle_for_what_they_wait_for_this_process() -> None:
    idleness, workers = Idleness(3 * LOOK_SECONDS), [cast(Worker, SimpleNamespace(scheduled=list))] * 2
    time.sleep(4 * LOOK_SECONDS)  # it is stopped, or other processes have the processors
    assert not idleness.lasts(workers)
    time.sleep(2 * LOOK_SECONDS)
    assert idleness.lasts(workers)
