"""Tests of a small repository, run on edited files."""

import subprocess
import sys
import venv
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from alpha_codium.limits import Limits
from alpha_codium.paths import home
from alpha_codium.repository.checkout import ALWAYS_REQUIRED, Checkout
from alpha_codium.repository.harness import Edit, RepositoryTests, Trace, edit_of
from alpha_codium.repository.methods import find_method, stubbed, with_body, with_method
from tests.repository.shop import FILE, FREE, GROSS, NAMES, NET, SKIPPED, SOURCE, TESTS, shop_in

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tests(checkout: Checkout) -> AsyncIterator[RepositoryTests]:
    async with RepositoryTests(checkout, "test_prices", limits=Limits(cpu_seconds=1.0)) as opened:
        yield opened


def edit(name: str, body: str) -> Edit:
    """Return an edit that gives a method another body."""
    return edit_of(SOURCE, FILE, name, with_body(SOURCE, find_method(SOURCE, name), body))


async def test_the_tests_of_a_label_are_listed_and_pass_on_the_repository_itself(tests: RepositoryTests) -> None:
    names = await tests.names()
    assert sorted(names) == sorted([GROSS, FREE, SKIPPED, NET])
    run = await tests.run(Edit(FILE, SOURCE), names)
    assert run.passed and not run.swapped
    assert [result.status for result in run.results] == ["skipped" if name == SKIPPED else "passed" for name in names]


async def test_tests_that_are_all_skipped_have_not_passed(tests: RepositoryTests) -> None:
    assert not (await tests.run(Edit(FILE, SOURCE), [SKIPPED])).passed
    assert not (await tests.run(Edit(FILE, SOURCE), [])).passed


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("Price.gross", GROSS),
        ("Price.free", FREE),
        ("Sale.net", NET),
        # A stub doesn't call `super`, so its code has no `__class__`.
        ("Sale.__init__", NET),
    ],
)
async def test_a_stub_fails_its_tests_and_no_others(tests: RepositoryTests, name: str, test: str) -> None:
    text = stubbed(SOURCE, find_method(SOURCE, name))
    for stub in (edit_of(SOURCE, FILE, name, text), Edit(FILE, text)):
        run = await tests.run(stub, [GROSS, FREE, NET])
        assert {result.name for result in run.results if result.status != "passed"} == {test}
        assert run.swapped == (stub.method != "")
        (message,) = (result.message for result in run.results if result.name == test)
        assert f'{FILE}", line ' in message and "raise NotImplementedError" in message


async def test_a_changed_signature_or_module_is_imported_again(tests: RepositoryTests) -> None:
    method = find_method(SOURCE, "Sale.__init__")
    text = with_method(SOURCE, method, method.declaration.replace("50", "40") + method.body)
    changed = edit_of(SOURCE, FILE, "Sale.__init__", text)
    run = await tests.run(changed, [NET, FREE])
    assert changed.method == "" and [result.status for result in run.results] == ["failed", "passed"]
    run = await tests.run(Edit(FILE, SOURCE.replace("RATE = 2", "RATE = 3")), [GROSS])
    assert [result.status for result in run.results] == ["failed"]


@pytest.mark.parametrize("python", ["3.11", "3.12"])
async def test_each_test_has_the_functions_that_it_calls(checkout: Checkout, python: str) -> None:
    interpreter = next((Path.home() / ".pyenv" / "versions").glob(f"{python}.*/bin/python"), None)
    if interpreter is None:
        pytest.skip(f"there is no Python {python} of pyenv")
    async with RepositoryTests(replace(checkout, interpreter=interpreter), "test_prices") as tests:
        trace = Trace.from_json(await tests.calls())
    covered = {test.name: test.functions for test in trace.tests}
    assert {test.name: test.status for test in trace.tests} == {
        GROSS: "passed", FREE: "passed", SKIPPED: "skipped", NET: "passed"
    }  # fmt: skip
    lines = {name: find_method(SOURCE, name) for name in ("Price.gross", "Price.free", "Sale.net", "rounded")}
    place = {name: (FILE, method.lines[0] - method.decorators + 1) for name, method in lines.items()}
    assert place["Price.gross"] in covered[GROSS] and place["Sale.net"] not in covered[GROSS]
    assert place["Price.free"] in covered[FREE] and place["Sale.net"] in covered[NET]
    assert place["rounded"] in trace.loading, "called when the module is imported"


@pytest.mark.thorough
async def test_the_time_of_a_test_includes_its_sleep(tmp_path: Path) -> None:
    sleeping = shop_in(tmp_path)
    text = TESTS.replace('print("OK")', "import time; time.sleep(1.5)")
    (tmp_path / "test_prices.py").write_text(text)
    async with RepositoryTests(sleeping, "test_prices") as tests:
        seconds = {test.name: test.seconds for test in Trace.from_json(await tests.calls()).tests}
    assert seconds[GROSS] > 1.4 and seconds[FREE] < 1.4


