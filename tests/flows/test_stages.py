"""The stages before any fix: reflecting, planning, thinking of tests, writing the first program."""

import pytest

from alpha_codium.flows.stages.writing import plans_to_try
from alpha_codium.flows.state import FlowState, Plan
from alpha_codium.problem import ExecutionSpec
from alpha_codium.solution import ErrorKind
from tests.flows.scripted_flow import (
    CRASH,
    NO_FIXES,
    ONE,
    PLANNING,
    SUM,
    TWO,
    ai_tests,
    answering,
    chosen,
    explanations,
    fields,
    marks,
    plans,
    problem_of,
    program,
    prompt_of,
)


def tried(outcome):
    """The plans that programs were written by, in order."""
    users = [call.user for call in outcome.of("initial_code")]
    return [user.partition("Use this solution: ")[2].partition("\n")[0] for user in users]


def test_every_prompt_is_told_by_a_line_of_its_own():
    assert len(set(marks().values())) == len(marks())
    assert all(prompt_of(mark) == name for name, mark in marks().items())


async def test_a_first_program_that_passes_ends_the_flow_after_five_calls(bench):
    outcome = await bench.solve()
    assert outcome.prompts == [*PLANNING, "initial_code"]
    assert outcome.program == SUM
    assert outcome.candidate.solved_public
    assert outcome.candidate.llm_calls == 5


async def test_each_stage_is_given_what_the_ones_before_found(bench):
    outcome = await bench.solve()
    statement = ["Print the sum of the numbers.", "Example input 1:\n1 2\nExample output 1:\n3"]
    for name in [*PLANNING, "initial_code"]:
        assert all(part in outcome.user(name) for part in statement)
        assert ("THE REFLECTION" in outcome.user(name)) == (name != "reflect")
    assert "because they add up" in outcome.user("possible_solutions")
    assert "because they add up" in outcome.user("generate_ai_tests")
    assert "1. addition (O(n))" in outcome.user("choose_best")
    assert "the idea of counting" in outcome.user("choose_best")
    assert "solution: addition\n\naddition made precise\n- read\n- print" in outcome.user("initial_code")


async def test_each_prompt_is_asked_at_the_temperature_of_its_file(bench):
    outcome = await bench.solve()
    assert [call.body["temperature"] for call in outcome.calls] == [0.2, 0.3, 0.2, 0.2, 0.3]


async def test_a_problem_without_examples_may_have_no_explanations(bench):
    answers = {"reflect": fields(self_reflection="- short", tests_explanations=[])}
    outcome = await bench.solve(problem_of(), answers)
    assert outcome.prompts[:2] == ["reflect", "possible_solutions"]


async def test_one_plan_is_chosen_without_asking(bench):
    outcome = await bench.solve(ONE, {"possible_solutions": plans("only")})
    assert "choose_best" not in outcome.prompts
    assert tried(outcome) == ["only"]


@pytest.mark.thorough
async def test_the_chosen_plan_is_tried_twice_then_the_others_in_turn(bench):
    answers = {
        "possible_solutions": plans("a", "b", "c"),
        "choose_best": chosen("b"),
        "initial_code": program("print(0)"),
    }
    outcome = await bench.solve(ONE, answers, NO_FIXES)
    assert tried(outcome) == ["b", "b", "a", "c", "b", "b", "a", "c"]


async def test_a_plan_that_is_none_of_the_suggested_ones_is_a_plan_of_its_own(bench):
    answers = {"choose_best": chosen("a new one"), "initial_code": program("print(0)")}
    outcome = await bench.solve(ONE, answers, NO_FIXES | {"initial_code_generation.max_attempts": 4})
    assert tried(outcome) == ["a new one", "a new one", "addition", "counting"]


async def test_programs_are_written_until_one_passes_all_public_and_ai_tests(bench):
    codes = [CRASH, answering({"1 2": 3}), SUM, "print('never asked for')"]
    answers = {"generate_ai_tests": ai_tests(("2 2", "4")), "initial_code": [program(code) for code in codes]}
    outcome = await bench.solve(ONE, answers)
    assert outcome.prompts.count("initial_code") == 3
    assert outcome.program == SUM


async def test_of_programs_that_fail_an_ai_test_the_one_that_passes_the_public_tests_is_kept(bench):
    right, misled = answering({"1 2": 3, "2 2": 4}), answering({"2 2": 5})
    answers = {
        "generate_ai_tests": ai_tests(("2 2", "5")),
        "initial_code": [program(misled), program(right), program(misled)],
    }
    outcome = await bench.solve(ONE, answers, NO_FIXES | {"initial_code_generation.max_attempts": 3})
    assert outcome.prompts.count("initial_code") == 3
    assert outcome.program == right


async def test_programs_are_written_until_one_passes_all_public_tests(bench):
    codes = [CRASH, answering({"1 2": 3}), SUM, "print('never asked for')"]
    outcome = await bench.solve(TWO, {"initial_code": [program(code) for code in codes]})
    assert outcome.prompts.count("initial_code") == 3
    assert outcome.program == SUM


