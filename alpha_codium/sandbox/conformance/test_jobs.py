"""Tests of jobs: which inputs run and when, and the JSON form of jobs and executions."""

import asyncio
import json
from contextlib import aclosing
from itertools import pairwise

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.limits import Limits
from alpha_codium.program import PYTHON, Job, Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.conformance.backend import Backend
from alpha_codium.sandbox.conformance.running import run_one, run_until
from alpha_codium.sandbox.protocol import job_of, report_of
from alpha_codium.verdict import Execution, Report, Status

pytestmark = pytest.mark.asyncio(loop_scope="module")

WHEN = "import time\nprint(time.time())"
HOLD = "import time\nprint(input(), flush=True)\nif not input(): time.sleep(600)"
PATIENT = Limits(wall_seconds=600)


async def test_an_input_is_run_only_when_its_execution_is_asked_for(sandbox: Sandbox) -> None:
    """Use the programs' clock: the sandbox may be on another machine."""
    times = []
    async with aclosing(sandbox.execute(job_of(WHEN, ["", "", ""]))) as executions:
        assert (await anext(executions)).finished
        async for execution in executions:
            times.append(float(execution.stdout))
            await asyncio.sleep(0.3)
    assert [later - earlier >= 0.29 for earlier, later in pairwise(times)] == [True, True]


async def test_the_first_execution_is_the_compilers_and_each_input_has_one(sandbox: Sandbox) -> None:
    inputs = ["a", "b", "a"]
    executions = [each async for each in sandbox.execute(job_of("print(input())", inputs))]
    assert [each.stdout for each in executions[1:]] == ["a\n", "b\n", "a\n"]
    assert executions[0].status is Status.FINISHED
    (refused,) = [each async for each in sandbox.execute(job_of("print(", inputs))]
    assert refused.status is Status.COMPILATION_ERROR


async def test_a_program_of_several_files_is_run_with_all_of_them_or_refused(sandbox: Sandbox) -> None:
    files = {"program.py": "from helpers.words import word\nprint(word)", "helpers/words.py": "word = 'right'"}
    try:
        report = await report_of(sandbox, Job(Program(PYTHON, files, "program.py"), [""]))
    except SandboxError:
        return
    assert report.executions[0].stdout == "right\n"


async def test_what_is_consumed_comes_in_order_and_ends_where_the_caller_says_so(sandbox: Sandbox) -> None:
    seen: list[str] = []

    def two(execution: Execution) -> bool:
        seen.append(execution.stdout)
        return len(seen) < 2

    assert (await sandbox.consume(job_of("print(input())", ["a", "b", "c"]), two)).finished
    assert seen == ["a\n", "b\n"]


async def test_nothing_runs_after_a_failure_of_any_kind_if_the_job_says_so(sandbox: Sandbox) -> None:
    program = Program.from_source(PYTHON, "if input() == 'burn':\n    while True: pass\nprint('x' * int(input()))")
    limits = Limits(cpu_seconds=0.25, wall_seconds=60, output_bytes=100)
    for bad, status in (("burn\n", Status.TIME_LIMIT_EXCEEDED), ("\n999\n", Status.OUTPUT_LIMIT_EXCEEDED)):
        report = await report_of(sandbox, Job(program, ("\n1\n", bad, "\n1\n"), limits, stop_after_failure=True))
        assert [each.status for each in report.executions] == [Status.FINISHED, status]


async def test_a_job_from_json_runs_as_the_one_it_was_and_its_report_goes_through_json(sandbox: Sandbox) -> None:
    program = Program.from_source(PYTHON, "print(input(), 'ž\\0漢')\nraise SystemExit(3)")
    job = Job(program, ("ä😀\n", ""), Limits(cpu_seconds=2, wall_seconds=30), driver="exec(program, {})")
    again = Job.from_json(json.loads(json.dumps(job.to_json())))
    assert again == job
    report = await report_of(sandbox, again)
    assert (report.executions[0].stdout, report.executions[0].exit_code) == ("ä😀 ž\0漢\n", 3)
    assert Report.from_json(json.loads(json.dumps(report.to_json()))) == report


