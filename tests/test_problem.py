"""Problems, and what of them a flow may see."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.problem import CheckerSpec, ExecutionSpec, Problem, Solution, Statement, TestCase, TestType

PUBLIC, PRIVATE, GENERATED = (TestCase(name, name) for name in ("public", "private", "generated"))
PROBLEM = Problem(
    "a", "text", (PUBLIC,), (PRIVATE,), (GENERATED,), source=2, difficulty=7, tags=("x",), time_limit_seconds=1.0
)


def test_a_statement_holds_name_description_and_public_tests_and_nothing_else() -> None:
    assert [field.name for field in dataclasses.fields(Statement)] == ["name", "description", "public_tests"]
    assert PROBLEM.statement == Statement("a", "text", (PUBLIC,))


def test_a_statement_does_not_lead_back_to_its_problem() -> None:
    assert "private" not in repr(PROBLEM.statement)
    assert not hasattr(PROBLEM.statement, "__dict__")


def test_tests_come_in_the_datasets_order_public_ones_first_whatever_order_is_asked_for() -> None:
    assert PROBLEM.tests([TestType.GENERATED, TestType.PUBLIC]) == (PUBLIC, GENERATED)
    assert PROBLEM.tests(list(TestType)) == (PUBLIC, PRIVATE, GENERATED)
    assert PROBLEM.tests([]) == ()


def test_code_with_assertions_is_one_more_private_test() -> None:
    problem = dataclasses.replace(PROBLEM, execution=ExecutionSpec("assertions", "f", "assert f(1)"))
    assert problem.tests([TestType.PRIVATE]) == (PRIVATE, TestCase("assert f(1)", ""))
    assert problem.tests([TestType.PUBLIC, TestType.GENERATED]) == (PUBLIC, GENERATED)
    assert dataclasses.replace(PROBLEM, execution=ExecutionSpec("assertions", "f", " ")).tests([TestType.PRIVATE]) == (
        PRIVATE,
    )
    assert dataclasses.replace(PROBLEM, execution=ExecutionSpec("call", "f", "x")).tests([TestType.PRIVATE]) == (
        PRIVATE,
    )


def test_a_kind_asked_for_twice_is_given_once() -> None:
    assert PROBLEM.tests([TestType.PRIVATE, TestType.PRIVATE]) == (PRIVATE,)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TestCase(1, "2"), "input must be a str, not int: 1"),
        (lambda: Problem("a", private_tests=[PRIVATE]), r"private_tests must be a tuple of TestCase, not list: \[Test"),
        (lambda: Problem("a", public_tests=(("1", "2"),)), r"public_tests\[0\] is tuple: \('1', '2'\)"),
        (lambda: Problem("a", tags="dp"), "tags must be a tuple of str, not str: 'dp'"),
        (lambda: Problem("a", difficulty=float("nan")), "difficulty must be a whole number, not float: nan"),
        (lambda: Problem(7), "name must be a str, not int: 7"),
        (lambda: Statement("a", "text", [PUBLIC]), "public_tests must be a tuple of TestCase, not list"),
    ],
)
def test_a_field_of_the_wrong_type_is_refused_where_it_is_given(make, message) -> None:
    with pytest.raises(TypeError, match=message):
        make()


TEXTS, TESTS_ = st.text(max_size=5), st.lists(st.builds(TestCase, st.text(max_size=5), st.text(max_size=5)), max_size=2)
SOLUTIONS = st.lists(st.builds(Solution, st.text(max_size=5), st.text(max_size=5)), max_size=2)
PROBLEMS = st.builds(
    Problem,
    TEXTS,
    TEXTS,
    *[TESTS_.map(tuple)] * 3,
    tags=st.lists(TEXTS, max_size=2).map(tuple),
    solutions=SOLUTIONS.map(tuple),
    incorrect_solutions=SOLUTIONS.map(tuple),
    time_limit_seconds=st.none() | st.floats(0.1, 9),
    memory_limit_bytes=st.none() | st.integers(1, 1 << 40),
    checker=st.none() | st.builds(CheckerSpec, TEXTS, st.dictionaries(TEXTS, st.integers() | TEXTS, max_size=2)),
    execution=st.builds(ExecutionSpec, *[TEXTS] * 5),
    input_file=TEXTS,
    output_file=TEXTS,
)


@given(PROBLEMS)
def test_a_whole_problem_crosses_the_wire(problem: Problem) -> None:
    assert Problem.from_json(json.loads(json.dumps(problem.to_json()))) == problem


def test_of_a_problem_only_what_it_has_is_sent() -> None:
    assert Problem("a", private_tests=(TestCase("1", "2"),)).to_json() == {
        "name": "a",
        "private_tests": [{"input": "1", "output": "2"}],
        "execution": {"kind": "stdin", "language": "python3"},
    }


def test_a_field_that_a_problem_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match=r"not a Problem: .*'kind'"):
        Problem.from_json({"name": "a", "kind": "call"})


@pytest.mark.parametrize(("given", "kept"), [(268435456.5, 268435456), (np.float64(1e9), 10**9), (np.int64(7), 7)])
def test_a_memory_limit_is_a_whole_number_of_bytes(given: float, kept: int) -> None:
    found = Problem("p", memory_limit_bytes=given).memory_limit_bytes
    assert (found, type(found)) == (kept, int)
