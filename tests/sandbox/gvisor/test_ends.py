"""How programs in gVisor end, and what is left of them: nothing, however gencode ends, or the sandbox does."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from alpha_codium.limits import Limits
from alpha_codium.sandbox.conformance.processes import command_lines, descendants
from alpha_codium.sandbox.conformance.running import run_one, run_until, until
from alpha_codium.sandbox.gvisor.backend import GvisorSandbox
from alpha_codium.verdict import Status
from tests.sandbox.gvisor.environment import installed, sandboxes
from tests.support import ROOT

HOLD = "import time\nprint(input(), flush=True)\nif not input(): time.sleep(600)"
PATIENT = Limits(wall_seconds=600)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[GvisorSandbox]:
    """One with one worker: who comes next can run only when the one before has ended."""
    async with GvisorSandbox(workers=1, **installed()) as opened:
        yield opened


async def begin(sandbox: GvisorSandbox) -> "asyncio.Task[object]":
    """A run whose second test waits, come so far."""
    started = asyncio.Event()

    def first_seen(*_: object) -> bool:
        started.set()
        return False

    running = asyncio.create_task(run_until(sandbox, HOLD, ["a\nb\n", "a\n\n"], first_seen, PATIENT))
    await started.wait()
    return running


async def test_a_cancelled_run_ends_its_program_at_once_and_the_next_one_works(sandbox: GvisorSandbox) -> None:
    running = await begin(sandbox)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await run_one(sandbox, "print('next')")).stdout == "next\n"


@pytest.mark.thorough
async def test_leaving_the_sandbox_ends_what_still_runs() -> None:
    before = set(descendants())
    async with GvisorSandbox(workers=2, **installed()) as sandbox:
        running = [await begin(sandbox) for _ in range(2)]
    outcomes = await asyncio.gather(*running, return_exceptions=True)
    await until(lambda: set(descendants()) <= before)
    assert Status.FINISHED not in {o.executions[-1].status for o in outcomes if not isinstance(o, BaseException)}  # type: ignore[attr-defined]


@pytest.mark.thorough
async def test_a_sandbox_that_dies_is_started_again_and_the_test_is_run_once_more(sandbox: GvisorSandbox) -> None:
    running = await begin(sandbox)
    (kernel,) = sandboxes()
    os.kill(kernel, signal.SIGKILL)
    await until(lambda: set(sandboxes()) - {kernel})
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await run_one(sandbox, "print('next')")).stdout == "next\n"


@pytest.mark.thorough
async def test_a_sandbox_that_dies_again_and_again_is_our_fault_and_no_verdict(sandbox: GvisorSandbox) -> None:
    running = await begin(sandbox)
    killed: set[int] = set()
    while not running.done():
        for kernel in set(sandboxes()) - killed:
            killed.add(kernel)
            os.kill(kernel, signal.SIGKILL)
        await asyncio.sleep(0.02)
    executions = await running
    assert executions[-1].status is Status.INTERNAL_ERROR  # type: ignore[attr-defined]
    assert (await run_one(sandbox, "print('next')")).stdout == "next\n"


@pytest.mark.thorough
async def test_a_program_that_is_slow_for_lack_of_memory_exceeds_its_memory_limit(
    sandbox: GvisorSandbox,
) -> None:
    hoard = "import time\nprint(input(), flush=True)\nhoard = b'x' * (200 << 20)\ntime.sleep(600)"
    running = asyncio.create_task(run_one(sandbox, hoard, "a\n", Limits(wall_seconds=4)))
    await until(sandboxes)
    group = sandbox._slots[0].plain.group
    if group is None or not group.complete:
        pytest.skip("a control group needs root here")
    await until(lambda: group.memory_used() > 200 << 20)
    # Stopped, gVisor answers as little as when the kernel frees and reads its pages again and again.
    (kernel,) = sandboxes()
    os.kill(kernel, signal.SIGSTOP)
    assert group.set_memory(group.memory_used() + (8 << 20))
    execution = await running
    assert execution.status is Status.MEMORY_LIMIT_EXCEEDED
    assert execution.max_rss_bytes == Limits().memory_bytes
    assert (await run_one(sandbox, "print('next')")).stdout == "next\n"


HOST = """
import asyncio
from alpha_codium.limits import Limits
from alpha_codium.sandbox.gvisor.backend import GvisorSandbox
from alpha_codium.sandbox.protocol import job_of
async def main():
    async with GvisorSandbox(workers=1) as sandbox:
        job = job_of({hold!r}, ["a\\nb\\n", "a\\n\\n"], Limits(wall_seconds=600))
        async for _ in sandbox.execute(job):
            print("running", flush=True)
asyncio.run(main())
"""


@pytest.mark.thorough
async def test_killing_gencode_ends_what_it_runs_and_the_next_one_removes_what_it_left(tmp_path: Path) -> None:
    options = installed()
    host = subprocess.Popen(
        [sys.executable, "-c", HOST.format(hold=HOLD)],
        stdout=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        cwd=ROOT,
    )
    with host:
        assert host.stdout is not None and host.stdout.readline() == b"running\n"
        assert sandboxes(host.pid)
        host.kill()
    await until(lambda: not [line for _, line in command_lines() if str(tmp_path) in line and "runsc" in line])
    left = list(tmp_path.iterdir())
    assert left, "nothing could remove the bundle"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tmp_path))
        async with GvisorSandbox(workers=1, **options):
            assert not set(tmp_path.iterdir()) & set(left)
    assert list(tmp_path.iterdir()) == []


DAEMON = """
import os
print("first", flush=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True: os.write(1, b"late\\n")
    os._exit(0)
os._exit(0)
"""


@pytest.mark.thorough
async def test_a_process_that_is_being_forked_when_all_are_killed_is_killed_too() -> None:
    """It isn't among those that gVisor goes through: once in a hundred times it lived on."""
    async with GvisorSandbox(workers=2, **installed()) as sandbox:
        reports = await asyncio.gather(*(sandbox.run(DAEMON, [""] * 30) for _ in range(4)))
        statuses = {execution.status for report in reports for execution in report.executions}
        assert statuses == {Status.FINISHED} or not sandbox.layers[3].used
