import asyncio
import json
import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import alpha_codium as ac
from tests.jobs import FakeSandbox
from tests.judge.interactors import GUESSES, IN_PYTHON, TESTS

DOUBLE = "print(2 * int(input()))"
PAIRS = [("1", "2"), ("21", "42")]


@pytest.fixture(scope="module")
def sandbox():
    with ac.open_sandbox(workers=2) as opened:
        yield opened


def test_a_program_is_judged_by_pairs_of_input_and_output(sandbox):
    judgement = ac.judge_program(DOUBLE, PAIRS, sandbox=sandbox)
    assert judgement.accepted
    assert (judgement.tests_passed, judgement.tests_total) == (2, 2)
    wrong = ac.judge_program(DOUBLE, [("1", "2"), ("2", "5")], sandbox=sandbox)
    assert wrong.verdict == "wrong_answer"
    assert [test.verdict for test in wrong.tests] == ["accepted", "wrong_answer"]
    assert wrong.tests[1].execution.stdout == "4\n"


def test_a_program_is_judged_beside_an_interactor(sandbox):
    problem = replace(IN_PYTHON, private_tests=TESTS)
    assert ac.judge_program(GUESSES, problem, sandbox=sandbox).accepted
    assert ac.judge_program("print(500, flush=True)", problem, sandbox=sandbox).tests_passed == 1


def test_a_program_is_judged_by_assertions(sandbox):
    program = "def f(x):\n    return x + 1"
    judgement = ac.judge_program(program, ["assert f(1) == 2", "assert f(1) == 3"], sandbox=sandbox)
    assert [test.verdict for test in judgement.tests] == ["accepted", "wrong_answer"]


def test_a_program_is_judged_by_the_tests_of_a_row_for_training(sandbox):
    row = {"inputs": ["1\n2", "[1]\n[2]"], "outputs": ["3", "[1, 2]"], "fn_name": "add"}
    assert ac.judge_program("def add(a, b):\n    return a + b", row, sandbox=sandbox).accepted
    subtracts = ac.judge_program("def add(a, b):\n    return a - b", json.dumps(row), sandbox=sandbox)
    assert [test.verdict for test in subtracts.tests] == ["wrong_answer", "runtime_error"]


@pytest.mark.parametrize(
    "tests",
    [
        ["assert f(1) == 1", "assert f(1) == ", "assert f(0) == 0"],
        ac.Problem(
            "p",
            private_tests=(ac.TestCase("[1]", "1"), ac.TestCase("[1", "1"), ac.TestCase("[0]", "0")),
            execution=ac.ExecutionSpec("call", "f"),
        ),
    ],
    ids=["assertions", "calls"],
)
def test_a_malformed_test_beside_others_is_not_the_programs_fault(sandbox, tests):
    judgement = ac.judge_program("def f(x):\n    return 0", tests, sandbox=sandbox)
    assert [test.verdict for test in judgement.tests] == ["wrong_answer", "internal_error", "accepted"]
    assert judgement.verdict == "wrong_answer"
    assert not judgement.judged
    assert judgement.message


def test_a_program_is_judged_by_a_problem_with_its_kind_of_tests(sandbox):
    problem = ac.Problem(
        "add",
        public_tests=(ac.TestCase("[1, 2]", "3"),),
        private_tests=(ac.TestCase("[2, 2]", "5"),),
        execution=ac.ExecutionSpec("call", "add"),
    )
    program = "def add(a, b):\n    return a + b"
    assert ac.judge_program(program, problem, sandbox=sandbox).verdict == "wrong_answer"
    assert ac.judge_program(program, problem, sandbox=sandbox, test_type="public_tests").accepted


def test_many_programs_are_judged_in_their_order(sandbox):
    programs = [f"print({factor} * int(input()))" for factor in range(1, 5)] + ["(", "", DOUBLE]
    tests = [*[PAIRS] * 6, []]
    judgements = ac.judge_programs(zip(programs, tests, strict=True), sandbox=sandbox)
    assert [judgement.verdict for judgement in judgements] == [
        "wrong_answer",
        "accepted",
        "wrong_answer",
        "wrong_answer",
        "compilation_error",
        "compilation_error",
        "no_tests",
    ]
    assert ac.judge_programs([], sandbox=sandbox) == []


def test_rules_and_settings_are_those_given(sandbox):
    third = "print(int(input()) / 3)"
    tests = [("1", "0.3334")]
    assert not ac.judge_program(third, tests, sandbox=sandbox).accepted
    assert ac.judge_program(third, tests, sandbox=sandbox, rules=ac.Rules(delta=0.01)).accepted
    settings = ac.load_settings(overrides=["code_tester.delta=0.01"])
    assert ac.judge_program(third, tests, sandbox=sandbox, settings=settings).accepted


def test_a_problem_that_cannot_be_judged_is_an_internal_error_that_says_why(sandbox):
    problem = ac.Problem("p", private_tests=(ac.TestCase("1", "2"),), checker=ac.CheckerSpec("no_such_checker"))
    judgements = ac.judge_programs([(DOUBLE, problem), (DOUBLE, PAIRS)], sandbox=sandbox)
    assert [judgement.verdict for judgement in judgements] == ["internal_error", "accepted"]
    assert "no_such_checker" in judgements[0].message


