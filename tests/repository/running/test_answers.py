"""Reading answers of models."""

import textwrap
from typing import Any

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
from alpha_codium.repository.running.benchmarks import BENCHMARKS, RepositoryBenchmark, second_half, whole_method
from alpha_codium.repository.running.measures import measured
from alpha_codium.repository.tasks import RepositoryTask, task_of_row
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


# Whatever Python can't compile, or reads in another way than expected; all are put at the end of right answers, too.
ODD = {
    "a line that isn't closed": "        return (\n",
    "a string that isn't closed": "        x = '''\n",
    "a line that goes on": "        return 1 \\",
    "an else without an if": "    else:\n        pass\n",
    "an else of the file": "else:\n    pass\n",
    "another method": "\n    def other(self):\n        pass\n",
    "a function of the file": "\ndef other():\n    pass\n",
    "a NUL": "        return '\0'\n",
    "half of a character": "        return '\ud800'\n",
    "deep brackets": f"        return {'[' * 150}{']' * 150}\n",
    "too deep brackets": f"        return {'(' * 5000}{')' * 5000}\n",
    "many signs": f"        return {'-' * 5000}1\n",
    "a long sum": f"        return 1{'+1' * 700}\n",
    "a longer sum": f"        return 1{'+1' * 5_000}\n",
    "a long number": f"        return 0x{'f' * 9000}\n",
    "too long a number": f"        return {'9' * 9000}\n",
    "a form feed": "        x = 1\n\f\n        return x\n",
    "ends of lines that Python doesn't know": "        return '\x1c\u2028\x85\v'\n",
    "tabs": "\t\treturn 1\n",
    "a future": "        from __future__ import annotations\n",
    "a deep f-string": "        return f'{f\"{f\\'{1}\\'}\"}'\n",
    "a walrus": "        return (x := 1)\n",
    "a byte order mark": "\ufeff        return 1\n",
    "an encoding": "# -*- coding: rot13 -*-\n",
    "a control character": "        return 1\x1a\n",
    "a comment of the file": "# done\n",
    "too much": "        x = 1\n" * 1_000,
}


@pytest.mark.parametrize("end", ODD)
@pytest.mark.parametrize("benchmark", BENCHMARKS.values(), ids=lambda each: each.name)
def test_odd_answers_are_put_into_the_file_or_refused(benchmark: RepositoryBenchmark, end: str) -> None:
    for made in (task(), task("total")):
        for right in (benchmark.right(made), textwrap.dedent(benchmark.right(made)), ""):
            for answer in (f"```python\n{right}{ODD[end]}```", right + ODD[end], ODD[end] + right):
                require_in_place_or_refused(benchmark, made, answer)


def require_in_place_or_refused(benchmark: RepositoryBenchmark, made: RepositoryTask, answer: str) -> None:
    """Raise AssertionError unless an answer is refused with a reason, or changes only one method of the file."""
    try:
        read = benchmark.read(made, answer)
    except AnswerError as error:
        assert str(error)
        return
    before, after = (outline(text) for text in (made.raw_file_content, read.edit.text))
    if benchmark.name != "class_gen_multiturn":
        assert after == before, "the other definitions are those of the file"
    assert made.method.qualified_name in after
    assert 0.0 <= measured(read.written, benchmark.reference(made), same_method=True).chrf <= 1.0


def outline(text: str) -> list[str]:
    return [method.qualified_name for method in methods_of(text)]


@pytest.mark.parametrize("benchmark", BENCHMARKS.values(), ids=lambda each: each.name)
@given(data=st.data())
def test_right_answers_with_any_change_are_put_into_the_file_or_refused(
    benchmark: RepositoryBenchmark, data: st.DataObject
) -> None:
    made = data.draw(st.sampled_from([task(), task("total"), task(source=FILE.replace("    ", "\t"))]))
    text = data.draw(st.sampled_from([benchmark.right(made), textwrap.dedent(benchmark.right(made))]))
    for _ in range(data.draw(st.integers(0, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 8)))
        text = text[:start] + data.draw(st.sampled_from(PIECES)) + text[end:]
    require_in_place_or_refused(benchmark, made, data.draw(st.sampled_from([text, f"```python\n{text}```"])))


