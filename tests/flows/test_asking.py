"""Asking until the answer can be read; what happens where it never can; faults that aren't the model's."""

import pytest

from alpha_codium.errors import UserError
from alpha_codium.problem import Problem
from alpha_codium.runs.events import ModelRefusal, UnreadableAnswer
from alpha_codium.solution import BudgetEnd, ErrorKind
from tests.flows.scripted_flow import ONE, PLANNING, SUM, TWO, Bench, ai_tests, fields, program
from tests.servers.scripted import Filtered, Malformed, Status, Text, Truncated

OVERFLOW = Status(
    400,
    "This model's maximum context length is 4097 tokens. Please reduce the length of the messages.",
    error_type="invalid_request_error",
    error_code="context_length_exceeded",
)
GOOD_REFLECTION = fields(self_reflection="- THE SECOND TRY", tests_explanations=[])


async def test_an_unreadable_answer_is_shown_to_the_model_with_the_reason(bench):
    outcome = await bench.solve(ONE, {"reflect": [fields(self_reflection="- half"), GOOD_REFLECTION]})
    first, second = outcome.of("reflect")
    assert len(first.messages) == 1
    assert second.messages[0] == first.user
    assert second.messages[1] == fields(self_reflection="- half")
    assert "the field `tests_explanations` is missing" in second.messages[2]
    assert "THE SECOND TRY" in outcome.user("possible_solutions")


async def test_after_an_answer_without_a_program_the_program_is_asked_for(bench):
    outcome = await bench.solve(ONE, {"initial_code": ["One adds them up.", program(SUM)]})
    _, said, again = outcome.of("initial_code")[1].messages
    assert said == "One adds them up."
    assert again.startswith("Now the program.")
    assert outcome.all(UnreadableAnswer)[-1].reason == "there is no Python 3 program in it"
    assert outcome.program == SUM


async def test_only_the_last_unreadable_answer_is_shown(bench):
    outcome = await bench.solve(ONE, {"reflect": ["first", "second", GOOD_REFLECTION]})
    assert [len(call.messages) for call in outcome.of("reflect")] == [1, 3, 3]
    assert outcome.of("reflect")[2].messages[1] == "second"


async def test_with_a_seed_each_retry_has_another_one(bench):
    outcome = await bench.solve(ONE, {"reflect": ["?", "?", GOOD_REFLECTION]}, {"config.seed": 7})
    assert len({call.body["seed"] for call in outcome.of("reflect")}) == 3


async def test_a_program_that_was_always_cut_off_says_which_option_allows_more(bench):
    cut_off = {"code_contests_prompts_baseline": Truncated("I begin")}
    outcome = await bench.solve(ONE, cut_off, {"solve.max_format_retries": 0}, flow="baseline")
    assert "it was cut off, allow more by config.max_tokens" in outcome.candidate.error.message


@pytest.mark.parametrize("name", PLANNING)
async def test_a_stage_that_gets_no_readable_answer_is_left_out(bench, name):
    outcome = await bench.solve(ONE, {name: "I'd rather not."})
    assert outcome.prompts.count(name) == 3
    assert outcome.program == SUM
    assert outcome.skipped(name).startswith(f"{name}: no readable answer")


async def test_a_flow_whose_stages_all_fail_still_writes_its_program(bench):
    outcome = await bench.solve(ONE, dict.fromkeys(PLANNING, "?"), {"solve.max_format_retries": 0})
    assert outcome.prompts == ["reflect", "possible_solutions", "generate_ai_tests", "initial_code"]
    assert "Use this solution" not in outcome.user("initial_code")
    assert outcome.program == SUM


@pytest.mark.parametrize("refusal", [Filtered(), OVERFLOW], ids=["filtered", "overflow"])
async def test_a_refusal_is_not_asked_again(bench, refusal):
    outcome = await bench.solve(ONE, {"reflect": refusal, "generate_ai_tests": refusal})
    assert outcome.prompts == [*PLANNING, "initial_code"]
    assert [event.prompt for event in outcome.all(ModelRefusal)] == ["reflect", "generate_ai_tests"]
    assert outcome.program == SUM


@pytest.mark.parametrize("refusal", [Filtered(), OVERFLOW], ids=["filtered", "overflow"])
async def test_a_model_that_refuses_every_program_fails_the_sample_by_its_own_fault(bench, refusal):
    outcome = await bench.solve(ONE, {"code_contests_prompts_baseline": refusal}, flow="baseline")
    assert len(outcome.calls) == 1
    assert outcome.candidate.error.kind is ErrorKind.MODEL
    assert outcome.candidate.is_final


async def test_a_program_that_was_cut_off_is_asked_for_again_shorter(bench):
    cut = Truncated("```python\nnumbers = input().split()\nprint(sum(")
    outcome = await bench.solve(ONE, {"initial_code": [cut, program(SUM)]})
    assert "it was cut off, so be shorter" in outcome.of("initial_code")[1].messages[2]
    assert outcome.program == SUM


