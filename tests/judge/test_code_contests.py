"""Calls and assertions are judged in DeepMind's sandbox too, whose policy leaves drivers few system calls."""

import pytest

from alpha_codium.judge import Judge
from alpha_codium.problem import ExecutionSpec, Problem, TestCase, TestType
from alpha_codium.sandbox import open_sandbox
from alpha_codium.verdict import Verdict
from tests.sandbox.code_contests.environment import installed

CALL = Problem("call", private_tests=(TestCase("[1, 2]", "3"),), execution=ExecutionSpec("call", "add"))
CHECK = "def check(candidate):\n    assert candidate(1, 2) == 3\n"
ASSERTIONS = Problem("assertions", execution=ExecutionSpec("assertions", "add", CHECK))


@pytest.mark.thorough
async def test_problems_whose_programs_use_files_are_not_judged() -> None:
    async with open_sandbox("code_contests", workers=1, **installed()) as sandbox:
        judge = Judge(sandbox).for_problem(Problem("files", output_file="out.txt"))
        judgement = await judge.judge("open('out.txt', 'w').write('1')", [TestCase("", "1")])
    assert judgement.verdict is Verdict.INTERNAL_ERROR
    assert "need a sandbox with files: use `ac.open_sandbox('local')`" in judgement.message


@pytest.mark.thorough
@pytest.mark.parametrize("problem", [CALL, ASSERTIONS], ids=lambda problem: problem.name)
async def test_a_right_function_is_accepted_and_a_wrong_one_is_not(problem: Problem) -> None:
    tests = problem.tests([TestType.PRIVATE])
    async with open_sandbox("code_contests", workers=1, **installed()) as sandbox:
        judge = Judge(sandbox).for_problem(problem)
        right = await judge.judge("def add(a, b): return a + b", tests)
        wrong = await judge.judge("def add(a, b): return a - b", tests)
    assert (right.verdict, wrong.verdict) == (Verdict.ACCEPTED, Verdict.WRONG_ANSWER)
