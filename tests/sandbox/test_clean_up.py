"""What every backend leaves behind: nothing, however a run ends; and what it says of its own faults."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.limits import Limits
from alpha_codium.sandbox import open_sandbox
from alpha_codium.verdict import Status
from tests.sandbox.backends import Backend, descendants, hold, is_zombie, marked
from tests.sandbox.test_conformance import run_one, until


async def test_folders_nested_too_deep_for_shutil_are_removed_too(backend: Backend, own_tmp: Path) -> None:
    nest = "import os\nfor i in range(3000):\n    os.mkdir('d'); os.chdir('d')\nprint('deep')"
    async with backend.open() as sandbox:
        executions = [await run_one(sandbox, program) for program in (nest, "print('next')")]
        assert [execution.stdout for execution in executions] == ["deep\n", "next\n"]
    assert list(own_tmp.iterdir()) == []


@pytest.fixture
def own_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files that nobody else uses."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


async def test_nothing_is_left_behind_not_a_file_and_not_a_process(backend: Backend, own_tmp: Path) -> None:
    before = descendants()
    async with backend.open() as sandbox:
        litter = "import os\nos.makedirs('a/b'); open('a/b/c', 'w').write('x'); os.chmod('a', 0)\nprint(input())"
        await asyncio.gather(*(sandbox.run(litter, ["1", "2"]) for _ in range(4)))
        assert not [number for number in descendants() if is_zombie(number) and number not in before]
    await until(lambda: set(descendants()) <= set(before))
    assert list(own_tmp.iterdir()) == []


async def test_each_folder_is_removed_while_the_sandbox_is_open(portable: Backend, own_tmp: Path) -> None:
    async with portable.open() as sandbox:
        await sandbox.run("open('x', 'w').write('x')", ["", ""])
        (scratch,) = own_tmp.iterdir()
        assert list(scratch.iterdir()) == []


async def test_a_cancelled_run_ends_its_program_at_once_and_the_next_one_works(backend: Backend) -> None:
    async with backend.open(workers=1) as sandbox:
        marker = f"98765.{os.getpid()}"
        running = asyncio.create_task(sandbox.run(hold(marker), [""], limits=Limits(wall_seconds=600)))
        await until(lambda: marked(marker))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await until(lambda: not marked(marker))
        assert (await run_one(sandbox, "print('next')")).stdout == "next\n"


async def test_a_cancelled_run_that_was_still_waiting_never_starts(backend: Backend, tmp_path: Path) -> None:
    async with backend.open(workers=1) as sandbox:
        first = asyncio.create_task(sandbox.run("import time\ntime.sleep(0.5)\nprint(1)", [""]))
        second = asyncio.create_task(sandbox.run(f"open({str(tmp_path / 'ran')!r}, 'w')", [""]))
        await asyncio.sleep(0)
        second.cancel()
        assert (await first).executions[0].stdout == "1\n"
        assert (await run_one(sandbox, "print(2)")).stdout == "2\n"
    assert not (tmp_path / "ran").exists()


async def test_leaving_the_sandbox_ends_what_still_runs(backend: Backend) -> None:
    marker = f"98764.{os.getpid()}"
    async with backend.open() as sandbox:
        runs = [asyncio.create_task(sandbox.run(hold(marker), [""], limits=Limits(wall_seconds=600))) for _ in range(5)]
        await until(lambda: len(marked(marker)) == 2)
    await until(lambda: not marked(marker))
    for run in runs:
        run.cancel()
    outcomes = await asyncio.gather(*runs, return_exceptions=True)
    assert not [o for o in outcomes if not isinstance(o, BaseException) and o.executions[0].status is Status.FINISHED]


async def test_a_helper_killed_from_outside_is_an_internal_error_and_the_next_run_works(portable: Backend) -> None:
    marker = f"98763.{os.getpid()}"
    others = descendants()
    async with portable.open(workers=1) as sandbox:
        running = asyncio.create_task(sandbox.run(hold(marker), [""], limits=Limits(wall_seconds=600)))
        await until(lambda: marked(marker))
        _kill_helpers(others)
        report = await running
        assert report.executions[0].status is Status.INTERNAL_ERROR
        assert "helper process" in report.executions[0].stderr
        assert (await run_one(sandbox, "print('next')")).stdout == "next\n"
        await until(lambda: not marked(marker))


async def test_a_helper_killed_between_runs_loses_one_run_at_most_whatever_its_input(portable: Backend) -> None:
    others = descendants()
    async with portable.open(workers=1) as sandbox:
        await run_one(sandbox, "print(1)")
        _kill_helpers(others)
        lost = await sandbox.run("print(len(input()))", ["x" * 4_000_000])
        assert lost.compilation.status is Status.INTERNAL_ERROR
        assert (await run_one(sandbox, "print(len(input()))", "x" * 4_000_000)).stdout == "4000000\n"


def _kill_helpers(others: list[int]) -> None:
    """Kill the helpers that were started since; `others` belong to sandboxes of other tests."""
    for number in set(descendants()) - set(others):
        if "spawner.py" in _line(number):
            os.kill(number, signal.SIGKILL)


def _line(number: int) -> str:
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


async def test_an_interpreter_that_is_not_there_is_said_before_anything_runs(backend: Backend) -> None:
    with pytest.raises(SandboxError, match="no interpreter '/no/python'"):
        async with backend.open(interpreter="/no/python"):
            pass


async def test_an_interpreter_that_vanishes_is_our_fault_and_not_the_programs(
    portable: Backend, tmp_path: Path
) -> None:
    interpreter = tmp_path / "python"
    interpreter.write_text("#!/bin/sh\nexit 0\n")
    interpreter.chmod(0o755)
    async with portable.open(interpreter=str(interpreter)) as sandbox:
        interpreter.unlink()
        report = await sandbox.run("print(1)", [""])
    assert report.compilation.status is Status.INTERNAL_ERROR


async def test_a_program_that_can_not_be_started_is_our_fault_and_says_why():
    async with open_sandbox("portable") as sandbox:
        report = await sandbox.run("print(1)", [""], limits=Limits(memory_bytes=2**66))
    assert report.executions[0].status is Status.INTERNAL_ERROR
    assert "can't be started" in report.executions[0].stderr


async def test_an_interpreter_may_be_named_as_a_shell_would_find_it():
    async with open_sandbox("local", interpreter="python3") as sandbox:
        report = await sandbox.run("print(1)", [""])
    assert report.executions[0].stdout == "1\n"
