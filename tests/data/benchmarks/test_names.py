"""What tests call if a program has a function, a method of `class Solution`, or both: the same as the graders."""

import json
from typing import Any

import pytest

from alpha_codium.app.tests_of import problem_of
from alpha_codium.data.schema import problem_from_record
from alpha_codium.judge import Judge
from alpha_codium.problem import ExecutionSpec, Problem, TestType
from alpha_codium.sandbox import open_sandbox
from alpha_codium.verdict import Verdict
from tests.data.benchmarks.rows import evalplus_row
from tests.data.benchmarks.test_livecodebench import record as livecodebench_row

PROMPT = 'def add(a, b):\n    """The sum."""\n'
ASSERTION = "assert add(1, 2) == 3"
FUNCTIONAL = json.dumps([{"input": "1\n2", "output": "3", "testtype": "functional"}])
HUMANEVAL: dict[str, Any] = {
    "task_id": "HumanEval/0",
    "prompt": PROMPT,
    "entry_point": "add",
    "canonical_solution": "    return a + b\n",
    "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
}
APPS: dict[str, Any] = {"problem_id": 1, "question": "Add.", "starter_code": "", "solutions": "[]"}


def calls(inputs: list[Any], outputs: list[Any]) -> str:
    return json.dumps({"inputs": inputs, "outputs": outputs, "fn_name": "add"})


# Benchmarks and datasets whose graders run code with assertions in the program's module.
BY_NAME = {
    "HumanEval": problem_from_record(HUMANEVAL),
    "MBPP": problem_from_record({"task_id": 2, "text": "Add.", "code": "def add(a, b): 0", "test_list": [ASSERTION]}),
    "EvalPlus": problem_from_record(
        evalplus_row(prompt=PROMPT, entry_point="add", canonical_solution="    return a + b\n", base_input=[[1, 2]])
        | {"plus_input": []}
    ),
    "MultiPL-E": problem_from_record(
        {"name": "mbpp_1_add", "prompt": PROMPT, "stop_tokens": [], "tests": f"{HUMANEVAL['test']}\ncheck(add)\n"}
    ),
    "verl, assert_case": problem_of({"inputs": [""], "outputs": [""], "assert_case": [ASSERTION]}),
    "open-instruct": problem_of([ASSERTION]),
}
# Those whose graders look for a function by its name, and instantiate `Solution` if the program has one.
BY_CALL = {
    "APPS": problem_from_record(APPS | {"input_output": calls([[1, 2]], [3])}),
    "APPS, keys that JSON doesn't have": problem_from_record(
        APPS | {"input_output": calls([[1, 2], [{"1": 2}, {"1": 2}]], [3, 4])}
    ),
    "TACO": problem_of({"inputs": [[1, 2]], "outputs": [3], "fn_name": "add"}),
    "verl, prime_code": problem_of({"inputs": ["1\n2"], "outputs": ["3"], "fn_name": "add"}),
    "LiveCodeBench": problem_from_record(
        livecodebench_row(
            public_test_cases="[]", private_test_cases=FUNCTIONAL, metadata=json.dumps({"func_name": "add"})
        )
    ),
    "LiveCodeBench, rows of tests": problem_of(
        [{"input": "1\n2", "output": "3", "testtype": "functional", "metadata": {"func_name": "add"}}]
    ),
}
SUM = "a + b if type(a) is int else a[1] + b[1]"
WRONG = "a * b * 50 if type(a) is int else 0"


def program(function: str = "", method: str = "") -> str:
    parts = [f"class Solution:\n    def add(self, a, b): return {method}\n" if method else ""]
    parts += [f"def add(a, b): return {function}\n" if function else ""]
    return "".join(parts)


PROGRAMS = {
    "a function": program(function=SUM),
    "a method": program(method=SUM),
    "a right function beside a wrong method": program(SUM, WRONG),
    "a right method beside a wrong function": program(WRONG, SUM),
    "a right function beside a class without it": f"{program(SUM)}class Solution:\n    def sub(self, a, b): return 0\n",
}


async def accepted(problem: Problem) -> list[str]:
    tests = problem.tests([TestType.PRIVATE])
    async with open_sandbox("local", workers=2) as sandbox:
        judge = Judge(sandbox).for_problem(problem)
        results = {name: await judge.judge(code, tests) for name, code in PROGRAMS.items()}
    assert all(result.trust == "outside" for result in results.values())
    return [name for name, result in results.items() if result.verdict is Verdict.ACCEPTED]


@pytest.mark.parametrize("benchmark", BY_NAME)
async def test_assertions_see_names_as_python_finds_them(benchmark: str) -> None:
    names = ["a function", "a right function beside a wrong method", "a right function beside a class without it"]
    assert await accepted(BY_NAME[benchmark]) == names


@pytest.mark.parametrize("benchmark", BY_CALL)
async def test_a_call_means_the_method_of_a_class_solution_that_has_it(benchmark: str) -> None:
    assert await accepted(BY_CALL[benchmark]) == [
        "a function",
        "a method",
        "a right method beside a wrong function",
        "a right function beside a class without it",
    ]


async def test_assertions_may_name_the_class_themselves_as_those_of_leetcodedataset_do() -> None:
    test = f"{HUMANEVAL['test']}\ncheck(Solution().add)\n"
    problem = Problem("leetcode", execution=ExecutionSpec("assertions", test_code=test))
    assert await accepted(problem) == ["a method", "a right method beside a wrong function"]