async def test_truncated_answers_are_counted(bench):
    cut = Truncated("```python\nprint(sum(")
    settings = {"solve.max_format_retries": 1}
    outcome = await bench.solve(ONE, {"code_contests_prompts_baseline": cut}, settings, flow="baseline")
    assert outcome.candidate.truncated_answers == outcome.candidate.llm_calls == 2
    assert outcome.candidate.error.kind is ErrorKind.MODEL
    assert (await bench.solve()).candidate.truncated_answers == 0


async def test_tests_of_the_model_that_cannot_be_checked_are_kept_unchecked(bench):
    answers = {"generate_ai_tests": ai_tests(("2 2", "5")), "validate_ai_tests": "Hm."}
    outcome = await bench.solve(ONE, answers, {"generate_ai_tests.validate_ai_tests": True})
    assert "Input:\n2 2\nExpected output:\n5" in outcome.user("fix")


async def test_explanations_that_cannot_be_checked_are_kept_unchecked(bench):
    settings = {"self_reflection.validate_self_reflection": True}
    outcome = await bench.solve(ONE, {"validate_reflection": "Hm."}, settings)
    assert "because they add up" in outcome.user("possible_solutions")


@pytest.mark.parametrize("fault", [Status(500), Status(429), Malformed()], ids=["500", "429", "malformed"])
async def test_a_fault_that_passes_leaves_no_trace_in_the_result(bench, fault):
    outcome = await bench.solve(ONE, {"initial_code": [fault, program(SUM)]})
    assert outcome.prompts.count("initial_code") == 2
    assert outcome.candidate.llm_calls == 5
    assert outcome.program == SUM


@pytest.mark.parametrize("name", ["reflect", "choose_best", "initial_code", "fix"])
async def test_a_provider_that_fails_is_no_failed_sample_of_the_model(bench, name):
    answers = {name: Status(503)} | ({"initial_code": program("print(0)")} if name == "fix" else {})
    outcome = await bench.solve(ONE, answers, {"config.max_retries": 1, "initial_code_generation.max_attempts": 1})
    assert outcome.prompts.count(name) == 2
    assert outcome.candidate.error.kind is ErrorKind.PROVIDER
    assert not outcome.candidate.is_final
    assert outcome.program == ""


async def test_a_wrong_key_ends_the_run_with_one_line(bench):
    with pytest.raises(UserError) as caught:
        await bench.solve(ONE, {"reflect": Status(401, "Incorrect API key provided")})
    assert "\n" not in str(caught.value)


async def test_tokens_of_all_calls_are_counted(bench: Bench):
    answer = Text(program(SUM), prompt_tokens=100, completion_tokens=7)
    unreadable = Text("no", prompt_tokens=11, completion_tokens=1)
    outcome = await bench.solve(ONE, {"code_contests_prompts_baseline": [unreadable, answer]}, flow="baseline")
    assert (outcome.candidate.prompt_tokens, outcome.candidate.completion_tokens) == (111, 8)


@pytest.mark.parametrize("calls", [1, 2, 3, 4, 5])
async def test_the_last_call_of_a_budget_writes_a_program(bench, calls):
    outcome = await bench.solve(ONE, settings={"solve.max_calls": calls})
    assert outcome.prompts == [*PLANNING[: calls - 1], "initial_code"]
    assert outcome.program == SUM


async def test_a_budget_ends_with_the_best_program_so_far(bench):
    nearer = "print(2)"
    answers = {"initial_code": [program("print(900)"), program(nearer), program("print(7000)")]}
    outcome = await bench.solve(ONE, answers, {"solve.max_calls": 7})
    assert len(outcome.calls) == 7
    assert outcome.program == nearer
    assert outcome.candidate.error is None


async def test_a_budget_that_ends_among_the_fixes_keeps_the_best_fix(bench):
    answers = {"initial_code": program("print(900)"), "fix": [program("print(2)"), program("print(800)")]}
    settings = {"solve.max_calls": 7, "initial_code_generation.max_attempts": 1}
    outcome = await bench.solve(TWO, answers, settings)
    assert len(outcome.calls) == 7
    assert outcome.program == "print(2)"
    assert "has made its 7 calls" in str(outcome.all(BudgetEnd)[-1])


async def test_no_call_is_spent_on_an_analysis_that_no_fix_can_follow(bench):
    settings = {"solve.max_calls": 6, "initial_code_generation.max_attempts": 1, "public_tests.single_stage_fix": False}
    outcome = await bench.solve(ONE, {"initial_code": program("print(0)")}, settings)
    assert "analyze_failure" not in outcome.prompts
    assert outcome.program == "print(0)"


async def test_without_public_tests_the_last_call_is_not_spent_on_brute_force(bench):
    outcome = await bench.solve(Problem("Sum", "Print the sum."), settings={"solve.max_calls": 5})
    assert outcome.prompts == [*PLANNING, "initial_code"]
    assert outcome.program == SUM
