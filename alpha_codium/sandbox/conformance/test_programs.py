"""Tests with harmless programs."""

import asyncio
import json
import signal
from contextlib import aclosing

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.limits import Limits
from alpha_codium.program import PYTHON, Job, Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.conformance.backend import Backend
from alpha_codium.sandbox.conformance.running import run_one, run_until
from alpha_codium.sandbox.protocol import job_of, report_of
from alpha_codium.verdict import Execution, Identity, Status

pytestmark = pytest.mark.asyncio(loop_scope="module")

MIB = 2**20
SHORT = Limits(cpu_seconds=0.25, wall_seconds=60)


async def test_a_program_that_ends_has_finished_and_its_output_is_given(sandbox: Sandbox) -> None:
    execution = await run_one(sandbox, "import sys\nprint(input()[::-1])\nprint('why', file=sys.stderr)", "abc\n")
    assert (execution.status, execution.stdout, execution.stderr) == (Status.FINISHED, "cba\n", "why\n")
    assert (execution.exit_code, execution.signal) == (0, None)


async def test_time_and_memory_that_are_told_are_plausible(sandbox: Sandbox) -> None:
    burn = "import time\ndata = b'x' * (64 << 20)\nwhile time.process_time() < 0.3: pass\nprint(len(data))"
    idle, busy = await run_one(sandbox, "pass"), await run_one(sandbox, burn)
    assert 0 < idle.cpu_seconds < busy.cpu_seconds
    assert 0.29 < busy.cpu_seconds < 4
    assert busy.wall_seconds > 0.29
    assert 2 * MIB < idle.max_rss_bytes < 40 * MIB, "the peak of our own process must not show in it"
    assert 64 * MIB < busy.max_rss_bytes < 128 * MIB


async def test_an_uncaught_exception_is_a_runtime_error_with_its_traceback(sandbox: Sandbox) -> None:
    execution = await run_one(sandbox, "print('before')\nraise ValueError('so')")
    assert (execution.status, execution.exit_code, execution.stdout) == (Status.RUNTIME_ERROR, 1, "before\n")
    assert execution.stderr.startswith("Traceback") and execution.stderr.endswith("ValueError: so\n")


async def test_an_exit_code_other_than_0_is_a_runtime_error(sandbox: Sandbox) -> None:
    execution = await run_one(sandbox, "import sys\nprint(1)\nsys.exit(3)")
    assert (execution.status, execution.exit_code, execution.signal) == (Status.RUNTIME_ERROR, 3, None)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
async def test_a_signal_is_a_runtime_error(sandbox: Sandbox, number: signal.Signals) -> None:
    execution = await run_one(sandbox, f"import os\nos.kill(os.getpid(), {int(number)})\nimport time; time.sleep(60)")
    assert (execution.status, execution.exit_code, execution.signal) == (Status.RUNTIME_ERROR, None, number)


async def test_too_much_cpu_time_is_a_time_limit(sandbox: Sandbox) -> None:
    execution = await run_one(sandbox, "print(1, flush=True)\nwhile True: pass", limits=SHORT)
    assert (execution.status, execution.stdout) == (Status.TIME_LIMIT_EXCEEDED, "1\n")
    assert execution.cpu_seconds >= SHORT.cpu_seconds


async def test_cpu_time_above_the_limit_is_a_time_limit_even_where_the_program_ended(sandbox: Sandbox) -> None:
    limits = Limits(cpu_seconds=0.2, wall_seconds=60)
    execution = await run_one(sandbox, "import time\nwhile time.process_time() < 0.3: pass", limits=limits)
    assert execution.status is Status.TIME_LIMIT_EXCEEDED


async def test_sleeping_reaches_the_wall_limit(sandbox: Sandbox) -> None:
    execution = await run_one(sandbox, "import time\ntime.sleep(60)", limits=Limits(wall_seconds=0.4))
    assert execution.status is Status.TIME_LIMIT_EXCEEDED
    assert execution.wall_seconds >= 0.4


async def test_waiting_for_input_that_never_comes_ends_at_once(sandbox: Sandbox) -> None:
    execution = await run_one(sandbox, "import sys\nprint(repr(sys.stdin.read()))\ninput()")
    assert (execution.status, execution.stdout) == (Status.RUNTIME_ERROR, "''\n")
    assert "EOFError" in execution.stderr


@pytest.mark.parametrize(
    "program",
    ["x = bytearray(1 << 30)", "x = []\nwhile True: x.append(bytearray(1 << 20))", "x = [0] * (1 << 28)"],
)
async def test_too_much_memory_is_a_memory_limit(sandbox: Sandbox, program: str) -> None:
    execution = await run_one(sandbox, program, limits=Limits(memory_bytes=128 * MIB))
    assert execution.status is Status.MEMORY_LIMIT_EXCEEDED
    assert execution.max_rss_bytes <= 128 * MIB


async def test_memory_below_the_limit_may_be_used(sandbox: Sandbox) -> None:
    execution = await run_one(sandbox, "print(len(b'x' * (64 << 20)))", limits=Limits(memory_bytes=256 * MIB))
    assert (execution.status, execution.stdout) == (Status.FINISHED, f"{64 * MIB}\n")


