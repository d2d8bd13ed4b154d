"""Judging many programs: side by side, each distinct one once, in batches, and with what was lost judged again."""

import asyncio
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.judge import Rules
from alpha_codium.judge.executors import Executor, LocalPool, Task
from alpha_codium.judge.many import MOST_IN_BATCH, judge_all, judge_many
from alpha_codium.problem import CheckerSpec, ExecutionSpec, Problem, TestCase
from alpha_codium.program import as_program
from alpha_codium.verdict import Execution, Judgement, Status, TestResult, Verdict, judgement_of
from tests.eval.splits import LOST, RIGHT, WRONG, Arithmetic
from tests.support import ROOT

TESTS = tuple(TestCase(f"{i}\n", f"{2 * i}\n") for i in range(4))
DOUBLE = Problem("double", private_tests=TESTS)
ASSERTIONS = Problem(
    "assertions", private_tests=(TestCase("assert f() == 1", ""),), execution=ExecutionSpec("assertions")
)


def tasks_of(*programs: str, problem: Problem = DOUBLE, rules: Rules | None = None) -> list[Task]:
    rules = rules or Rules()
    return [Task(as_program(program), problem, problem.private_tests, rules) for program in programs]


@dataclass
class Recording(Executor):
    """An executor that notes the batches that it gets, and accepts every program."""

    in_flight: int = 2
    batches: list[list[str]] = field(default_factory=list)
    now: int = 0
    most: int = 0

    async def judge(self, tasks: Sequence[Task]) -> list[Judgement]:
        self.now, self.most = self.now + 1, max(self.most, self.now + 1)
        self.batches.append([task.program.source for task in tasks])
        await asyncio.sleep(0)
        self.now -= 1
        accepted = TestResult(Verdict.ACCEPTED, Execution(Status.FINISHED))
        return [judgement_of([accepted] * len(task.tests), len(task.tests)) for task in tasks]


async def test_judgements_are_in_the_order_of_the_tasks() -> None:
    verdicts = [each.verdict.value for each in await judge_all(tasks_of(RIGHT, WRONG, RIGHT), LocalPool(Arithmetic()))]
    assert verdicts == ["accepted", "wrong_answer", "accepted"]


async def test_the_same_program_is_judged_once_for_the_same_problem() -> None:
    executor = Recording()
    tasks = tasks_of("a", "b", "a", "a") + tasks_of("a", problem=Problem("other", private_tests=TESTS))
    judgements = await judge_all(tasks, executor)
    assert len(judgements) == 5
    assert executor.batches == [["a"], ["b"], ["a"]]


async def test_programs_whose_tests_share_processes_are_divided_evenly() -> None:
    executor = Recording(in_flight=4)
    await judge_all(tasks_of(*(f"x = {i}" for i in range(10)), problem=ASSERTIONS), executor)
    assert [len(batch) for batch in executor.batches] == [3, 3, 3, 1]
    executor = Recording(in_flight=1)
    await judge_all(tasks_of(*(f"x = {i}" for i in range(MOST_IN_BATCH + 1)), problem=ASSERTIONS), executor)
    assert [len(batch) for batch in executor.batches] == [MOST_IN_BATCH, 1]


@given(st.integers(1, 9), st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), max_size=40))
async def test_batches_by_tests_have_each_program_once_and_are_the_same_for_the_same_tasks(
    most: int, drawn: list[tuple[int, int]]
) -> None:
    problems = [Problem(f"p{n}", private_tests=TESTS[:n]) for n in range(3)]
    rules = Rules()
    tasks = [Task(as_program(f"{program}"), problems[n], problems[n].private_tests, rules) for n, program in drawn]
    executors = [Recording(in_flight=in_flight) for in_flight in (1, 5)]
    for executor in executors:
        executor.tests_in_batch = most
        assert len(await judge_all(tasks, executor)) == len(tasks)
    one, many = (executor.batches for executor in executors)
    assert one == many
    runs = [list(group) for _, group in itertools.groupby(drawn, lambda each: each[0])]
    assert [p for batch in one for p in batch] == [str(p) for run in runs for p in dict.fromkeys(p for _, p in run)]
    assert all(len(batch) <= most for batch in one)


async def test_programs_under_other_limits_are_in_other_batches() -> None:
    executor = Recording(in_flight=1)
    quick, slow = Rules(cpu_seconds=1), Rules(cpu_seconds=2)
    tasks = tasks_of("x = 1", "x = 2", problem=ASSERTIONS, rules=quick)
    await judge_all(tasks + tasks_of("x = 3", problem=ASSERTIONS, rules=slow) + tasks_of("y"), executor)
    assert executor.batches == [["x = 1", "x = 2"], ["x = 3"], ["y"]]


async def test_tasks_are_drawn_as_room_appears() -> None:
    drawn = 0

    def tasks():
        nonlocal drawn
        for task in tasks_of(*map(str, range(50))):
            drawn += 1
            yield Task(task.program, Problem(task.program.source, private_tests=TESTS), TESTS, task.rules)

    executor, finished = Recording(in_flight=3), 0
    async with aclosing(judge_many(tasks(), executor)) as judged:
        async for _ in judged:
            finished += 1
            assert drawn - finished <= 2 * executor.in_flight + 1
    assert (executor.most, drawn) == (3, 50)