# What a method does instead of returning a price, and what may become of its test.
HOSTILE = {
    "import unittest; unittest.TestCase._baseAssertEqual = lambda *_, **__: None; return cls(1)": {"forged"},
    "import unittest; unittest.TestCase.run = lambda test, result: result.startTest(test) or result.stopTest(test)": {
        "forged"
    },
    "import os; os._exit(0)": {"not_run"},
    "print('OK'); raise SystemExit(0)": {"error"},
    "import os; os.write(1, b'{\"tests\": []}'); os._exit(0)": {"not_run"},
    "while True: pass": {"not_run"},
    "x = bytearray(3 << 30)": {"error"},
    "import socket; socket.create_connection(('127.0.0.1', 80))": {"error"},
    "open(__file__, 'a').write('#')": {"error"},
    "open(__file__.replace('shop/prices', 'test_prices'), 'w').write('')": {"error"},
}


@pytest.mark.thorough
@pytest.mark.parametrize("body", HOSTILE)
async def test_a_hostile_method_never_passes(tests: RepositoryTests, body: str) -> None:
    run = await tests.run(edit("Price.free", f"        {body}\n"), [FREE])
    assert not run.passed
    assert {result.status for result in run.results} <= HOSTILE[body]
    assert (await tests.run(Edit(FILE, SOURCE), [GROSS, FREE, NET])).passed, "the next edit runs as before"


async def test_a_syntax_error_is_a_crash_with_its_reason(tests: RepositoryTests) -> None:
    run = await tests.run(Edit(FILE, "def ("), [FREE])
    assert not run.passed
    assert "SyntaxError" in run.crash
    assert type(run).from_json(run.to_json()) == run


@pytest.mark.thorough
async def test_tests_that_pytest_collects_run_in_the_same_way(checkout: Checkout) -> None:
    recipe = replace(checkout.recipe, runner="pytest")
    async with RepositoryTests(replace(checkout, recipe=recipe), "test_prices.py") as tests:
        names = await tests.names()
        gross, free, skipped, net = (f"test_prices.py::{name.replace('.', '::')}" for name in NAMES)
        assert sorted(names) == sorted([gross, free, skipped, net])
        for whole in (Edit(FILE, SOURCE), edit("Price.free", "        return cls(0)\n")):
            run = await tests.run(whole, names)
            assert run.passed and run.swapped == (whole.method != "")
        stub = edit("Price.free", "        raise NotImplementedError\n")
        run = await tests.run(stub, [gross, free])
        assert [(result.name, result.status) for result in run.results] == [(gross, "passed"), (free, "failed")]
        assert "NotImplementedError" in run.results[1].message
        forger = edit(
            "Price.free", "        import _pytest.runner; _pytest.runner.runtestprotocol = lambda *_, **__: []\n"
        )
        assert not (await tests.run(forger, [free])).passed
        assert (FILE, find_method(SOURCE, "Sale.net").lines[0] + 1) in {
            test.name: test.functions for test in Trace.from_json(await tests.calls()).tests
        }[net]


@pytest.mark.thorough
async def test_tests_find_the_same_clock_time_zone_locale_and_random_numbers_in_each_run(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    checkout = shop_in(tmp_path / "shop")
    (tmp_path / "shop" / "test_prices.py").write_text(SURROUNDINGS)
    venv.create(tmp_path / "environment", with_pip=True)
    interpreter = tmp_path / "environment" / "bin" / "python"
    subprocess.run([interpreter, "-m", "pip", "install", "-q", *ALWAYS_REQUIRED], check=True)
    async with RepositoryTests(replace(checkout, interpreter=interpreter), "test_prices") as tests:
        name = "test_prices.Surroundings.test_all"
        runs = [await tests.run(Edit(FILE, SOURCE), [name]) for _ in range(2)]
    (first, second) = (run.results[0].message.splitlines()[-1] for run in runs)
    assert first == second == "AssertionError: 2025-01-01T12:00 UTC C.UTF-8 0 0.8444218515250481"


SURROUNDINGS = """\
import datetime, os, random, time, unittest
time.sleep(0.1)


class Surroundings(unittest.TestCase):
    def test_all(self):
        now = datetime.datetime.now().isoformat(timespec="minutes")
        values = [now, *time.tzname[:1], os.environ["LC_ALL"], os.environ["PYTHONHASHSEED"], random.random()]
        raise AssertionError(" ".join(map(str, values)))
"""


@pytest.mark.parametrize("padding", [0, 5000])
async def test_what_tests_say_has_no_folder_of_the_machine(
    tests: RepositoryTests, checkout: Checkout, padding: int
) -> None:
    body = f"""\
        import json, os, sys, tempfile
        names = [sys.path, sys.prefix, sys.base_prefix, __file__, json.__file__, tempfile.mkdtemp(), os.getcwd()]
        raise ValueError('x' * {padding}, names, {str(Path.home() / "secret")!r}, {str(home())!r}, object())
"""
    one, other = [await tests.run(edit("Sale.net", body), [NET]) for _ in range(2)]
    said = one.results[0].message
    assert "ValueError" in said or padding
    for folder in (checkout.folder, home(), Path.home(), Path(sys.prefix), Path(sys.base_prefix)):
        assert f"{folder}/" not in said and f"{folder}'" not in said
    assert 'File "shop/prices.py"' in said or padding
    assert said == other.results[0].message, "it is the same in each run"