async def test_too_much_output_is_an_output_limit_and_the_first_of_it_is_kept(sandbox: Sandbox) -> None:
    limits = Limits(output_bytes=1000)
    execution = await run_one(sandbox, "while True: print('x' * 99)", limits=limits)
    assert execution.status is Status.OUTPUT_LIMIT_EXCEEDED
    assert execution.stdout == ("x" * 99 + "\n") * 10


@pytest.mark.parametrize(("size", "status"), [(1000, Status.FINISHED), (1001, Status.OUTPUT_LIMIT_EXCEEDED)])
async def test_output_up_to_the_limit_is_whole(sandbox: Sandbox, size: int, status: Status) -> None:
    program = f"import sys\nsys.stdout.write('y' * {size})"
    execution = await run_one(sandbox, program, limits=Limits(output_bytes=1000))
    assert (execution.status, execution.stdout) == (status, "y" * 1000)


async def test_a_flood_on_stderr_harms_nothing_and_its_end_is_kept(sandbox: Sandbox) -> None:
    program = "import sys\nfor i in range(200000): print(i, file=sys.stderr)\nprint('done')"
    execution = await run_one(sandbox, program)
    assert (execution.status, execution.stdout) == (Status.FINISHED, "done\n")
    assert execution.stderr.endswith("\n199999\n")
    assert len(execution.stderr) <= MIB


@pytest.mark.parametrize(
    "program",
    [
        "print(1",
        "  x = 1\n y = 2",
        "print('a\0b')",
        "# -*- coding: rot13 -*-\ncevag(1)",
        "# -*- coding: nonsense -*-\nprint(1)",
        "(" * 5000 + ")" * 5000,
        "x = " + "-" * 200_000 + "1",
        "return 1",
        "x = '\ud800'",
    ],
    ids=["syntax", "indent", "null", "rot13", "coding", "parentheses", "minuses", "return", "surrogate"],
)
async def test_what_does_not_compile_is_a_compilation_error_and_is_not_run(sandbox: Sandbox, program: str) -> None:
    report = await sandbox.run(program, ["", ""])
    assert report.compilation.status is Status.COMPILATION_ERROR
    assert not report.compiled
    assert report.executions == ()


async def test_a_compilation_error_shows_what_the_compiler_said(sandbox: Sandbox) -> None:
    report = await sandbox.run("print(1", [""])
    assert "program.py" in report.compilation.stderr and "was never closed" in report.compilation.stderr


async def test_a_syntax_error_while_running_is_a_runtime_error(sandbox: Sandbox) -> None:
    assert (await run_one(sandbox, "eval('1 +')")).status is Status.RUNTIME_ERROR


async def test_a_program_without_inputs_is_compiled_only(sandbox: Sandbox) -> None:
    report = await sandbox.run("print(1)", [])
    assert report.compiled and report.executions == ()


async def test_executions_stand_in_the_order_of_the_inputs(sandbox: Sandbox) -> None:
    report = await sandbox.run("print(int(input()) ** 2)", [f"{i}\n" for i in range(8)])
    assert [execution.stdout for execution in report.executions] == [f"{i * i}\n" for i in range(8)]


async def test_a_failed_input_does_not_stop_the_next_one(sandbox: Sandbox) -> None:
    report = await sandbox.run("print(1 // int(input()))", ["1", "0", "1"])
    assert [execution.status.value for execution in report.executions] == ["finished", "runtime_error", "finished"]


async def test_each_input_gets_a_process_and_a_folder_of_its_own(sandbox: Sandbox) -> None:
    program = """
import builtins, math, os
home = os.environ["HOME"]
print(os.listdir("."), os.listdir(home), hasattr(math, "evil"), hasattr(builtins, "evil"), "EVIL" in os.environ)
print(os.getcwd() == home == os.environ["TMPDIR"])
open("left", "w").write("1"); open(home + "/left", "w").write("1"); open("program.py", "w").write("print('other')")
math.evil = builtins.evil = 1; os.environ["EVIL"] = "1"; os.umask(0); os.chdir("/")
"""
    report = await sandbox.run(program, ["", "", ""])
    expected = "['program.py'] ['program.py'] False False False\nTrue\n"
    assert [execution.stdout for execution in report.executions] == [expected] * 3


async def test_running_stops_where_the_caller_says_so(sandbox: Sandbox) -> None:
    seen: list[tuple[int, str]] = []

    def stop(index: int, execution: Execution) -> bool:
        seen.append((index, execution.stdout))
        return index == 1

    executions = await run_until(sandbox, "print(input())", ["a", "b", "c", "d"], stop)
    assert seen == [(0, "a\n"), (1, "b\n")]
    assert [execution.stdout for execution in executions] == ["a\n", "b\n"]


async def test_nothing_runs_after_a_failure_if_the_job_says_so(sandbox: Sandbox) -> None:
    program = Program.from_source(PYTHON, "print(1 // int(input()))")
    for stops, numbers in ((True, 2), (False, 3)):
        job = Job(program, ("1", "0", "1"), stop_after_failure=stops)
        assert len((await report_of(sandbox, job)).executions) == numbers


