"""The C++ sandbox for real: each status, its quirks, and children that are killed."""

import asyncio
import os
import re
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from alpha_codium.errors import SandboxError
from alpha_codium.judge.judge import Judge
from alpha_codium.limits import Limits
from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.sandbox.code_contests.backend import CodeContestsSandbox
from alpha_codium.sandbox.conformance.processes import descendants, hold, marked
from alpha_codium.sandbox.conformance.running import run_one, run_pair, side, until
from alpha_codium.sandbox.protocol import PairUnsupported, job_of
from alpha_codium.verdict import Execution, Status, Verdict
from tests.judge.checkers import CPP_FILES, DIVISOR, TESTS, problem
from tests.sandbox.code_contests.environment import environment_folder, installed

MIB = 2**20
STARTED = time.time()
LEFT = re.compile(r"\d{13}-\d+-\d+")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[CodeContestsSandbox]:
    async with CodeContestsSandbox(workers=1, **installed()) as opened:
        yield opened


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("print(1)", Status.FINISHED),
        ("1 / 0", Status.RUNTIME_ERROR),
        ("raise SystemExit(3)", Status.RUNTIME_ERROR),
        ("while True: pass", Status.TIME_LIMIT_EXCEEDED),
        ("import select\nselect.select([], [], [], 60)", Status.TIME_LIMIT_EXCEEDED),
        ("x = bytearray(1 << 29)", Status.MEMORY_LIMIT_EXCEEDED),
        ("print('x' * 2000)", Status.OUTPUT_LIMIT_EXCEEDED),
        ("import socket\nsocket.socket()", Status.SANDBOX_VIOLATION),
        ("import os\nos.kill(1, 9)", Status.SANDBOX_VIOLATION),
        ("import ctypes\nctypes.string_at(0)", Status.RUNTIME_ERROR),
    ],
)
async def test_each_status_has_a_program_that_gets_it(sandbox: Sandbox, program: str, status: Status) -> None:
    waits = 2 if "select" in program else 60
    limits = Limits(cpu_seconds=0.5, wall_seconds=waits, memory_bytes=256 * MIB, output_bytes=1000)
    execution = await run_one(sandbox, program, limits=limits)
    assert execution.status is status, execution


async def test_a_program_that_does_not_compile_shows_why(sandbox: Sandbox) -> None:
    report = await sandbox.run("print(", ["", ""])
    assert report.compilation.status is Status.COMPILATION_ERROR and report.executions == ()
    assert '"program.py", line 1' in report.compilation.stderr


async def test_a_problem_whose_checker_is_a_program_can_not_be_judged(sandbox: Sandbox) -> None:
    for files, reason in ((DIVISOR, "needs a sandbox with files"), (CPP_FILES, "is written in C++")):
        judgement = await Judge(sandbox).for_problem(problem(files)).judge("print(2)", TESTS)
        assert judgement.verdict is Verdict.INTERNAL_ERROR
        assert judgement.message.startswith(f"problem 'p': its checker {reason}: ")
        assert judgement.message.endswith("use `ac.open_sandbox('local')`")


async def test_a_violation_says_which_call_it_was(sandbox: Sandbox) -> None:
    execution = await run_one(sandbox, "import os\nprint(1, flush=True)\nos.getppid()")
    assert (execution.status, execution.stdout) == (Status.SANDBOX_VIOLATION, "1\n")
    assert "110/getppid" in execution.stderr


async def test_what_a_program_writes_to_the_sandboxs_own_channel_changes_nothing(sandbox: Sandbox) -> None:
    """Descriptor 1023 stays open in every program."""
    writing = "import os\nfor n in range(8): os.write(1023, bytes(n) + bytes([1]) * 64)"
    program = f"{writing}\nos.close(1023)\nos._exit(int(input()))"
    report = await sandbox.run(program, ["7", "0"])
    ends = [(execution.status, execution.exit_code) for execution in report.executions]
    assert ends == [(Status.RUNTIME_ERROR, 7), (Status.FINISHED, 0)]


async def test_bytes_that_are_no_text_do_not_end_the_child(sandbox: CodeContestsSandbox) -> None:
    """As the wheel is, one such byte ends the process that judges."""
    child = sandbox.children[0].pid
    report = await sandbox.run("import os\nos.write(1, b'a\\xffb'); os.write(2, b'\\xfe')", ["", ""])
    assert [(e.stdout, e.stderr) for e in report.executions] == [("a\ufffdb", "\ufffd")] * 2
    assert sandbox.children[0].pid == child


