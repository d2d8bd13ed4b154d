"""Finding methods in a file, and changing one of them."""

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.repository.methods import (
    AnswerError,
    answered_method,
    class_doc,
    class_without_method,
    completion_parts,
    find_method,
    methods_of,
    stubbed,
    with_body,
    with_method,
    without_completion,
    without_method,
)

SOURCE = '''\
import functools


def plain(a, b=1):
    return a + b


class Shape:
    size = 1

    @property
    @functools.cache
    def area(
        self,  # no argument
    ):
        """Return the area.

        In square metres.
        """
        # Not the circumference.
        width = self.size

        return width * width

    class Corner:
        async def round(self):
            """Round it."""
            def inner():
                """Not a method."""
            return inner

        def one_line(self): return 1


def plain(a, b=2):
    """The second one counts."""
    return a - b
'''


def test_functions_and_methods_are_found_but_not_those_within_functions() -> None:
    names = [method.qualified_name for method in methods_of(SOURCE)]
    assert names == ["plain", "Shape.area", "Shape.Corner.round", "Shape.Corner.one_line", "plain"]


def test_a_method_has_its_declaration_docstring_and_body() -> None:
    method = find_method(SOURCE, "Shape.area")
    assert method.declaration == "    def area(\n        self,  # no argument\n    ):\n"
    assert method.docstring == "Return the area.\n\nIn square metres."
    assert textwrap.dedent(method.body) == ("# Not the circumference.\nwidth = self.size\n\nreturn width * width\n")
    assert method.decorators == 2
    lines = SOURCE.splitlines(keepends=True)
    assert "".join(lines[slice(*method.lines)]).startswith(method.declaration)
    assert "".join(lines[slice(*method.body_lines)]) == method.body


def test_of_two_functions_of_one_name_the_second_is_in_effect() -> None:
    assert find_method(SOURCE, "plain").docstring == "The second one counts."
    with pytest.raises(KeyError):
        find_method(SOURCE, "Shape.missing")


def test_methods_are_the_same_after_json() -> None:
    for method in methods_of(SOURCE):
        assert type(method).from_json(method.to_json()) == method


@pytest.mark.parametrize("name", ["Shape.area", "Shape.Corner.round", "plain"])
def test_changed_files_differ_only_in_the_method(name: str) -> None:
    method = find_method(SOURCE, name)
    lines = SOURCE.splitlines(keepends=True)
    assert with_method(SOURCE, method, "".join(lines[slice(*method.lines)])) == SOURCE
    assert with_body(SOURCE, method, method.body) == SOURCE
    assert name not in [each.qualified_name for each in methods_of(without_method(SOURCE, method))] or name == "plain"
    stub = stubbed(SOURCE, method)
    changed = find_method(stub, name)
    assert (changed.declaration, changed.docstring) == (method.declaration, method.docstring)
    assert changed.body.strip() == "raise NotImplementedError"
    assert with_body(stub, changed, method.body) == SOURCE


def test_a_method_has_the_text_and_docstring_of_its_innermost_class() -> None:
    source = '''\
class A:
    """Outer."""

    @decorated
    class B:
        """Inner."""

        size = 1

        @property
        def one(self):
            return 1

        last = 2

def two():
    return 2
'''
    one, two = find_method(source, "A.B.one"), find_method(source, "two")
    assert (class_doc(source, one), class_doc(source, two)) == ("Inner.", "")
    assert class_without_method(source, two) == ""
    assert textwrap.dedent(class_without_method(source, one)) == (
        '@decorated\nclass B:\n    """Inner."""\n\n    size = 1\n\n\n    last = 2\n'
    )


def test_the_parts_of_a_completion_are_the_body() -> None:
    method = find_method(SOURCE, "Shape.area")
    first, second = completion_parts(method)
    assert first + second == method.body
    assert second == "        return width * width\n"


@pytest.mark.parametrize(
    ("body", "second"),
    [
        ("a = 1\nreturn a\n", "return a\n"),
        ("return [\n    1,\n    2,\n]\n", "return [\n    1,\n    2,\n]\n"),
        ("if a:\n    b = 1\nelse:\n    b = 2\nreturn b\n", "    b = 2\nreturn b\n"),
        ("a = 1\ntry:\n    return a\nexcept ValueError:\n    b = 2\n    return b\n", "    b = 2\n    return b\n"),
        ("a = 1\ntry:\n    b = a\n    return b\nfinally:\n    print()\n", "    print()\n"),
    ],
)
@pytest.mark.parametrize("indent", ["", "    ", "        "])
def test_a_body_is_cut_at_a_statement_near_its_middle(body: str, second: str, indent: str) -> None:
    text = 'def name(a):\n    """Doc."""\n' + textwrap.indent(body, "    ")
    around = {"": "", "    ": "class A:\n", "        ": "class A:\n    class B:\n"}[indent]
    (method,) = methods_of(around + textwrap.indent(text, indent))
    assert completion_parts(method)[1] == textwrap.indent(second, f"{indent}    ")


def test_a_method_without_its_completion_fails_where_the_completion_begins() -> None:
    changed = without_completion(SOURCE, find_method(SOURCE, "Shape.area"))
    body = find_method(changed, "Shape.area").body
    assert body.endswith("\n        raise NotImplementedError\n") and "width * width" not in body


@pytest.mark.parametrize("decorator", ["", "@property\n", "@property\n@functools.cache\n"])
@pytest.mark.parametrize("indent", ["", "    ", "        "])
def test_an_answer_is_indented_as_in_the_file_and_loses_its_decorators(decorator: str, indent: str) -> None:
    method = find_method(SOURCE, "Shape.area")
    answer = textwrap.indent(f'{decorator}def area(self):\n    """Doc."""\n    return 4\n', indent)
    assert answered_method(answer, method) == '    def area(self):\n        """Doc."""\n        return 4\n'


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("def area(self):\n  return (", "the answer is not valid Python: "),
        ("Here it is:\n\ndef area(self):\n    return 1\n", "the answer is not valid Python: "),
        ("def other(self):\n    return 1\n", "the answer must be the method `area`, not `other`"),
        ("import os\ndef area(self):\n    return 1\n", "the answer must be only the method"),
        ("class Shape:\n    def area(self):\n        return 1\n", "the answer must be only the method"),
        ("", "the answer must be only the method"),
    ],
)
def test_an_answer_that_is_not_the_method_is_refused_with_the_reason(answer: str, reason: str) -> None:
    with pytest.raises(AnswerError, match=reason.replace("(", r"\(")):
        answered_method(answer, find_method(SOURCE, "Shape.area"))


@given(st.lists(st.sampled_from(["x = 1", "if x:\n    y = 2", "return x", "# why", "", "z = '''a\nb'''"]), min_size=1))
def test_any_body_can_be_put_into_the_file_and_found_again(statements: list[str]) -> None:
    method = find_method(SOURCE, "plain")
    body = textwrap.indent("\n".join([*statements, "pass"]), "    ") + "\n"
    changed = with_body(SOURCE, method, body)
    ast.parse(changed)
    assert find_method(changed, "plain").body == body