@pytest.mark.parametrize(
    ("program", "tests", "message"),
    [
        (b"print(1)", PAIRS, "a program must be a str or a Program, not bytes"),
        (DOUBLE, "1", "tests must be a list of tests, or an object with them, not int: 1"),
        (DOUBLE, [(1, 2)], r"tests\[0\] must be a pair of texts, input and output, not list: \[1, 2\]"),
        (DOUBLE, [("1", "2"), "assert True"], r"tests\[1\] must be a pair .*not str: 'assert True'"),
        (DOUBLE, [("1", "2", "3")], r"tests\[0\] must be a pair .*not list"),
        (DOUBLE, None, ".*not NoneType: None"),
    ],
)
def test_wrong_types_are_refused_before_anything_runs(program, tests, message):
    class Unused(FakeSandbox):
        async def __aenter__(self):
            raise AssertionError("opened")

    with pytest.raises(TypeError, match=f"^{message}"):
        ac.judge_program(program, tests, sandbox=Unused())


def test_a_list_with_a_program_without_tests_is_refused():
    with pytest.raises(TypeError, match=r"programs\[0\] must be a pair \(program, tests\), not str"):
        ac.judge_programs([DOUBLE])
    with pytest.raises(TypeError, match=r"programs\[1\]: tests\[0\] has no output \(it has: input\)"):
        ac.judge_programs([(DOUBLE, PAIRS), (DOUBLE, [{"input": "1"}])])


async def test_blocking_calls_work_where_a_loop_is_running(sandbox):
    assert ac.judge_program(DOUBLE, PAIRS, sandbox=sandbox).accepted
    assert sandbox.run(DOUBLE, ["3"]).executions[0].stdout == "6\n"


async def test_coroutines_share_an_open_sandbox():
    async with ac.open_sandbox(workers=2) as sandbox:
        one, many = await asyncio.gather(
            ac.judge_program_async(DOUBLE, PAIRS, sandbox=sandbox),
            ac.judge_programs_async([(DOUBLE, PAIRS)] * 3, sandbox=sandbox),
        )
        assert [one.accepted, *(judgement.accepted for judgement in many)] == [True] * 4
        assert (await sandbox.run(DOUBLE, ["3"])).executions[0].stdout == "6\n"


async def test_a_sandbox_of_another_loop_is_refused(sandbox):
    async with ac.open_sandbox(workers=1) as own:
        with pytest.raises(RuntimeError, match="opened in another event loop, or before this process was forked"):
            ac.judge_program(DOUBLE, PAIRS, sandbox=own)
    with pytest.raises(RuntimeError, match="opened in another event loop, or before this process was forked"):
        await ac.judge_program_async(DOUBLE, PAIRS, sandbox=sandbox)


def test_a_sandbox_can_be_opened_again_and_scores_the_same_each_time():
    unopened = ac.open_sandbox(workers=1)
    rows = [{"task_name": "double", "solution_candidates": [DOUBLE]}]
    problems = [ac.Problem("double", private_tests=(ac.TestCase("1", "2"),))]
    assert [ac.evaluate(rows, problems, sandbox=unopened, k=[1]).pass_at_k for _ in range(2)] == [{"pass@1": 1.0}] * 2
    with unopened as sandbox:
        scores = [ac.evaluate(rows, problems, sandbox=sandbox, k=[1]).pass_at_k for _ in range(2)]
        assert scores == [{"pass@1": 1.0}] * 2
        assert sandbox.run(DOUBLE, ["3"]).executions[0].stdout == "6\n"
    with pytest.raises(RuntimeError, match="the sandbox is closed"):
        sandbox.run(DOUBLE, ["3"])


@pytest.mark.parametrize("name", ["local", "portable"])
def test_the_blocking_sandbox_does_what_the_other_does(name):
    with ac.open_sandbox(name, workers=1) as sandbox:
        assert sandbox.identity().backend == name
        job = ac.Job(ac.Program.from_source("python3", DOUBLE), ("1", "2", "3"))
        executions = sandbox.execute(job)
        assert [next(executions).status, next(executions).stdout] == ["finished", "2\n"]
        executions.close()
        assert [execution.stdout for execution in sandbox.execute(job)] == ["", "2\n", "4\n", "6\n"]
        with pytest.raises(TypeError, match="inputs must be a list of str, not str: 'hello'"):
            sandbox.run(DOUBLE, "hello")


def test_threads_share_a_sandbox_and_a_forked_process_opens_its_own():
    with ThreadPoolExecutor(3) as threads:
        sandboxes = {id(sandbox) for sandbox in threads.map(lambda _: ac.shared_sandbox(workers=1), range(3))}
    assert len(sandboxes) == 1
    with multiprocessing.get_context("fork").Pool(1) as forked:
        assert forked.apply(_verdict_in_shared_sandbox) == "accepted"
    assert _verdict_in_shared_sandbox() == "accepted"


def _verdict_in_shared_sandbox() -> str:
    return str(ac.judge_program(DOUBLE, PAIRS, sandbox=ac.shared_sandbox(workers=1)).verdict)


def test_a_forked_process_opens_its_own_sandbox_and_leaves_its_parents_alone(sandbox):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        said = ""
        try:
            ac.judge_program(DOUBLE, PAIRS, sandbox=sandbox)
        except RuntimeError as error:
            said = str(error)
        with sandbox.sandbox.__class__(workers=1) as own:
            said += f" {ac.judge_program(DOUBLE, PAIRS, sandbox=own).verdict}"
        sandbox.sandbox.__exit__(None, None, None)
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        said = answer.read()
    os.waitpid(child, 0)
    assert "opened in another event loop, or before this process was forked" in said
    assert said.endswith(" accepted")
    assert ac.judge_program(DOUBLE, PAIRS, sandbox=sandbox).accepted
