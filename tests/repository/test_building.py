"""Tasks that are made of a repository's methods."""

import random
from contextlib import aclosing
from dataclasses import replace

import pytest

from alpha_codium.repository import building, coverage
from alpha_codium.repository.building import LabelTasks, NoTask, draft_of, error_text, tasks_of, too_many_crash
from alpha_codium.repository.certificate import Draft, certified
from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.coverage import CoveredMethod, calls_of, covered_methods
from alpha_codium.repository.harness import NOT_RUN, PASSED, RepositoryTestResult, SuiteRun
from alpha_codium.repository.methods import find_method
from alpha_codium.repository.tasks import RepositoryTask, task_of_row
from alpha_codium.repository.warm import TestsOfLabels
from tests.repository.shop import FILE, FREE, GROSS, NET, SOURCE

pytestmark = pytest.mark.asyncio


@pytest.fixture(autouse=True)
def short_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "FEWEST_LINES", 1)


async def covered(checkout: Checkout) -> list[CoveredMethod]:
    """Return the methods that the repository's tests call."""
    return covered_methods(checkout, {"test_prices": await calls_of(checkout, "test_prices")})


def method_of(name: str, *tests: str, source: str = SOURCE) -> CoveredMethod:
    return CoveredMethod(FILE, source, find_method(source, name), ("test_prices",), tests)


@pytest.fixture
def all_bugs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep tasks with bugs that only raise errors: two of the five methods of the shop have no others."""
    monkeypatch.setattr(building, "MOST_CRASHES", 1.0)


@pytest.mark.thorough
@pytest.mark.usefixtures("all_bugs")
async def test_each_method_that_tests_decide_becomes_a_task(checkout: Checkout) -> None:
    built = await tasks_of(checkout, "test_prices", await covered(checkout), repeats=4, workers=2)
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
        assert (task.mutation_score, task.survivors) == (1.0, ()) and task.mutants >= 1
        assert {control.test for control in task.controls} <= set(task.fail_to_pass)
    assert [(control.old, control.new) for control in tasks["Price.free"].controls] == [("0", "1")]
    assert not tasks["Price.free"].bug_crashes and tasks["Price.__init__"].bug_crashes
    assert not built.dropped and built.cpu_seconds > 0
    # Of four, nothing is before the completion.
    assert sum(built.loaded.values()) == sum(built.calm.values()) == (5 * 4 - 4) * 2
    assert LabelTasks.from_json(built.to_json()) == built


@pytest.mark.thorough
async def test_the_same_seed_makes_the_same_tasks(checkout: Checkout) -> None:
    methods = await covered(checkout)
    whole = (await tasks_of(checkout, "test_prices", methods, repeats=0, workers=1)).tasks
    first = await tasks_of(checkout, "test_prices", methods, repeats=0, workers=2, most=2)
    assert first.tasks == whole[:2]


UNSURE = SOURCE.replace(
    "        return cls(0)\n", "        if cls:\n            return cls(0)\n        return cls(1)\n"
)


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        (method_of("Sale.net", GROSS, FREE), "its tests pass with a body that does nothing"),
        (method_of("Sale.net", "test_prices.PriceTest.test_none"), "its tests fail"),
        (replace(method_of("Sale.net", NET), loading=True), "it is called while the repository is imported"),
        (method_of("Price.free", FREE, source=UNSURE), "its tests are too weak: they find too few small bugs"),
    ],
)
async def test_a_method_that_tests_do_not_decide_is_no_task(
    checkout: Checkout, method: CoveredMethod, reason: str
) -> None:
    async with aclosing(TestsOfLabels(checkout, 1)) as tests:
        with pytest.raises(NoTask, match=reason):
            await draft_of(tests, method, random.Random(0))


async def test_tests_that_take_too_long_are_left_out(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [each.method.name for each in await covered(checkout)]
    assert "net" in names and "rounded" not in names, "it has no docstring"
    monkeypatch.setattr(coverage, "MOST_SECONDS", -1.0)
    assert await covered(checkout) == []


@pytest.mark.thorough
@pytest.mark.usefixtures("all_bugs")
async def test_a_task_whose_tests_disagree_once_is_dropped(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    async with aclosing(TestsOfLabels(checkout, 1)) as tests:
        draft = await draft_of(tests, method_of("Price.free", GROSS, FREE), random.Random(0))
        assert (draft.task.fail_to_pass, draft.task.pass_to_pass) == ((FREE,), (GROSS,))
        found = await certified(tests, draft, range(2))
        assert found is not None and found.task.cpu_seconds > 0.0
        wrong = replace(draft, failing={**draft.failing, draft.task.buggy_text: frozenset({GROSS})})
        assert not await certified(tests, wrong, range(1))
    monkeypatch.setattr(building, "certified", disagreeing)
    built = await tasks_of(checkout, "test_prices", await covered(checkout))
    assert (built.tasks, built.dropped) == ((), {"its tests disagreed": 5})


async def disagreeing(_tests: TestsOfLabels, draft: Draft, repeats: range, *_: object) -> Draft | None:
    """Find tests that disagree under load only."""
    return None if repeats == range(2) else draft


async def test_the_error_of_a_run_names_the_tests_that_did_not_pass_and_keeps_the_end() -> None:
    results = (
        RepositoryTestResult("a", PASSED),
        RepositoryTestResult("b", "failed", "3 != 4"),
        RepositoryTestResult("c", NOT_RUN),
    )
    run = SuiteRun(results, 0.0, crash="time_limit_exceeded")
    assert error_text(run) == "b: failed\n3 != 4\nc: not_run\n\ntime_limit_exceeded"
    assert error_text(run, 8) == "exceeded"


async def test_at_most_a_fifth_of_the_tasks_have_a_bug_that_only_raises_an_error() -> None:
    asserting = RepositoryTask("shop", "1", FILE, ("tests",), find_method(SOURCE, "Price.__init__"), SOURCE, (), ())
    crashing = replace(asserting, bug_crashes=True)
    assert not too_many_crash([asserting, crashing])
    assert too_many_crash([crashing, asserting, crashing])
    assert too_many_crash([crashing, *[asserting] * 7, crashing])
    assert not too_many_crash([crashing, *[asserting] * 8, crashing])
    assert not too_many_crash([crashing, crashing, asserting])
