"""The compact trace of a run that fixers may be shown."""

import pytest

from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.stages.fixing import trace_of
from alpha_codium.judge import Judge
from alpha_codium.problem import TestCase
from alpha_codium.runs.events import ProgramTraced
from tests.flows.scripted_flow import CRASH, ONE, program, settings_of
from tests.flows.switches import changes

LOOP = """def double(n):
    return n * 2

total = 0
for word in input().split():
    total += double(int(word))
print(total)
"""
WRONG = {"initial_code": program(LOOP)}
ONE_TRY = {"initial_code_generation.max_attempts": 1}
SHOWN = "The last lines that were executed:"


async def traced(bench, code, text="1 2\n", **settings):
    """The lines of a program's trace."""
    values = settings_of({"code_tester.use_trace": True} | {f"code_tester.{k}": v for k, v in settings.items()})
    context = SampleContext(None, Judge(bench.sandbox).for_problem(ONE), values)  # type: ignore[arg-type]
    return (await trace_of(code, TestCase(text, ""), context)).splitlines()


async def test_a_trace_holds_each_executed_line_with_what_changed(bench):
    assert await traced(bench, LOOP) == [
        "1: def double(n):",
        "4: total = 0",
        "5: for word in input().split():    # total = 0",
        "6: total += double(int(word))    # word = '1'",
        "2: return n * 2    # n = 1",
        "5: for word in input().split():    # total = 2",
        "6: total += double(int(word))    # word = '2'",
        "2: return n * 2    # n = 2",
        "5: for word in input().split():    # total = 6",
        "7: print(total)",
    ]


async def test_a_function_that_is_called_again_shows_its_arguments_again(bench):
    code = "def f(n):\n    return n\nf(7)\nf(7)\n"
    assert (await traced(bench, code)).count("2: return n    # n = 7") == 2


@pytest.mark.parametrize("end", ["1 / 0", "raise SystemExit(3)", "import os; os.close(1)"])
async def test_a_program_that_ends_badly_is_traced_to_its_end(bench, end):
    assert (await traced(bench, f"x = 5\n{end}\n"))[:2] == ["1: x = 5", f"2: {end}    # x = 5"]


async def test_a_program_that_does_not_compile_has_no_trace(bench):
    assert await traced(bench, "def broken(:") == []


async def test_a_program_is_not_changed_by_being_traced(bench):
    code = "import sys\nprint(__name__, 'it\\'s {x} \\\\n {{}}')\nsys.stderr.write('trace')\n"
    assert (await traced(bench, code))[0] == "1: import sys"


@changes("code_tester.use_trace", "code_tester.calc_trace")
@pytest.mark.parametrize(("calc", "use"), [(False, False), (True, False), (False, True), (True, True)])
async def test_calc_trace_makes_a_trace_and_use_trace_shows_it_to_the_fixer(bench, calc, use):
    outcome = await bench.solve(ONE, WRONG, ONE_TRY | {"code_tester.calc_trace": calc, "code_tester.use_trace": use})
    assert (SHOWN in outcome.user("fix")) == use
    assert ("2: return n * 2    # n = 1" in outcome.user("fix")) == use
    assert bool(outcome.all(ProgramTraced)) == (calc or use)


@changes("code_tester.max_trace_lines")
async def test_max_trace_lines_keeps_the_last_lines(bench):
    assert await traced(bench, LOOP, max_trace_lines=2) == [
        "5: for word in input().split():    # total = 6",
        "7: print(total)",
    ]
    assert len(await traced(bench, "for i in range(999): pass\n" * 2)) == 50


@changes("code_tester.trace_depth")
async def test_trace_depth_leaves_out_calls_that_are_deeper(bench):
    assert not [line for line in await traced(bench, LOOP, trace_depth=1) if line.startswith("2:")]
    nested = "def f(n):\n    if n: f(n - 1)\nf(9)\n"
    assert len([line for line in await traced(bench, nested, trace_depth=4) if line.startswith("2:")]) == 3


async def test_the_fixer_in_two_calls_is_shown_the_trace_too(bench):
    settings = {"code_tester.use_trace": True, "public_tests.single_stage_fix": False}
    outcome = await bench.solve(ONE, {"initial_code": program(CRASH)}, ONE_TRY | settings)
    assert SHOWN in outcome.user("analyze_failure")
