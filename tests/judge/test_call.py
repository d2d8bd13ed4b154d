"""Programs whose function is called, with what it returns compared outside of them."""

import json

import pytest

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge import Judge, Rules
from alpha_codium.problem import CheckerSpec, ExecutionSpec, Problem, TestCase
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Judgement, Verdict

ADD = ExecutionSpec("call", "add")
TESTS = (TestCase("[1, 2]", "3"), TestCase('["a", "b"]', '"ab"'))
DOUBLE = TestCase("[[1, 2]]", "[[2, 4]]")


def problem(**fields: object) -> Problem:
    return Problem("p", **({"execution": ADD} | fields))  # type: ignore[arg-type]


async def judged(
    sandbox: Sandbox, program: str, tests: tuple[TestCase, ...] = TESTS, cpu_seconds: float = 1.0, **fields: object
) -> Judgement:
    return await Judge(sandbox, Rules(cpu_seconds=cpu_seconds)).for_problem(problem(**fields)).judge(program, tests)


@pytest.mark.parametrize(
    "program",
    [
        "def add(a, b): return a + b",
        "class Solution:\n    def add(self, a, b):\n        return a + b",
        "add = lambda a, b: a + b",
        "print('loading')\ndef add(a, b):\n    print('called', a)\n    return a + b\nprint('loaded')",
        "def add(a, b): return a + b\nif __name__ == '__main__':\n    print(int(input()))",
        "import sys\nsys.stdout.close()\ndef add(a, b): return a + b",
        "import os\nos.close(1)\ndef add(a, b): return a + b",
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n"
        "def add(a, b): return P(a + b).x",
    ],
    ids=["function", "method", "lambda", "prints", "main", "closed", "closed fd", "dataclass"],
)
async def test_a_right_function_is_accepted_whatever_else_its_program_does(both: Sandbox, program: str) -> None:
    judgement = await judged(both, program)
    assert judgement.accepted, judgement.tests
    assert judgement.trust == "outside"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("program", "verdict"),
    [
        ("def add(a, b): return 3", Verdict.WRONG_ANSWER),
        ("def add(a, b): pass", Verdict.WRONG_ANSWER),
        ("def add(a, b): return a / 0", Verdict.RUNTIME_ERROR),
        ("def add(a): return a", Verdict.RUNTIME_ERROR),
        ("def sub(a, b): return a + b", Verdict.RUNTIME_ERROR),
        ("def add(", Verdict.COMPILATION_ERROR),
        ("def add(a, b):\n    while True: pass", Verdict.TIME_LIMIT_EXCEEDED),
        ("import sys\nsys.exit(0)\ndef add(a, b): return a + b", Verdict.WRONG_ANSWER),
        ("def add(a, b):\n    import os\n    os._exit(0)", Verdict.WRONG_ANSWER),
        ("def add(a, b):\n    return type('S', (str,), {'__eq__': lambda *_: True})(a)", Verdict.WRONG_ANSWER),
        ("def add(a, b): return (i for i in [a + b])", Verdict.RUNTIME_ERROR),
        ("def add(a, b): print(a + b)", Verdict.WRONG_ANSWER),
        ("def add(a, b):\n    a += b\n    return [a] * 2", Verdict.WRONG_ANSWER),
    ],
)
async def test_each_way_to_fail_has_its_verdict(both: Sandbox, program: str, verdict: Verdict) -> None:
    assert (await judged(both, program, TESTS[1:], cpu_seconds=0.3)).verdict is verdict


