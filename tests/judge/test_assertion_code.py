"""Tests that are functions and classes, which nobody calls."""

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge.assertion_code import runnable
from alpha_codium.judge.assertions import AssertionsKind
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec, TestCase
from alpha_codium.program import PYTHON, Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Verdict
from tests.judge.asserting import Unpaired, judged_in_batch
from tests.judge.uncalled_tests import FORMS, RIGHT, TOGETHER, WRONG


def kind_in(sandbox: Sandbox) -> AssertionsKind:
    return AssertionsKind(sandbox, Limits(cpu_seconds=5.0), ExecutionSpec("assertions"))


@pytest.mark.parametrize("form", [*FORMS, *TOGETHER])
@pytest.mark.parametrize("paired", [True, pytest.param(False, marks=pytest.mark.thorough)])
async def test_tests_that_nobody_calls_are_run(both: Sandbox, form: str, paired: bool) -> None:
    kind, code = kind_in(both if paired else Unpaired(both)), {**FORMS, **TOGETHER}[form]
    assert kind.fault_of(TestCase(code, "")) == ""
    results = [await kind.judge(Program.from_source(PYTHON, program), code) for program in (RIGHT, WRONG, "x = 1")]
    said = [(each.verdict, each.execution.stderr) for each in results]
    assert [each.verdict is Verdict.ACCEPTED for each in results] == [True, False, False], said
    assert results[0].trust == ("outside" if paired and form in FORMS else "in_process")
    assert Verdict.INTERNAL_ERROR not in [each.verdict for each in results]


TABLES = """
import pandas as pd
def test_it():
    assert total([1, 2]) == 3
    pd.testing.assert_frame_equal(table([1, 2]), pd.DataFrame({"x": [1, 2]}))
"""
TABLE = """
import pandas as pd
def total(xs): return sum(xs)
def table(xs): return pd.DataFrame({"x": xs})
"""


@pytest.mark.thorough
async def test_values_of_a_package_are_compared_in_the_programs_process_only_if_need_be(both: Sandbox) -> None:
    kind, only_total = kind_in(both), "\n".join(TABLES.splitlines()[:4])
    right = Program.from_source(PYTHON, TABLE)
    wrong = Program.from_source(PYTHON, TABLE.replace('"x": xs', '"x": xs[1:]'))
    found = [await kind.judge(*each) for each in ((right, only_total), (right, TABLES), (wrong, TABLES))]
    assert [(each.verdict, each.trust) for each in found] == [
        (Verdict.ACCEPTED, "outside"),
        (Verdict.ACCEPTED, "in_process"),
        (Verdict.WRONG_ANSWER, "in_process"),
    ]


@pytest.mark.thorough
async def test_a_batch_gives_the_same_verdicts(both: Sandbox) -> None:
    kind, programs = kind_in(both), [RIGHT, WRONG, "x = 1", RIGHT + "\n"]
    for form, code in FORMS.items():
        results = await judged_in_batch(kind, [(program, code) for program in programs])
        assert [each.verdict is Verdict.ACCEPTED for each in results] == [True, False, False, True], form


async def test_what_a_file_calls_itself_is_run_beside_its_tests(both: Sandbox) -> None:
    code = "def more():\n    assert add(2, 2) == 4\ndef test_it():\n    assert add(1, 2) == 3\n"
    program = Program.from_source(PYTHON, "def add(a, b): return 3")
    for end in ("if __name__ == '__main__':\n    more()\n    unittest.main()", "def main():\n    more()\nmain()"):
        assert (await kind_in(both).judge(program, code + end)).verdict is Verdict.WRONG_ANSWER
    assert (await kind_in(both).judge(program, code)).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize("form", ["{}\nassert f(3) == 3", "{}\ndef test_it(): assert f(3) == 3"])
