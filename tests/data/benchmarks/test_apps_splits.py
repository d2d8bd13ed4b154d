import pytest

from alpha_codium.data.etl import run_etl
from alpha_codium.data.load import load_problems
from alpha_codium.errors import DatasetError
from tests.data.records import write_jsonl
from tests.support import shared_path


def record(number, **more):
    return {"problem_id": number, "question": "q", "input_output": '{"inputs": ["1"], "outputs": ["2"]}'} | more


def names(path, split=None):
    return load_problems(path, split).names


def test_a_file_whose_records_say_their_split_holds_those_splits(tmp_path):
    rows = [record(0, split="train"), record(0, x_meta={"split": "test"}), record(1, split="test")]
    path = write_jsonl(tmp_path / "a.jsonl", rows)
    assert names(path, "test") == ("apps/test/0", "apps/test/1")
    assert names(path, "train") == ("apps/train/0",)
    assert len(names(path)) == len(names(path, "all")) == 3
    assert [report.split for report in run_etl(str(path), str(tmp_path / "stored")).splits] == ["train", "test"]


def test_a_file_whose_records_say_nothing_is_any_split(tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", [record(0), record(1)])
    assert names(path, "test") == names(path, "train") == ("apps/0", "apps/1")


def test_a_split_that_is_not_there_is_an_error_and_so_is_a_record_without_one(tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", [record(0, split="test")])
    with pytest.raises(DatasetError, match="has no split 'train'"):
        load_problems(path, "train")
    path = write_jsonl(tmp_path / "a.jsonl", [record(0, split="test"), record(1)])
    with pytest.raises(DatasetError, match=r"record 2 \(1\): split must be train or test, as in the first record"):
        load_problems(path, "test")


@pytest.mark.parametrize("number", [None, "", True, [1]])
def test_a_problem_has_a_number(tmp_path, number):
    with pytest.raises(DatasetError, match="problem_id"):
        names(write_jsonl(tmp_path / "a.jsonl", [record(number)]))


def test_the_shared_file_has_both_splits():
    path = shared_path("data/apps.jsonl")
    assert (len(names(path, "train")), len(names(path, "test")), len(names(path))) == (77, 75, 152)