async def test_text_of_any_language_passes_and_what_is_no_text_is_replaced(sandbox: Sandbox) -> None:
    text = "ä ž 漢字 😀 \u2028 \ufeff \0 \x1b[0m\n"
    echo = "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())\nsys.stderr.buffer.write(b'\\xff')"
    execution = await run_one(sandbox, echo, text)
    assert (execution.stdout, execution.stderr) == (text, "\ufffd")
    broken = await run_one(sandbox, "import os\nos.write(1, b'a\\xff\\xc3(b\\r\\n')")
    assert broken.stdout == "a\ufffd\ufffd(b\r\n"


async def test_lines_end_as_they_were_sent(sandbox: Sandbox) -> None:
    execution = await run_one(sandbox, "import sys\nprint(sys.stdin.buffer.read())", "a\r\nb\rc\n")
    assert execution.stdout == "b'a\\r\\nb\\rc\\n'\n"


async def test_each_limit_is_that_of_its_job(sandbox: Sandbox) -> None:
    program = "print('x' * 600, flush=True)\ntext = input()\nwhile text == 'burn': pass"
    jobs = {
        "burn": Limits(cpu_seconds=0.3, wall_seconds=60),
        "rest": Limits(output_bytes=500),
        "end": Limits(),
    }
    ends = [(await run_one(sandbox, program, text, limits)).status for text, limits in jobs.items()]
    assert ends == [Status.TIME_LIMIT_EXCEEDED, Status.OUTPUT_LIMIT_EXCEEDED, Status.FINISHED]


async def test_one_program_leaves_nothing_to_the_next(sandbox: Sandbox) -> None:
    leave = "import builtins, os, sys\nbuiltins.left = sys.left = os.left = os.environ['LEFT'] = '1'\nopen('left', 'w')"
    look = "import builtins, os, sys\nprint(any(hasattr(m, 'left') for m in (builtins, sys, os)), 'LEFT' in os.environ)"
    await sandbox.run(leave, ["", ""])
    looked = await sandbox.run(f"{look}\nprint(os.path.exists('left'))", ["", ""])
    assert [each.stdout for each in looked.executions] == ["False False\nFalse\n"] * 2


async def test_a_closed_job_is_over_and_makes_room_for_the_next(backend: Backend) -> None:
    async with backend.open(workers=1) as sandbox:
        async with aclosing(sandbox.execute(job_of(HOLD, ["a\nb\n", "a\n\n"], PATIENT))) as executions:
            assert [(await anext(executions)).finished, (await anext(executions)).stdout] == [True, "a\n"]
        assert [each async for each in executions] == []
        async with asyncio.timeout(60):
            assert (await run_one(sandbox, "print('next')")).stdout == "next\n"


async def test_a_cancelled_run_makes_room_for_the_next(backend: Backend) -> None:
    async with backend.open(workers=1) as sandbox:
        started = asyncio.Event()
        running = asyncio.create_task(
            run_until(sandbox, HOLD, ["a\nb\n", "a\n\n"], lambda *_: started.set() is not None, PATIENT)
        )
        await started.wait()
        await asyncio.sleep(0.2)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        async with asyncio.timeout(60):
            assert (await run_one(sandbox, "print('next')")).stdout == "next\n"


async def test_jobs_run_beside_each_other(backend: Backend) -> None:
    # Burns time without a sleep, which not every sandbox allows.
    program = "import time\nbegin = end = time.time()\nwhile end < begin + 1: end = time.time()\nprint(begin, end)"
    async with backend.open(workers=2) as sandbox:
        await asyncio.gather(*(run_one(sandbox, "while not input(): pass", "1") for _ in range(4)))
        both = await asyncio.gather(*(run_one(sandbox, program) for _ in range(2)))
    (begin, end), (other_begin, other_end) = (map(float, each.stdout.split()) for each in both)
    assert begin < other_end and other_begin < end
