"""The judge's verdicts, on real processes."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from alpha_codium.errors import UserError
from alpha_codium.judge import Judge, Rules
from alpha_codium.limits import Limits
from alpha_codium.problem import CheckerSpec, Problem, TestCase
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Execution, Report, Status, Verdict
from tests.jobs import FakeSandbox

PROBLEM = Problem("double")
TESTS = tuple(TestCase(f"{n}\n", f"{2 * n}\n") for n in (1, 2, 3))
RIGHT = "print(2 * int(input()))"


async def test_a_right_program_is_accepted(sandbox: Sandbox) -> None:
    judgement = await Judge(sandbox).for_problem(PROBLEM).judge(RIGHT, TESTS)
    assert judgement.accepted
    assert (judgement.tests_passed, judgement.tests_total) == (3, 3)
    assert [test.execution.stdout for test in judgement.tests] == ["2\n", "4\n", "6\n"]


async def test_the_first_failure_in_the_datasets_order_decides(sandbox: Sandbox) -> None:
    program = "n = int(input())\nif n == 2: print('?')\nelif n == 3: 1 / 0\nelse: print(2 * n)"
    judge = Judge(sandbox).for_problem(PROBLEM)
    judgement = await judge.judge(program, TESTS)
    assert judgement.verdict is Verdict.WRONG_ANSWER
    assert [test.verdict.value for test in judgement.tests] == ["accepted", "wrong_answer", "runtime_error"]
    assert (await judge.judge(program, TESTS[::-1])).verdict is Verdict.RUNTIME_ERROR


@pytest.mark.parametrize(
    ("program", "verdict"),
    [
        ("print(1)", Verdict.WRONG_ANSWER),
        ("", Verdict.COMPILATION_ERROR),
        (" \n\t", Verdict.COMPILATION_ERROR),
        ("print(", Verdict.COMPILATION_ERROR),
        ("# nothing", Verdict.WRONG_ANSWER),
        ("1 / 0", Verdict.RUNTIME_ERROR),
        ("import os; os.kill(os.getpid(), 9)", Verdict.RUNTIME_ERROR),
        (RIGHT + "\nraise SystemExit(1)", Verdict.RUNTIME_ERROR),
        (RIGHT + "\nraise SystemExit(0)", Verdict.ACCEPTED),
        ("x = bytearray(1 << 33)", Verdict.MEMORY_LIMIT_EXCEEDED),
        ("while True: print('x' * 10000)", Verdict.OUTPUT_LIMIT_EXCEEDED),
        ("while True: pass", Verdict.TIME_LIMIT_EXCEEDED),
    ],
)
async def test_each_way_to_fail_has_its_verdict(sandbox: Sandbox, program: str, verdict: Verdict) -> None:
    judge = Judge(sandbox, Rules(cpu_seconds=0.5)).for_problem(PROBLEM)
    judgement = await judge.judge(program, TESTS[:1])
    assert judgement.verdict is verdict
    assert judgement.accepted == (verdict is Verdict.ACCEPTED)


async def test_a_killed_program_that_printed_the_answer_has_not_passed(sandbox: Sandbox) -> None:
    program = "import os\nprint(2 * int(input()), flush=True)\nos.kill(os.getpid(), 9)"
    judgement = await Judge(sandbox).for_problem(PROBLEM).judge(program, TESTS)
    assert judgement.verdict is Verdict.RUNTIME_ERROR
    assert judgement.tests_passed == 0


@pytest.mark.parametrize("program", [RIGHT, "", "print("])
async def test_no_tests_is_never_a_pass(sandbox: Sandbox, program: str) -> None:
    judgement = await Judge(sandbox).for_problem(PROBLEM).judge(program, ())
    assert judgement.verdict is Verdict.NO_TESTS
    assert not judgement.accepted


async def test_what_does_not_compile_fails_every_test_and_says_why(sandbox: Sandbox) -> None:
    judgement = await Judge(sandbox).for_problem(PROBLEM).judge("print(", TESTS)
    assert [test.verdict for test in judgement.tests] == [Verdict.COMPILATION_ERROR] * 3
    assert "never closed" in judgement.message


async def test_tests_after_the_first_failure_are_left_out_on_request(sandbox: Sandbox) -> None:
    program = "n = int(input())\nprint(2 * n if n == 1 else 0)"
    stopping = Judge(sandbox, Rules(stop_on_first_failure=True)).for_problem(PROBLEM)
    judgement = await stopping.judge(program, TESTS)
    assert [test.verdict.value for test in judgement.tests] == ["accepted", "wrong_answer"]
    assert (judgement.verdict, judgement.tests_total) == (Verdict.WRONG_ANSWER, 3)
    assert len((await stopping.judge(program, TESTS, stop_early=False)).tests) == 3
    assert len((await Judge(sandbox).for_problem(PROBLEM).judge(program, TESTS, stop_early=True)).tests) == 2
    assert (await stopping.judge(RIGHT, TESTS)).accepted


@pytest.mark.thorough
async def test_time_is_limited_for_each_test_and_not_for_all_together(sandbox: Sandbox) -> None:
    program = "import time\nwhile time.process_time() < 0.08: pass\nprint(2 * int(input()))"
    judgement = await Judge(sandbox, Rules(cpu_seconds=0.4)).for_problem(PROBLEM).judge(program, TESTS * 3)
    assert judgement.accepted
    assert sum(test.execution.cpu_seconds for test in judgement.tests) > 0.4


async def test_the_problems_own_checker_decides(sandbox: Sandbox) -> None:
    tests = (TestCase("", "0.3333333\n"),)
    problem = Problem("third", checker=CheckerSpec("float", {"abs": 1e-6}))
    assert (await Judge(sandbox).for_problem(problem).judge("print(1 / 3)", tests)).accepted
    assert not (await Judge(sandbox).for_problem(Problem("third")).judge("print(1 / 3)", tests)).accepted


async def test_a_single_run_is_not_compared_with_anything(sandbox: Sandbox) -> None:
    judge = Judge(sandbox).for_problem(PROBLEM)
    assert (await judge.execute(RIGHT, "21")).stdout == "42\n"
    assert (await judge.execute("print(", "21")).status is Status.COMPILATION_ERROR


def test_an_invalid_checker_is_reported_before_anything_runs() -> None:
    for name, said in (("tokenz", "no checker 'tokenz'"), ("program", "takes `files`")):
        with pytest.raises(UserError, match=said):
            Judge(Recorded([])).for_problem(Problem("a", checker=CheckerSpec(name)))


class Recorded(FakeSandbox):
    """A sandbox that gives the executions it was told to, for faults that no real one can be made to show."""

    def __init__(self, executions: Sequence[Execution], compilation: Status = Status.FINISHED) -> None:
        self.recorded = Report(Execution(compilation), tuple(executions))
        self.limits: Limits | None = None

    async def report(self, program: str, inputs: Sequence[str], limits: Limits) -> Report:
        self.limits = limits
        return self.recorded


GOOD, LOST = Execution(Status.FINISHED, stdout="2\n"), Execution(Status.INTERNAL_ERROR, stderr="it gave no answer")


async def test_a_fault_of_the_sandbox_is_an_internal_error() -> None:
    judgement = await Judge(Recorded([GOOD, LOST])).for_problem(PROBLEM).judge(RIGHT, [TESTS[0]] * 2)
    assert (judgement.verdict, judgement.message) == (Verdict.INTERNAL_ERROR, "it gave no answer")
    compiling = await Judge(Recorded([], Status.INTERNAL_ERROR)).for_problem(PROBLEM).judge(RIGHT, TESTS)
    assert compiling.verdict is Verdict.INTERNAL_ERROR


@pytest.mark.parametrize("executions", [[], [GOOD], [GOOD, GOOD]])
async def test_a_test_that_was_not_run_is_never_a_pass(executions: list[Execution]) -> None:
    judgement = await Judge(Recorded(executions)).for_problem(PROBLEM).judge(RIGHT, [TESTS[0]] * 3)
    assert judgement.verdict is Verdict.INTERNAL_ERROR
    assert (len(judgement.tests), judgement.tests_passed) == (3, len(executions))


async def test_the_rules_limits_reach_the_sandbox() -> None:
    recorded = Recorded([GOOD])
    await Judge(recorded, Rules(cpu_seconds=1.5, memory_bytes=2**28)).for_problem(PROBLEM).judge(RIGHT, TESTS[:1])
    assert recorded.limits == Limits(cpu_seconds=1.5, memory_bytes=2**28)


@pytest.mark.parametrize("test", [TestCase("\ud800\n", "1\n"), TestCase("1\n", "\udfff\n")], ids=["input", "output"])
async def test_a_test_that_is_not_valid_unicode_is_malformed(sandbox: Sandbox, test: TestCase) -> None:
    judgement = await Judge(sandbox).for_problem(PROBLEM).judge(RIGHT, [test])
    assert not judgement.judged
    assert judgement.message.startswith("the test is invalid Unicode: it has half a surrogate pair")


async def test_a_program_that_is_not_valid_unicode_does_not_compile(sandbox: Sandbox) -> None:
    judge = Judge(sandbox).for_problem(PROBLEM)
    program = RIGHT + "  # \ud800"
    assert (await judge.judge(program, TESTS)).verdict is Verdict.COMPILATION_ERROR
    assert (await judge.execute(program, "1")).status is Status.COMPILATION_ERROR
    assert [each.status for each in await judge.behaviour(program, ["1", "2"])] == [Status.COMPILATION_ERROR] * 2
    assert (await sandbox.run(program, ["1"])).compilation.status is Status.COMPILATION_ERROR
    with pytest.raises(ValueError, match="inputs: invalid Unicode"):
        await sandbox.run(RIGHT, ["\ud800"])


async def test_a_memory_limit_that_no_program_can_keep_is_refused(sandbox: Sandbox) -> None:
    limited = replace(PROBLEM, memory_limit_bytes=1 << 20)
    judgement = await Judge(sandbox).for_problem(limited).judge(RIGHT, TESTS)
    assert not judgement.judged
    assert judgement.message == (
        "problem 'double': the memory limit, 1 MiB, is below what a python3 program needs, 16 MiB"
    )
    with pytest.raises(ValueError, match="limits: the memory limit"):
        await sandbox.run(RIGHT, ["1"], limits=Limits(memory_bytes=1 << 20))
