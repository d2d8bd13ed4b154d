from alpha_codium.data.catalogue import describe, find_problem, list_datasets
from alpha_codium.data.etl import run_etl
from alpha_codium.data.solutions import save_solutions
from tests.data.records import record, write_jsonl
from tests.data.test_solutions import ROWS as SOLUTIONS

ROWS = [record("1_A", source=2, solutions={"language": [3, 2, 3], "solution": ["", "", ""]}), record("2_B", source=5)]


def test_what_is_stored_is_listed_with_where_it_comes_from(tmp_path):
    path = write_jsonl(tmp_path / "p_test.jsonl", ROWS)
    run_etl(str(path), "problems")
    save_solutions(SOLUTIONS, "answers")
    answers, problems = list_datasets()
    assert (answers.name, answers.kind, list(answers.splits.values())) == ("answers", "solutions", [3])
    assert (problems.name, problems.kind, problems.splits, problems.origin) == (
        "problems",
        "problems",
        {"test": 2},
        str(path),
    )
    assert problems.size_bytes > 1000


def test_a_broken_dataset_does_not_hide_the_others(tmp_path, home):
    run_etl(str(write_jsonl(tmp_path / "p.jsonl", ROWS)), "whole")
    (home / "datasets" / "broken").mkdir()
    (home / "datasets" / "broken" / "dataset_dict.json").write_text("{")
    broken, whole = list_datasets()
    assert (broken.kind, whole.kind) == ("unreadable", "problems")
    assert "broken can't be read as a saved dataset" in broken.error


def test_a_file_and_what_was_stored_of_it_are_described_alike(tmp_path):
    path = write_jsonl(tmp_path / "p_test.jsonl", ROWS)
    run_etl(str(path), "stored")
    (stored,), (file,) = describe("stored"), describe(str(path))
    assert stored.counts == file.counts
    assert stored.counts["solutions"] == {"python3": 2, "cpp": 1}
    assert stored.counts["sources"] == {"codeforces": 1, "atcoder": 1}
    assert stored.counts["tests"]["public_tests"] == 2
    assert "difficulty_name" in stored.columns


def test_a_problem_is_found_in_whatever_split_it_is(tmp_path):
    for split, row in zip(("train", "test"), ROWS, strict=True):
        run_etl(str(write_jsonl(tmp_path / "p.jsonl", [row])), "d", [split])
    assert find_problem("d", "2_B").source == 5
