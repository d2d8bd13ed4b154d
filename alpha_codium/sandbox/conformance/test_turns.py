"""Tests of jobs whose programs get their input by turns: no line is known before the line before it is answered."""

import pytest

from alpha_codium.limits import Limits
from alpha_codium.program import PYTHON, Job, Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.verdict import Execution, Status

pytestmark = pytest.mark.asyncio(loop_scope="module")

ECHO = "for line in iter(input, None): print(line[::-1], flush=True)"
# Everything that can be read without an answer, from each descriptor and from memory.
LOOKING = """
import os, select
seen = b""
for fd in range(64):
    try:
        while select.select([fd], [], [], 0.2)[0] and (piece := os.read(fd, 1 << 16)):
            seen += piece
        seen += os.pread(fd, 1 << 16, 0)
    except (OSError, ValueError):
        pass
try:
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
        for line in maps:
            if "rw" in line and "[v" not in line:
                first, last = (int(each, 16) for each in line.split()[0].split("-"))
                try:
                    memory.seek(first)
                    seen += memory.read(last - first)
                except OSError:
                    pass
except OSError:
    pass
print(b"first" in seen, ("sec" + "ond-").encode() in seen)
"""


async def in_turn(sandbox: Sandbox, source: str, text: str, limits: Limits | None = None) -> Execution:
    if not sandbox.has_turns:
        pytest.skip("this backend has no turns")
    job = Job(Program.from_source(PYTHON, source), (text,), limits or Limits(), by_turns=True)
    return (await report_of(sandbox, job)).last


async def test_each_line_comes_after_the_answer_to_the_one_before_and_then_the_end(sandbox: Sandbox) -> None:
    program = ECHO.replace("iter(input, None)", "__import__('sys').stdin")
    execution = await in_turn(sandbox, program, "abc\nde\n\nü")
    assert (execution.status, execution.stdout.split()) == (Status.FINISHED, ["cba", "ed", "ü"])


async def test_a_program_can_not_find_a_line_before_it_has_answered(sandbox: Sandbox) -> None:
    execution = await in_turn(sandbox, LOOKING, "first\nsecond-line\n")
    assert (execution.status, execution.stdout) == (Status.FINISHED, "True False\n")


async def test_who_waits_for_a_line_without_an_answer_waits_until_the_limit(sandbox: Sandbox) -> None:
    limits = Limits(cpu_seconds=1, wall_seconds=1)
    execution = await in_turn(sandbox, "print('no', end='', flush=True)\ninput(), input()", "a\nb\n", limits)
    assert (execution.status, execution.stdout) == (Status.TIME_LIMIT_EXCEEDED, "no")


async def test_a_program_may_end_before_its_input_does(sandbox: Sandbox) -> None:
    execution = await in_turn(sandbox, "input()\nprint('enough')\nraise SystemExit(3)", "a\n" * 1000)
    assert (execution.status, execution.stdout, execution.exit_code) == (Status.RUNTIME_ERROR, "enough\n", 3)


async def test_too_much_output_is_the_programs_own_fault(sandbox: Sandbox) -> None:
    limits = Limits(output_bytes=1 << 16, file_bytes=1 << 16)
    execution = await in_turn(sandbox, "print('x' * (8 << 20))", "a\n", limits)
    assert execution.status is Status.OUTPUT_LIMIT_EXCEEDED
    assert set(execution.stdout) == {"x"}