async def test_texts_pass_as_they_are(sandbox: Sandbox) -> None:
    program = "import sys\nsys.stdout.write(sys.stdin.read())"
    texts = ["a\r\nb\r", "nul \0 inside", "é 漢 \U0001f40d", "", "no end of line"]
    report = await sandbox.run(program, texts)
    assert [execution.stdout for execution in report.executions] == texts


@pytest.mark.thorough
async def test_a_flood_that_does_not_fit_is_an_output_limit_and_harms_nobody(sandbox: Sandbox) -> None:
    flood = "import os\nblock = b'x' * (1 << 20)\nfor _ in range(2000): os.write(1, block)"
    report = await sandbox.run(flood, ["", "", ""], limits=Limits(cpu_seconds=20))
    assert [execution.status for execution in report.executions] == [Status.OUTPUT_LIMIT_EXCEEDED] * 3
    assert (await run_one(sandbox, "print('next')")).stdout == "next\n"


@pytest.mark.thorough
async def test_a_program_that_waits_ends_at_the_wall_limit_and_the_next_inputs_are_run(sandbox: Sandbox) -> None:
    program = "import select\nif input() == 'wait': select.select([], [], [], 600)\nprint('on')"
    report = await sandbox.run(program, ["a", "wait", "b"], limits=Limits(wall_seconds=3))
    statuses = [Status.FINISHED, Status.TIME_LIMIT_EXCEEDED, Status.FINISHED]
    assert [execution.status for execution in report.executions] == statuses
    assert report.executions[1].wall_seconds >= 3


@pytest.mark.thorough
async def test_cpu_time_is_held_to_the_exact_limit_where_it_is_counted(sandbox: CodeContestsSandbox) -> None:
    if not sandbox.children[0].counts_cpu:
        pytest.skip("this machine lets us make no control group that counts CPU time")
    burn = "import time\nlimit = float(input())\nwhile time.process_time() < limit: pass"
    # Held to whole seconds, both would finish.
    report = await sandbox.run(burn, ["0.1", "0.7"], limits=Limits(cpu_seconds=0.6, wall_seconds=60))
    assert [e.status for e in report.executions] == [Status.FINISHED, Status.TIME_LIMIT_EXCEEDED]
    assert 0.1 <= report.executions[0].cpu_seconds < 0.6 <= report.executions[1].cpu_seconds


@pytest.mark.thorough
async def test_without_a_control_group_cpu_time_is_unknown_and_limits_are_whole_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("alpha_codium.sandbox.code_contests.child_process.open_worker_group", lambda _: None)
    burn = "import time\nlimit = float(input())\nwhile time.process_time() < limit: pass"
    async with CodeContestsSandbox(workers=1, **installed()) as sandbox:
        report = await sandbox.run(burn, ["0.7", "60"], limits=Limits(cpu_seconds=0.5, wall_seconds=60))
    assert [e.status for e in report.executions] == [Status.FINISHED, Status.TIME_LIMIT_EXCEEDED]
    assert [e.cpu_seconds for e in report.executions] == [0.0, 0.0]


@pytest.mark.thorough
async def test_few_inputs_are_run_in_vain_after_the_one_that_stops_it(sandbox: CodeContestsSandbox) -> None:
    """Each batch is one more compilation, so batches grow: 1, 2, 4, 8 inputs."""
    sizes = []
    asked = sandbox.children[0].run

    async def counting(request: dict, parts: list[bytes], wall: float) -> list:
        sizes.append(len(parts) - 1)
        return await asked(request, parts, wall)

    sandbox.children[0].run = counting
    inputs = [str(number) for number in range(40)]
    executions: list[Execution] = []

    def keep(execution: Execution) -> bool:
        executions.append(execution)
        return len(executions) < 10

    await sandbox.consume(job_of("print(input())", inputs), keep)
    assert (sizes, len(executions)) == ([1, 2, 4, 8], 10)
    sizes.clear()
    assert len((await sandbox.run("print(input())", inputs)).executions) == 40
    assert sizes == [16, 16, 8]


@pytest.mark.thorough
async def test_a_child_that_is_killed_in_mid_run_loses_nothing(sandbox: CodeContestsSandbox) -> None:
    marker = f"98755.{os.getpid()}"
    program = hold(marker).replace("600", "0.5") + "\nprint(int(input()) ** 2)"
    running = asyncio.create_task(sandbox.run(program, [str(number) for number in range(6)]))
    await until(lambda: marked(marker) or running.done())
    assert not running.done(), await running
    killed = sandbox.children[0].pid
    os.kill(killed, signal.SIGKILL)
    report = await running
    assert [execution.stdout for execution in report.executions] == [f"{n * n}\n" for n in range(6)]
    assert sandbox.children[0].pid != killed