PIECES = [
    "", "(", ")", "[", "{", '"', "'", '"""', "\\", "\\\n", ":", ";", "\n", "\r", "\r\n", "\t", "\f", "\v", "\0", "\x1c",
    "\u2028", "\ud800", "\ufeff", "#", "@", "=", ":=", " ", "    ", "\n\n", "def ", "async ", "class A:", "return",
    "else:", "except:", "lambda", "yield", "await ", "```", "<think>", "é", "if 1:", "pass",
]  # fmt: skip


def test_code_of_an_absurd_length_is_refused() -> None:
    with pytest.raises(AnswerError, match="300,040 characters of code; at most 250,000 are allowed"):
        code_of(f"```python\ndef total(self, prices):\n    return 'x{'x' * 300_000}'\n```")


def test_a_method_on_one_line_is_an_answer_and_may_be_repaired() -> None:
    for benchmark in (BENCHMARKS["method_gen_multiturn"], BENCHMARKS["program_repair"]):
        read = benchmark.read(task(), "def total(self, prices): return 0")
        assert "    def total(self, prices): return 0\n" in read.edit.text
    short = FILE.replace(
        '    def total_of(self, prices):\n        """Return the sum."""\n', "    def total_of(self, prices): return 1\n"
    )
    short = short.replace("        return sum(prices)\n\n\n", "\n\n")
    read = read_repair(task(source=short), "def total_of(self, prices): return 2")
    assert "def total_of(self, prices): return 2" in read.edit.text and read.method == "Cart.total_of"


TEXTS = '''\
def total(self, prices):
    """Return a text.

    It has lines.
    """
    text = """
  a
\ttab\tand more
"""
    return text + f"""{prices}
    b"""
'''


@pytest.mark.parametrize("indent", ["", "    ", "\t"])
def test_texts_of_several_lines_stay_as_they_were_written(indent: str) -> None:
    def value(code: str) -> str:
        namespace: dict[str, Any] = {}
        exec(code, namespace)
        return namespace["Cart"]().total(1)

    method = textwrap.indent(
        TEXTS, indent, lambda line: not line.startswith(("  a", "\ttab", '"""', "    b")) and line != "\n"
    )
    read = read_method(task(), code_of(f"```python\n{method}```"))
    assert value(read.edit.text) == "\n  a\n\ttab\tand more\n1\n    b"
    assert '        """Return a text.\n\n        It has lines.\n        """\n' in read.edit.text or indent


def test_lines_end_where_python_ends_them() -> None:
    source = FILE.replace("class Cart", "\f\nSEPARATOR = '\x1c\u2028'\n\n\nclass Cart")
    made = task(source=source)
    for benchmark in BENCHMARKS.values():
        for answer in (benchmark.right(made), benchmark.right(made).replace("\n", "\r\n")):
            assert benchmark.read(made, answer).edit.text == source


NESTED = '''\
class Bag:
    def get(self, key):
        """Return what is there."""
        try:
            value = self.items[key]
        except KeyError:
            if key:
                return 1
            return 2
        else:
            return value
'''


def test_a_second_half_that_begins_within_blocks_is_indented_so_that_the_file_is_valid() -> None:
    made = task("Bag.get", NESTED)
    read = read_completion(made, textwrap.dedent(second_half(made)))
    assert outline(read.edit.text) == ["Bag.get"]


def test_of_two_methods_of_one_name_the_one_of_the_task_is_changed() -> None:
    source = FILE.replace("    def total_of(self, prices):", "    @total.setter\n    def total(self, prices):")
    first = next(method for method in methods_of(source) if method.qualified_name == "Cart.total")
    made = RepositoryTask("shop", "1", "cart.py", "t", first, source, ("t",), (), buggy_text=source)
    assert task_of_row(made.row(0)).method == first
    for benchmark in (BENCHMARKS["method_gen_multiturn"], BENCHMARKS["program_repair"]):
        read = benchmark.read(made, CODE)
        assert read.edit.text == source.replace(
            "".join(source.splitlines(keepends=True)[slice(*first.lines)]), f"{textwrap.indent(CODE, '    ')}\n"
        )
        assert read.edit.method == "", "its name is that of the other one, too"


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
