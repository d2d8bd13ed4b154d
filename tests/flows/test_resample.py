"""The flow `resample`: programs from the statement alone, until one passes the public tests."""

import pytest

from alpha_codium.config import Settings
from alpha_codium.flows.loading import load_flow
from alpha_codium.runs import AnswerStore
from alpha_codium.runs.events import ProgramTested
from tests.flows.scripted_flow import ONE, SUM, TWO, answering, problem_of, program, settings_of
from tests.flows.switches import changes
from tests.flows.test_complete_flow import CALL, HUMANEVAL, MBPP

BASELINE = "code_contests_prompts_baseline"
HALF = answering({"1 2": 3})
ZERO = "print(0)"


async def resampled(bench, programs, problem=ONE, prompt=BASELINE, store=None, **settings):
    given = {f"resample.{key}": value for key, value in settings.items() if "__" not in key}
    given |= {key.replace("__", "."): value for key, value in settings.items() if "__" in key}
    return await bench.solve(
        problem, {prompt: [program(each) for each in programs]}, given, flow="resample", store=store
    )


async def test_programs_are_written_until_one_passes_all_public_tests(bench):
    outcome = await resampled(bench, [ZERO, HALF, SUM, ZERO], TWO)
    assert (outcome.program, len(outcome.calls)) == (SUM, 3)


async def test_no_program_sees_another(bench):
    outcome = await resampled(bench, [ZERO, HALF, SUM], TWO)
    assert len({call.user for call in outcome.calls}) == 1
    assert [len(call.messages) for call in outcome.calls] == [1, 1, 1]


async def test_all_but_the_first_are_asked_at_a_temperature_at_which_they_differ(bench):
    outcome = await resampled(bench, [ZERO], max_attempts=6)
    assert [call.body["temperature"] for call in outcome.calls] == [0.3, 0.6, 0.61, 0.62, 0.63, 0.64]
    outcome = await resampled(bench, [ZERO], max_attempts=2, dataset__use_iteration_scheme=False)
    assert [call.body["temperature"] for call in outcome.calls] == [0.3, 0.6]
    outcome = await resampled(bench, [ZERO], max_attempts=2, config__temperature=0.9)
    assert [call.body["temperature"] for call in outcome.calls] == [0.9, 0.9]


async def test_a_seed_of_the_settings_is_another_for_each_attempt(bench):
    outcome = await resampled(bench, [ZERO], max_attempts=3, config__seed=7)
    assert len({call.body["seed"] for call in outcome.calls}) == 3


async def test_the_nearest_is_kept_where_none_passes_and_of_equals_the_first(bench):
    outcome = await resampled(bench, [ZERO, HALF, HALF + "  # again", ZERO], TWO, max_attempts=4)
    assert outcome.program == HALF


async def test_a_text_that_came_before_is_not_run_again(bench):
    outcome = await resampled(bench, [ZERO], max_attempts=5)
    assert (len(outcome.calls), len(outcome.all(ProgramTested))) == (5, 2)  # once, and in the end for the record


async def test_without_public_tests_the_first_program_is_taken(bench):
    outcome = await resampled(bench, [ZERO, SUM], problem_of())
    assert (outcome.program, len(outcome.calls)) == (ZERO, 1)


async def test_the_budget_in_the_middle_leaves_the_best_program(bench):
    outcome = await resampled(bench, [ZERO, HALF, ZERO, SUM], TWO, solve__max_calls=3)
    assert (outcome.program, len(outcome.calls)) == (HALF, 3)


async def test_answers_without_a_program_cost_attempts_and_nothing_else(bench):
    answers = {BASELINE: ["No.", program(SUM)]}
    outcome = await bench.solve(ONE, answers, {"solve.max_format_retries": 0}, flow="resample")
    assert (outcome.program, len(outcome.calls)) == (SUM, 2)


@changes("resample.max_attempts")
@pytest.mark.parametrize("most", [1, 4])
async def test_max_attempts_bounds_the_programs(bench, most):
    assert len((await resampled(bench, [ZERO], max_attempts=most)).calls) == most


@changes("resample.answers_per_request")
@pytest.mark.parametrize("together", [2, 3])
async def test_several_answers_come_by_one_request(bench, together):
    outcome = await resampled(bench, [ZERO], max_attempts=5, answers_per_request=together)
    wanted = [call.body.get("n", 1) for call in outcome.calls]
    assert sum(wanted) == 5
    assert max(wanted) == together
    assert all(0.6 <= call.body["temperature"] <= 0.7 for call in outcome.calls)
    assert outcome.candidate.llm_calls == 5


async def test_answers_of_one_request_are_within_the_budget(bench):
    outcome = await resampled(bench, [ZERO], max_attempts=9, answers_per_request=4, solve__max_calls=6)
    assert (outcome.program, outcome.candidate.llm_calls) == (ZERO, 6)


@pytest.mark.parametrize(
    ("problem", "wrong", "right"),
    [
        (HUMANEVAL, "return 5 + len(numbers) - 3", "return sum(map(shifted, numbers))"),
        (MBPP, "def add(a, b):\n    return 3\n", "def add(a, b):\n    return a + b\n"),
        (
            CALL,
            "class Solution:\n    def add(self, a, b):\n        return 4\n",
            "class Solution:\n    def add(self, a, b):\n        return a + b\n",
        ),
    ],
    ids=["humaneval", "mbpp", "call"],
)
async def test_functions_are_resampled_by_their_public_tests(bench, problem, wrong, right):
    outcome = await resampled(bench, [wrong, right], problem, "complete")
    assert len(outcome.calls) == 2
    assert outcome.program.strip().endswith(right.strip())
    assert outcome.candidate.solved_public


async def test_a_sample_that_is_run_again_asks_nothing_and_gives_the_same(bench, tmp_path):
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        first = await resampled(bench, [ZERO, HALF, ZERO], TWO, store=store, max_attempts=3, answers_per_request=2)
        again = await resampled(bench, [SUM], TWO, store=store, max_attempts=3, answers_per_request=2)
    assert (again.candidate, again.calls) == (first.candidate, [])


def test_the_flow_says_how_many_calls_it_makes():
    stage = load_flow("resample").stages[-1]
    settings = settings_of({"resample.max_attempts": 7, "resample.answers_per_request": 2})
    assert stage.calls(settings, ONE.statement) == (2, 7)
    assert stage.calls(Settings(), HUMANEVAL.statement) == (1, 12)
    assert stage.calls(Settings(), problem_of().statement) == (1, 12)