@pytest.mark.thorough
async def test_a_test_that_loses_two_children_is_our_fault_and_the_next_one_is_run(
    sandbox: CodeContestsSandbox,
) -> None:
    marker = f"98756.{os.getpid()}"
    running = asyncio.create_task(sandbox.run(hold(marker), [""]))
    for _ in range(2):
        await until(lambda: marked(marker))
        os.kill(sandbox.children[0].pid, signal.SIGKILL)
        await until(lambda: not marked(marker))
    (execution,) = (await running).executions
    assert execution.status is Status.INTERNAL_ERROR and "child was lost" in execution.stderr
    assert (await run_one(sandbox, "print('next')")).stdout == "next\n"


async def test_the_folders_that_the_sandbox_leaves_in_tmp_are_removed(sandbox: CodeContestsSandbox) -> None:
    await sandbox.run("print(1)", ["", ""])
    await sandbox.run("print(", [""])
    assert left_by(sandbox.children[0].pid) == []


async def test_so_are_those_of_a_child_that_was_ended(sandbox: CodeContestsSandbox) -> None:
    marker = f"98757.{os.getpid()}"
    child = sandbox.children[0].pid
    running = asyncio.create_task(sandbox.run(hold(marker), [""], limits=Limits(wall_seconds=600)))
    await until(lambda: marked(marker))
    assert len(left_by(child)) == 1
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert left_by(child) == []


def left_by(pid: int | None) -> list[Path]:
    """What the sandbox of that child left in /tmp since this test run began."""
    return [path for path in Path("/tmp").glob(f"*-{pid}-*") if LEFT.fullmatch(path.name) and is_new(path)]


def is_new(path: Path) -> bool:
    """Whether it isn't older than this test run: process numbers come again."""
    return path.exists() and path.stat().st_mtime >= STARTED


@pytest.mark.thorough
async def test_other_interpreters_run_the_programs_than_the_one_that_holds_the_sandbox() -> None:
    versions = []
    for interpreter in (sys.executable, str(environment_folder() / "bin" / "python")):
        async with open_sandbox("code_contests", workers=1, interpreter=interpreter, **installed()) as sandbox:
            versions.append((await run_one(sandbox, "import sys\nprint(*sys.version_info[:2])")).stdout)
    assert versions == [f"{sys.version_info[0]} {sys.version_info[1]}\n", "3 9\n"]


async def test_what_keeps_it_from_working_is_one_line_before_anything_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any library folder no interpreter starts: some find the system's without being told of them."""
    monkeypatch.setattr("alpha_codium.sandbox.code_contests.backend.library_folders", lambda _: ())
    before = descendants()
    with pytest.raises(SandboxError) as caught:
        async with open_sandbox("code_contests", **installed()):
            pass
    assert "\n" not in str(caught.value)
    assert "doesn't work here" in str(caught.value) and "ac.open_sandbox('local')" in str(caught.value)
    await until(lambda: set(descendants()) <= set(before))


async def test_a_build_whose_values_lie_elsewhere_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The limits are set where version 0.1.6 has them in memory: nothing is guessed."""
    fake = tmp_path / "code_contests_tester.py"
    # What lies behind an object's header is a pointer here too, but to no options.
    options = "class TestOptions:\n    __slots__ = ('value',)\n    def __init__(self): self.value = bytes(64)\n"
    fake.write_text(f"{options}def Py3TesterSandboxer(*_): pass\n")
    started = tmp_path / "python"
    real = environment_folder() / "bin" / "python"
    started.write_text(f'#!/bin/sh\nexport PYTHONPATH={tmp_path}\nshift\nexec {real} "$@"\n')
    started.chmod(0o755)
    monkeypatch.setattr("alpha_codium.sandbox.code_contests.environment.require", lambda _: started)
    with pytest.raises(SandboxError, match=r"limits aren't where they are in version 0\.1\.6"):
        async with open_sandbox("code_contests", **installed()):
            pass


async def test_a_pair_is_refused_in_one_line(sandbox: Sandbox) -> None:
    with pytest.raises(PairUnsupported, match=r"ac.open_sandbox\('local'\)"):
        await run_pair(sandbox, side("print(1)"), side("print(2)"))


@pytest.mark.thorough
async def test_a_driver_is_the_program_and_has_the_candidate_in_it(sandbox: Sandbox) -> None:
    driver = "print('before'); exec(program, {'__name__': '__main__'}); print('after', input())"
    report = await sandbox.run("print('é', __name__)", ["1", "2"], driver=driver)
    assert [e.stdout for e in report.executions] == [f"before\né __main__\nafter {n}\n" for n in (1, 2)]
    uncompilable: tuple[Execution, ...] = (await sandbox.run("print(", [""], driver=driver)).executions
    assert uncompilable == ()
