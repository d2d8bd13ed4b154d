"""The verdicts that files of samples have themselves."""

import json
from pathlib import Path

import pytest

from alpha_codium.audit.published.verdicts import verdict_column, verdicts_of
from alpha_codium.data.samples.reading import Row, read_samples
from alpha_codium.data.samples.runs import runs_of
from alpha_codium.errors import DatasetError


def row(task: str = "a", texts: tuple[str, ...] = ("x",), **values: object) -> Row:
    return Row(task, texts, values=values, where="file, row 1")


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(True, True), (False, False), (None, None), (1, True), (0.5, False), ("pass", True), ("Passed", True),
     ("failed: AssertionError", False), ("timed out", False)],
)  # fmt: skip
def test_a_verdict_is_a_truth_value_a_score_or_a_word(value: object, verdict: bool | None) -> None:
    assert verdicts_of(row(passed=value), "passed") == [verdict]


def test_a_list_has_a_verdict_for_each_program() -> None:
    assert verdicts_of(row(texts=("x", "y"), graded_list=[True, False]), "graded_list") == [True, False]
    with pytest.raises(DatasetError, match="1 verdict for 2 programs"):
        verdicts_of(row(texts=("x", "y"), graded_list=[True]), "graded_list")


@pytest.mark.parametrize("value", ["maybe", 7, {"a": 1}])
def test_what_is_no_verdict_is_an_error(value: object) -> None:
    with pytest.raises(DatasetError, match="file, row 1: passed must be true or false"):
        verdicts_of(row(passed=value), "passed")


def test_the_column_is_recognized_or_named() -> None:
    assert verdict_column([row(is_solved=True)]) == "is_solved"
    assert verdict_column([row(mine=True, passed=False)], "mine") == "mine"
    with pytest.raises(DatasetError, match="did you mean 'mine'"):
        verdict_column([row(mine=True)], "mime")
    with pytest.raises(DatasetError, match="`verdict_column`"):
        verdict_column([row(other=1)])


def test_runs_are_told_apart_by_a_column_in_which_problems_have_several_values() -> None:
    rows = [row("a", run="x"), row("a", run="y"), row("b", run="x")]
    assert runs_of(rows) == {"run": ["x", "y"]}
    assert runs_of(rows[1:]) == {}


def test_results_of_evalplus_and_livecodebench_are_read(tmp_path: Path) -> None:
    evalplus = {"eval": {"HumanEval/0": [{"solution": "x", "base_status": "pass", "plus_status": "fail"}] * 2}}
    (tmp_path / "eval_results.json").write_text(json.dumps(evalplus))
    rows = read_samples(tmp_path / "eval_results.json")
    assert verdict_column(rows) == "plus_status"
    assert [verdicts_of(each, "base_status") for each in rows] == [[True, True]]
    livecodebench = [{"question_id": "abc", "code_list": ["x", "y"], "graded_list": [True, False], "pass@1": 0.5}]
    (tmp_path / "eval_all.json").write_text(json.dumps(livecodebench))
    rows = read_samples(tmp_path / "eval_all.json")
    assert [verdicts_of(each, verdict_column(rows)) for each in rows] == [[True, False]]
