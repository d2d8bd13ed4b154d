"""Repairing by tests: public ones, then those of the model; anchors; one call or two."""

import pytest

from tests.flows.scripted_flow import (
    CRASH,
    ONE,
    PLANNING,
    SUM,
    TWO,
    ai_tests,
    answering,
    fields,
    fixed,
    problem_of,
    program,
)

FIRST_ATTEMPT = {"initial_code_generation.max_attempts": 1}
ONLY_PUBLIC = FIRST_ATTEMPT | {"ai_tests.max_allowed_calls": 0}
ONLY_AI = FIRST_ATTEMPT | {"public_tests.max_allowed_calls": 0}
THREE = problem_of(("1 2", "3"), ("5 5", "10"), ("7 7", "14"))
KEPT = "fix_public_test"


def kept(outcome, stage):
    return outcome.step(stage, "kept")


def codes(*programs):
    return [program(code) for code in programs]


async def test_the_fixer_sees_the_program_the_input_the_expected_and_the_actual_output(bench):
    outcome = await bench.solve(TWO, {"initial_code": program(answering({"1 2": 3, "5 5": 55}))}, ONLY_PUBLIC)
    asked = outcome.user("fix")
    assert answering({"1 2": 3, "5 5": 55}) in asked
    assert "Input:\n5 5\nExpected output:\n10\nActual output:\n55" in asked
    assert "(wrong answer)" in asked
    assert outcome.prompts == [*PLANNING, "initial_code", "fix"]
    assert outcome.program == SUM


async def test_of_a_crash_the_fixer_sees_the_traceback(bench):
    outcome = await bench.solve(ONE, {"initial_code": program(CRASH)}, ONLY_PUBLIC)
    asked = outcome.user("fix")
    assert "(runtime error)" in asked
    assert "Traceback (most recent call last)" in asked
    assert "IndexError: list index out of range" in asked


async def test_of_a_program_that_does_not_compile_the_fixer_sees_the_error(bench):
    broken = "print(input())\nif True\n    print(3)"
    outcome = await bench.solve(ONE, {"initial_code": program(broken)}, ONLY_PUBLIC)
    assert "(compilation error)" in outcome.user("fix")
    assert "SyntaxError" in outcome.user("fix")


@pytest.mark.thorough
async def test_of_a_program_that_never_ends_the_fixer_is_told_so(bench):
    answers = {"initial_code": program("input()\nprint('so far', flush=True)\nwhile True: pass")}
    outcome = await bench.solve(ONE, answers, ONLY_PUBLIC | {"code_tester.timeout": 0.2})
    assert "Actual output:\n(time limit exceeded)\n" in outcome.user("fix")
    assert "so far" not in outcome.user("fix").split("Actual output")[1], "what was printed by then is chance"


async def test_a_long_output_is_cut_in_the_middle(bench):
    answers = {"initial_code": program("input()\nprint('x' * 9000)")}
    outcome = await bench.solve(ONE, answers, ONLY_PUBLIC)
    assert "characters left out" in outcome.user("fix")
    assert len(outcome.user("fix")) < 5000


async def test_a_test_gets_three_fixes_at_most(bench):
    answers = {"initial_code": program("print(0)"), "fix": program("print(0)")}
    outcome = await bench.solve(ONE, answers, ONLY_PUBLIC)
    assert outcome.prompts.count("fix") == 3
    assert outcome.program == "print(0)"


@pytest.mark.thorough
async def test_all_public_tests_together_get_four_fixes_at_most(bench):
    answers = {"initial_code": program("print(0)"), "fix": program("print(0)")}
    outcome = await bench.solve(THREE, answers, ONLY_PUBLIC)
    inputs = [call.user.partition("Input:\n")[2].partition("\n")[0] for call in outcome.of("fix")]
    assert inputs == ["1 2", "1 2", "1 2", "5 5"]


