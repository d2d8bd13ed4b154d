"""Runs in the C++ sandbox that are called off at the worst moments: nothing of them is left."""

import asyncio
import gc
import os
import threading
from pathlib import Path

import pytest

from alpha_codium.sandbox.code_contests import child_process
from alpha_codium.sandbox.code_contests.backend import CodeContestsSandbox
from alpha_codium.sandbox.conformance.processes import descendants, hold, marked
from alpha_codium.sandbox.conformance.running import run_one, until
from alpha_codium.sandbox.engine.cgroups import WorkerGroup, open_worker_group
from tests.sandbox.code_contests.environment import installed
from tests.sandbox.hostile_world import groups_of_sandboxes


def open_files() -> int:
    """How many descriptors this process has, without those that earlier tests forgot."""
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.thorough
async def test_a_run_called_off_while_its_group_is_made_leaves_no_group(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, go_on = threading.Event(), threading.Event()
    made: list[WorkerGroup | None] = []

    def slowly(name: str) -> WorkerGroup | None:
        asked.set()
        go_on.wait(60)
        made.append(open_worker_group(name))
        return made[-1]

    async with CodeContestsSandbox(workers=1, **installed()) as sandbox:
        await sandbox.children[0].discard()
        before = open_files(), set(descendants())
        monkeypatch.setattr(child_process, "open_worker_group", slowly)
        running = asyncio.create_task(sandbox.run("print(1)", [""]))
        assert await asyncio.to_thread(asked.wait, 60)
        running.cancel()
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert len(made) == 1 and not [folder for group in made if group for folder in group.folders]
        assert (open_files(), set(descendants())) == before
        assert (await run_one(sandbox, "print('next')")).stdout == "next\n"


async def test_a_run_called_off_twice_is_over_only_when_its_child_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the next run would meet the child before its own, and lose it."""
    ending, go_on = threading.Event(), threading.Event()
    remove = child_process.leftovers.remove

    def slowly(process: int, since: float) -> None:
        ending.set()
        go_on.wait(60)
        remove(process, since)

    async with CodeContestsSandbox(workers=1, **installed()) as sandbox:
        running = asyncio.create_task(sandbox.run(hold(f"98758.{os.getpid()}"), [""]))
        await until(lambda: marked(f"98758.{os.getpid()}"))
        monkeypatch.setattr(child_process.leftovers, "remove", slowly)
        running.cancel()
        assert await asyncio.to_thread(ending.wait, 60)
        running.cancel()
        for _ in range(5):
            await asyncio.sleep(0)
        assert not running.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert (await run_one(sandbox, "print('next')")).stdout == "next\n"


@pytest.mark.thorough
async def test_leaving_the_sandbox_while_programs_run_leaves_nothing() -> None:
    before, groups = (open_files(), set(descendants())), control_groups()
    async with CodeContestsSandbox(workers=2, **installed()) as sandbox:
        running = [asyncio.create_task(sandbox.run(hold(f"98759.{os.getpid()}"), ["", ""])) for _ in range(3)]
        await until(lambda: len(marked(f"98759.{os.getpid()}")) == 2)
    assert set(descendants()) <= before[1]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    assert open_files() == before[0]
    assert control_groups() <= groups


def control_groups() -> set[Path]:
    """Those that this process has made; sandboxes of other tests may be open, and have some."""
    return {folder for folder in groups_of_sandboxes() if folder.name.startswith(f"gencode-{os.getpid()}-")}
