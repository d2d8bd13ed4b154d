"""What of the prompt's code a whole program gets, judged in a real sandbox."""

import pytest

from alpha_codium.data.samples.setup import ALL, IMPORTS, NONE, WithSetup, with_setup
from alpha_codium.judge import Judge
from alpha_codium.problem import ExecutionSpec, Problem, TestType
from alpha_codium.sandbox import open_sandbox
from tests.data.samples.humaneval import ADD, ENCODE, humaneval

WITHOUT_IMPORT = "def add(xs: List[int]):\n    return sum(xs)\n"
WITHOUT_HELPER = "def decode(s):\n    return s[::-1]\n"
WITH_HELPER = ENCODE + "    return s[::-1]\n"
LYING_HELPER = "def encode(s):\n    return s\n\ndef decode(s):\n    return s\n"


async def verdicts(problems, setup, *programs):
    found = []
    async with open_sandbox("local", workers=1) as sandbox:
        for place, program in programs:
            problem = WithSetup(problems, setup)[place]
            judgement = await Judge(sandbox).for_problem(problem).judge(program, problem.tests([TestType.PRIVATE]))
            found.append(judgement.verdict.value == "accepted")
    return found


@pytest.mark.parametrize(
    ("setup", "passes"), [("all", [True, True]), ("imports", [True, False]), ("none", [False] * 2)]
)
async def test_a_whole_program_gets_what_is_asked_for_of_the_prompts_code(setup, passes, tmp_path):
    found = await verdicts(humaneval(tmp_path), setup, (0, WITHOUT_IMPORT), (1, WITHOUT_HELPER))
    assert found == passes


@pytest.mark.parametrize("setup", [ALL, IMPORTS, NONE])
async def test_a_program_that_goes_on_from_the_prompt_passes_and_one_that_lies_about_a_helper_does_not(setup, tmp_path):
    complete = ((0, ADD + "    return sum(xs)\n"), (1, WITH_HELPER), (1, LYING_HELPER))
    assert await verdicts(humaneval(tmp_path), setup, *complete) == [True, True, False]


def test_everything_but_the_setup_stays_as_it_was(tmp_path):
    problems = humaneval(tmp_path)
    assert list(WithSetup(problems, "all")) == list(problems)
    for problem, other in zip(problems, WithSetup(problems, "imports"), strict=True):
        assert (other.name, other.statement, other.solutions) == (problem.name, problem.statement, problem.solutions)
    assert WithSetup(problems, "imports")[1:] == tuple(WithSetup(problems, "imports"))[1:]
    assert WithSetup(problems, "none").names == problems.names
    assert WithSetup(problems, "none").select([0]).fingerprint == problems.fingerprint


def test_problems_of_other_kinds_and_code_that_is_no_python_stay_as_they_are():
    stdin = Problem("a", execution=ExecutionSpec("stdin", setup_code="import os"))
    broken = Problem("b", execution=ExecutionSpec("assertions", "f", "assert f(", "import os"))
    assert (with_setup(stdin, "none"), with_setup(broken, "none")) == (stdin, broken)
