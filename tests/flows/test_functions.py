"""Functions are repaired, too; and what a model answers stays text in the prompts of every flow."""

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.flows.inputs import explained, runnable
from alpha_codium.flows.loading import load_flow
from alpha_codium.flows.tasks import CodingTask
from alpha_codium.languages import language_named
from alpha_codium.problem import Statement, TestCase
from alpha_codium.program import PairJob
from alpha_codium.runs import AnswerStore
from alpha_codium.sandbox import Sandbox
from alpha_codium.solution import ErrorKind
from alpha_codium.verdict import Execution, PairReport, Report
from alpha_codium.verdict import Status as RunStatus
from tests.flows.scripted_flow import CRASH, ONE, explanations, fields, fixed, program
from tests.flows.test_complete_flow import CALL, HUMANEVAL, MBPP
from tests.jobs import WrappedSandbox
from tests.servers.scripted import Status

STAGES = """
kinds = ["call", "assertions"]
[[stages]]
kind = "read_examples"
[[stages]]
kind = "complete_code"
prompt = "complete/complete"
[[stages]]
kind = "fix_public_tests"
fix_prompt = "alphacodium/fix"
analyze_prompt = "alphacodium/analyze_failure"
fix_analyzed_prompt = "alphacodium/fix_analyzed"
"""
HOSTILE = "{{ 7 * 7 }} {% for %} {# gone #}"


@pytest.fixture
def repairing(tmp_path):
    (tmp_path / "flow.toml").write_text(STAGES)
    return load_flow(str(tmp_path))


@pytest.mark.parametrize(
    ("problem", "wrong", "right", "shown"),
    [
        (
            HUMANEVAL,
            "return 3",
            "return sum(map(shifted, numbers))",
            "assert total([1, 2]) == 5\nActual output:\n3",
        ),
        (
            MBPP,
            "def add(a, b): return b",
            "def add(a, b): return a + b",
            "assert add(1, 2) == 3\nActual output:\n2",
        ),
        (
            CALL,
            "def add(a, b): return [b]",
            "def add(a, b): return a + b",
            "Input:\n[1, 2]\nExpected output:\n3\nActual output:\n[2]",
        ),
    ],
    ids=["humaneval", "mbpp", "call"],
)
@pytest.mark.parametrize("single", [True, False])
async def test_a_function_is_repaired_by_what_it_gave(bench, repairing, problem, wrong, right, shown, single):
    answers = {"complete": program(wrong), "fix": fixed(right), "fix_analyzed": program(right)}
    outcome = await bench.solve(problem, answers, {"public_tests.single_stage_fix": single}, flow=repairing)
    assert outcome.prompts == ["complete", *(["fix"] if single else ["analyze_failure", "fix_analyzed"])]
    assert shown in outcome.calls[1].user
    assert problem.statement.description.strip() in outcome.calls[1].user
    assert outcome.program.endswith(right)
    assert outcome.candidate.solved_public


@pytest.mark.thorough
async def test_templates_in_lessons_and_inputs_stay_text(bench):
    wrong = f"print(0)  # {HOSTILE}"
    answers = {"code_contests_prompts_baseline": program(wrong), "lesson": HOSTILE, "retry": program(CRASH)}
    outcome = await bench.solve(ONE, answers, {"reflexion.max_retries": 1}, flow="reflexion")
    assert outcome.user("retry").count(HOSTILE) == 2
    longer = program(f"print('3 {HOSTILE}' if input() != '1 2' else 3)")
    answers = {
        "code_contests_prompts_baseline": [longer, program("print(3)")],
        "new_inputs": f"```\n{HOSTILE}\n```",
    }
    outcome = await bench.solve(ONE, answers, {"select.candidates": 2, "select.inputs": 1}, flow="select")
    assert outcome.user("which_output").count(HOSTILE) == 2


@pytest.mark.parametrize("flow", ["resample", "reflexion", "select"])
async def test_a_provider_that_fails_is_no_failed_sample_of_the_model(bench, flow):
    broken = {"code_contests_prompts_baseline": Status(500)}
    outcome = await bench.solve(ONE, broken, {"config.max_retries": 0}, flow=flow)
    assert outcome.candidate.error.kind is ErrorKind.PROVIDER


class Losing(WrappedSandbox):
    """A sandbox that loses every pair of programs after the first few."""

    def __init__(self, sandbox: Sandbox, left: int) -> None:
        super().__init__(sandbox)
        self.left = left

    async def execute_pair(self, job: PairJob) -> PairReport:
        self.left -= 1
        report = await super().execute_pair(job)
        lost = Report(Execution(RunStatus.INTERNAL_ERROR, stderr="lost"))
        return report if self.left >= 0 else PairReport(report.left, lost)


async def test_a_sandbox_fault_while_finding_the_actual_output_is_in_no_prompt(bench):
    losing = Losing(bench.sandbox, 1)
    outcome = await bench.solve(HUMANEVAL, {"complete": program("return numbers")}, flow="reflexion", sandbox=losing)
    assert losing.left < 0
    assert outcome.prompts == ["complete"]
    assert outcome.candidate.error.kind is ErrorKind.INTERNAL


@pytest.mark.thorough
@pytest.mark.parametrize("flow", ["reflexion", "write_and_repair"])
async def test_a_failure_that_shows_an_object_gives_the_same_prompt_again(bench, tmp_path, flow):
    shows = program("print(object())")
    answers = {"code_contests_prompts_baseline": shows, "initial_code": shows, "fix": fixed("print(1)")}
    answers["retry"] = program("print(1)")
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        first = await bench.solve(ONE, answers, flow=flow, store=store)
        assert [call for call in first.calls if "<object object>" in call.user]
        again = await bench.solve(ONE, {}, flow=flow, store=store)
    assert (again.candidate, again.calls) == (first.candidate, [])


