"""What becomes of an answer where a function is to be completed: the whole, or its body alone."""

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.flows.tasks import extract_completion
from alpha_codium.languages.python.beginnings import beginning_of
from alpha_codium.languages.python.completion import completed

PROMPT = '''from typing import List
import math


def helper(x: float) -> float:
    """Twice x."""
    return 2 * x


def total(numbers: List[float]) -> float:
    """ The sum of what helper makes of them.
    >>> total([1.0])
    2.0
    """
'''
BODY = "result = 0.0\nfor number in numbers:\n    result += helper(number)\nreturn math.fsum([result])\n"
INDENTED = textwrap.indent(BODY, "    ")
WHOLE = "def total(numbers: List[float]) -> float:\n" + INDENTED


def fenced(code, tag="python"):
    code = code if code.endswith("\n") else code + "\n"
    return f"Here it is:\n```{tag}\n{code}```\nIt adds them up."


def program_of(answer, prompt=PROMPT):
    found = extract_completion(answer, beginning_of(prompt))
    return None if found is None else found.code


def value_of(program, numbers=(1.0, 2.5)):
    namespace = {}
    exec(compile(program, "program.py", "exec", dont_inherit=True), namespace)
    return namespace["total"](list(numbers))


BODIES = {
    "as it is to stand": INDENTED,
    "without indentation": BODY,
    "without that of its first line": INDENTED.removeprefix("    "),
    "indented by two": textwrap.indent(BODY, "  "),
    "indented by tabs": textwrap.indent(BODY.replace("    ", "\t"), "\t"),
    "indented by eight": textwrap.indent(BODY, "        "),
    "with a function in it": "def inner(x):\n    return helper(x)\nreturn sum(map(inner, numbers))\n",
    "one line": "return sum(helper(n) for n in numbers)",
    "one line, indented": "    return sum(helper(n) for n in numbers)",
}


FORMS = {"python": fenced, "fence": lambda body: fenced(body, ""), "bare": str}
# Without a fence nothing says where code that begins with a function ends: it is taken for a program.
CASES = [(form, body) for form in FORMS for body in BODIES if (form, body) != ("bare", "with a function in it")]


@pytest.mark.parametrize(("form", "body"), CASES, ids=map("-".join, CASES))
def test_a_body_alone_becomes_the_function(form, body):
    program = program_of(FORMS[form](BODIES[body]))
    assert program.startswith(PROMPT.rstrip())
    assert value_of(program) == 7.0


def test_a_whole_function_gets_the_imports_and_helpers_that_it_lacks():
    program = program_of(fenced(WHOLE))
    assert program.endswith("\n\n\n" + WHOLE)
    assert program.count("import math") == program.count("def helper") == 1
    assert value_of(program) == 7.0


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ("from typing import List\nimport math\n", ["def helper"]),
        ("import math\nfrom typing import *\n", ["from typing import List", "def helper"]),
        ("import math, os\nfrom typing import List, Dict\ndef helper(x):\n    return 2 * x\n", []),
    ],
)
def test_what_a_whole_function_has_is_not_put_before_it_again(given, missing):
    program = program_of(fenced(given + WHOLE))
    added = program.removesuffix(given + WHOLE).strip()
    assert [line for line in ("from typing import List", "import math", "def helper") if line in added] == missing
    assert value_of(program) == 7.0


def test_the_prompt_repeated_whole_stays_byte_for_byte():
    program = PROMPT + INDENTED + "\n# \t end"
    assert program_of(fenced(program)) == program + "\n"


def test_an_import_of_the_future_stays_the_first():
    program = program_of(fenced("from __future__ import annotations\n" + WHOLE))
    assert program.startswith("from __future__ import annotations\nfrom typing import List\n")
    assert value_of(program) == 7.0


def test_a_method_of_class_solution_is_left_as_it_is_but_for_the_imports():
    code = "class Solution:\n    def total(self, numbers: List[float]) -> float:\n        return 7.0\n"
    program = program_of(fenced(code), PROMPT)
    assert program.endswith("\n\n\n" + code)
    assert not program.startswith(PROMPT.rstrip())


def test_another_function_is_not_made_the_right_one():
    code = "def sum_up(numbers):\n    return 7.0\n"
    assert "def total" not in program_of(fenced(code))


@pytest.mark.parametrize("answer", ["", "I can't do that.", "```python\n\n```", "```text\nno code here at all\n```"])
def test_an_answer_without_code_is_none(answer):
    assert not (program_of(answer) or "").strip()


def test_where_the_description_is_no_code_the_answer_is_the_program():
    assert beginning_of("Write a function to add two numbers.\n\nassert add(1, 2) == 3\n") is None
    assert program_of(fenced(BODY), "Write a function.") == BODY


@pytest.mark.parametrize(
    "text",
    ["", "x = 1\n", "def f():\n    return 1\n\nx = 2\n", "class A:\n    pass\n", "def f(:\n", "def f(): return 1"],
)
def test_code_that_does_not_end_in_an_open_function_is_no_beginning(text):
    assert beginning_of(text) is None


@pytest.mark.parametrize(
    "text",
    ["def f(x):\n", "def f(x):\n\n", "@decorator\ndef f(x):\n    '''doc'''\n", "async def f(x):\n\t'''doc'''\n"],
)
def test_a_function_without_a_body_is_a_beginning(text):
    assert beginning_of(text).name == "f"


@given(st.text(alphabet="def returnx()=:\n \t'\"#,1+[]", max_size=60))
def test_any_code_gives_a_program_and_no_exception(code):
    beginning = beginning_of(PROMPT)
    program = completed(code, beginning)
    assert code.strip() in program or ast.parse(program)


@pytest.mark.parametrize(
    "code", ["return " + "1+" * 20_000 + "1", "(" * 5000, "x" + ".x" * 50_000, "return 1\n" * 9000]
)
def test_a_bomb_for_the_parser_costs_nothing(code):
    completed(code, beginning_of(PROMPT))
