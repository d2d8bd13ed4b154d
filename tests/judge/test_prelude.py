import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.judge import Judge, Rules
from alpha_codium.languages.python.prelude import with_prelude
from alpha_codium.problem import ExecutionSpec, Problem, TestCase
from alpha_codium.sandbox import Sandbox

FUTURE = "from __future__ import annotations"
LINES = [
    "x = 1", "import os", "# a comment", "", "def f(a: List): pass", "print(__doc__)", '"""text"""', "y = '''a\nb'''",
    f"{FUTURE}  # again", "if x:\n    pass", "from __future__ import (division,\n    generator_stop)",
]  # fmt: skip


@pytest.mark.parametrize(
    ("program", "whole"),
    [
        ("print(1)", "HEAD\nprint(1)"),
        (f"{FUTURE}\nprint(1)", f"{FUTURE}\nHEAD\n\nprint(1)"),
        (f'#!x\n"""Doc."""\n\n{FUTURE}\nx = 1', f'#!x\n"""Doc."""\n\n{FUTURE}\nHEAD\n\nx = 1'),
        (f"{FUTURE}; x = 1", f"{FUTURE}\nHEAD\nx = 1"),
        (f"{FUTURE}  # why\nx = 1", f"{FUTURE}\nHEAD\n# why\nx = 1"),
        ("from __future__ import (\n  annotations,\n)\nx", "from __future__ import (\n  annotations,\n)\nHEAD\n\nx"),
        ('"""Doc."""\nprint(__doc__)', '"""Doc."""\nHEAD\n\nprint(__doc__)'),
        (f"import os\n{FUTURE}", f"HEAD\nimport os\n{FUTURE}"),
        (f"x = '\n{FUTURE}", f"HEAD\nx = '\n{FUTURE}"),
        (f"{FUTURE}", f"{FUTURE}\nHEAD\n"),
        ("\ufeffprint(1)", "HEAD\nprint(1)"),
        (f"\ufeff{FUTURE}\nx = 1", f"{FUTURE}\nHEAD\n\nx = 1"),
        (f"{FUTURE}\rx = 1\r", f"{FUTURE}\nHEAD\n\nx = 1\n"),
        (f'("a"\n"b")\n{FUTURE}\nx = 1', f'("a"\n"b")\n{FUTURE}\nHEAD\n\nx = 1'),
    ],
)
def test_the_prelude_stands_after_what_must_stand_first(program, whole):
    assert with_prelude("HEAD", program) == whole


def test_without_a_prelude_a_program_stays_as_it_is():
    assert with_prelude("", f"{FUTURE}\nx") == f"{FUTURE}\nx"


@given(st.lists(st.sampled_from([FUTURE, *LINES]), max_size=6))
def test_a_program_that_compiles_does_so_with_a_prelude_and_has_all_its_statements(lines):
    program = "\n".join(lines)
    try:
        compile(program, "p", "exec", dont_inherit=True)
    except SyntaxError:
        return
    whole = with_prelude("import math; HEAD = 1", program)
    compile(whole, "p", "exec", dont_inherit=True)
    kept = [ast.unparse(node) for node in ast.parse(whole).body]
    assert [text for text in kept if text not in ("import math", "HEAD = 1")] == [
        ast.unparse(node) for node in ast.parse(program).body
    ]


@given(
    st.text(st.sampled_from("\"'\\\n\r;#( __future__from import annotations"), max_size=80).map(lambda t: t + "__doc__")
)
def test_code_without_assertions_keeps_everything_else(program):
    whole = with_prelude("HEAD", program)
    assert whole.replace("HEAD", "").translate({ord(c): None for c in " \t\f;\n\r"}) == program.translate(
        {ord(c): None for c in " \t\f;\n\r"}
    )


async def test_a_program_with_future_imports_runs_after_a_header_and_setup_code(both: Sandbox) -> None:
    problem = Problem("p", private_tests=(TestCase("4\n", "2.0\n"),), execution=ExecutionSpec(setup_code="two = 2"))
    program = f'"""Root."""\n{FUTURE}\ndef root(n: Undefined): return math.sqrt(n)\nprint(root(int(input())) * two / 2)'
    judge = Judge(both, Rules(header="import math")).for_problem(problem)
    judgement = await judge.judge(program, problem.private_tests)
    assert judgement.verdict == "accepted", judgement.tests[0].execution.stderr