async def test_what_still_runs_is_cancelled_if_one_fails_or_the_caller_stops() -> None:
    class Failing(Recording):
        async def judge(self, tasks: Sequence[Task]) -> list[Judgement]:
            if tasks[0].program.source == "fails":
                raise RuntimeError("ours")
            if tasks[0].program.source == "hangs":
                await asyncio.Event().wait()
            return await super().judge(tasks)

    with pytest.raises(RuntimeError, match="ours"):
        await judge_all(tasks_of("hangs", "fails"), Failing())
    async with aclosing(judge_many(tasks_of("hangs", "a"), Failing())) as judged:
        assert (await anext(judged))[0] == 1
    assert len(asyncio.all_tasks()) == 1


class Losing(Arithmetic):
    """Loses executions as a list says, one after the other, and none when it is used up."""

    def __init__(self, lost: list[bool]) -> None:
        super().__init__()
        self.lost = iter(lost)

    async def report(self, program, inputs, limits):
        report = await super().report(program, inputs, limits)
        lost = Execution(Status.INTERNAL_ERROR, stderr="the worker was lost")
        executions = tuple(lost if next(self.lost, False) else each for each in report.executions)
        return type(report)(report.compilation, executions)


@given(st.lists(st.booleans(), max_size=12), st.sampled_from([RIGHT, WRONG]), st.booleans())
def test_what_is_lost_is_judged_again_and_changes_no_verdict(lost: list[bool], program: str, stops: bool) -> None:
    rules = Rules(stop_on_first_failure=stops)
    (whole,) = asyncio.run(judge_all(tasks_of(program, rules=rules), LocalPool(Arithmetic())))
    executor = LocalPool(Losing(lost))
    (found,) = asyncio.run(judge_all(tasks_of(program, rules=rules), executor, retries=len(lost)))
    assert found == whole


async def test_a_test_is_judged_again_only_so_often_as_asked() -> None:
    executor = LocalPool(Arithmetic())
    (judgement,) = await judge_all(tasks_of(LOST), executor, retries=2)
    assert (judgement.verdict, len(executor.sandbox.runs)) == (Verdict.INTERNAL_ERROR, 3)


async def test_after_a_failure_that_ends_the_judgement_nothing_is_judged_again() -> None:
    malformed = Problem("malformed", private_tests=(*TESTS, TestCase("\ud800", "")))
    executor = LocalPool(Arithmetic())
    (judgement,) = await judge_all(
        tasks_of(WRONG, problem=malformed, rules=Rules(stop_on_first_failure=True)), executor, retries=2
    )
    assert (judgement.verdict, len(executor.sandbox.runs)) == (Verdict.WRONG_ANSWER, 1)


async def test_a_problem_that_can_not_be_judged_gives_no_verdict_with_the_reason() -> None:
    unknown = Problem("odd", private_tests=TESTS, checker=CheckerSpec("tokns"))
    first, second = await judge_all([*tasks_of(RIGHT, problem=unknown), *tasks_of(RIGHT)], LocalPool(Arithmetic()))
    assert (first.verdict, second.verdict) == (Verdict.INTERNAL_ERROR, Verdict.ACCEPTED)
    assert "'odd'" in first.message and "tokens" in first.message


def test_nobody_else_starts_judgements_side_by_side() -> None:
    """Files that judge, and start work side by side; an executor's own work isn't judging."""
    starts = re.compile(r"\b(?:Semaphore|TaskGroup|gather|create_task|as_completed|concurrently)\(")
    judges = re.compile(r"\bjudge_all\(|\bjudge_many\(|\.judge\(|\bProblemJudge\b|\bLocalPool\(")
    found = Counter(
        str(path.relative_to(ROOT / "alpha_codium"))
        for path in (ROOT / "alpha_codium").rglob("*.py")
        if starts.search(text := path.read_text("utf-8")) and judges.search(text)
    )
    assert set(found) == {"judge/many.py"}


def test_only_problems_and_the_judge_compare_the_names_of_kinds_of_tests() -> None:
    compares = re.compile(r'(?:==|!=|\bin\b) *[({\[]?"(?:stdin|call|assertions)"')
    files = {str(path.relative_to(ROOT / "alpha_codium")): path for path in (ROOT / "alpha_codium").rglob("*.py")}
    others = {
        name for name in files if not name.startswith(("judge/", "sandbox/", "repository/")) and name != "problem.py"
    }
    # The first is an event of Python's tracing.
    assert {name for name in others if compares.search(files[name].read_text("utf-8"))} == {
        "languages/python/tracing.py"
    }


def test_an_executor_is_anything_that_judges_batches() -> None:
    executors: list[Executor] = [Recording(), LocalPool(Arithmetic(), workers=3)]
    assert [each.in_flight for each in executors] == [2, 6]