@pytest.mark.parametrize("flow", ["resample", "reflexion", "select"])
async def test_a_model_that_gives_no_program_is_a_failed_sample(bench, flow):
    given = {"code_contests_prompts_baseline": fields(answer="no")}
    settings = {"solve.max_format_retries": 0, "resample.max_attempts": 2, "reflexion.max_retries": 1}
    outcome = await bench.solve(ONE, given, settings, flow=flow)
    assert outcome.candidate.error.kind is ErrorKind.MODEL


@pytest.mark.parametrize("flow", ["resample", "reflexion", "select"])
def test_the_flows_that_are_compared_take_problems_of_every_kind(flow):
    assert all(load_flow(flow).suits(kind) for kind in ("stdin", "call", "assertions"))


WHOLE_FLOW = [
    "reflect", "possible_solutions", "choose_best", "generate_ai_tests", "initial_code",
]  # fmt: skip
TOTAL_TESTS = explanations(("total([3])", "4"), ("total([])", "0"), ("not a call", "0"), ("total(n)", "1"))
ADD_TESTS = explanations(("add(1, 1)", "2"), ("add(1, 2)", "4"), ("add(-1, 1)", "0"))
CALL_TESTS = explanations(("[1, 1]", "2"), ("[1, 2]", "4"), ("add(1, 1)", "2"))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("problem", "tests", "wrong", "right", "ai_tests"),
    [
        (HUMANEVAL, TOTAL_TESTS, "return 5", "return sum(map(shifted, numbers))",
         ["assert total([3]) == 4", "assert total([]) == 0"]),
        (MBPP, ADD_TESTS, "def add(a, b): return {0: 0, 2: 3 if a == 1 else 4}.get(b)", "def add(a, b): return a + b",
         ["assert add(1, 1) == 2"]),
        (CALL, CALL_TESTS, "def add(a, b): return 3", "def add(a, b): return a + b", ["[1, 1]"]),
    ],
    ids=["humaneval", "mbpp", "call"],
)  # fmt: skip
async def test_the_whole_flow_solves_functions(bench, problem, tests, wrong, right, ai_tests):
    answers = {
        "reflect": fields(self_reflection="- THE REFLECTION", tests_explanations=tests[:1]),
        "generate_ai_tests": fields(tests=tests),
        "initial_code": program(wrong),
        "fix": fixed(right),
    }
    settings = {"initial_code_generation.max_attempts": 1}
    outcome = await bench.solve(problem, answers, settings, flow="alphacodium")
    assert outcome.prompts[:5] == WHOLE_FLOW
    assert outcome.prompts[-1] == "fix"
    assert outcome.program.endswith(right)
    assert outcome.candidate.solved_public
    assert ai_tests[0] in outcome.of("fix")[-1].user
    for call in outcome.calls:
        assert problem.statement.description.strip() in call.user
        assert "stdin" not in call.user
        assert "SECRET" not in call.user


@pytest.mark.thorough
async def test_ai_tests_of_a_function_are_assertions_on_calls_that_no_example_shows(bench):
    tests = explanations(
        ("total([1, 2])", "6"),  # shown by the statement, with another value
        (">>> total( [3] )", "4"),
        ("assert total([4]) == 5", "5"),
        ("[5]", "6"),
        ("numbers=[7]", "`8`"),
        ("other([1])", "1"),
    )
    answers = {
        "generate_ai_tests": fields(tests=tests),
        "initial_code": program("return 5"),
        "fix": fixed("return 5"),
    }
    settings = {"generate_ai_tests.number_of_ai_tests": 9, "ai_tests.max_allowed_calls": 9}
    outcome = await bench.solve(HUMANEVAL, answers, settings, flow="alphacodium")
    shown = [re.findall(r"^assert .*$", call.user, re.MULTILINE) for call in outcome.of("fix")]
    assert shown == [[f"assert total({call}) == {value}"] for call, value in
                     (("[3]", 4), ("[5]", 6), ("numbers=[7]", 8))]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "value"), [("Bob", "'Bob'"), ("'Bob'", "'Bob'"), ('"Bob"', "'Bob'"), ("5", "'5'"), ("a b", "'a b'")]
)
def test_a_text_that_a_function_returns_needs_no_quotes_in_an_answer(given, value):
    task = task_with("assert greet(1) == 'Ann'")
    (test,) = explained([{"input": "greet(2)", "output": given}], task)
    assert runnable(test, task).input == f"assert greet(2) == {value}"


@given(st.text(), st.text())
def test_any_answer_gives_a_test_that_can_be_run_or_none(call, value):
    task = task_with("assert greet(1) == 'Ann'")
    for test in explained([{"input": call, "output": value}], task):
        ast.parse(runnable(test, task).input)
        assert test.input.startswith("greet(")


def task_with(assertion):
    statement = Statement("greet", "Greet.", (TestCase(assertion, ""),))
    return CodingTask(statement, "assertions", None, statement.public_tests, language_named("python3"))


@pytest.mark.parametrize("flow", ["alphacodium", "write_and_repair", "baseline"])
@pytest.mark.parametrize("problem", [HUMANEVAL, MBPP, CALL], ids=["humaneval", "mbpp", "call"])
async def test_every_flow_for_programs_writes_functions_as_well(bench, flow, problem):
    right = "return sum(map(shifted, numbers))" if problem is HUMANEVAL else "def add(a, b): return a + b"
    outcome = await bench.solve(problem, {"initial_code": program(right), "complete": program(right)}, flow=flow)
    assert outcome.program.endswith(right)
    assert outcome.candidate.solved_public or not outcome.candidate.public_tests_total
