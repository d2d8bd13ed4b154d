"""The flow `complete`, and `auto`, which takes it for problems whose tests call what a program defines."""

import pytest

from alpha_codium.data.schema import problem_from_record
from alpha_codium.errors import FlowError
from alpha_codium.flows.loading import load_flow, shipped_flows
from alpha_codium.gen.choosing import check_fit
from alpha_codium.problem import ExecutionSpec, Problem, TestCase
from tests.data.benchmarks.rows import HUMANEVAL_PROMPT, humaneval_row, mbpp_row, multipl_e_row
from tests.flows.scripted_flow import ONE, program

HUMANEVAL = problem_from_record(humaneval_row())
MBPP = problem_from_record(mbpp_row())
CALL = Problem(
    "apps/7",
    "Add the numbers.\n\nThe program must begin with:\n\nclass Solution:\n    def add(self, a: int, b: int) -> int:\n",
    public_tests=(TestCase("[1, 2]", "3"),),
    execution=ExecutionSpec("call", "add"),
)
STAGE = '[[stages]]\nkind = "complete_code"\nprompt = "complete/complete"'
ADD = "def add(a, b):\n    return a + b\n"


async def asked_of(bench, problem, answer=ADD, flow="complete", **more):
    return await bench.solve(problem, {"complete": program(answer), **more}, flow=flow)


async def test_a_function_is_asked_for_by_its_beginning_and_its_body_is_enough(bench):
    outcome = await asked_of(bench, HUMANEVAL, "return sum(map(shifted, numbers))")
    (call,) = outcome.calls
    assert f"```python\n{HUMANEVAL_PROMPT.strip()}\n```" in call.user
    assert "input()" not in call.user
    assert "def check" not in call.user
    assert outcome.program == HUMANEVAL_PROMPT + "    return sum(map(shifted, numbers))"
    assert outcome.candidate.flow == "complete"


async def test_the_assertions_that_a_statement_shows_are_shown_once_and_others_as_tests(bench):
    asked = (await asked_of(bench, MBPP)).calls[0].user
    assert [asked.count(test.input) for test in MBPP.public_tests] == [1, 1, 1]
    example = problem_from_record(multipl_e_row(sample_io=["assert add(1, 2) == 3"]))
    asked = (await asked_of(bench, example)).calls[0].user
    assert "It must pass this test:\nassert add(1, 2) == 3" in asked


async def test_public_tests_of_a_candidate_are_counted(bench):
    outcome = await asked_of(bench, MBPP)
    assert (outcome.candidate.public_tests_passed, outcome.candidate.public_tests_total) == (3, 3)


async def test_a_function_to_be_called_is_asked_for_with_its_starter_code(bench):
    code = "class Solution:\n    def add(self, a: int, b: int) -> int:\n        return a + b\n"
    outcome = await asked_of(bench, CALL, code)
    assert "class Solution:\n    def add(self, a: int, b: int) -> int:" in outcome.calls[0].user
    assert "Input:\n[1, 2]\nOutput:\n3" in outcome.calls[0].user
    assert outcome.candidate.solved_public


async def test_an_answer_without_code_is_asked_for_again_and_is_a_failed_sample_in_the_end(bench):
    outcome = await bench.solve(HUMANEVAL, {"complete": "I can't."}, flow="complete")
    assert len(outcome.calls) == 3
    assert "Now the program. Give the complete Python 3 code" in outcome.calls[1].messages[-1]
    assert str(outcome.candidate.error).startswith("model: ")


async def test_nothing_but_the_statement_is_seen(bench):
    hidden = "SECRET"
    spec = ExecutionSpec("assertions", "total", f"assert total([]) == '{hidden}'", f"# {hidden}")
    problem = Problem("N", HUMANEVAL_PROMPT, private_tests=(TestCase(f"assert '{hidden}'", ""),), execution=spec)
    outcome = await asked_of(bench, problem, "return 0")
    assert hidden not in str([call.body for call in outcome.calls])


@pytest.mark.parametrize(
    ("problem", "prompt"), [(ONE, "reflect"), (HUMANEVAL, "complete"), (MBPP, "complete"), (CALL, "complete")]
)
async def test_without_a_flow_each_problem_gets_the_one_for_its_kind(bench, warnings, problem, prompt):
    outcome = await asked_of(bench, problem, flow="auto")
    assert outcome.prompts[0] == prompt
    assert outcome.candidate.flow == {"reflect": "alphacodium"}.get(prompt, prompt)
    assert warnings == []