@pytest.mark.parametrize(
    ("program", "verdict"),
    [
        ("from collections import namedtuple\ndef double(x): return namedtuple('P', 'a b')(2, 4)", "accepted"),
        ("from enum import IntEnum\ndef double(x): return list(IntEnum('E', {'a': 2, 'b': 4}))", "accepted"),
        ("from decimal import Decimal\ndef double(x): return [Decimal(2) * i for i in x]", "accepted"),
        ("from decimal import Decimal\ndef double(x): return [Decimal('2.1'), Decimal('nan')]", "runtime_error"),
        ("from fractions import Fraction\ndef double(x): return [i / Fraction(1, 2) for i in x]", "accepted"),
        ("class L(list): pass\ndef double(x): return L(2 * i for i in x)", "accepted"),
        ("class L(list):\n    __eq__ = lambda *_: True\ndef double(x): return L(x)", "wrong_answer"),
        ("from collections import deque\ndef double(x): return deque(2 * i for i in x)", "wrong_answer"),
        ("def double(x):\n    y = []\n    y.append(y)\n    return y", "runtime_error"),
    ],
)  # fmt: skip
async def test_what_equals_a_value_of_json_in_python_is_right(both: Sandbox, program: str, verdict: str) -> None:
    execution = ExecutionSpec("call", "double")
    assert (await judged(both, program, (TestCase("[[1, 2]]", "[2, 4]"),), execution=execution)).verdict == verdict


async def test_an_exception_shows_the_programs_own_frames_only(both: Sandbox) -> None:
    judgement = await judged(both, "def add(a, b):\n    return a // 0", TESTS[:1])
    stderr = judgement.tests[0].execution.stderr
    assert stderr.startswith("Traceback")
    assert "program.py" in stderr
    assert "driver.py" not in stderr
    assert stderr.endswith("ZeroDivisionError: integer division or modulo by zero\n")


async def test_a_list_of_one_is_unwrapped_only_by_the_checker_of_apps(both: Sandbox) -> None:
    program, execution = "def double(xs): return [2 * x for x in xs]", ExecutionSpec("call", "double")
    assert (await judged(both, program, (DOUBLE,), execution=execution, checker=CheckerSpec("call_result"))).accepted
    for checker in (None, CheckerSpec("call_result", {"unwrap": False})):
        assert not (await judged(both, program, (DOUBLE,), execution=execution, checker=checker)).accepted


async def test_the_setup_code_runs_before_the_program_in_its_namespace(both: Sandbox) -> None:
    program = "from __future__ import annotations\ndef add(a: List, b) -> int: return plus(a, b)"
    setup = ExecutionSpec("call", "add", setup_code="from typing import List\nfrom operator import add as plus")
    assert (await judged(both, program, execution=setup)).accepted


@pytest.mark.thorough
async def test_large_arguments_and_results_pass_whole(both: Sandbox) -> None:
    numbers = list(range(100_000))
    test = TestCase(json.dumps([numbers, []]), json.dumps(numbers))
    assert (await judged(both, "def add(a, b): return a + b", (test,))).accepted


@pytest.mark.parametrize("text", ["", "1 2", "5", '{"a": 1}', "[1"])
async def test_an_input_that_is_not_a_list_of_arguments_is_not_the_programs_fault(both: Sandbox, text: str) -> None:
    judgement = await judged(both, "def add(a, b): return a + b", (*TESTS, TestCase(text, "1")))
    assert [test.verdict.value for test in judgement.tests] == ["accepted", "accepted", "internal_error"]
    assert "JSON list of arguments" in judgement.message


async def test_an_output_that_is_not_json_is_not_the_programs_fault(both: Sandbox) -> None:
    judgement = await judged(both, "def add(a, b): return a + b", (TestCase("[1, 2]", "three"), *TESTS))
    assert [test.verdict.value for test in judgement.tests] == ["internal_error", "accepted", "accepted"]
    assert "must be JSON, not 'three'" in judgement.message


def test_a_checker_of_printed_output_can_not_judge_a_call() -> None:
    with pytest.raises(Unjudgeable, match="'p': the checker 'tokens' compares what is printed"):
        Judge(None).for_problem(problem(checker=CheckerSpec("tokens")))  # type: ignore[arg-type]
    with pytest.raises(Unjudgeable, match="doesn't take"):
        Judge(None).for_problem(problem(checker=CheckerSpec("call_result", {"exact": 1})))  # type: ignore[arg-type]


async def test_a_single_call_shows_what_was_returned(both: Sandbox) -> None:
    judge = Judge(both).for_problem(problem())
    assert (await judge.execute("def add(a, b): return a + b", "[1, 2]")).stdout == "i3;"
