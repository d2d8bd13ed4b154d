"""The flow `select`: several programs, each repaired a little, then one chosen by how they behave."""

from dataclasses import replace

import pytest

from alpha_codium.config import Settings
from alpha_codium.flows.loading import load_flow
from alpha_codium.problem import ExecutionSpec, Problem, TestCase
from alpha_codium.runs import AnswerStore
from alpha_codium.runs.events import ProgramTested, StageEnd
from tests.flows.scripted_flow import CRASH, ONE, SUM, TWO, answering, problem_of, program, settings_of
from tests.flows.switches import changes
from tests.flows.test_complete_flow import CALL, HUMANEVAL, MBPP
from tests.servers.scripted import Delay

BASELINE = "code_contests_prompts_baseline"
ZERO = "print(0)"
# Right on the public test, and wrong in ways of their own.
FIRST = "print(int(input().split()[0]) * 3)"
SECOND = "print(int(input().split()[1]) + 1)"
SUM_AGAIN = "a = input().split()\nprint(sum(int(x) for x in a))"
INPUTS = "```\n4 4\n```\n```\n5 1 1\n```"


def in_order(*programs):
    """Answers to requests that may arrive in any order: which is whose is decided by its seed."""

    def answer(call):
        return program(programs[call.body["seed"] // 1_000_000 % len(programs)])

    return answer


async def selected(bench, programs, problem=ONE, prompt=BASELINE, answers=None, store=None, **settings):
    given = {f"select.{key}": value for key, value in settings.items() if "__" not in key}
    given |= {key.replace("__", "."): value for key, value in settings.items() if "__" in key}
    given = {"config.seed": 0, "select.candidates": len(programs)} | given
    scripted = {prompt: in_order(*programs), "new_inputs": INPUTS} | (answers or {})
    return await bench.solve(problem, scripted, given, flow="select", store=store)


async def test_the_program_that_behaves_as_most_do_is_chosen_without_asking(bench):
    outcome = await selected(bench, [FIRST, SUM, SECOND, SUM_AGAIN, SUM + "  # three"])
    assert outcome.program == SUM
    assert outcome.prompts == [BASELINE] * 5 + ["new_inputs"]
    assert outcome.step("clusters", "sizes")[-1] == [3, 1, 1]


async def test_a_program_that_passes_fewer_public_tests_is_not_chosen_however_many_agree(bench):
    outcome = await selected(bench, [ZERO, SUM, ZERO, ZERO, FIRST], fixes=0, answers={"which_output": "Answer: A"})
    assert outcome.step("clusters", "sizes")[-1] == [1, 1]
    assert outcome.program == SUM


@pytest.mark.parametrize(("letter", "chosen"), [("A", FIRST), ("B", SUM)])
async def test_the_program_whose_output_the_model_prefers_is_chosen(bench, letter, chosen):
    answers = {"which_output": f"Because.\nAnswer: {letter}"}
    outcome = await selected(bench, [FIRST, SUM], answers=answers, inputs=1)
    assert outcome.prompts == [BASELINE] * 2 + ["new_inputs", "which_output"]
    asked = outcome.user("which_output")
    assert "differ on this input:\n4 4\n\nOutput A:\n12\n\nOutput B:\n8\n" in asked
    assert "split" not in asked
    assert outcome.program == chosen


async def test_an_answer_that_takes_no_side_leaves_the_first(bench):
    outcome = await selected(bench, [FIRST, SUM], answers={"which_output": "Both look fine to me."})
    assert outcome.program == FIRST


async def test_no_small_group_is_compared_with_a_far_larger_one(bench):
    outcome = await selected(bench, [FIRST, SUM, SUM_AGAIN, SUM + "\n"], answers={"which_output": "Answer: B"})
    assert outcome.prompts.count("which_output") == 0
    assert outcome.program == SUM


async def test_programs_that_crash_agree_with_nobody(bench):
    crashing = f"x = input()\nprint(3) if x == '1 2' else {CRASH.replace('input()', 'x')}"
    programs = [crashing, crashing + "  # 2", SUM, SUM_AGAIN, FIRST]
    outcome = await selected(bench, programs, answers={"which_output": "?"})
    assert outcome.step("clusters", "sizes")[-1][0] == 2
    assert outcome.program == SUM


async def test_inputs_that_hardly_any_program_takes_are_left_out(bench):
    strict = "a, b = map(int, input().split())\nprint(a + b)"
    answers = {"new_inputs": "```\nhello\n```"}
    outcome = await selected(bench, [strict, FIRST], answers=answers, inputs=2)
    assert outcome.step("clusters", "inputs")[-1] == ["1 3\n"]


async def test_each_failing_text_is_repaired_once_and_kept_if_nearer(bench):
    half = answering({"1 2": 3})
    answers = {"repair": program(SUM)}
    outcome = await selected(bench, [ZERO, ZERO, half], TWO, answers=answers)
    assert outcome.prompts.count("repair") == 2
    assert outcome.program == SUM
    # Both are repaired at once, in any order.
    shown = "".join(call.user for call in outcome.of("repair"))
    assert "It fails on this input:\n1 2\nCorrect output:\n3\nIts output:\n0" in shown
    outcome = await selected(bench, [half], TWO, answers={"repair": program(CRASH)})
    assert outcome.program == half


@pytest.mark.parametrize("new_inputs", ["hello", ""])
async def test_where_no_input_is_left_the_nearest_to_passing_is_the_choice(bench, new_inputs):
    programs = [f"x = input()\nprint({answer}) if x == '1 2' else 1 / 0" for answer in (-500, 4)]
    answers = {"new_inputs": f"```\n{new_inputs}\n```"}
    outcome = await selected(bench, programs, answers=answers, fixes=0)
    assert outcome.program == programs[1]
    assert outcome.skipped("clusters")


async def test_one_candidate_is_the_choice(bench):
    outcome = await selected(bench, [SUM])
    assert (outcome.program, outcome.prompts) == (SUM, [BASELINE])


async def test_one_text_needs_no_choice(bench):
    outcome = await selected(bench, [SUM, SUM, SUM])
    assert (outcome.program, outcome.prompts) == (SUM, [BASELINE] * 3)


async def test_without_public_tests_the_largest_group_is_chosen(bench):
    outcome = await selected(bench, [FIRST, SUM, SUM_AGAIN], problem_of())
    assert (outcome.program, outcome.prompts) == (SUM, [BASELINE] * 3 + ["new_inputs"])


async def test_without_inputs_of_the_model_those_made_of_the_public_ones_do(bench):
    outcome = await selected(bench, [FIRST, SUM, SUM_AGAIN], answers={"new_inputs": "I can't think of any."})
    assert outcome.step("clusters", "sizes")[-1] == [2, 1]
    assert outcome.program == SUM


@changes("select.candidates")
@pytest.mark.parametrize("candidates", [1, 4])
async def test_candidates_says_how_many_programs_are_written(bench, candidates):
    outcome = await selected(bench, [SUM, FIRST], candidates=candidates)
    assert outcome.prompts.count(BASELINE) == candidates


@changes("select.fixes")
@pytest.mark.parametrize("fixes", [0, 1, 3])
async def test_fixes_bounds_the_repairs_of_each(bench, fixes):
    outcome = await selected(bench, [ZERO, FIRST], fixes=fixes, answers={"repair": program(ZERO)})
    assert outcome.prompts.count("repair") == fixes


@changes("select.inputs")
@pytest.mark.parametrize("inputs", [0, 1, 6])
async def test_inputs_says_on_how_many_inputs_programs_are_run(bench, inputs):
    outcome = await selected(bench, [FIRST, SUM], inputs=inputs)
    assert outcome.prompts.count("new_inputs") == bool(inputs)
    ran = outcome.step("clusters", "inputs")
    assert [len(each) for each in ran] == ([inputs] if inputs else [])


@pytest.mark.thorough
@changes("select.max_comparisons")
@pytest.mark.parametrize("most", [0, 1, 2])
async def test_max_comparisons_bounds_the_questions_which_is_right(bench, most):
    outcome = await selected(bench, [FIRST, SUM, SECOND, "print(3)"], max_comparisons=most)
    assert outcome.prompts.count("which_output") == most


@pytest.mark.thorough
@pytest.mark.parametrize("calls", range(1, 9))
async def test_a_budget_is_never_exceeded_and_leaves_the_best_program(bench, calls):
    programs = [ZERO, FIRST, CRASH, SUM]
    outcome = await selected(bench, programs, solve__max_calls=calls, answers={"repair": program(ZERO + "  # again")})
    assert outcome.candidate.llm_calls == len(outcome.calls) == min(calls, 8)
    assert outcome.program == (ZERO if calls == 1 else FIRST)
    assert outcome.candidate.error is None


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("problem", "wrong", "right", "inputs"),
    [
        (HUMANEVAL, "return 5", "return sum(map(shifted, numbers))", "```python\ntotal([3])\ntotal(open('x'))\n```"),
        (
            MBPP,
            "def add(a, b):\n    return {(1, 2): 3, (2, 2): 4}.get((a, b), 0)",
            "def add(a, b):\n    return a + b",
            "add(7, 9)\n- add(2, 3)",
        ),
        (CALL, "def add(a, b):\n    return 3", "def add(a, b):\n    return a + b", "```json\n[5, 6]\n[1]\n{}\n```"),
    ],
    ids=["humaneval", "mbpp", "call"],
)
async def test_functions_are_told_apart_by_calls(bench, problem, wrong, right, inputs):
    programs = [wrong, right, f"{right}  # another"]
    answers = {"new_inputs": inputs, "which_output": "Answer: A"}
    outcome = await selected(bench, programs, problem, "complete", answers, fixes=0)
    assert outcome.step("clusters", "sizes")[-1][0] == 2
    assert outcome.program.strip().endswith(right.strip())


@pytest.mark.thorough
async def test_a_function_that_fails_is_repaired_with_the_value_it_gave(bench):
    answers = {"repair": program("return sum(map(shifted, numbers))")}
    outcome = await selected(bench, ["return numbers"], HUMANEVAL, "complete", answers)
    assert "It fails this test:\nassert total([1, 2]) == 5\nActual output:\n[1, 2]" in outcome.user("repair")
    assert outcome.candidate.solved_public


@pytest.mark.thorough
async def test_a_repeated_sample_makes_no_call_and_chooses_the_same_whichever_answer_came_first(bench, tmp_path):
    """Two answers of one wave hold no program: each is asked for again, by the very same question."""
    asked = iter(["No.", program(FIRST), "No.", program(SUM)])
    slow_first = iter([0.3, 0.2, 0.1, 0.0])

    def written(call):
        if len(call.messages) > 1:
            return again.pop(0)
        return Delay(next(slow_first), next(asked))

    again = [program(SECOND), program("print(9 - 6)")]
    answers = {BASELINE: written, "which_output": "Answer: B", "new_inputs": INPUTS}
    settings = {"select.candidates": 4, "config.temperature": 0.8}
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        first = await bench.solve(ONE, answers, settings, flow="select", store=store)
        for _ in range(3):
            replayed = await bench.solve(ONE, {}, settings, flow="select", store=store)
            assert (replayed.candidate, replayed.calls) == (first.candidate, [])
            assert told(replayed) == told(first)


def told(outcome):
    """What a transcript holds but for times."""
    return [
        replace(event, tests=()) if isinstance(event, ProgramTested) else event
        for event in outcome.events
        if not isinstance(event, StageEnd)
    ]


async def test_a_hostile_input_of_the_model_is_never_run_as_code(bench):
    problem = Problem(
        "P",
        "def f(a):\n    '''Twice.'''\n",
        public_tests=(TestCase("assert f(1) == 2", ""),),
        execution=ExecutionSpec("assertions", "f"),
    )
    answers = {"new_inputs": "f(__import__('os').getcwd())\nf(7)\nf(*[1])\nf(1, b=open('x'))"}
    programs = ["def f(a): return a + 1", "def f(a): return 2 * a"]
    outcome = await selected(bench, programs, problem, "complete", answers, inputs=8)
    assert "f(7)" in outcome.step("clusters", "inputs")[-1]
    assert not [
        text for text in outcome.step("clusters", "inputs")[-1] if "os" in text or "open" in text or "*" in text
    ]


def test_the_flow_says_how_many_calls_it_makes():
    stage = load_flow("select").stages[-1]
    assert stage.calls(Settings(), ONE.statement) == (5, 5 + 5 + 1 + 3)
    assert stage.calls(Settings(), problem_of().statement) == (5, 5 + 1 + 3)
    alone = settings_of({"select.candidates": 1, "select.fixes": 2})
    assert stage.calls(alone, ONE.statement) == (1, 3)