@pytest.fixture
def for_stdin(tmp_path):
    """A user's flow that doesn't name the kinds it is for."""
    (tmp_path / "flow.toml").write_text('[[stages]]\nkind = "write_code"\nprompt = "mine"\n')
    (tmp_path / "mine.toml").write_text('code = true\nuser = "Solve {{ problem.description }}"\n')
    return load_flow(str(tmp_path))


async def test_a_flow_for_programs_that_read_warns_once_of_a_function(bench, warnings, for_stdin):
    await bench.solve(HUMANEVAL, {"complete": program(ADD)}, flow=for_stdin)
    assert warnings == [
        f"flow {for_stdin.name!r} asks for programs that read stdin, and 'HumanEval/900' wants a function: "
        "leave out `flow`, and each problem gets the flow for its kind, or, if it asks for functions, too, "
        "add kinds = ['stdin', 'call', 'assertions'] to its flow.toml\n"
    ]


def test_a_flow_for_programs_that_read_is_refused_for_functions_alone(for_stdin):
    with pytest.raises(FlowError, match="asks for programs that read stdin, and 'HumanEval/900' wants a function"):
        check_fit(for_stdin, [HUMANEVAL, MBPP, CALL])
    check_fit(for_stdin, [HUMANEVAL, ONE])


def test_the_flow_for_functions_refuses_a_problem_that_reads():
    with pytest.raises(FlowError, match="'complete' asks for functions, and 'Sum' wants a program that reads stdin"):
        check_fit(load_flow("complete"), [ONE])


@pytest.mark.thorough
def test_auto_chooses_a_flow_and_the_others_name_their_kinds_of_tests():
    auto = load_flow("auto")
    assert {kind: auto.for_kind(kind).name for kind in ("stdin", "call", "assertions")} == {
        "stdin": "alphacodium",
        "call": "complete",
        "assertions": "complete",
    }
    suited = {
        name: [k for k in ("stdin", "call", "assertions") if load_flow(name).suits(k)] for name in shipped_flows()
    }
    assert suited["complete"] == ["call", "assertions"]
    others = {name: kinds for name, kinds in suited.items() if name != "complete"}
    assert set(map(tuple, others.values())) == {("stdin", "call", "assertions")}


def test_what_a_choosing_flow_chooses_is_part_of_its_fingerprint(tmp_path):
    fingerprints = set()
    for stdin in ("baseline", "alphacodium"):
        (tmp_path / stdin).mkdir()
        (tmp_path / stdin / "flow.toml").write_text(
            f'[by_kind]\nstdin = "{stdin}"\ncall = "complete"\nassertions = "complete"\n'
        )
        fingerprints.add(load_flow(str(tmp_path / stdin)).fingerprint)
    assert len(fingerprints) == 2


@pytest.mark.parametrize(
    ("toml", "complaint"),
    [
        (
            'kinds = ["cal"]\n' + STAGE,
            r"the kind 'cal' \(did you mean",
        ),
        (
            'kinds = "call"\n' + STAGE,
            "kinds must be a list of stdin",
        ),
        ('[by_kind]\nstdin="baseline"', "by_kind names no flow for 'call'"),
        ('[by_kind]\nstdin="baseline"\ncalls="complete"', "no tests of the kind 'calls'"),
        (
            '[by_kind]\nstdin="auto"\ncall="complete"\nassertions="complete"',
            "it only chooses another flow, and is chosen itself",
        ),
        ('[by_kind]\nstdin="bas"\ncall="complete"\nassertions="complete"', "there is no flow"),
        ('[by_kind]\nstdin="."\ncall="complete"\nassertions="complete"', "it only chooses another flow, and is chosen"),
        ('[by_kind]\nstdin=["."]\ncall="complete"\nassertions="complete"', "there is no flow"),
        ('by_kind = ["stdin"]', "by_kind must be a table"),
        ("by_kind = 3", "by_kind must be a"),
        (
            '[by_kind]\nstdin="baseline"\n' + STAGE,
            "stages or by_kind, not both",
        ),
    ],
)
def test_what_is_wrong_with_a_choosing_flow_is_one_line(tmp_path, toml, complaint):
    (tmp_path / "flow.toml").write_text(toml)
    with pytest.raises(FlowError, match=complaint) as caught:
        load_flow(str(tmp_path))
    assert "\n" not in str(caught.value)
