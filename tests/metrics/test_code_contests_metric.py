"""pass@k of rows of candidates beside rows of tests, by itself and through `evaluate`."""

from pathlib import Path

import pytest

import alpha_codium.metrics
from alpha_codium.errors import UserError
from alpha_codium.metrics.code_contests import compute
from tests.metrics.evaluating import through_evaluate

FOLDER = Path(alpha_codium.metrics.__file__).parent / "code_contests"
DOUBLE = "print(2 * int(input()))"
PREDICTIONS = [
    {"task_name": "double", "solution_candidates": [DOUBLE, "print(2)"]},
    {"task_name": "nothing tried", "solution_candidates": []},
    {"task_name": "nothing asked", "solution_candidates": [DOUBLE, DOUBLE]},
]
REFERENCES = [
    {"tests_inputs": ["1", "21"], "tests_outputs": ["2", "42"]},
    {"tests_inputs": ["1"], "tests_outputs": ["2"]},
    {"tests_inputs": [], "tests_outputs": []},
]


def test_scores_inputs_and_results_come_back():
    pass_at_k, inputs, results = compute(PREDICTIONS, REFERENCES, k=[1, 2, 3])
    assert pass_at_k == {"pass@1": pytest.approx(1 / 6), "pass@2": pytest.approx(1 / 3), "pass@3": None}
    assert inputs == [p | r for p, r in zip(PREDICTIONS, REFERENCES, strict=True)]
    assert [each["verdict"] for each in results["double"]] == ["accepted", "wrong_answer"]
    assert [each["tests_passed"] for each in results["double"]] == [2, 1]
    assert results["nothing tried"] == []
    assert {each["verdict"] for each in results["nothing asked"]} == {"no_tests"}


@pytest.mark.thorough
@pytest.mark.parametrize("tester_type", ["local", "portable", None])
def test_evaluate_loads_it_with_the_sandbox_as_the_configuration(tester_type, tmp_path):
    arguments = {"predictions": PREDICTIONS, "references": REFERENCES, "k": [1]}
    pass_at_k, inputs, results = through_evaluate(FOLDER, tmp_path, tester_type, **arguments)
    assert pass_at_k == {"pass@1": pytest.approx(1 / 6)}
    assert inputs[0] == PREDICTIONS[0] | REFERENCES[0] and results["double"][0]["verdict"] == "accepted"


async def test_it_works_where_an_event_loop_runs():
    assert compute(PREDICTIONS[:1], REFERENCES[:1], k=[1])[0] == {"pass@1": 0.5}


def test_a_mistyped_sandbox_is_one_clear_line():
    with pytest.raises(UserError, match="did you mean 'local'"):
        compute(PREDICTIONS, REFERENCES, "locl")


@pytest.mark.parametrize(
    ("predictions", "references", "message"),
    [
        (PREDICTIONS, REFERENCES[:1], "differ in number: 3 and 1"),
        ([PREDICTIONS[0] | {"solution_candidates": DOUBLE}], REFERENCES[:1], "solution_candidates must be a list of"),
        (
            PREDICTIONS[:1],
            [{"tests_inputs": "1", "tests_outputs": "2"}],
            r"\[0\]: tests_inputs must be a list of strings",
        ),
        ([{"task_name": "a"}], REFERENCES[:1], r"predictions\[0\] has no 'solution_candidates'"),
        (PREDICTIONS[:1], [{"tests_inputs": []}], r"references\[0\] has no 'tests_outputs'"),
        (PREDICTIONS[:1], [{"tests_inputs": ["1"], "tests_outputs": []}], "has 1 tests_inputs and 0 tests_outputs"),
        (PREDICTIONS[:1] * 2, REFERENCES[:1] * 2, "two problems of the split are called 'double'"),
    ],
)
def test_rows_that_are_none_are_one_clear_line(predictions, references, message):
    with pytest.raises(UserError, match=message):
        compute(predictions, references)


@pytest.mark.parametrize("k", [[], [0], "1", 3])
def test_a_k_that_is_none_is_one_clear_line(k):
    with pytest.raises(UserError, match="k must be a list of numbers above 0"):
        compute(PREDICTIONS, REFERENCES, k=k)
