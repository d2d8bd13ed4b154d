"""What is kept of a failing test: enough to see why, in texts of bounded length that can be encoded."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium import evaluate
from alpha_codium.eval.failures import KEPT, Failure, around_difference, failed_assertion, shortened, shortened_end
from alpha_codium.problem import ExecutionSpec, Problem, TestCase
from alpha_codium.verdict import Verdict
from tests.eval.splits import RIGHT, problem

# Text around the kept part: what was left out.
MARKS = 60


def failures(given: Problem, *programs: str) -> list[dict | None]:
    rows = [{"task_name": given.name, "solution_candidates": list(programs)}]
    return [c.get("failure") for c in evaluate(rows, [given], k=[1]).to_json()["problems"][0]["candidates"]]


def test_a_wrong_output_is_kept_with_the_expected_one_and_the_end_of_stderr():
    wrong = "import sys\nn = int(input())\nprint('debug', n, file=sys.stderr)\nprint(2)"
    right, failed = failures(problem("a"), RIGHT, wrong)
    assert right is None
    assert failed == {
        "test": 1, "verdict": "wrong_answer", "input": "2\n", "expected": "4\n", "actual": "2\n",
        "stderr": "debug 2\n", "exit_code": 0, "signal": None,
    }  # fmt: skip


def test_a_crash_and_a_program_that_does_not_compile_are_kept_with_their_reason():
    crashed, uncompiled = failures(problem("a"), "print('so far')\n1 / 0", "print(")
    assert crashed and uncompiled
    assert (crashed["verdict"], crashed["actual"], crashed["exit_code"]) == ("runtime_error", "so far\n", 1)
    assert crashed["stderr"].endswith("ZeroDivisionError: division by zero\n")
    assert (uncompiled["test"], uncompiled["verdict"]) == (None, "compilation_error")
    assert "SyntaxError" in uncompiled["stderr"]


def test_the_first_failing_test_is_named_by_its_place_even_if_another_ran_first(monkeypatch):
    from alpha_codium.judge import Rules

    rules = Rules(stop_on_first_failure=True, test_order="fails_soonest")
    programs = ["print(2 if int(input()) == 1 else 0)", "print(4 if int(input()) == 2 else 0)"]
    rows = [{"task_name": "a", "solution_candidates": programs}]
    results = evaluate(rows, [problem("a")], k=[1], rules=rules).to_json()["problems"][0]["candidates"]
    for result in results:
        assert result["failure"]["expected"] == {0: "2\n", 1: "4\n"}[result["failure"]["test"]]


@pytest.mark.parametrize(
    ("test", "assertion"),
    [
        ("def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(2) == 4\n", "candidate"),
        ("assert twice(1) == 2\nassert twice(2) == 4\n", "twice"),
    ],
)
def test_a_failing_assertion_is_kept_with_the_value_that_it_compared(test, assertion):
    code = test + ("check(twice)\n" if "check" in test else "")
    spec = ExecutionSpec("assertions", "twice")
    given = Problem("a", private_tests=(TestCase(code, ""),), execution=spec)
    (failed,) = failures(given, "def twice(n):\n    return 2")
    assert failed
    assert (failed["assertion"], failed["actual"]) == (f"assert {assertion}(2) == 4", "2")


def test_a_call_is_kept_with_the_value_that_it_returned():
    spec = ExecutionSpec("call", "twice")
    given = Problem("a", private_tests=(TestCase("[3]", "6"),), execution=spec)
    (failed,) = failures(given, "def twice(n):\n    return [n, n]")
    assert failed
    assert (failed["input"], failed["expected"], failed["actual"]) == ("[3]", "6", "[3, 3]")


@given(st.text(max_size=3000), st.text(max_size=3000))
def test_kept_texts_are_short_can_be_encoded_and_show_the_first_difference(expected, actual):
    for text in (shortened(expected), shortened_end(expected), *around_difference(expected, actual)):
        text.encode("utf-8")
        assert len(text) <= KEPT + MARKS


@given(st.integers(0, 50_000), st.sampled_from([1, 7, 80, 10**6]))
def test_the_difference_of_long_outputs_is_in_the_kept_part(place, width):
    lines = "".join("x" + ("\n" if n % width == 0 else "") for n in range(60_000))
    other = lines[:place] + "!" + lines[place + 1 :]
    kept, kept_other = around_difference(lines, other)
    assert "!" in kept_other and kept != kept_other


@given(st.text(max_size=300))
def test_any_stderr_may_hold_an_assertion_or_none(text):
    found = failed_assertion(text)
    assert not found or found.startswith("assert ")


@given(
    st.builds(
        Failure,
        st.none() | st.integers(0, 9),
        st.sampled_from(list(Verdict)),
        *[st.text(max_size=40)] * 5,
        st.none() | st.integers(0, 255),
        st.none() | st.integers(1, 64),
    )
)
def test_a_failure_survives_json_and_can_be_shown(failure):
    assert Failure.from_json(json.loads(json.dumps(failure.to_json()))) == failure
    assert all("\n" not in line for line in failure.lines(9))