async def test_a_fix_that_comes_nearer_is_the_next_ones_start(bench):
    nearer = answering({"1 2": 2})
    answers = {"initial_code": program(answering({}, 900)), "fix": codes(answering({}, 5000), nearer, SUM)}
    outcome = await bench.solve(ONE, answers, ONLY_PUBLIC)
    assert [nearer in call.user for call in outcome.of("fix")] == [False, False, True]
    assert kept(outcome, KEPT) == [False, True, True]
    assert outcome.program == SUM


async def test_a_fix_that_breaks_an_anchor_is_undone(bench):
    first = answering({"1 2": 3})
    answers = {"initial_code": program(first), "fix": codes(answering({"5 5": 10}), SUM)}
    outcome = await bench.solve(TWO, answers, ONLY_PUBLIC)
    assert kept(outcome, KEPT) == [False, True]
    assert first in outcome.of("fix")[1].user
    assert outcome.program == SUM


async def test_a_later_test_that_passes_already_is_an_anchor_too(bench):
    answers = {"initial_code": program(answering({"5 5": 10})), "fix": program(answering({"1 2": 3}))}
    outcome = await bench.solve(TWO, answers, ONLY_PUBLIC)
    assert kept(outcome, KEPT) == [False, False, False]
    assert outcome.program == answering({"5 5": 10})


async def test_a_fix_without_a_program_changes_nothing(bench):
    answers = {"initial_code": program("print(0)"), "fix": "I can't."}
    outcome = await bench.solve(ONE, answers, ONLY_PUBLIC | {"solve.max_format_retries": 0})
    assert outcome.program == "print(0)"
    assert outcome.prompts.count("fix") == 3


async def test_a_fix_keeps_its_program_where_its_analysis_cannot_be_read(bench):
    answers = {"initial_code": program("print(0)"), "fix": "failed_tests: [\n" + program(SUM)}
    outcome = await bench.solve(ONE, answers, ONLY_PUBLIC)
    assert outcome.program == SUM
    assert outcome.prompts.count("fix") == 1


async def test_a_fix_in_two_calls_is_an_analysis_and_then_a_program(bench):
    answers = {"initial_code": program("print(0)")}
    outcome = await bench.solve(ONE, answers, ONLY_PUBLIC | {"public_tests.single_stage_fix": False})
    assert outcome.prompts[-2:] == ["analyze_failure", "fix_analyzed"]
    assert "```python" not in outcome.user("analyze_failure").rpartition("Follow the program")[2]
    assert "IT ENDS EARLY" in outcome.user("fix_analyzed")
    assert "THE NEW FLOW" in outcome.user("fix_analyzed")
    assert [call.body["temperature"] for call in outcome.calls[-2:]] == [0.3, 0.3]
    assert outcome.program == SUM


async def test_an_analysis_that_cannot_be_read_is_a_fix_that_failed(bench):
    answers = {"initial_code": program("print(0)"), "analyze_failure": "Hm."}
    settings = {"public_tests.single_stage_fix": False, "solve.max_format_retries": 0}
    outcome = await bench.solve(ONE, answers, ONLY_PUBLIC | settings)
    assert outcome.prompts.count("analyze_failure") == 3
    assert "fix_analyzed" not in outcome.prompts
    assert outcome.program == "print(0)"


async def test_an_ai_test_that_fails_is_fixed_once(bench):
    partly = answering({"1 2": 3})
    answers = {"generate_ai_tests": ai_tests(("2 2", "4")), "initial_code": program(partly), "fix": program(SUM)}
    outcome = await bench.solve(ONE, answers, FIRST_ATTEMPT)
    assert outcome.prompts == [*PLANNING, "initial_code", "fix"]
    assert "Input:\n2 2\nExpected output:\n4" in outcome.user("fix")
    assert kept(outcome, "fix_ai_test") == [True]
    assert outcome.program == SUM


