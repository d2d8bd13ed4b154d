"""Time that a test waits for a processor isn't the program's, however busy the machine."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from alpha_codium.limits import Limits
from alpha_codium.program import PairJob
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.conformance.running import side
from alpha_codium.sandbox.engine.processes import scheduled
from alpha_codium.verdict import Status

TIGHT = Limits(cpu_seconds=2, wall_seconds=1.0)
COMPUTES = """\
import time
needs = float(input())
while time.process_time() < needs: pass
print("done")
"""


@contextlib.contextmanager
def crowded_processor(others: int = 5) -> Iterator[None]:
    """This process, and all that it starts meanwhile, on one processor with others that never rest.

    Each is a session of its own, which gets a share of its own from a kernel that groups processes by session.
    """
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True) for _ in range(others)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
        os.sched_setaffinity(0, allowed)


@pytest.mark.thorough
async def test_a_program_that_waits_for_a_processor_has_not_exceeded_its_wall_time() -> None:
    with crowded_processor():
        async with open_sandbox("local", workers=1) as sandbox:
            report = await sandbox.run(COMPUTES, ["0.5"], limits=TIGHT)
    (execution,) = report.executions
    assert (execution.status, execution.stdout) == (Status.FINISHED, "done\n")
    assert execution.wall_seconds > TIGHT.wall_seconds, "the processor wasn't crowded: this shows nothing"


@pytest.mark.thorough
async def test_a_program_that_waits_for_another_whose_processor_is_busy_has_not_either() -> None:
    asking = side("import os; os.write(3, b'?'); print(os.read(3, 9))")
    answering = side(COMPUTES + "import os; os.write(3, b'done')", input="0.5")
    with crowded_processor():
        async with open_sandbox("local", workers=1) as sandbox:
            report = await sandbox.execute_pair(PairJob(asking, answering, TIGHT))
    (execution,) = report.left.executions
    assert (execution.status, execution.stdout) == (Status.FINISHED, "b'done'\n")
    assert execution.wall_seconds > TIGHT.wall_seconds, "the processor wasn't crowded: this shows nothing"


@pytest.mark.thorough
async def test_a_program_that_sleeps_has_exceeded_it_on_a_crowded_processor_too() -> None:
    with crowded_processor():
        async with open_sandbox("local", workers=1) as sandbox:
            report = await sandbox.run("import time; time.sleep(60)", [""], limits=TIGHT)
    assert report.executions[0].status is Status.TIME_LIMIT_EXCEEDED


@pytest.mark.thorough
def test_waiting_is_seen_in_a_child_that_has_to_share_a_processor() -> None:
    with crowded_processor():
        parent = subprocess.Popen([sys.executable, "-c", SHARING], stdout=subprocess.PIPE, stdin=subprocess.PIPE)
        assert parent.stdout is not None and parent.stdin is not None
        grip = os.pidfd_open(parent.pid)
        try:
            parent.stdout.readline()
            found = scheduled(grip)
            assert found is not None
            assert max(waited for _, waited in found) > 0.05
            assert sum(map(sum, found)) > 0.1 + 0.05
        finally:
            os.close(grip)
            parent.stdin.close()
            parent.wait()
            parent.stdout.close()


SHARING = """\
import os, time
reading, writing = os.pipe()
if os.fork() == 0:
    while time.process_time() < 0.1: pass
    os.write(writing, b"x")
    os.read(0, 1)
    os._exit(0)
os.read(reading, 1)
print(flush=True)
os.wait()
"""


@pytest.mark.parametrize("pidfd", [-1, 9999])
def test_nothing_is_known_of_a_process_that_is_not_there(pidfd: int) -> None:
    assert scheduled(pidfd) is None


def test_nothing_is_known_of_a_descriptor_that_is_no_pidfd() -> None:
    with Path(os.devnull).open() as other:
        assert scheduled(other.fileno()) is None
