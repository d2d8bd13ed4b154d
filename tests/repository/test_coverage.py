"""Which tests are taken for a method."""

from dataclasses import replace
from pathlib import Path

from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.coverage import MOST_TESTS, calls_of, chosen_tests, words_of
from alpha_codium.repository.harness import PASSED, TracedTest
from alpha_codium.repository.methods import find_method
from alpha_codium.repository.recipes import DJANGO, SYMPY
from tests.repository.shop import FILE, FREE, GROSS, NET, SOURCE, shop_in


def calling(name: str, functions: int, seconds: float = 0.001) -> TracedTest:
    return TracedTest(name, PASSED, seconds, tuple(("a.py", line) for line in range(functions)))


def names_of(found: object) -> list[str]:
    return [test.name for _, test in found]  # type: ignore[attr-defined]


def test_the_component_is_the_label_whose_tests_call_little_else_and_much_of_the_file() -> None:
    callers = {
        "handlers": [calling(f"handlers.test_{number}", 500) for number in range(50)],
        "urls": [calling(f"urls.test_{number}", 20) for number in range(20)],
        "views": [calling(f"views.test_{number}", 20) for number in range(20)],
    }
    found = chosen_tests(callers, {"handlers": 3, "urls": 12, "views": 6})
    assert [label for label, _ in found] == ["urls"] * 20 + ["views"] * 20, "those of the component first"


def test_tests_named_after_the_method_come_first_and_few_tests_get_more_labels() -> None:
    words = words_of(find_method("class Users:\n    def clean_email(self):\n        pass\n", "Users.clean_email"))
    assert words == {"clean", "email", "users"}
    one = [calling("auth.test_other", 10), calling("auth.test_clean_email", 40)]
    found = chosen_tests({"auth": one, "mail": [calling("mail.test_a", 900)]}, {"auth": 9, "mail": 1}, words)
    assert names_of(found) == ["auth.test_clean_email", "auth.test_other", "mail.test_a"]


def test_of_other_labels_one_test_is_taken_for_three_and_slow_ones_are_left_out() -> None:
    callers = {
        "one": [calling(f"one.{number}", 10) for number in range(200)],
        "two": [calling("two.slow", 9, 5.0), *(calling(f"two.{number}", 10) for number in range(200))],
    }
    found = names_of(chosen_tests(callers, {"one": 5, "two": 4}))
    assert len(found) == MOST_TESTS and "two.slow" not in found
    assert 20 <= sum(name.startswith("two.") for name in found) <= 26


def test_tests_that_a_class_inherits_come_after_all_others() -> None:
    names = [f"forms.{kind}.test_{number}" for number in range(60) for kind in ("Forms", "Jinja2Forms")]
    found = names_of(chosen_tests({"forms": [calling(name, 10) for name in names]}, {"forms": 3}))
    assert found[:60] == [name for name in names if ".Forms." in name]
    assert (len(found), {name.split(".")[1] for name in found[60:]}) == (MOST_TESTS, {"Jinja2Forms"})


async def test_calls_are_noted_once_and_only_those_of_the_sources(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    checkout = shop_in(tmp_path / "tree")
    trace = await calls_of(checkout, "test_prices")
    called = {test.name: {line for file, line in test.functions if file == FILE} for test in trace.tests}
    lines = {name: find_method(SOURCE, name).lines[0] + 1 for name in ("Price.free", "Sale.net")}
    assert lines["Price.free"] - 1 in called[FREE], "from its decorator on"
    assert lines["Sale.net"] in called[NET] and lines["Sale.net"] not in called[GROSS]
    assert {file for test in trace.tests for file, _ in test.functions} == {FILE}
    nowhere = replace(checkout, interpreter=checkout.interpreter)
    (tmp_path / "tree" / "test_prices.py").write_text("raise OSError")
    assert await calls_of(nowhere, "test_prices") == trace


def test_all_labels_are_those_of_the_recipe_and_of_its_pattern(tmp_path: Path) -> None:
    for name in ("tests/basic/__init__.py", "tests/queries/__init__.py", "sympy/core/tests/test_a.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    django = Checkout(replace(DJANGO, labels=("queries",)), "5", tmp_path, tmp_path)
    assert django.labels() == ["queries", "basic"]
    sympy = Checkout(replace(SYMPY, labels=(), coverage="sympy/*/tests/test_*.py"), "1", tmp_path, tmp_path)
    assert sympy.labels() == ["sympy/core/tests/test_a.py"]
    assert replace(
        sympy, recipe=replace(DJANGO, runner="unittest", labels=(), path=(".",), coverage="t*/*/*.py")
    ).labels() == [
        "tests.basic",
        "tests.queries",
    ]