async def test_ai_tests_get_four_fixes_in_all_and_one_each(bench):
    wrong = [(f"9 {n}", "0") for n in range(6)]
    outcome = await bench.solve(ONE, {"generate_ai_tests": ai_tests(*wrong), "fix": program(SUM)})
    inputs = [call.user.partition("Input:\n")[2].partition("\n")[0] for call in outcome.of("fix")]
    assert inputs == ["9 0", "9 1", "9 2", "9 3"]


async def test_a_wrong_ai_test_never_costs_a_public_test(bench):
    misled = answering({"2 2": 5})
    answers = {"generate_ai_tests": ai_tests(("2 2", "5")), "fix": program(misled)}
    outcome = await bench.solve(ONE, answers)
    assert kept(outcome, "fix_ai_test") == [False]
    assert outcome.program == SUM
    assert outcome.candidate.solved_public


async def test_a_fix_by_an_ai_test_is_kept_only_if_every_earlier_anchor_passes(bench):
    start, second = answering({"1 2": 3, "2 2": 4}), answering({"1 2": 3, "6 6": 12})
    answers = {
        "generate_ai_tests": ai_tests(("2 2", "4"), ("6 6", "12")),
        "initial_code": program(start),
        "fix": program(second),
    }
    outcome = await bench.solve(ONE, answers)
    assert kept(outcome, "fix_ai_test") == [False]
    assert outcome.program == start


async def test_a_fix_by_an_ai_test_that_only_comes_nearer_is_undone(bench):
    start = answering({"1 2": 3})
    answers = {
        "generate_ai_tests": ai_tests(("2 2", "4")),
        "initial_code": program(start),
        "fix": program(answering({"1 2": 3, "2 2": 5})),
    }
    assert (await bench.solve(ONE, answers)).program == start


async def test_public_tests_come_first_and_last_among_the_ai_tests(bench):
    answers = {
        "generate_ai_tests": ai_tests(("2 2", "4")),
        "initial_code": program("print(0)"),
        "fix": codes("print(0)", "print(0)", SUM),
    }
    outcome = await bench.solve(ONE, answers, ONLY_AI)
    inputs = [call.user.partition("Input:\n")[2].partition("\n")[0] for call in outcome.of("fix")]
    assert inputs == ["1 2", "2 2", "1 2"]
    assert outcome.program == SUM


async def test_a_test_of_the_model_never_becomes_a_public_test(bench):
    answers = {"generate_ai_tests": ai_tests(("2 2", "5"), ("1 2", "7")), "fix": program(answering({"1 2": 7}))}
    outcome = await bench.solve(ONE, answers)
    assert (outcome.candidate.public_tests_passed, outcome.candidate.public_tests_total) == (1, 1)
    assert not any("Example output 2" in call.user for call in outcome.calls)


async def test_without_ai_tests_public_tests_alone_are_left(bench):
    answers = {"generate_ai_tests": fields(tests=[]), "initial_code": program("print(0)"), "fix": program("print(1)")}
    outcome = await bench.solve(ONE, answers, ONLY_AI)
    assert outcome.prompts.count("fix") == 2


@pytest.mark.thorough
async def test_a_program_that_crashes_makes_the_same_prompts_each_time(bench):
    answers = {"initial_code": program("input()\nprint(1 // 0)"), "fix": program("input()\nprint(1 // 0, 1)")}
    first, second = [(await bench.solve(ONE, answers, ONLY_PUBLIC)).user("fix") for _ in range(2)]
    assert first == second
    assert 'File "program.py", line 2' in first
    assert "ZeroDivisionError" in first


async def test_a_second_fix_sees_what_the_first_did(bench):
    answers = {"initial_code": program("print(0)"), "fix": codes("print(-8)", "print(0)", SUM)}
    outcome = await bench.solve(ONE, answers, ONLY_PUBLIC)
    first, second, third = [call.user for call in outcome.of("fix")]
    assert "rejected" not in first
    assert "already tried and rejected:\n```python\nprint(-8)\n```\nOn the same test, its output is:\n-8\n" in second
    assert "An earlier fix left the program unchanged." in third
    assert outcome.program == SUM


