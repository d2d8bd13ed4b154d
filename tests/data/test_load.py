import json

import pytest

from alpha_codium.data.etl import run_etl
from alpha_codium.data.load import load_problem_file, load_problems
from alpha_codium.data.schema import problem_from_record
from alpha_codium.errors import DatasetError
from tests.data.records import record, write_jsonl
from tests.support import shared_path

ROWS = [record(f"{number}_A", solutions={"language": [3], "solution": [f"print({number})"]}) for number in range(6)]


def _parquet(path, rows):
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_the_same_problems_come_from_every_kind_of_dataset(tmp_path):
    lines = write_jsonl(tmp_path / "p.jsonl", ROWS)
    run_etl(str(lines), "stored", ["test"])
    run_etl(str(lines), str(tmp_path / "folder"), ["test"])
    wanted = tuple(map(problem_from_record, ROWS))
    places = ("stored", tmp_path / "folder", lines, _parquet(tmp_path / "p.parquet", ROWS))
    loaded = [load_problems(place, "test") for place in places]
    for problems in loaded:
        assert tuple(problems) == problems[:] == wanted
        assert problems.names == tuple(row["name"] for row in ROWS)
        dataset = problems.to_dataset()
        assert tuple(map(problem_from_record, dataset)) == wanted
        assert dataset.features == loaded[0].to_dataset().features
    assert len({problems.fingerprint for problems in loaded}) == 1


def test_real_problems_are_the_same_stored_and_not(tmp_path):
    path = shared_path("data/icpc_known_verdict.jsonl")
    run_etl(str(path), "icpc")
    from_file, stored = load_problems(path), load_problems("icpc")
    assert tuple(from_file) == tuple(stored)
    assert from_file.fingerprint == stored.fingerprint


def test_a_set_of_problems_is_a_sequence(tmp_path):
    problems = load_problems(write_jsonl(tmp_path / "p_test.jsonl", ROWS))
    assert (len(problems), problems.split_name) == (6, "test")
    assert problems[-1].name == "5_A"
    assert problems[1:3] == (problems[1], problems[2])
    assert problems.get("3_A") == problems[3]
    with pytest.raises(IndexError):
        problems[6]
    with pytest.raises(DatasetError, match=r"has no problem '3A' \(did you mean '3_A'\?\)"):
        problems.get("3A")


def test_a_stored_dataset_is_not_read_into_memory(tmp_path):
    import datasets

    run_etl(str(write_jsonl(tmp_path / "p.jsonl", ROWS)), "stored")
    assert isinstance(load_problems("stored").records, datasets.Dataset)
    assert load_problems("stored").records.cache_files


def test_a_malformed_problem_is_named_when_it_is_asked_for(tmp_path):
    path = write_jsonl(tmp_path / "p.jsonl", [*ROWS[:2], record("bad", time_limit="soon")])
    problems = load_problems(path)
    assert problems[1].name == "1_A"
    with pytest.raises(DatasetError, match=r"p\.jsonl\[train\], record 3 \('bad'\): time_limit"):
        problems[2]


def test_the_only_split_needs_no_name_and_of_several_one_must_be_named(tmp_path):
    run_etl(str(write_jsonl(tmp_path / "p.jsonl", ROWS)), "d", ["test"])
    assert load_problems("d").split_name == "test"
    run_etl(str(write_jsonl(tmp_path / "p.jsonl", ROWS)), "d", ["train"])
    with pytest.raises(DatasetError, match="choose one of test, train"):
        load_problems("d")
    with pytest.raises(DatasetError, match=r"no split 'tets' \(did you mean 'test'\?\)"):
        load_problems("d", "tets")


def test_a_problem_file_holds_one_problem(tmp_path):
    path = tmp_path / "p.json"
    path.write_text(json.dumps(ROWS[0]))
    assert load_problem_file(path) == problem_from_record(ROWS[0])
    path.write_text(json.dumps(ROWS[:1]))
    assert load_problem_file(path).name == "0_A"
    path.write_text(json.dumps(ROWS))
    with pytest.raises(DatasetError, match="holds 6 problems, not one"):
        load_problem_file(path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "not valid JSON"),
        ("7", "a problem must be an object, not a number"),
        ('{"description": "x"}', "name is missing"),
        ('{"name": "a"} {"name": "b"}', "not valid JSON: Extra data"),
    ],
)
def test_a_malformed_problem_file_is_one_line(tmp_path, text, complaint):
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(DatasetError) as caught:
        load_problem_file(path)
    assert complaint in str(caught.value)
    assert "p.json" in str(caught.value)


def test_a_problem_file_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(DatasetError, match="there is no problem file"):
        load_problem_file(tmp_path / "p.json")


def test_a_saved_dataset_that_is_broken_is_said_so(tmp_path):
    run_etl(str(write_jsonl(tmp_path / "p.jsonl", ROWS)), str(tmp_path / "d"), ["test"])
    (arrow,) = (tmp_path / "d" / "test").glob("*.arrow")
    arrow.write_bytes(b"no arrow")
    with pytest.raises(DatasetError, match="can't be read as a saved dataset"):
        load_problems(tmp_path / "d", "test")