@pytest.mark.thorough
async def test_where_none_passes_the_nearest_is_kept(bench):
    near, far = answering({"1 2": 3, "5 5": 9}), answering({"1 2": 3, "5 5": 100000})
    codes = [CRASH, far, near, "print(0)", "def broken(:", CRASH]
    settings = NO_FIXES | {"initial_code_generation.max_attempts": 6}
    answers = {"initial_code": [program(code) for code in codes]}
    outcome = await bench.solve(TWO, answers, settings)
    assert outcome.program == near
    assert (outcome.candidate.public_tests_passed, outcome.candidate.public_tests_total) == (1, 2)


@pytest.mark.parametrize("crash", [CRASH, "def broken(:", "import sys; print(3); sys.exit(1)"])
async def test_a_crash_is_never_nearer_than_a_wrong_number(bench, crash):
    answers = {"initial_code": [program(crash), program("print('far off')")]}
    settings = NO_FIXES | {"initial_code_generation.max_attempts": 2}
    assert (await bench.solve(ONE, answers, settings)).program == "print('far off')"


async def test_an_attempt_without_a_program_is_an_attempt(bench):
    answers = {"initial_code": ["No idea.", program(SUM)]}
    outcome = await bench.solve(ONE, answers, {"solve.max_format_retries": 0})
    assert outcome.prompts.count("initial_code") == 2
    assert outcome.program == SUM


async def test_a_flow_without_any_program_is_the_models_fault(bench):
    settings = {"solve.max_format_retries": 0, "initial_code_generation.max_attempts": 2}
    outcome = await bench.solve(ONE, {"initial_code": "No idea."}, settings)
    assert outcome.program == ""
    assert outcome.candidate.error.kind is ErrorKind.MODEL
    assert "no Python 3 program" in outcome.candidate.error.message
    assert outcome.candidate.is_final


async def test_ai_tests_that_repeat_or_contradict_are_dropped(bench):
    answers = {
        "generate_ai_tests": ai_tests(("1 2", "99"), ("4 4", "8"), ("6 1", "7"), ("4 4", "9")),
        "initial_code": program(answering({"1 2": 3, "4 4": 8, "6 1": 7})),
    }
    outcome = await bench.solve(ONE, answers)
    assert "fix" not in outcome.prompts
    assert outcome.candidate.solved_public


async def test_ai_tests_that_can_not_be_run_are_dropped(bench):
    answers = {
        "generate_ai_tests": ai_tests(("add these: 4 and 4", "8"), ("[6, 1]", "7")),
        "initial_code": program("def add(a, b): return a + b"),
    }
    problem = problem_of(("[1, 2]", "3"), execution=ExecutionSpec("call", entry_point="add"))
    outcome = await bench.solve(problem, answers)
    assert outcome.candidate.error is None
    assert outcome.candidate.solved_public


async def test_without_public_tests_ai_tests_that_agree_with_brute_force_drive_the_fixes(bench):
    answers = {
        "generate_ai_tests": ai_tests(("4 4", "8"), ("1 1", "7"), ("6 1", "7")),
        "initial_code": program(answering({"4 4": 8})),
        "fix": program(SUM),
    }
    outcome = await bench.solve(problem_of(), answers, {"initial_code_generation.max_attempts": 1})
    assert outcome.prompts == [*PLANNING, "brute_force", "initial_code", "fix"]
    assert (outcome.step("brute_force", "agreed")[-1], outcome.step("brute_force", "of")[-1]) == (2, 3)
    assert "Input:\n6 1" in outcome.user("fix")
    assert outcome.program == SUM
    assert not outcome.candidate.solved_public


async def test_without_public_tests_and_brute_force_no_ai_test_is_used(bench):
    answers = {"brute_force": "I can't.", "initial_code": program("print(0)")}
    outcome = await bench.solve(problem_of(), answers, {"solve.max_format_retries": 0})
    assert outcome.prompts == [*PLANNING, "brute_force", "initial_code"]
    assert outcome.program == "print(0)"


async def test_without_tests_one_program_is_written_and_kept(bench):
    outcome = await bench.solve(problem_of(), settings={"generate_ai_tests.number_of_ai_tests": 0})
    assert outcome.prompts.count("initial_code") == 1
    assert outcome.program == SUM


async def test_the_baseline_is_one_call_and_one_program(bench):
    answers = {"code_contests_prompts_baseline": program("print(0)")}
    outcome = await bench.solve(ONE, answers, flow="baseline")
    assert outcome.prompts == ["code_contests_prompts_baseline"]
    assert outcome.program == "print(0)"
    assert outcome.candidate.flow == "baseline"
    assert not outcome.candidate.solved_public


async def test_explanations_of_several_examples_all_arrive(bench):
    records = explanations(("1 2", "3"), ("5 5", "10"))
    outcome = await bench.solve(TWO, {"reflect": fields(self_reflection="x", tests_explanations=records)})
    assert outcome.user("possible_solutions").count("because they add up") == 2


def test_without_plans_the_attempts_have_none():
    assert list(plans_to_try(FlowState(ONE.statement), 3)) == [None, None, None]


def test_a_plan_that_cannot_be_chosen_leaves_the_first():
    state = FlowState(ONE.statement, plans=[Plan("a", ""), Plan("b", "")], plan=Plan("a", "more"))
    assert [plan.name for plan in plans_to_try(state, 4)] == ["a", "a", "b", "a"]
