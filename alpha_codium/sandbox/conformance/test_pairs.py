"""Tests of pairs: two programs with a channel between them."""

import asyncio

import pytest

from alpha_codium.limits import Limits
from alpha_codium.program import PairJob, Side
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.conformance.running import side
from alpha_codium.sandbox.protocol import PairUnsupported
from alpha_codium.verdict import PairReport, Status

pytestmark = pytest.mark.asyncio(loop_scope="module")

RUN = "exec(program, {'__name__': '__main__'})"
ECHO = "import socket\nchannel = socket.socket(fileno=3)\nchannel.sendall(input().encode())\nprint(channel.recv(99))\n"


async def run_pair(sandbox: Sandbox, left: Side, right: Side, limits: Limits | None = None) -> PairReport:
    """Run a pair; skips the test if the backend doesn't support pairs."""
    try:
        return await sandbox.execute_pair(PairJob(left, right, limits or Limits()))
    except PairUnsupported as unsupported:
        pytest.skip(str(unsupported))


async def test_two_programs_talk_over_the_channel(sandbox: Sandbox) -> None:
    report = await run_pair(sandbox, side(ECHO, input="left\n"), side("print('driven')", ECHO + RUN, "right\n"))
    assert report.left.executions[0].stdout == "b'right'\n"
    assert report.right.executions[0].stdout == "b'left'\ndriven\n"


async def test_the_end_of_one_side_is_the_end_of_the_channel(sandbox: Sandbox) -> None:
    report = await run_pair(sandbox, side("import os\nos._exit(3)"), side("import os\nprint(os.read(3, 1))"))
    assert (report.left.executions[0].exit_code, report.right.executions[0].stdout) == (3, "b''\n")


async def test_a_side_that_does_not_compile_keeps_both_from_running(sandbox: Sandbox) -> None:
    report = await run_pair(sandbox, side("print(1)"), side("print("))
    assert report.left.compiled and not report.right.compiled
    assert report.left.executions == report.right.executions == ()


async def test_a_limit_that_one_side_reaches_is_its_own(sandbox: Sandbox) -> None:
    limits = Limits(cpu_seconds=0.25, wall_seconds=60)
    report = await run_pair(sandbox, side("import os\nos.read(3, 1)"), side("while True: pass"), limits)
    assert report.right.executions[0].status is Status.TIME_LIMIT_EXCEEDED
    assert report.left.executions[0].status is Status.FINISHED


async def test_sides_that_wait_for_each_other_reach_the_wall_limit(sandbox: Sandbox) -> None:
    waiting = side("import os\nos.read(3, 1)")
    report = await run_pair(sandbox, waiting, waiting, Limits(wall_seconds=0.4))
    assert Status.TIME_LIMIT_EXCEEDED in {report.left.executions[0].status, report.right.executions[0].status}


async def test_many_pairs_and_programs_at_once_get_their_own_answers(sandbox: Sandbox) -> None:
    pairs = [run_pair(sandbox, side(ECHO, input=f"l{i}\n"), side(ECHO, input=f"r{i}\n")) for i in range(8)]
    single = [sandbox.run(f"print({i})", [""]) for i in range(8)]
    reports, singles = await asyncio.gather(asyncio.gather(*pairs), asyncio.gather(*single))
    assert [r.left.executions[0].stdout for r in reports] == [f"b'r{i}'\n" for i in range(8)]
    assert [r.executions[0].stdout for r in singles] == [f"{i}\n" for i in range(8)]


async def test_a_pair_that_is_called_off_leaves_the_sandbox_whole(sandbox: Sandbox) -> None:
    waiting = side("import os\nos.read(3, 1)")
    running = asyncio.create_task(run_pair(sandbox, waiting, waiting, Limits(wall_seconds=600)))
    await asyncio.sleep(0.2)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await sandbox.run("print(1)", [""])).executions[0].stdout == "1\n"
    report = await run_pair(sandbox, side(ECHO, input="l\n"), side(ECHO, input="r\n"))
    assert report.left.executions[0].stdout == "b'r'\n"
