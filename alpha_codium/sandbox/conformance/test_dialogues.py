"""Tests of dialogues: pairs in which the left side talks to an ordinary program over its standard streams."""

from dataclasses import replace

import pytest

from alpha_codium.limits import Limits
from alpha_codium.program import Dialogue, PairJob, Side
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.conformance.running import side
from alpha_codium.sandbox.protocol import PairUnsupported
from alpha_codium.verdict import PairReport, Status

pytestmark = pytest.mark.asyncio(loop_scope="module")

# The beginning of a left side.
OPENED = "import os, sys\nfrom_right, to_right = os.fdopen(3), os.fdopen(4, 'w')\n"
ACCEPTS, REJECTS = "\nsys.exit(7)", "\nsys.exit(8)"
FLOOD = 3 << 20


async def talk(
    sandbox: Sandbox, left: str | Side, right: str | Side, *, idle: float = 30, limits: Limits | None = None
) -> PairReport:
    """Run a dialogue; skips the test if the backend doesn't support dialogues."""
    left, right = (side(each) if isinstance(each, str) else each for each in (left, right))
    left = replace(left, program=side(OPENED + left.program.source).program)
    try:
        return await sandbox.execute_pair(PairJob(left, right, limits or Limits(), Dialogue((7,), idle)))
    except PairUnsupported as unsupported:
        pytest.skip(str(unsupported))


async def test_the_streams_of_a_program_are_pipes_to_the_other(sandbox: Sandbox) -> None:
    asks = "print('6 7', file=to_right, flush=True)\nprint(from_right.readline(), end='')" + ACCEPTS
    answers = (
        "import sys\na, b = input().split()\nprint(int(a) * int(b), flush=True)\nsys.stderr.write(sys.stdin.read())"
    )
    report = await talk(sandbox, side(asks, input="not read"), side(answers, input="nor this"))
    assert (report.left.last.stdout, report.left.last.exit_code) == ("42\n", 7)
    right = report.right.last
    assert (right.status, right.stdout, right.stderr) == (Status.FINISHED, "", "")


@pytest.mark.parametrize("reads", ["open('/dev/stdin').readline()", "__import__('os').read(0, 9)", "open(0).read()"])
async def test_a_program_may_read_its_stdin_in_any_way(sandbox: Sandbox, reads: str) -> None:
    report = await talk(
        sandbox, "print('word', file=to_right, flush=True); to_right.close()" + ACCEPTS, f"print({reads})"
    )
    assert (report.right.last.status, report.left.last.exit_code) == (Status.FINISHED, 7)


async def test_the_side_that_ends_first_is_named_whatever_its_end_does_to_the_other(sandbox: Sandbox) -> None:
    report = await talk(sandbox, "assert from_right.read() == 'last words'" + ACCEPTS, "print('last words', end='')")
    assert (report.first, report.left.last.exit_code) == ("right", 7)
    report = await talk(sandbox, REJECTS, "input()")
    assert (report.first, report.left.last.exit_code) == ("left", 8)
    report = await talk(sandbox, ACCEPTS, "input()")
    assert (report.first, report.right.last.status) == ("left", Status.RUNTIME_ERROR)
    assert "EOFError" in report.right.last.stderr


async def test_the_right_side_goes_on_after_the_left_one_accepts_and_only_then(sandbox: Sandbox) -> None:
    slow = "import time\nstart = time.process_time()\nwhile time.process_time() - start < 0.3: pass\nprint(1)"
    report = await talk(sandbox, ACCEPTS, slow)
    assert report.right.last.status is Status.FINISHED
    report = await talk(sandbox, REJECTS, "import time\ntime.sleep(60)")
    assert report.right.last.wall_seconds < 30


@pytest.mark.parametrize("talker", ["left", "right"])
async def test_nobody_is_ended_or_waits_because_what_it_says_is_no_longer_read(sandbox: Sandbox, talker: str) -> None:
    says = f"for _ in range({FLOOD} // 64): {{}}.write('x' * 63 + '\\n')\n{{}}.flush()"
    left = says.replace("{}", "to_right") if talker == "left" else ""
    right = says.replace("{}", "sys.stdout") if talker == "right" else ""
    report = await talk(sandbox, left + ACCEPTS, "import sys\n" + right)
    assert (report.left.last.exit_code, report.right.last.status) == (7, Status.FINISHED)


async def test_each_side_has_its_own_limits(sandbox: Sandbox) -> None:
    spins = "\nimport time\nwhile time.process_time() < 0.8: pass"
    tight, wide = Limits(cpu_seconds=0.25), Limits(cpu_seconds=20)
    report = await talk(sandbox, replace(side(spins + ACCEPTS), limits=wide), "input()", limits=tight)
    assert report.left.last.exit_code == 7
    report = await talk(sandbox, "from_right.read()" + ACCEPTS, replace(side(spins), limits=tight), limits=wide)
    assert report.right.last.status is Status.TIME_LIMIT_EXCEEDED


async def test_sides_that_only_wait_are_ended_and_both_are_told_why(sandbox: Sandbox) -> None:
    report = await talk(
        sandbox, "from_right.read()" + ACCEPTS, "print('not flushed')\nimport sys\nsys.stdin.read()", idle=0.5
    )
    for execution in (report.left.last, report.right.last):
        assert execution.status is Status.TIME_LIMIT_EXCEEDED
        assert execution.stderr.startswith("idleness limit exceeded: for 0.5 s")
        assert execution.wall_seconds < 10
    assert report.first == "right"


async def test_a_side_that_computes_while_the_other_waits_is_not_idle(sandbox: Sandbox) -> None:
    thinks = "import time\nwhile time.process_time() < 1.5: pass\n"
    report = await talk(sandbox, "from_right.read()" + ACCEPTS, thinks, idle=0.5)
    assert (report.right.last.status, report.left.last.exit_code) == (Status.FINISHED, 7)


async def test_a_left_side_that_never_ends_is_idle_too(sandbox: Sandbox) -> None:
    report = await talk(sandbox, "import time\ntime.sleep(600)", "", idle=0.5)
    assert (report.first, report.right.last.status) == ("right", Status.FINISHED)
    assert report.left.last.status is Status.TIME_LIMIT_EXCEEDED
    assert report.left.last.stderr.startswith("idleness limit exceeded")


async def test_processes_that_are_left_behind_hold_nothing_up(sandbox: Sandbox) -> None:
    leaves = "import os, time\nif os.fork() == 0:\n    time.sleep(600)\nprint('done')"
    report = await talk(sandbox, "assert from_right.read() == 'done\\n'" + ACCEPTS, leaves)
    assert report.right.last.wall_seconds < 30
    if report.right.last.finished:
        assert report.left.last.exit_code == 7
