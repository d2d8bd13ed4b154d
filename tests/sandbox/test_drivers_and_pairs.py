"""Programs under a driver, and two programs with a channel between them: what every backend must do."""

import asyncio

import pytest

from alpha_codium.limits import Limits
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Status
from tests.jobs import run_pair, side

RUN = "exec(program, {'__name__': '__main__'})"
ECHO = "import socket\nchannel = socket.socket(fileno=3)\nchannel.sendall(input().encode())\nprint(channel.recv(99))\n"


async def test_a_driver_runs_in_the_programs_place_and_finds_it_compiled(sandbox: Sandbox) -> None:
    driver = f"print(program.co_filename[-10:], input())\n{RUN}\nprint('after')"
    report = await sandbox.run("print(__name__)", ["a\n", "b\n"], driver=driver)
    assert [e.stdout for e in report.executions] == [
        "program.py a\n__main__\nafter\n",
        "program.py b\n__main__\nafter\n",
    ]


async def test_a_program_is_compiled_before_its_driver_is_run(sandbox: Sandbox) -> None:
    report = await sandbox.run("print(", [""], driver="print(1)")
    assert report.compilation.status is Status.COMPILATION_ERROR
    assert report.executions == ()


async def test_a_driver_never_stands_in_the_programs_folder(sandbox: Sandbox) -> None:
    report = await sandbox.run("import os\nprint(os.listdir('.'))", [""], driver=RUN)
    assert report.executions[0].stdout == "['program.py']\n"


async def test_a_traceback_through_a_driver_shows_the_programs_line(sandbox: Sandbox) -> None:
    report = await sandbox.run("x = 1\nx / 0", [""], driver=RUN)
    assert report.executions[0].status is Status.RUNTIME_ERROR
    assert 'program.py", line 2' in report.executions[0].stderr
    assert "x / 0" in report.executions[0].stderr


DEFINING = """
import json
seen = []
def run():
    exec(program_of(), {"seen": seen})
def program_of():
    return code


if "program" in globals():
    run.__globals__["code"] = program
    run()
"""


async def test_what_a_driver_defines_is_new_to_each_program_and_to_each_test(sandbox: Sandbox) -> None:
    for program in ("print(seen)\nseen.append(1)\nprint(seen)", "print(seen)\nseen.append(2)\nprint(seen)"):
        report = await sandbox.run(program, ["", ""], driver=DEFINING)
        first, second = (e.stdout for e in report.executions)
        assert first == second
        assert first.startswith("[]\n[")


async def test_a_module_that_a_driver_has_loaded_is_as_new_to_the_program(sandbox: Sandbox) -> None:
    change = "import json\nprint(hasattr(json, 'mine'))\njson.mine = 1"
    report = await sandbox.run(change, ["", ""], driver=DEFINING)
    assert [e.stdout for e in report.executions] == ["False\n", "False\n"]


@pytest.mark.parametrize("where", ["definitions", "end"])
async def test_a_driver_that_fails_says_so_in_each_test_and_harms_no_other(sandbox: Sandbox, where: str) -> None:
    before, after = ("1 / 0", "pass") if where == "definitions" else ("pass", "1 / 0")
    broken = f'a = 1\n{before}\n\n\nif "program" in globals():\n    {after}\n'
    report = await sandbox.run("", ["", ""], driver=broken)
    assert [e.status for e in report.executions] == [Status.RUNTIME_ERROR] * 2
    assert f"line {2 if where == 'definitions' else 6}" in report.executions[0].stderr
    assert "ZeroDivisionError" in report.executions[0].stderr
    assert (await sandbox.run("print(1)", [""], driver=RUN)).executions[0].stdout == "1\n"


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
    limits = Limits(cpu_seconds=0.5, wall_seconds=60)
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
