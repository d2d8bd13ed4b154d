"""The scores as one metric: `calculate_metrics` and `Metric`."""

import pytest

from alpha_codium.errors import UserError
from alpha_codium.eval.metric import Metric, calculate_metrics
from alpha_codium.eval.prepare import prepare_for_evaluation
from alpha_codium.problem import ExecutionSpec, Problem
from tests.eval.splits import RIGHT, WRONG, Arithmetic
from tests.eval.test_prepare import row
from tests.eval.test_scoring import SPLIT


def test_calculate_metrics_gives_scores_inputs_and_results() -> None:
    evaluation_set = prepare_for_evaluation([row("a", RIGHT, WRONG)], SPLIT[:2])
    pass_at_k, inputs, results = calculate_metrics(evaluation_set, [1], Arithmetic())
    assert pass_at_k == {"pass@1": 0.25}
    assert inputs[0] == {
        "task_name": "a",
        "solution_candidates": [RIGHT, WRONG],
        "tests_inputs": ["1\n", "2\n"],
        "tests_outputs": ["2\n", "4\n"],
    }
    assert [candidate["verdict"] for candidate in results["a"]] == ["accepted", "wrong_answer"]
    assert results["b"] == []


@pytest.mark.parametrize(
    ("predictions", "references", "said"),
    [
        ({"task_name": "d", "candidates": ["print(1)"]}, {"tests_inputs": ["1"], "tests_outputs": ["1"]},
         "each of predictions must be a dict with task_name and solution_candidates, "
         "not one with task_name, candidates"),
        ({"task_name": "d", "solution_candidates": []}, {"inputs": ["1"], "outputs": ["1"]},
         "each of references must be a dict with tests_inputs and tests_outputs, not one with inputs, outputs"),
        ("d", {}, "each of predictions must be a dict with task_name and solution_candidates, not str"),
    ],
)  # fmt: skip
def test_columns_of_other_names_are_one_clear_line(predictions, references, said) -> None:
    with pytest.raises(UserError) as raised:
        Metric().compute([predictions], [references])
    assert str(raised.value) == said


def test_the_package_exports_what_scores_candidates() -> None:
    import alpha_codium.eval as package

    assert (package.Metric, package.calculate_metrics) == (Metric, calculate_metrics)
    assert package.prepare_for_evaluation is prepare_for_evaluation
    with pytest.raises(AttributeError, match="no attribute 'Metrics'"):
        _ = package.Metrics


def test_calculate_metrics_takes_a_dataset_with_the_two_columns(tmp_path) -> None:
    import datasets

    evaluation_set = prepare_for_evaluation([row("a", RIGHT, WRONG)], SPLIT[:2])
    evaluation_set.save_to_disk(tmp_path / "set")
    dataset = datasets.load_from_disk(tmp_path / "set")
    assert dataset.column_names == ["predictions", "references"]
    given, read = (calculate_metrics(each, [1], Arithmetic()) for each in (evaluation_set, dataset))
    assert read == given
    with pytest.raises(UserError, match="expected an evaluation set, or a Dataset with the columns predictions and"):
        calculate_metrics(dataset.remove_columns("references"), [1], Arithmetic())
    with pytest.raises(UserError, match="not list"):
        calculate_metrics([], [1], Arithmetic())


def test_assertions_are_not_saved_as_inputs_and_outputs(tmp_path) -> None:
    asserting = Problem("f", execution=ExecutionSpec("assertions", entry_point="f", test_code="assert f()"))
    with pytest.raises(UserError, match="the tests of 'f' aren't inputs and outputs"):
        prepare_for_evaluation([], [asserting]).save_to_disk(tmp_path / "set")


def test_the_metric_takes_candidates_and_tests_by_themselves() -> None:
    predictions = [
        {"task_name": "x", "solution_candidates": [RIGHT, WRONG]},
        {"task_name": "y", "solution_candidates": []},
    ]
    references = [{"tests_inputs": ["4\n"], "tests_outputs": ["8\n"]}, {"tests_inputs": [], "tests_outputs": []}]
    pass_at_k, _, results = Metric().compute(predictions, references, k=[1])
    assert pass_at_k == {"pass@1": 0.25}
    assert results["x"][0]["tests"][0]["cpu_seconds"] > 0
    with pytest.raises(ValueError, match="differ in number: 2 and 1"):
        Metric().compute(predictions, references[:1])
