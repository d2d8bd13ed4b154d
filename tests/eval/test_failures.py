"""What is kept of a failing test: enough to see why, in texts of bounded length that can be encoded."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium import evaluate
from alpha_codium.data.samples.setup import with_setup
from alpha_codium.eval.failures import KEPT, Failure, around_difference, shortened, shortened_end
from alpha_codium.judge import Rules
from alpha_codium.judge.assertions import AssertionsKind
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec, Problem, TestCase
from alpha_codium.report.samples import StoredSample
from alpha_codium.verdict import Execution, Status, Verdict
from tests.eval.splits import RIGHT, problem

# Text around the kept part: what was left out.
MARKS = 60


def asserting(code: str) -> Problem:
    return Problem("a", private_tests=(TestCase(code, ""),), execution=ExecutionSpec("assertions", "twice"))


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


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("import os; os._exit(3)", "ProgramEnded: it ended before its tests did (exit status 3)"),
        ("import os; os.kill(os.getpid(), 11)", "ProgramEnded: it ended before its tests did (signal 11)"),
        ("import sys; sys.exit(0)", "assert twice(1) == 2 (SystemExit: 0)"),
        ("raise KeyError(x)", "KeyError: 1"),
        ("return 3", "assert twice(1) == 2 (value: 3)"),
        ("return [0] * 10**10", "memory 1"),
    ],
)
def test_the_reason_in_one_line_says_how_a_program_ended(body, reason):
    row = {"task_name": "a", "solution_candidates": [f"def twice(x): {body}"]}
    (judged,) = evaluate([row], [asserting("assert twice(1) == 2")], k=[1]).problems
    shown = StoredSample("a", judged.candidates[0]).reason
    assert reason in shown
    assert shown.endswith(", and asked for more than there was") is ("memory" in reason)


def test_the_first_failing_test_is_named_by_its_place_if_the_first_failure_ends_the_program():
    rules = Rules(stop_on_first_failure=True)
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
def test_a_failing_assertion_is_kept_with_the_value_that_the_program_returned(test, assertion):
    code = test + ("check(twice)\n" if "check" in test else "")
    (failed,) = failures(asserting(code), "def twice(n):\n    return 2")
    assert failed
    assert (failed["assertion"], failed["actual"]) == (f"assert {assertion}(2) == 4", "2")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("test", "program", "actual"),
    [
        ("x = twice(1)\nassert x == 2", "def twice(n): return 7", "7"),
        ("assert abs(twice(0.1) - 0.2) < 1e-6", "def twice(n): return 0.5", "0.5"),
        ("assert len(twice(1)) == 2", "def twice(n): return None", "None"),
        ("assert sorted(twice(1)) == [1, 2]", "def twice(n): return ({n}, [n])", "({1}, [1])"),
        ("assert twice(1) == 2", "def twice(n): return [n] * 50_000", ""),
        ("assert twice(1) == 2", "class A:\n    def __repr__(self):\n        while 1: pass\ntwice = lambda n: A()", ""),
        ("assert twice(1) == 1\nassert twice(2) == 4", "def twice(n): return n // (2 - n)", ""),
    ],
    ids=["a variable", "a tolerance", "None", "a tuple", "a long list", "an object", "an exception"],
)
def test_the_value_that_a_failing_assertion_had_costs_no_other_run(test, program, actual):
    (failed,) = failures(asserting(test), program)
    assert failed
    assert (failed["verdict"], failed.get("actual", "")) == (
        "runtime_error" if "//" in program else "wrong_answer",
        actual,
    )


def test_an_exception_is_kept_with_the_frames_of_the_program_and_of_the_tests():
    raising = "def twice(n):\n    if n < 0:\n        raise ValueError(n)\n    return [][n]"
    expected_one = "try:\n    twice(-1)\nexcept ValueError:\n    pass\n"
    (failed,) = failures(asserting(f"{expected_one}assert twice(2) == 4"), raising)
    assert failed
    assert failed["assertion"] == "assert twice(2) == 4"
    assert 'File "program.py", line 4, in twice\n    return [][n]\n' in failed["stderr"]
    assert 'File "tests.py", line 5, in <module>\n    assert twice(2) == 4\n' in failed["stderr"]
    assert "ValueError" not in failed["stderr"] and "driver.py" not in failed["stderr"]


def test_an_assertion_of_the_program_itself_is_not_taken_for_one_of_the_tests():
    (failed,) = failures(asserting("assert twice(2) == 4"), "def twice(n): return n\nassert twice(1) == 2")
    assert failed
    assert 'File "program.py", line 2, in <module>' in failed["stderr"]
    assert "assertion" not in failed
    assert failed["stderr"].endswith("The program raised this while it was loaded, before the tests:\nAssertionError\n")
    assert not any("difference" in line for line in Failure.from_json(failed).lines(1))


@pytest.mark.thorough
def test_a_limit_that_was_reached_is_named_with_what_the_test_used():
    rows = [{"task_name": "a", "solution_candidates": ["while True: pass"]}]
    score = evaluate(rows, [problem("a")], k=[1], rules=Rules(cpu_seconds=0.5))
    (failed,) = [c["failure"] for c in score.to_json()["problems"][0]["candidates"]]
    assert re.match(
        r"CPU time [0-9.]+ s of 0.5 s, wall time [0-9.]+ s of 3.5 s, memory \d+ MiB of 1.0 GiB", failed["used"]
    )
    assert f"used {failed['used']}" in Failure.from_json(failed).lines(1)


def test_a_program_without_a_helper_of_the_prompt_is_told_how_to_add_it():
    spec = ExecutionSpec("assertions", "twice", "assert twice(half(4)) == 4", "def half(n):\n    return n // 2\n")
    (failed,) = failures(with_setup(Problem("a", execution=spec), "imports"), "def twice(n): return 2 * n")
    assert failed and "assertion" not in failed
    assert "half  # a helper of the prompt that the program doesn't define: setup = all" in failed["stderr"]
    assert not any("exec(" in line for line in Failure.from_json(failed).lines(1))


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


@pytest.mark.thorough
@given(st.integers(0, 50_000), st.sampled_from([1, 7, 80, 10**6]))
def test_the_difference_of_long_outputs_is_in_the_kept_part(place, width):
    lines = "".join("x" + ("\n" if n % width == 0 else "") for n in range(60_000))
    other = lines[:place] + "!" + lines[place + 1 :]
    kept, kept_other = around_difference(lines, other)
    assert "!" in kept_other and kept != kept_other


@given(st.text(max_size=300))
def test_any_stderr_may_hold_an_assertion_or_none(text):
    kind = AssertionsKind(None, Limits(), ExecutionSpec("assertions"))
    found = kind.failed_assertion(TestCase("", ""), Execution(Status.FINISHED, stderr=text))
    assert not found or found.startswith("assert ")


@pytest.mark.thorough
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
