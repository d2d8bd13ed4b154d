"""What programs do on inputs without expected outputs: who agrees, and what is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.judge import Judge
from alpha_codium.judge.behaviour import ENDED, spelt
from alpha_codium.problem import ExecutionSpec, Problem, TestCase
from alpha_codium.verdict import Status

STDIN = Problem("S")
CALL = Problem("C", execution=ExecutionSpec("call", "f"))
ASSERTIONS = Problem("A", execution=ExecutionSpec("assertions", "f"))
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(scalars, inner, max_size=4))


async def behave(sandbox, problem, program, *inputs):
    return await Judge(sandbox).for_problem(problem).behaviour(program, inputs)


@pytest.mark.parametrize(
    ("problem", "one", "other", "text", "alike"),
    [
        (STDIN, "print(1, 2)", "print('1\\n2 ')", "", True),
        (STDIN, "print(0.30000000000000004)", "print('0.3')", "", True),
        (STDIN, "print(1)", "print(2)", "", False),
        (STDIN, "print('007')", "print('7')", "", False),
        (CALL, "def f(a): return (a, 2)", "def f(a): return [a, 2.0]", "[1]", True),
        (CALL, "def f(a): return {'a', 'b', 'c'}", "def f(a): return {'c', 'b', 'a'}", "[1]", True),
        (CALL, "def f(a): return a", "def f(a): return str(a)", "[1]", False),
        (ASSERTIONS, "def f(a): return {a: 1, 2: 3}", "def f(a): return {2: 3, a: True}", "f(1)", True),
        (ASSERTIONS, "def f(a): return (a, 2)", "def f(a): return [a, 2]", "f(1)", False),
        (ASSERTIONS, "def f(a): return object()", "def f(a):\n    return object()", "f(1)", True),
    ],
)
async def test_programs_behave_alike_if_their_results_are_equal(sandbox, problem, one, other, text, alike):
    ((first,), (second,)) = [await behave(sandbox, problem, program, text) for program in (one, other)]
    assert first.ran
    assert second.ran
    assert (first.key == second.key) == alike


@pytest.mark.parametrize(
    ("problem", "program", "text", "status", "shown"),
    [
        (STDIN, "print(1 // 0)", "", Status.RUNTIME_ERROR, "ZeroDivisionError"),
        (STDIN, "print(", "", Status.COMPILATION_ERROR, "SyntaxError"),
        (CALL, "def f(a): return 1 // 0", "[1]", Status.RUNTIME_ERROR, "ZeroDivisionError"),
        (CALL, "def f(a): return a", "[[1, 2]]", Status.FINISHED, "[1, 2]"),
        (ASSERTIONS, "def f(a): return 1 // 0", "f(1)", Status.RUNTIME_ERROR, "ZeroDivisionError"),
        (ASSERTIONS, "def g(a): return 1", "f(1)", Status.RUNTIME_ERROR, "name 'f' is not defined"),
        (ASSERTIONS, "def f(a): return [a, 'x']", "f(1)", Status.FINISHED, "[1, 'x']"),
    ],
)
async def test_what_a_program_did_is_shown(sandbox, problem, program, text, status, shown):
    (found,) = await behave(sandbox, problem, program, text)
    assert found.status is status
    assert shown in found.shown
    assert found.ran == (status is Status.FINISHED)


@pytest.mark.parametrize(("problem", "text"), [(CALL, "[1]"), (ASSERTIONS, "f(1)")])
@pytest.mark.parametrize("ending", ["raise SystemExit", "import os; os._exit(0)"])
async def test_a_function_that_ends_the_program_gave_no_value_and_agrees_with_none(sandbox, problem, text, ending):
    (found,) = await behave(sandbox, problem, f"def f(a): {ending}", text)
    assert (found.ran, found.status, found.shown) == (False, Status.RUNTIME_ERROR, ENDED)
    assert (await behave(sandbox, problem, "def f(a): return None", text))[0].ran


@pytest.mark.parametrize("program", ["print(object(), input)", "raise ValueError(object())"])
async def test_shown_and_compared_texts_hold_no_addresses(sandbox, program):
    (found,) = await behave(sandbox, STDIN, program, "")
    assert "<object object>" in found.shown
    assert "0x" not in found.shown + found.key


async def test_after_a_limit_the_other_inputs_are_not_run(sandbox):
    spin = "import os\nif input() == 'spin':\n    while True: pass\nprint(1)"
    problem = Problem("S", time_limit_seconds=0.1)
    found = await behave(sandbox, problem, spin, "go", "spin", "go")
    assert [each.ran for each in found] == [True, False, False]
    assert found[1].shown == "(time limit exceeded)"


@pytest.mark.parametrize(
    ("assertion", "program", "shown"),
    [
        ("assert f(1) == 2", "def f(a): return 7", "7"),
        ("assert f(1)", "def f(a): return []", "[]"),
        ("assert not f(1)", "def f(a): return [0]", "[0]"),
        ("x = f(1)\nassert x == 2", "def f(a): return 7", "AssertionError"),
        ("assert f(1) == 2", "def f(a): return {}['k']", "KeyError: 'k'"),
        ("assert f(1) == 2", "def f(a): raise SystemExit", ENDED),
    ],
)
async def test_a_failed_assertion_shows_the_actual_value(sandbox, assertion, program, shown):
    judge, test = Judge(sandbox).for_problem(ASSERTIONS), TestCase(assertion, "")
    (result,) = (await judge.judge(program, [test])).tests
    assert (await judge.actual_output(program, test, result.execution)).shown == shown


@pytest.mark.parametrize(
    ("problem", "text", "fits"),
    [
        (STDIN, "anything", True),
        (CALL, "[1, 2]", True),
        (CALL, "1, 2", False),
        (CALL, "{}", False),
        (ASSERTIONS, "f(1)", True),
        (ASSERTIONS, "f(1", False),
        (ASSERTIONS, "import os", False),
    ],
)
def test_invalid_inputs_have_a_reason(problem, text, fits):
    assert (Judge(None).for_problem(problem).kind.input_fault(text) == "") == fits


@pytest.mark.thorough
@given(values)
def test_an_exact_spelling_reads_back(value):
    assert eval(spelt(value)) == value


@given(st.dictionaries(scalars, scalars, max_size=5), st.randoms())
def test_the_order_of_a_dict_does_not_matter(items, chance):
    turned = list(items.items())
    chance.shuffle(turned)
    assert spelt(dict(turned), exact=False) == spelt(items, exact=False)


@given(st.integers(-(10**6), 10**6))
def test_numbers_that_are_equal_are_spelt_alike(number):
    assert spelt([number], exact=False) == spelt([float(number)], exact=False)


def test_huge_numbers_and_infinities_can_be_spelt():
    assert spelt(10**9999, exact=False).startswith("0x")
    assert (spelt(float("inf"), exact=False), spelt(float("nan"), exact=False)) == ("inf", "nan")
