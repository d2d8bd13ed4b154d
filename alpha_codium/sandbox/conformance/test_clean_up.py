"""Tests that a backend leaves nothing behind, however a run ends."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from alpha_codium.limits import Limits
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.blocking import opened
from alpha_codium.sandbox.conformance.backend import Backend
from alpha_codium.sandbox.conformance.processes import descendants, hold, is_zombie, marked, require_visible_programs
from alpha_codium.sandbox.conformance.running import run_one, until
from alpha_codium.verdict import Status

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def single(backend: Backend) -> AsyncIterator[Sandbox]:
    """An open sandbox that runs one program at a time: the next one can run only when the one before has ended."""
    async with backend.open(workers=1) as sandbox:
        yield sandbox


async def test_folders_nested_too_deep_for_shutil_are_removed_too(backend: Backend, own_tmp: Path) -> None:
    nest = "import os\nfor i in range(3000):\n    os.mkdir('d'); os.chdir('d')\nprint('deep')"
    async with backend.open() as sandbox:
        executions = [await run_one(sandbox, program) for program in (nest, "print('next')")]
        assert [execution.stdout for execution in executions] == ["deep\n", "next\n"]
    assert list(own_tmp.iterdir()) == []


async def test_nothing_is_left_behind_not_a_file_and_not_a_process(backend: Backend, own_tmp: Path) -> None:
    before = descendants()
    async with backend.open() as sandbox:
        litter = "import os\nos.makedirs('a/b'); open('a/b/c', 'w').write('x'); os.chmod('a', 0)\nprint(input())"
        await asyncio.gather(*(sandbox.run(litter, ["1", "2"]) for _ in range(4)))
        assert not [number for number in descendants() if is_zombie(number) and number not in before]
    await until(lambda: set(descendants()) <= set(before))
    assert list(own_tmp.iterdir()) == []


async def test_an_open_sandbox_that_is_passed_on_is_not_opened_again_and_stays_open(single: Sandbox) -> None:
    async with opened(single) as same:
        assert same is single
        assert (await run_one(same, "print('first')")).stdout == "first\n"
    assert (await run_one(single, "print('next')")).stdout == "next\n"


async def test_a_cancelled_run_ends_its_program_at_once_and_the_next_one_works(single: Sandbox) -> None:
    await require_visible_programs(single)
    marker = f"98765.{os.getpid()}"
    running = asyncio.create_task(single.run(hold(marker), [""], limits=Limits(wall_seconds=600)))
    await until(lambda: marked(marker))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await until(lambda: not marked(marker))
    assert (await run_one(single, "print('next')")).stdout == "next\n"


async def test_a_cancelled_run_that_was_still_waiting_never_starts(single: Sandbox, tmp_path: Path) -> None:
    first = asyncio.create_task(single.run("import time\ntime.sleep(0.5)\nprint(1)", [""]))
    second = asyncio.create_task(single.run(f"open({str(tmp_path / 'ran')!r}, 'w')", [""]))
    await asyncio.sleep(0)
    second.cancel()
    assert (await first).executions[0].stdout == "1\n"
    assert (await run_one(single, "print(2)")).stdout == "2\n"
    assert not (tmp_path / "ran").exists()


async def test_leaving_the_sandbox_ends_what_still_runs(backend: Backend, single: Sandbox) -> None:
    await require_visible_programs(single)
    marker = f"98764.{os.getpid()}"
    async with backend.open(workers=2) as sandbox:
        runs = [asyncio.create_task(sandbox.run(hold(marker), [""], limits=Limits(wall_seconds=600))) for _ in range(5)]
        await until(lambda: len(marked(marker)) == 2)
    await until(lambda: not marked(marker))
    for run in runs:
        run.cancel()
    outcomes = await asyncio.gather(*runs, return_exceptions=True)
    assert not [o for o in outcomes if not isinstance(o, BaseException) and o.executions[0].status is Status.FINISHED]