async def test_a_program_without_what_a_test_imports_fails(both: Sandbox, form: str) -> None:
    code, kind, together = form.format("from solution import f, other"), kind_in(both), kind_in(Unpaired(both))
    caught = "try:\n    from solution import f, other\nexcept ImportError:\n    from solution import f"
    for text, verdict in ((code, Verdict.RUNTIME_ERROR), (form.format(caught), Verdict.ACCEPTED)):
        lacking, defining = "def f(x): return x", "def f(x): return x\nother = None"
        results = await judged_in_batch(kind, [(lacking, text), (defining, text), (lacking, text)])
        results += [await each.judge(Program.from_source(PYTHON, lacking), text) for each in (kind, together)]
        assert [each.verdict for each in results] == [verdict, Verdict.ACCEPTED, verdict, verdict, verdict]


# A test that is found, beside one that isn't.
SEEN = "def test_seen(): assert f(1)\n"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import pytest\n@pytest.mark.skip\ndef test_it(): assert f(1)", "all its tests are skipped"),
        (
            "import pytest\nclass TestIt:\n    @classmethod\n    def setup_class(cls): pass\n    @pytest.mark.skip\n"
            "    def test_it(self): assert f(1)",
            "all its tests are skipped",
        ),
        ("def test_it(database): assert f(database)", "needs 'database', which it doesn't define"),
        ("import pytest\ndef test_it():\n    pytest.skip('no')\n    assert f(1)", r"can skip itself \(pytest.skip\)"),
        ("import solution\ndef test_it(): assert hasattr(solution, 'f')", "uses the program as a module, solution"),
        ("class TestX:\n    def helper(self): assert f(1)", "asserts nothing"),
        ("def helper(): assert f(1)", "asserts nothing"),
        (f"{SEEN}class TestA:\n    class TestB:\n        def test_it(self): assert f(2)", "isn't supported: TestB"),
        (f"{SEEN}import sys\nif sys.version_info > (3, 8):\n    def test_b(): assert f(2)", "isn't supported: test_b"),
        (f"{SEEN}def _check(): assert f(2)\ntest_b = _check", "isn't supported: test_b = _check"),
        (
            "class TestA:\n    def test_a(self): assert f(1)\n    test_b = lambda self: f(2)",
            "isn't supported: test_b = lambda",
        ),
        (f"{SEEN}for i in range(3):\n    globals()[f'test_{{i}}'] = lambda: f(i)", r"isn't supported: globals\(\)"),
        (f"{SEEN}class TestA: pass\nsetattr(TestA, 'test_b', lambda self: f(2))", r"isn't supported: setattr\(TestA"),
        (f"{SEEN}def test_b():\n    yield\n    assert f(2)", "isn't supported: test_b"),
    ],
)
def test_tests_that_cannot_be_run_are_named(code: str, reason: str) -> None:
    assert re.search(reason, kind_in(None).fault_of(TestCase(code, "")))  # type: ignore[arg-type]


async def test_tests_that_are_all_skipped_while_they_run_do_not_pass(both: Sandbox) -> None:
    code = "import pytest\n@pytest.mark.skipif(len('x') == 1, reason='no')\ndef test_it():\n    assert add(1, 2) == 3\n"
    result = await kind_in(both).judge(Program.from_source(PYTHON, RIGHT), code)
    assert (result.verdict, result.failure) == (Verdict.WRONG_ANSWER, "no test ran")


@pytest.mark.parametrize("code", ["assert f(1) == 2", "def check(candidate):\n    assert candidate(1) == 2"])
def test_other_code_is_left_as_it_is(code: str) -> None:
    assert runnable(code).code == code


@given(st.lists(st.sampled_from([*FORMS.values(), *TOGETHER.values()]), max_size=3), st.text("aé \n#'", max_size=20))
def test_any_two_forms_are_still_python_together(forms: list[str], comment: str) -> None:
    text = "\n".join(["'''" + comment.replace("'", "") + "'''", *forms])
    with contextlib.suppress(Unjudgeable):
        compile(runnable(text).code, "tests.py", "exec")
