"""Tests in the order that fails soonest, where the first failure ends it."""

import pytest

from alpha_codium.judge import Judge, Rules
from alpha_codium.judge.judge import FailureCounts
from alpha_codium.problem import Problem, TestCase
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Verdict

TESTS = [TestCase(f"{n}\n", f"{n}\n") for n in range(5)]
FAILS_ON_3 = "n = int(input())\nprint(0 if n == 3 else n)"
SOONEST = Rules(stop_on_first_failure=True, test_order="fails_soonest")


def test_tests_that_failed_most_stand_first_and_equals_in_the_datasets_order() -> None:
    counts = FailureCounts()
    assert counts.places("a", TESTS) == [0, 1, 2, 3, 4]
    for number in (3, 1, 3):
        counts.add("a", TESTS[number])
    assert counts.places("a", TESTS) == [3, 1, 0, 2, 4]
    assert counts.places("a", TESTS[2:]) == [1, 0, 2]
    assert counts.places("b", TESTS) == [0, 1, 2, 3, 4]


@pytest.mark.thorough
async def test_a_test_that_failed_a_program_is_the_first_that_the_next_one_runs(both: Sandbox) -> None:
    judge = Judge(both, SOONEST)
    first = await judge.for_problem(Problem("p")).judge(FAILS_ON_3, TESTS)
    assert [test.execution.stdout for test in first.tests] == ["0\n", "1\n", "2\n", "0\n"]
    second = await judge.for_problem(Problem("p")).judge(FAILS_ON_3, TESTS)
    assert [test.execution.stdout for test in second.tests] == ["0\n"]
    assert (second.verdict, second.tests_total) == (Verdict.WRONG_ANSWER, 5)
    assert len((await judge.for_problem(Problem("other")).judge(FAILS_ON_3, TESTS)).tests) == 4


async def test_results_stand_in_the_datasets_order_and_the_first_failure_there_decides(both: Sandbox) -> None:
    judge = Judge(both, SOONEST)
    await judge.for_problem(Problem("p")).judge(FAILS_ON_3, TESTS)
    other = await judge.for_problem(Problem("p")).judge("n = int(input())\nprint(n)\nif n == 1: 1 / 0", TESTS)
    assert [test.execution.stdout for test in other.tests] == ["0\n", "1\n", "3\n"]
    assert other.verdict is Verdict.RUNTIME_ERROR
    right = await judge.for_problem(Problem("p")).judge("print(input())", TESTS)
    assert right.accepted
    assert [test.execution.stdout for test in right.tests] == [test.output for test in TESTS]


async def test_without_an_early_stop_the_order_is_the_datasets(both: Sandbox) -> None:
    judge = Judge(both, Rules(test_order="fails_soonest"))
    for _ in range(2):
        judgement = await judge.for_problem(Problem("p")).judge(FAILS_ON_3, TESTS)
        assert [test.execution.stdout for test in judgement.tests] == ["0\n", "1\n", "2\n", "0\n", "4\n"]
