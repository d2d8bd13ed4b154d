"""Tasks that are made of a repository's methods."""

import random

import pytest

from alpha_codium.repository import building
from alpha_codium.repository.building import (
    CoveredMethod,
    LabelTasks,
    NoTask,
    covered_methods,
    error_text,
    task_of,
    tasks_of_label,
)
from alpha_codium.repository.certificate import certified
from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.harness import NOT_RUN, PASSED, RepositoryTestResult, RepositoryTests, SuiteRun
from alpha_codium.repository.methods import find_method
from alpha_codium.repository.tasks import RepositoryTask, task_of_row
from tests.repository.shop import FILE, FREE, GROSS, NET, SOURCE

pytestmark = pytest.mark.asyncio


@pytest.fixture(autouse=True)
def short_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "FEWEST_LINES", 1)


@pytest.mark.thorough
async def test_each_method_that_tests_decide_becomes_a_task(checkout: Checkout) -> None:
    built = await tasks_of_label(checkout, "test_prices", repeats=4, workers=2)
    tasks = {task.method.qualified_name: task for task in built.tasks}
    assert {name: set(task.fail_to_pass) for name, task in tasks.items()} == {
        "Price.__init__": {GROSS, FREE, NET},
        "Price.gross": {GROSS},
        "Price.free": {FREE},
        "Sale.__init__": {NET},
        "Sale.net": {NET},
    }
    for task in tasks.values():
        assert set(task.bug_tests) <= set(task.tests) and task.bug_tests and task.completion_tests
        assert task.bug_tests[0] in task.test_error
        assert task.buggy_text != task.raw_file_content == SOURCE
        assert task_of_row(task.row(0)) == task == RepositoryTask.from_json(task.to_json())
    assert not built.dropped and built.cpu_seconds > 0
    assert LabelTasks.from_json(built.to_json()) == built


@pytest.mark.thorough
async def test_the_same_seed_makes_the_same_tasks_and_others_are_left_out(checkout: Checkout) -> None:
    whole = (await tasks_of_label(checkout, "test_prices", repeats=0, workers=1)).tasks
    first = await tasks_of_label(checkout, "test_prices", repeats=0, workers=2, most=2)
    assert first.tasks == whole[:2]
    known = {(FILE, task.method.qualified_name) for task in first.tasks}
    assert (await tasks_of_label(checkout, "test_prices", repeats=0, known=known)).tasks == whole[2:]


async def test_a_method_without_a_test_that_needs_it_is_no_task(checkout: Checkout) -> None:
    async with RepositoryTests(checkout, "test_prices") as tests:
        names = [covered.method.name for covered in await covered_methods(checkout, tests)]
        assert "rounded" not in names, "it has no docstring"
        unrelated = CoveredMethod(FILE, SOURCE, find_method(SOURCE, "Sale.net"), (GROSS, FREE), fresh=False)
        with pytest.raises(NoTask, match="no test fails without its body"):
            await task_of(tests, unrelated, random.Random(0))


async def test_tests_that_take_too_long_are_left_out(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "MOST_SECONDS", -1.0)
    built = await tasks_of_label(checkout, "test_prices", repeats=0)
    assert (built.tasks, built.dropped) == ((), {})


@pytest.mark.thorough
async def test_a_task_whose_tests_disagree_once_is_dropped(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    async with RepositoryTests(checkout, "test_prices") as tests:
        covered = CoveredMethod(FILE, SOURCE, find_method(SOURCE, "Price.free"), (GROSS, FREE), fresh=False)
        task = await task_of(tests, covered, random.Random(0))
        found = await certified(tests, task, range(2))
        assert found is not None and found.cpu_seconds > 0.0
        wrong = RepositoryTask.from_json(task.to_json() | {"bug_tests": [GROSS]})
        assert not await certified(tests, wrong, range(1))
    monkeypatch.setattr(building, "certified", disagreeing)
    built = await tasks_of_label(checkout, "test_prices")
    assert (built.tasks, built.dropped) == ((), {"its tests disagreed": 5})


async def disagreeing(
    _tests: RepositoryTests, task: RepositoryTask, repeats: range, _seed: int
) -> RepositoryTask | None:
    """Find tests that disagree under load only."""
    return None if repeats == range(2) else task


async def test_the_error_of_a_run_names_the_tests_that_did_not_pass_and_keeps_the_end() -> None:
    results = (
        RepositoryTestResult("a", PASSED),
        RepositoryTestResult("b", "failed", "3 != 4"),
        RepositoryTestResult("c", NOT_RUN),
    )
    run = SuiteRun(results, 0.0, crash="time_limit_exceeded")
    assert error_text(run) == "b: failed\n3 != 4\nc: not_run\n\ntime_limit_exceeded"
    assert error_text(run, 8) == "exceeded"
