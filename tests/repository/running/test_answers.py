"""Reading answers of models."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.repository.methods import AnswerError, find_method, methods_of, with_body
from alpha_codium.repository.running.answers import (
    code_of,
    head_of,
    read_class,
    read_completion,
    read_method,
    read_repair,
)
from alpha_codium.repository.running.benchmarks import BENCHMARKS, second_half, whole_method
from alpha_codium.repository.tasks import RepositoryTask
from tests.repository.shop import SOURCE, task_of_shop

FILE = '''\
class Cart:
    """A cart."""

    def total(self, prices):
        """Return the sum of the prices above 0."""
        total = 0
        for price in prices:
            if price > 0:
                total += price
        return total

    def total_of(self, prices):
        """Return the sum."""
        return sum(prices)


async def total(prices):
    """Return the sum later."""
    return sum(prices)
'''


def task(name: str = "Cart.total", source: str = FILE) -> RepositoryTask:
    buggy = with_body(source, find_method(source, name), "        return -1\n")
    return RepositoryTask(
        "shop", "1", "cart.py", "tests", find_method(source, name), source, ("t",), (), buggy_text=buggy
    )


CODE = "def total(self, prices):\n    return 0"


@pytest.mark.parametrize(
    "answer",
    [
        CODE,
        f"```python\n{CODE}\n```",
        f"Here it is:\n\n```\n{CODE}\n```\nIt returns 0.",
        f"<think>\nLet me see\n```python\ndef x(): pass\n```\n</think>\n```python\n{CODE}\n```",
        f"First\n```python\nimport math\n```\nthen\n```python\n{CODE}\n```\nUse it:\n```python\nCart().total([])\n```",
        f"```python\n    @property\n{textwrap.indent(CODE, '    ')}\n```",
    ],
)
def test_the_method_is_found_and_fitted(answer: str) -> None:
    read = read_method(task(), code_of(answer))
    assert read.code == "    def total(self, prices):\n        return 0\n"
    assert read.code in read.edit.text
    assert [each.qualified_name for each in methods_of(read.edit.text)] == [
        each.qualified_name for each in methods_of(FILE)
    ]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "there was no answer"),
        ("<think>\nIt is long", "no text after the thinking"),
        ("I can't do that.", "must begin with `def total`, `async def total` or a decorator"),
        ("```python\ndef sum(self): pass\n```", "must begin with `def total`"),
        ("```python\n@property\ndef sum(self): pass\n```", "must be the method `total`, not `sum`"),
        ("```python\nimport math\ndef total(self): pass\n```", "must begin with"),
        ("```python\ndef total(self):\n    return (\n```", "is not valid Python"),
        ("```python\ndef total(self): pass\ndef other(self): pass\n```", "must be only the method"),
    ],
)
def test_another_answer_is_refused_with_the_reason(answer: str, reason: str) -> None:
    with pytest.raises(AnswerError, match=reason.replace("(", r"\(")):
        read_method(task(), code_of(answer))


def test_a_repair_may_be_of_any_method_of_the_file_under_its_own_name() -> None:
    right = read_repair(task(), CODE)
    assert right.method == "Cart.total" and right.edit.method == "Cart.total"
    assert "return -1" not in right.edit.text
    wrong = read_repair(task(), "def total_of(self, prices):\n    return 1")
    assert wrong.method == "Cart.total_of" and wrong.edit.method == "", "the bug is still in the file"
    assert "return -1" in wrong.edit.text and "return 1" in wrong.edit.text
    with pytest.raises(AnswerError, match="the file has no method `nothing`"):
        read_repair(task(), "def nothing(): pass")


CLASS = "class Cart:\n    total_of = sum\n\n    def total(self, prices):\n        return 0\n"


@pytest.mark.parametrize(
    "answer",
    [CLASS, f"```python\n@final\n{CLASS}```\nUse it:\n```python\nCart().total([])\n```", textwrap.indent(CLASS, "  ")],
)
def test_a_class_takes_the_place_of_the_class_without_its_decorators(answer: str) -> None:
    decorated = f"@cached\n{FILE}"
    read = read_class(task(source=decorated), code_of(answer, BENCHMARKS["class_gen_multiturn"].beginning))
    assert read.edit.text == decorated.replace(FILE[: FILE.index("\n\nasync def")], CLASS)
    assert (read.edit.method, read.written) == ("", "    def total(self, prices):\n        return 0\n")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (CODE, "must be only the class, beginning with `class Cart` or a decorator"),
        (CLASS.replace("Cart", "Basket"), "must be only the class"),
        (f"{CLASS}\nCart()", "must be only the class"),
        (CLASS.replace("total(", "sum("), "must have the method `Cart.total`"),
        ("class Cart:", "is not valid Python"),
    ],
)
def test_another_answer_than_the_class_is_refused_with_the_reason(answer: str, reason: str) -> None:
    with pytest.raises(AnswerError, match=reason):
        read_class(task(), answer)


def test_a_function_has_no_class_and_is_asked_for_itself() -> None:
    function = task("total")
    assert read_class(function, whole_method(function)).edit.text == FILE


REST = "            if price > 0:\n                total += price\n        return total\n"


@pytest.mark.parametrize(
    "answer",
    [
        REST,
        textwrap.dedent(REST),
        REST.lstrip(),
        textwrap.dedent(head_of(task()) + REST),
        f"```python\n{REST}```",
    ],
)
def test_a_completion_is_the_remaining_lines_or_the_whole_method(answer: str) -> None:
    read = read_completion(task(), code_of(answer))
    assert read.edit.text == FILE
    assert read.written == REST == second_half(task())


def test_a_completion_that_does_not_fit_is_refused() -> None:
    for answer in ("if price >", "I would sum the prices.", "```python\n)\n```"):
        with pytest.raises(AnswerError, match="don't complete the method `total`"):
            read_completion(task(), code_of(answer))


@pytest.mark.parametrize("benchmark", BENCHMARKS.values(), ids=lambda each: each.name)
@pytest.mark.parametrize("name", ["Price.gross", "Price.free", "Sale.__init__", "Sale.net"])
def test_the_right_answer_gives_the_file_of_the_repository(benchmark, name: str) -> None:
    made = task_of_shop(name, ())
    bug = with_body(SOURCE, made.method, "        pass\n")
    made = RepositoryTask.from_json(made.to_json() | {"buggy_text": bug})
    read = benchmark.read(made, f"```python\n{benchmark.right(made)}```")
    assert read.edit.text == SOURCE
    assert (read.method, read.written) == (made.method.qualified_name, benchmark.reference(made))
    if benchmark.name != "class_gen_multiturn":
        assert read.edit.method == name, "only its body differs, so that nothing has to be imported again"


def test_a_method_that_is_called_while_the_repository_is_imported_is_imported_again() -> None:
    fresh = RepositoryTask.from_json(task().to_json() | {"fresh": True})
    assert read_method(fresh, whole_method(fresh)).edit.method == ""


@pytest.mark.thorough
@given(st.text(alphabet="adeflnrtu (:)`~\n\t@<>/\"'\\", max_size=80))
def test_any_text_is_an_answer_or_is_refused(text: str) -> None:
    for read in (read_method, read_completion, read_repair, read_class):
        for answer in (
            text,
            f"```python\ndef total(self, prices):\n{text}\n```",
            f"<think>{text}",
            f"class Cart:\n  {text}",
        ):
            try:
                found = read(task(), code_of(answer))
            except AnswerError as error:
                assert str(error)
            else:
                list(methods_of(found.edit.text))
