"""Tests of programs that are run by a driver."""

import pytest

from alpha_codium.program import Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Status

pytestmark = pytest.mark.asyncio(loop_scope="module")

RUN = "exec(program, {'__name__': '__main__'})"


async def test_a_driver_runs_in_the_programs_place_and_finds_it_compiled(sandbox: Sandbox) -> None:
    driver = f"print(program.co_filename[-10:], input())\n{RUN}\nprint('after')"
    report = await sandbox.run("print(__name__)", ["a\n", "b\n"], driver=driver)
    assert [e.stdout for e in report.executions] == [
        "program.py a\n__main__\nafter\n",
        "program.py b\n__main__\nafter\n",
    ]


async def test_the_main_file_may_have_any_name(sandbox: Sandbox) -> None:
    program = Program("python3", {"solution.py": "print('alone')"}, "solution.py")
    alone = await sandbox.run(program, [""])
    driven = await sandbox.run(program, [""], driver=f"print('driven')\n{RUN}")
    assert [report.executions[0].stdout for report in (alone, driven)] == ["alone\n", "driven\nalone\n"]


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
