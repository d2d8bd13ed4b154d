"""Nothing of a problem but its name, its description and its public tests reaches a prompt."""

import dataclasses
import json

import pytest

from alpha_codium.problem import CheckerSpec, ExecutionSpec, Problem, Solution, Statement, TestCase
from tests.flows.scripted_flow import ai_tests, program

MARK = "SECRET"
HIDDEN = {
    "private_tests": (TestCase(f"{MARK}1\n", f"{MARK}2\n"),),
    "generated_tests": (TestCase(f"{MARK}3\n", f"{MARK}4\n"),),
    "source": 987654301,
    "difficulty": 987654302,
    "tags": (f"{MARK}5",),
    "solutions": (Solution("python3", f"{MARK}6"),),
    "incorrect_solutions": (Solution("cpp", f"{MARK}7"),),
    "time_limit_seconds": 9.87654303,
    "memory_limit_bytes": 1987654304,
    "input_file": "stdin",
    "output_file": "stdout",
    "checker": CheckerSpec("float", {"abs": 0.00987654305}),
    # Run before each program, so it has to be Python.
    "execution": ExecutionSpec("stdin", f"{MARK}8", f"{MARK}9", f"# {MARK}10"),
}
SEEN = {"name": "VISIBLE NAME", "description": "VISIBLE TEXT", "public_tests": (TestCase("1 2\n", "3\n"),)}


def test_every_field_of_a_problem_is_either_seen_or_hidden():
    assert {field.name for field in dataclasses.fields(Problem)} == {*SEEN, *HIDDEN}
    assert {field.name for field in dataclasses.fields(Statement)} == {*SEEN}


async def asked_of(bench, flow, **settings):
    """All that a flow asks while every program fails, with as many prompts as there are."""
    answers = {
        "initial_code": program("print(0)"),
        "direct_code": program("print(0)"),
        "fix": program("print(0)"),
        "fix_analyzed": program("print(0)"),
        "generate_ai_tests": ai_tests(("8 8", "16")),
        "code_contests_prompts_baseline": "no program",
    }
    outcome = await bench.solve(Problem(**SEEN, **HIDDEN), answers, settings, flow=flow)
    text = json.dumps([call.body for call in outcome.calls])
    assert "VISIBLE TEXT" in text
    return outcome, text


def assert_hidden(text):
    assert MARK not in text
    assert "98765430" not in text
    assert "9.87654303" not in text


@pytest.mark.thorough
async def test_no_hidden_field_reaches_a_prompt_of_the_whole_flow(bench):
    chatty = {
        "self_reflection.validate_self_reflection": True,
        "generate_ai_tests.validate_ai_tests": True,
        "public_tests.use_test_explanations": True,
        "public_tests.use_self_reflection": True,
        "code_tester.use_trace": True,
        "initial_code_generation.max_attempts": 2,
    }
    outcome, text = await asked_of(bench, "alphacodium", **chatty)
    assert {"validate_reflection", "validate_ai_tests", "fix"} <= set(outcome.prompts)
    assert_hidden(text)
    outcome, text = await asked_of(bench, "alphacodium", **(chatty | {"public_tests.single_stage_fix": False}))
    assert {"analyze_failure", "fix_analyzed"} <= set(outcome.prompts)
    assert_hidden(text)


async def test_no_hidden_field_reaches_a_prompt_of_the_baseline(bench):
    _, text = await asked_of(bench, "baseline")
    assert_hidden(text)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["call", "assertions"])
async def test_no_hidden_field_reaches_a_prompt_where_functions_are_called(bench, kind):
    tests = {"call": TestCase("[1, 2]", "3"), "assertions": TestCase("assert solve(1, 2) == 3", "")}
    seen = SEEN | {"public_tests": (tests[kind],)}
    hidden = HIDDEN | {"execution": ExecutionSpec(kind, "solve", f"assert {MARK}9", f"# {MARK}10"), "checker": None}
    answers = {"initial_code": program("def solve(a, b): return 0"), "fix": program("def solve(a, b): return 1")}
    outcome = await bench.solve(Problem(**seen, **hidden), answers, {"generate_ai_tests.number_of_ai_tests": 0})
    assert "fix" in outcome.prompts
    assert_hidden(json.dumps([call.body for call in outcome.calls]))


async def test_without_public_tests_no_hidden_one_takes_their_place(bench):
    problem = Problem("N", "D", **HIDDEN)
    outcome = await bench.solve(problem, {"initial_code": program("print(0)"), "fix": program("print(0)")})
    assert "fix" in outcome.prompts
    assert "brute_force" in outcome.prompts
    assert_hidden(json.dumps([call.body for call in outcome.calls]))
