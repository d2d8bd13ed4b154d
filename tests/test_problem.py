"""Problems, and what of them a flow may see."""

import dataclasses

from alpha_codium.problem import ExecutionSpec, Problem, Statement, TestCase, TestType

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
