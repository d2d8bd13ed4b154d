"""What every backend leaves behind, and what those of ours say of their own faults."""

import asyncio
import gc
import os
import signal
import threading
from pathlib import Path

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.limits import Limits
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.conformance.backend import Backend
from alpha_codium.sandbox.conformance.processes import descendants, hold, marked
from alpha_codium.sandbox.conformance.running import run_one, until
from alpha_codium.sandbox.conformance.test_clean_up import *  # noqa: F403
from alpha_codium.sandbox.engine.cancellation import Cancellation, in_thread
from alpha_codium.verdict import Status


@pytest.mark.thorough
async def test_an_interrupted_batch_whose_tasks_are_cancelled_twice_logs_nothing() -> None:
    cancellation, started, released = Cancellation(), threading.Event(), threading.Event()
    logged: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: logged.append(context))

    def work() -> None:
        started.set()
        released.wait(60)
        cancellation.check()

    task = asyncio.create_task(in_thread(asyncio.to_thread(work), cancellation))
    await until(started.is_set)
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0.01)
    released.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    del task
    await asyncio.sleep(0)  # the loop lets go of the task
    gc.collect()
    assert logged == []


async def test_each_folder_is_removed_while_the_sandbox_is_open(portable: Backend, own_tmp: Path) -> None:
    async with portable.open() as sandbox:
        await sandbox.run("open('x', 'w').write('x')", ["", ""])
        (scratch,) = own_tmp.iterdir()
        assert [path for path in scratch.rglob("*") if not path.is_dir()] == []


async def test_a_helper_killed_from_outside_twice_is_an_internal_error_and_the_next_run_works(
    portable: Backend,
) -> None:
    marker = f"98763.{os.getpid()}"
    others = descendants()
    async with portable.open(workers=1) as sandbox:
        running = asyncio.create_task(sandbox.run(hold(marker), [""], limits=Limits(wall_seconds=600)))
        for _ in range(2):
            await until(lambda: marked(marker))
            _kill_helpers(others)
            await until(lambda: not marked(marker))
        report = await running
        assert report.executions[0].status is Status.INTERNAL_ERROR
        assert "the agent was lost" in report.executions[0].stderr
        assert (await run_one(sandbox, "print('next')")).stdout == "next\n"
        await until(lambda: not marked(marker))


async def test_a_helper_killed_between_runs_loses_no_run_whatever_its_input(portable: Backend) -> None:
    others = descendants()
    async with portable.open(workers=1) as sandbox:
        await run_one(sandbox, "print(1)")
        _kill_helpers(others)
        assert (await run_one(sandbox, "print(len(input()))", "x" * 4_000_000)).stdout == "4000000\n"


def _kill_helpers(others: list[int]) -> None:
    """Kill the helpers that were started since; `others` belong to sandboxes of other tests."""
    for number in set(descendants()) - set(others):
        if "load_modules" in _line(number):
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
    limits = Limits()
    object.__setattr__(limits, "memory_bytes", 2**66)  # more than a kernel takes, which it would refuse itself
    async with open_sandbox("portable") as sandbox:
        report = await sandbox.run("print(1)", [""], limits=limits)
    assert report.executions[0].status is Status.INTERNAL_ERROR
    assert "can't be started" in report.executions[0].stderr


@pytest.mark.thorough
async def test_an_interpreter_may_be_named_as_a_shell_would_find_it():
    async with open_sandbox("local", interpreter="python3") as sandbox:
        report = await sandbox.run("print(1)", [""])
    assert report.executions[0].stdout == "1\n"
