"""The flow `reflexion`: another try with what failed, and with lessons of the tries before."""

import pytest

from alpha_codium.config import Settings
from alpha_codium.flows.loading import load_flow
from tests.flows.scripted_flow import CRASH, ONE, SUM, TWO, answering, problem_of, program, settings_of
from tests.flows.switches import changes
from tests.flows.test_complete_flow import CALL, HUMANEVAL, MBPP

BASELINE = "code_contests_prompts_baseline"
HALF = answering({"1 2": 3})
ZERO = "print(0)"


async def tried(bench, first, retries, problem=ONE, prompt=BASELINE, answers=None, **settings):
    given = {f"reflexion.{key}": value for key, value in settings.items() if "__" not in key}
    given |= {key.replace("__", "."): value for key, value in settings.items() if "__" in key}
    scripted = {prompt: program(first), "retry": [program(each) for each in retries]} | (answers or {})
    return await bench.solve(problem, scripted, given, flow="reflexion")


async def test_a_program_that_passes_is_taken_at_once(bench):
    outcome = await tried(bench, SUM, [])
    assert (outcome.program, outcome.prompts) == (SUM, [BASELINE])


async def test_after_a_failure_comes_a_lesson_and_another_try_with_it(bench):
    outcome = await tried(bench, ZERO, [SUM])
    assert (outcome.program, outcome.prompts) == (SUM, [BASELINE, "lesson", "retry"])
    for prompt in ("lesson", "retry"):
        asked = outcome.user(prompt)
        assert "```python\nprint(0)\n```" in asked
        assert "It fails on this input:\n1 2\nCorrect output:\n3\nIts output:\n0\n" in asked
    assert "- THE LESSON\n" in outcome.user("retry")


async def test_a_retry_sees_the_last_program_and_the_nearest_is_kept(bench):
    outcome = await tried(bench, HALF, [ZERO, CRASH], TWO, max_retries=2)
    assert "print(0)" in outcome.of("retry")[1].user
    assert outcome.program == HALF


async def test_a_program_given_again_is_no_longer_shown_and_teaches_nothing_new(bench):
    outcome = await tried(bench, ZERO, [ZERO, SUM])
    assert outcome.prompts == [BASELINE, "lesson", "retry", "retry"]
    second = outcome.of("retry")[1].user
    assert "print(0)" not in second
    assert "All earlier attempts were wrong" in second
    assert "- THE LESSON\n" in second
    assert outcome.program == SUM


async def test_retries_are_asked_at_a_temperature_at_which_they_differ(bench):
    outcome = await tried(bench, ZERO, [CRASH, ZERO, CRASH], max_retries=3)
    assert [call.body["temperature"] for call in outcome.of("retry")] == [0.6, 0.61, 0.62]


async def test_a_lesson_that_is_not_given_is_not_needed(bench):
    outcome = await tried(bench, ZERO, [SUM], answers={"lesson": ""})
    assert outcome.program == SUM
    assert "Lessons" not in outcome.user("retry")


async def test_without_public_tests_the_first_program_is_the_last(bench):
    outcome = await tried(bench, ZERO, [SUM], problem_of())
    assert (outcome.program, outcome.prompts) == (ZERO, [BASELINE])


async def test_an_answer_without_a_program_is_a_try_like_another(bench):
    answers = {BASELINE: ["No.", program(ZERO)], "retry": ["No.", program(SUM)]}
    outcome = await bench.solve(ONE, answers, {"solve.max_format_retries": 0}, flow="reflexion")
    assert outcome.prompts == [BASELINE, BASELINE, "lesson", "retry", "lesson", "retry"]
    assert outcome.program == SUM


@changes("reflexion.max_retries")
@pytest.mark.parametrize("retries", [0, 1, 3])
async def test_max_retries_bounds_the_tries(bench, retries):
    outcome = await tried(bench, ZERO, [CRASH, ZERO, CRASH], max_retries=retries)
    assert outcome.prompts.count("retry") == outcome.prompts.count("lesson") == retries


@changes("reflexion.memory")
@pytest.mark.parametrize(("memory", "shown"), [(0, []), (1, [3]), (2, [2, 3]), (5, [1, 2, 3])])
async def test_memory_bounds_the_lessons_that_are_shown(bench, memory, shown):
    answers = {"lesson": [f"LESSON{number}" for number in range(1, 4)]}
    outcome = await tried(bench, ZERO, [CRASH, ZERO, CRASH], answers=answers, max_retries=3, memory=memory)
    last = outcome.of("retry")[-1].user
    assert [number for number in range(1, 4) if f"LESSON{number}" in last] == shown
    assert ("lesson" in outcome.prompts) == bool(memory)


@pytest.mark.parametrize("calls", range(1, 7))
async def test_a_budget_ends_with_the_best_program_and_its_last_call_writes_one(bench, calls):
    outcome = await tried(bench, HALF, [ZERO, CRASH, ZERO], TWO, solve__max_calls=calls)
    assert (outcome.program, len(outcome.calls)) == (HALF, calls)
    assert outcome.prompts[-1] in (BASELINE, "retry")


@pytest.mark.parametrize(
    ("problem", "wrong", "right", "feedback"),
    [
        (
            HUMANEVAL,
            "return numbers",
            "return sum(map(shifted, numbers))",
            "total([1, 2]) == 5\nActual output:\n[1, 2]",
        ),
        (HUMANEVAL, "return 1 // 0", "return sum(map(shifted, numbers))", "Actual output:\nZeroDivisionError: "),
        (
            MBPP,
            "def add(a, b):\n    return {a: b}",
            "def add(a, b):\n    return a + b",
            "assert add(1, 2) == 3\nActual output:\n{1: 2}\n",
        ),
        (
            CALL,
            "def add(a, b):\n    return [a, b]",
            "def add(a, b):\n    return a + b",
            "It fails on this input:\n[1, 2]\nCorrect output:\n3\nIts output:\n[1, 2]\n",
        ),
    ],
    ids=["humaneval", "humaneval-crash", "mbpp", "call"],
)
async def test_functions_are_tried_again_with_the_value_that_they_gave(bench, problem, wrong, right, feedback):
    outcome = await tried(bench, wrong, [right], problem, "complete")
    assert feedback in outcome.user("retry")
    assert "driver" not in outcome.user("retry")
    assert outcome.program.endswith(right)
    assert outcome.candidate.solved_public


def test_the_flow_says_how_many_calls_it_makes():
    stage = load_flow("reflexion").stages[-1]
    assert stage.calls(Settings(), ONE.statement) == (1, 11)
    assert stage.calls(settings_of({"reflexion.memory": 0}), ONE.statement) == (1, 6)
    assert stage.calls(Settings(), problem_of().statement) == (1, 6)