async def test_a_job_that_is_closed_leaves_the_sandbox_to_the_next_one(sandbox: Sandbox) -> None:
    for _ in range(3):
        async with aclosing(sandbox.execute(job_of("print(input())", ["a", "b"]))) as executions:
            assert (await anext(executions)).finished
            assert (await anext(executions)).stdout == "a\n"
    assert (await run_one(sandbox, "print(1)")).stdout == "1\n"


async def test_a_sandbox_can_be_opened_again(backend: Backend) -> None:
    opened = backend.open(workers=1)
    for _ in range(2):
        async with opened as sandbox:
            assert (await run_one(sandbox, "print(1)")).stdout == "1\n"
        assert opened.loop is None


async def test_a_program_of_another_language_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(SandboxError, match="pascal"):
        await sandbox.run(Program.from_source("pascal", "begin end."), [""])


async def test_inputs_must_be_a_list_of_texts(sandbox: Sandbox) -> None:
    with pytest.raises(TypeError, match="inputs must be a list"):
        await sandbox.run("print(1)", "text")


@pytest.mark.thorough
async def test_many_programs_at_once_get_their_own_answers(sandbox: Sandbox) -> None:
    reports = await asyncio.gather(*(sandbox.run(f"print(input() + '{i}')", [f"{i}-", "x"]) for i in range(20)))
    outputs = [[execution.stdout for execution in report.executions] for report in reports]
    assert outputs == [[f"{i}-{i}\n", f"x{i}\n"] for i in range(20)]


@pytest.mark.thorough
async def test_a_fault_of_one_program_does_not_touch_those_beside_it(sandbox: Sandbox) -> None:
    bad = [
        "import os; os.abort()",
        "x = bytearray(1 << 40)",
        "while True: print(1)",
        "print(",
        "import os; os.close(1)",
    ]
    good = [sandbox.run("print(sum(map(int, input().split())))", ["1 2"]) for _ in bad]
    reports = await asyncio.gather(*good, *(sandbox.run(program, [""]) for program in bad))
    assert [report.executions[0].stdout for report in reports[: len(bad)]] == ["3\n"] * len(bad)


async def test_a_program_sees_nothing_of_our_environment(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-1234")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    async with backend.open() as sandbox:
        execution = await run_one(sandbox, "import os\nprint(dict(os.environ))")
    assert "canary" not in execution.stdout
    assert "nowhere" not in execution.stdout


async def test_only_the_three_streams_are_open(sandbox: Sandbox) -> None:
    program = "import os\nfor fd in range(3, 64):\n  try: print(fd, os.fstat(fd))\n  except OSError: pass"
    assert (await run_one(sandbox, program)).stdout == ""


async def test_a_large_input_and_a_large_output_pass_whole(sandbox: Sandbox) -> None:
    text = "".join(f"{i}\n" for i in range(700_000))
    execution = await run_one(sandbox, "import sys\nsys.stdout.write(sys.stdin.read())", text)
    assert execution.status is Status.FINISHED
    assert execution.stdout == text


async def test_an_input_that_nobody_reads_harms_nothing(sandbox: Sandbox) -> None:
    execution = await run_one(sandbox, "print('ok')", "x" * 5_000_000)
    assert (execution.status, execution.stdout) == (Status.FINISHED, "ok\n")


async def test_a_program_that_closes_its_streams_is_judged_by_what_it_wrote(sandbox: Sandbox) -> None:
    program = "import os\nos.write(1, b'x')\nos.close(0); os.close(1); os.close(2)\nos._exit(0)"
    execution = await run_one(sandbox, program)
    assert (execution.status, execution.stdout) == (Status.FINISHED, "x")


async def test_an_orphan_does_not_keep_the_test_from_ending(sandbox: Sandbox) -> None:
    program = "import os, time\nif os.fork() == 0:\n    time.sleep(100)\nprint('parent', flush=True)"
    execution = await run_one(sandbox, program, limits=Limits(wall_seconds=60))
    assert (execution.status, execution.stdout) == (Status.FINISHED, "parent\n")


async def test_outputs_are_whole_and_can_be_shortened(sandbox: Sandbox) -> None:
    executions = await run_until(sandbox, "print('x' * 500_000)", ["", ""], lambda *_: False)
    assert [len(execution.stdout) for execution in executions] == [500_001, 500_001]
    assert len(executions[0].shortened().stdout) == 1 << 16
    assert len((await run_one(sandbox, "print('x' * 500_000)")).stdout) == 500_001


async def test_a_sandbox_says_what_its_verdicts_depend_on(sandbox: Sandbox) -> None:
    identity = await sandbox.identity()
    shown = (await run_one(sandbox, "import platform\nprint('CPython', platform.python_version())")).stdout.strip()
    assert identity.backend and identity.version
    assert shown.startswith(identity.interpreter)
    assert Identity.from_json(json.loads(json.dumps(identity.to_json()))) == identity