async def test_a_fix_after_one_that_broke_an_anchor_sees_the_test_that_it_broke(bench):
    first = answering({"1 2": 3})
    answers = {"initial_code": program(first), "fix": codes(answering({"5 5": 10}, 77), SUM)}
    outcome = await bench.solve(TWO, answers, ONLY_PUBLIC)
    assert "It breaks another test:\n1 2\nExpected output:\n3\nIts output:\n77\n" in outcome.of("fix")[1].user


async def test_a_public_test_whose_fixes_are_used_up_is_not_asked_about_again(bench):
    answers = {
        "generate_ai_tests": ai_tests(("2 2", "4")),
        "initial_code": program("print(0)"),
        "fix": codes("print(1)"),
    }
    outcome = await bench.solve(ONE, answers, FIRST_ATTEMPT)
    inputs = [call.user.rpartition("\nInput:\n")[2].partition("\n")[0] for call in outcome.of("fix")]
    assert inputs == ["1 2", "1 2", "1 2", "2 2"]


OBJECTIONS = {
    "alone": "TEST IS WRONG",
    "with a reason": "**TEST IS WRONG**: 2 and 2 are 4.",
    "as the mistake": fields(failed_tests="it adds", what_went_wrong="TEST IS WRONG", fixed_flow="nothing"),
    "in one line": 'what_went_wrong: "TEST IS WRONG"',
    "as JSON": '{"failed_tests": "it adds", "what_went_wrong": "TEST IS WRONG, since 2 + 2 = 4", "fixed_flow": ""}',
    "with a program": "TEST IS WRONG\n" + program("print('another')"),
    "after thinking": "<think>\nIs it?\n</think>\nTEST IS WRONG",
}


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("objection", OBJECTIONS.values(), ids=OBJECTIONS.keys())
async def test_the_model_may_say_that_an_ai_test_is_wrong(bench, objection, single):
    answers = {"generate_ai_tests": ai_tests(("2 2", "5")), "fix": objection, "analyze_failure": objection}
    outcome = await bench.solve(ONE, answers, FIRST_ATTEMPT | {"public_tests.single_stage_fix": single})
    asked = "fix" if single else "analyze_failure"
    assert outcome.prompts == [*PLANNING, "initial_code", asked], "nothing is asked about the dropped test again"
    assert 'answer only "TEST IS WRONG"' in outcome.user(asked)
    assert outcome.step("fix_ai_test", "dropped") == ["2 2\n"]
    assert outcome.program == SUM


NO_OBJECTIONS = {
    "of another mistake": "The program is wrong; I wouldn't say TEST IS WRONG here.\n" + program(SUM),
    "while thinking": "<think>\nTEST IS WRONG?\n</think>\n" + program(SUM),
    "of the prompt": 'If its expected output contradicts the problem, answer only "TEST IS WRONG".\n' + program(SUM),
}


@pytest.mark.parametrize("answer", NO_OBJECTIONS.values(), ids=NO_OBJECTIONS.keys())
async def test_what_only_mentions_an_objection_is_a_fix(bench, answer):
    answers = {
        "generate_ai_tests": ai_tests(("2 2", "4")),
        "initial_code": program(answering({"1 2": 3})),
        "fix": answer,
    }
    outcome = await bench.solve(ONE, answers, FIRST_ATTEMPT)
    assert outcome.step("fix_ai_test", "kept") == [True]
    assert outcome.program == SUM


async def test_a_public_test_can_not_be_objected_to(bench):
    answers = {"initial_code": program("print(0)"), "fix": ["TEST IS WRONG", fixed(SUM)]}
    outcome = await bench.solve(ONE, answers, ONLY_PUBLIC)
    assert "The test is right; the program is wrong." in outcome.user("fix")
    assert "TEST IS WRONG" not in outcome.user("fix")
    assert outcome.program == SUM
