import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha_codium.data.etl import run_etl
from alpha_codium.data.load import load_problems
from alpha_codium.data.solutions import (
    CANDIDATES,
    DETAILS,
    ORIGIN,
    load_solutions,
    origin_of,
    refuse_other_problems,
    save_solutions,
)
from alpha_codium.data.subset import Subset
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


@pytest.mark.thorough
@given(st.lists(st.lists(st.text(), max_size=3), max_size=4))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_programs_survive(tmp_path, programs):
    rows = [row(str(number), *texts) for number, texts in enumerate(programs)]
    save_solutions(rows, tmp_path / "out")
    assert load_solutions(tmp_path / "out").to_list() == rows


def test_a_run_of_solve_set_has_its_solutions_by_its_name(home):
    save_solutions(ROWS, home / "runs" / "mine" / "solutions")
    assert load_solutions("mine").to_list() == ROWS
    save_solutions(ROWS[:1], "mine")
    assert load_solutions("mine").to_list() == ROWS[:1], "a dataset of the name goes before"


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


def problems_of(tmp_path, *names):
    path = write_jsonl(tmp_path / f"{'_'.join(names)}.jsonl", [record(name) for name in names])
    return load_problems(path, "test")


@pytest.mark.parametrize("where", ["named", "./rows.parquet", "rows.jsonl"])
def test_a_dataset_remembers_what_it_was_made_for(where, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made_for, other = problems_of(tmp_path, "a", "b", "c"), problems_of(tmp_path, "a", "b", "d")
    rows = [
        row
        | {name: [value] * len(row[CANDIDATES]) for name, value in (("truncated_answers", 0), ("language", "cpp"))}
        | origin_of(made_for)
        for row in ROWS
    ]
    if where.endswith(".jsonl"):
        write_jsonl(tmp_path / where, rows)
    else:
        save_solutions(rows, where)
    solutions = load_solutions(where)
    assert solutions.to_list() == rows
    refuse_other_problems(solutions, made_for)
    with pytest.raises(
        DatasetError, match=r"made for .*a_b_c\.jsonl\[test\] \(fingerprint .*\), not for .*a_b_d\.jsonl"
    ):
        refuse_other_problems(solutions, other)


def test_problems_that_were_renamed_or_sampled_are_the_same(tmp_path):
    made_for = problems_of(tmp_path, "a", "b", "c")
    rows = [row | origin_of(made_for) for row in ROWS]
    run_etl(made_for.dataset_name, "another_name", ["train"])
    refuse_other_problems(rows, load_problems("another_name"))
    refuse_other_problems(rows, Subset(0.5).choose(made_for))


def test_rows_that_say_nothing_of_their_problems_pass(tmp_path):
    save_solutions(ROWS, "older")
    problems = problems_of(tmp_path, "a")
    refuse_other_problems(load_solutions("older"), problems)
    refuse_other_problems([ROWS[0] | dict.fromkeys(ORIGIN)], problems)


def test_a_file_of_other_columns_is_told_with_them_and_with_what_scores_it(tmp_path):
    path = write_jsonl(tmp_path / "s.jsonl", [{"task_id": "HumanEval/0", "completion": "x"}])
    with pytest.raises(DatasetError, match=r"no column .* \(it has: task_id, completion\); .* gencode eval score"):
        load_solutions(path)


def test_lists_of_a_saved_file_that_differ_in_length_are_an_error(tmp_path):
    from datasets import Dataset

    rows = {"task_name": ["a"], CANDIDATES: [["x", "y"]], "truncated_answers": [[1]]}
    Dataset.from_dict(rows).to_parquet(tmp_path / "s.parquet")
    with pytest.raises(DatasetError, match="row 1: truncated_answers must be a list of 2"):
        load_solutions(tmp_path / "s.parquet")
