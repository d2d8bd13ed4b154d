import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha_codium.data import load_solutions, run_etl, save_solutions
from alpha_codium.data.solutions import CANDIDATES, DETAILS
from alpha_codium.errors import DatasetError
from tests.data.records import record, write_jsonl


def row(name: str, *programs: str) -> dict:
    count = len(programs)
    return {
        "task_name": name,
        CANDIDATES: list(programs),
        "sample_index": list(range(count)),
        "model": ["m"] * count,
        "flow": ["baseline"] * count,
        "prompt_tokens": [10] * count,
        "completion_tokens": [5] * count,
        "llm_calls": [1] * count,
        "cost": [None, 0.5, 0.0][:count],
        "sample_errors": ["" if program else "model: no code" for program in programs],
    }


ROWS = [row("a", "print(1)", ""), row("b"), row("c", "x")]


@pytest.mark.parametrize("where", ["named", "./folder", "./rows.parquet", "rows2.parquet"])
def test_solutions_come_back_as_they_were_saved(where, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = save_solutions(ROWS, where)
    assert path.exists()
    assert load_solutions(where).to_list() == ROWS
    assert load_solutions(path).to_list() == ROWS


def test_solutions_open_with_plain_datasets(home):
    import datasets

    save_solutions(ROWS, "out")
    stored = datasets.load_from_disk(str(home / "datasets" / "out"))
    assert stored.to_list() == ROWS
    assert stored.features["cost"].feature.dtype == "float64"


@given(st.lists(st.lists(st.text(), max_size=3), max_size=4))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_programs_survive(tmp_path, programs):
    rows = [row(str(number), *texts) for number, texts in enumerate(programs)]
    save_solutions(rows, tmp_path / "out")
    assert load_solutions(tmp_path / "out").to_list() == rows


def test_saving_again_takes_the_place_of_what_was_there(home):
    save_solutions(ROWS, "out")
    before = load_solutions("out")
    save_solutions(ROWS[:1], "out")
    assert load_solutions("out").to_list() == ROWS[:1]
    assert before.to_list() == ROWS, "who reads the old rows goes on reading them"
    assert [path.name for path in (home / "datasets").iterdir()] == ["out"]


def test_problems_are_not_overwritten_by_solutions(tmp_path):
    run_etl(str(write_jsonl(tmp_path / "p.jsonl", [record()])), "problems")
    with pytest.raises(DatasetError, match="is a dataset of problems"):
        save_solutions(ROWS, "problems")


def test_lists_of_different_length_are_a_fault_of_ours(tmp_path):
    with pytest.raises(ValueError, match="'a' differ in length"):
        save_solutions([ROWS[0] | {"cost": []}], tmp_path / "out")


def test_files_made_elsewhere_need_names_and_programs_only(tmp_path):
    path = tmp_path / "elsewhere.jsonl"
    path.write_text(json.dumps({"task_name": "a", CANDIDATES: ["x", "y"], "temperature": 0.8}) + "\n")
    assert load_solutions(path).to_list() == [{"task_name": "a", CANDIDATES: ["x", "y"]}]
    path.write_text(json.dumps({"task_name": "a", "programs": ["x"]}) + "\n")
    with pytest.raises(DatasetError, match="has no column solution_candidates"):
        load_solutions(path)
    path.write_text(json.dumps({"task_name": "a", CANDIDATES: "x"}) + "\n")
    with pytest.raises(DatasetError, match="row 1: solution_candidates must be a list of programs"):
        load_solutions(path)


def test_a_saved_dataset_of_one_split_will_do(tmp_path):
    from datasets import Dataset, DatasetDict

    DatasetDict({"train": Dataset.from_list([{"task_name": "a", CANDIDATES: ["x"]}])}).save_to_disk(tmp_path / "d")
    assert load_solutions(tmp_path / "d")["task_name"][:] == ["a"]


def test_the_columns_are_those_of_the_contract():
    assert list(DETAILS) == [
        *("sample_index", "model", "flow", "prompt_tokens", "completion_tokens", "llm_calls", "cost", "sample_errors")
    ]
