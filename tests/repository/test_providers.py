"""Providers, which run the tests of tasks: what they return, try again, and keep open."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from alpha_codium.errors import DatasetError, SandboxError, UserError
from alpha_codium.repository import checkout as checkouts
from alpha_codium.repository import providers
from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.harness import PASSED, Edit, RepositoryTestResult, RepositoryTests, SuiteRun, edit_of
from alpha_codium.repository.methods import find_method, stubbed
from alpha_codium.repository.providers import (
    LocalProvider,
    ProviderError,
    meant,
    open_provider,
    time_limit,
)
from alpha_codium.repository.recipes import DJANGO, SYMPY, label_of
from alpha_codium.repository.tasks import RepositoryTask
from alpha_codium.repository.warm import merged
from tests.repository.shop import FILE, FREE, GROSS, NET, SOURCE, task_of_shop

pytestmark = pytest.mark.asyncio


class CountedTests(RepositoryTests):
    """Tests that are never loaded: what was opened and closed is counted, and the first runs fail."""

    opened: list[str]
    now = most = 0
    failures = 0

    async def __aenter__(self):
        CountedTests.opened.append(self.label)
        CountedTests.now += 1
        CountedTests.most = max(CountedTests.most, CountedTests.now)
        return self

    async def __aexit__(self, *_: object) -> None:
        CountedTests.now -= 1

    async def names(self) -> list[str]:
        return []

    async def run(self, edit: Edit, tests: Sequence[str], cpu_seconds: float = 0.0, controls: object = ()) -> SuiteRun:
        await asyncio.sleep(0)
        if CountedTests.failures:
            CountedTests.failures -= 1
            raise SandboxError("the worker was lost")
        return SuiteRun(tuple(RepositoryTestResult(name, PASSED) for name in tests), 0.5)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[CountedTests]]:
    monkeypatch.setattr(providers, "RepositoryTests", CountedTests)
    monkeypatch.setattr(CountedTests, "opened", [], raising=False)
    for name in ("now", "most", "failures"):
        monkeypatch.setattr(CountedTests, name, 0)
    yield CountedTests
    assert CountedTests.now == 0, "all are closed"


async def test_the_local_provider_tells_the_answer_from_a_stub(checkout: Checkout) -> None:
    task = task_of_shop("Sale.net", (NET,), (GROSS, FREE))
    stub = edit_of(SOURCE, FILE, "Sale.net", stubbed(SOURCE, find_method(SOURCE, "Sale.net")))
    async with open_provider("local", checkouts=lambda _: checkout, workers=2) as provider:
        good, bad = await asyncio.gather(provider.run(task, Edit(FILE, SOURCE)), provider.run(task, stub))
    assert good.passed and [result.name for result in good.results] == [NET, GROSS, FREE]
    assert [result.status for result in bad.results] == [
        "failed" if "Error" in bad.results[0].message else "",
        *["passed"] * 2,
    ]


async def test_a_task_of_other_files_is_refused_with_the_commands_that_get_them(
    checkout: Checkout, counted: type[CountedTests]
) -> None:
    ours = replace(checkout, recipe=replace(checkout.recipe, url="https://x/shop", commit="0123abc"))
    task = replace(
        task_of_shop("Sale.net", (NET,)), version="", raw_file_content=SOURCE.replace("RATE = 2", "RATE = 3")
    )
    async with LocalProvider(lambda _: ours, workers=1) as provider:
        await provider.check([task_of_shop("Sale.net", (NET,))])
        for refused in (provider.check([task]), provider.run(task, Edit(FILE, SOURCE))):
            with pytest.raises(DatasetError) as error:
                await refused
            assert str(error.value).startswith(f"{FILE} differs from that of shop 1 here")
            assert "`git clone https://x/shop DIR && git -C DIR checkout 0123abc`" in str(error.value)
            assert "`checkout` DIR" in str(error.value)
    assert not counted.opened, "nothing was loaded"


async def test_a_row_without_a_version_is_of_the_commit_of_the_existing_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))
    monkeypatch.setattr(checkouts, "_environment", lambda _: tmp_path)
    task = replace(task_of_shop("Sale.net", (NET,)), repository="django", version="")
    with pytest.raises(UserError) as error:
        providers.checkout_of(task)
    clone = "git clone https://github.com/django/django DIR && git -C DIR checkout 89807fbde8b7"
    assert str(error.value) == (
        f"django 89807fbde8b7 isn't on PyPI: get the files of its commit (`{clone}`), and give `checkout` DIR"
    )
    (tmp_path / "repositories" / "django-89807fbde8b7" / "tree").mkdir(parents=True)
    assert providers.checkout_of(task).version == "89807fbde8b7", "once it was given, it is there"


@pytest.mark.parametrize(
    ("changes", "seconds"),
    [
        ({"cpu_seconds": 0.04}, 5.0),
        ({"cpu_seconds": 3.0}, 15.0),
        ({}, 10.0),
        ({"labels": ()}, 60.0),
    ],
)
async def test_a_task_may_take_the_time_of_its_certificate_and_some_room(
    changes: dict[str, Any], seconds: float
) -> None:
    assert time_limit(replace(task_of_shop("Sale.net", (NET,)), **changes)) == seconds


@pytest.mark.thorough
async def test_a_loop_ends_after_this_time(checkout: Checkout) -> None:
    task = replace(task_of_shop("Price.free", (FREE,)), cpu_seconds=0.01)
    edit = edit_of(SOURCE, FILE, "Price.free", SOURCE.replace("return cls(0)", "while True: pass"))
    async with LocalProvider(lambda _: checkout, workers=1) as provider:
        run = await provider.run(task, edit)
    assert run.crash.startswith("time_limit_exceeded") and run.cpu_seconds < 10.0


async def test_a_task_of_another_dataset_needs_no_label_and_may_name_a_class(checkout: Checkout) -> None:
    task = task_of_shop("Sale.net", ("test_prices.SaleTest",), (GROSS, "test_prices.Missing.test"), label="")
    async with LocalProvider(lambda _: checkout, workers=1) as provider:
        run = await provider.run(task, Edit(FILE, SOURCE))
    assert {result.name: result.status for result in run.results} == {
        NET: "passed",
        GROSS: "passed",
        "test_prices.Missing.test": "not_run",
    }
    assert not run.passed


async def test_a_fault_of_the_sandbox_is_tried_again_and_then_raised(
    checkout: Checkout, counted: type[CountedTests]
) -> None:
    task = task_of_shop("Sale.net", (NET,))
    async with LocalProvider(lambda _: checkout, workers=1) as provider:
        counted.failures = 2
        assert (await provider.run(task, Edit(FILE, SOURCE))).passed
        assert counted.opened == ["test_prices"] * 3, "each time in a new process"
        counted.failures = 3
        with pytest.raises(ProviderError, match="the tests of test_prices can't be run: the worker was lost"):
            await provider.run(task, Edit(FILE, SOURCE))
        assert (await provider.run(task, Edit(FILE, SOURCE))).passed, "the next task runs"


async def test_tests_that_cannot_be_loaded_are_a_fault_and_no_verdict(tmp_path: Path) -> None:
    from tests.repository.shop import shop_in

    made = shop_in(tmp_path)
    (tmp_path / "test_prices.py").write_text("raise RuntimeError('no')")
    async with LocalProvider(lambda _: made, workers=1, tries=1) as provider:
        with pytest.raises(ProviderError, match="test_prices can't be run: "):
            await provider.run(task_of_shop("Sale.net", (NET,)), Edit(FILE, SOURCE))


async def test_an_execution_that_failed_through_the_sandbox_is_no_result(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    from alpha_codium.repository import harness
    from alpha_codium.verdict import Execution, Report, Status

    async def lost(*_: Any) -> Report:
        return Report(Execution(Status.INTERNAL_ERROR, stderr="sandbox: the worker was lost"))

    monkeypatch.setattr(harness, "report_of", lost)
    with pytest.raises(SandboxError, match="could not be run: internal_error sandbox: the worker was lost"):
        await RepositoryTests(checkout, "test_prices").run(Edit(FILE, SOURCE), [NET])


async def test_few_labels_are_open_at_a_time_and_each_is_loaded_once_while_it_is_in_use(
    checkout: Checkout, counted: type[CountedTests]
) -> None:
    tasks = [task_of_shop("Sale.net", (f"{label}.A.test",), label=label) for label in "abcd"]
    async with LocalProvider(lambda _: checkout, workers=3, most_labels=2) as provider:
        for task in [tasks[0], tasks[0], tasks[1], tasks[0], tasks[2], tasks[0]]:
            assert (await provider.run(task, Edit(FILE, SOURCE))).passed
        assert counted.opened == ["a", "b", "c"], "b was used longest ago when c was opened"
        runs = await asyncio.gather(*(provider.run(task, Edit(FILE, SOURCE)) for task in tasks * 5))
        assert all(run.passed for run in runs)
        assert counted.most == 2


async def test_the_labels_of_tests_are_found_from_their_names() -> None:
    assert label_of(DJANGO, "utils_tests.test_text.TestUtilsText.test_slugify") == "utils_tests"
    assert label_of(DJANGO, "basic.tests.ModelTest.test_a") == "basic"
    folder = replace(SYMPY, labels=("sympy/core/tests",))
    assert label_of(folder, "sympy/core/tests/test_add.py::test_a") == "sympy/core/tests"
    assert label_of(folder, "sympy/polys/tests/test_a.py::test_a") == "sympy/polys/tests/test_a.py"
    assert label_of(SYMPY, "sympy/polys/tests/test_a.py::test_a", ("sympy/polys",)) == "sympy/polys", "a task's first"
    assert list(meant(["m.A", "m.B.x", "m.C"], ["m.A.x", "m.A.y", "m.AB.x", "m.B.x"])) == [
        "m.A.x",
        "m.A.y",
        "m.B.x",
        "m.C",
    ]


async def test_runs_of_several_labels_are_one_run() -> None:
    one, other = (
        SuiteRun((RepositoryTestResult(name, PASSED),), 1.0, crash=crash) for name, crash in [("a", ""), ("b", "x")]
    )
    assert merged([one, other]) == SuiteRun((*one.results, *other.results), 2.0, crash="x")
    assert not merged([]).passed


async def test_an_unknown_provider_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"there is no sandbox_provider 'locl' \(did you mean 'local'\?\)"):
        open_provider("locl")


async def test_the_repository_of_a_task_is_that_of_its_recipe_and_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "check_out", lambda recipe, version: (recipe.name, version))
    task = RepositoryTask.from_json(task_of_shop("Sale.net", ()).to_json() | {"repository": "django", "version": "4.2"})
    assert providers.checkout_of(task) == ("django", "4.2")
