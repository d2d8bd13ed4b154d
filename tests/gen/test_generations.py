import pytest

from alpha_codium.answers.cleaning import RULES, Cleaning, clean_rows
from alpha_codium.data.load import load_problems
from alpha_codium.data.samples.programs import solutions_of
from alpha_codium.data.samples.reading import read_samples
from alpha_codium.data.solutions import save_solutions
from alpha_codium.errors import DatasetError
from tests.data.records import write_jsonl
from tests.data.samples.humaneval import ADD, TWICE, humaneval, write_json
from tests.data.test_solutions import ROWS
from tests.support import shared_path

FENCED = "```python\ndef twice(n):\n    return 2 * n\n```"


def clean(path, problems=None, rules=RULES):
    cleaning = Cleaning(rules)
    return list(clean_rows(read_samples(path), problems, cleaning)), cleaning


def test_rows_keep_everything_but_what_was_cut(tmp_path):
    rows = [
        {"task_id": "HumanEval/2", "run": "a", "solution": FENCED, "passed": True},
        {"task_id": "HumanEval/0", "run": "a", "completion": ADD + "    return sum(xs)\n\nprint(1)"},
        {"task_id": "HumanEval/0", "completions": ["    return 1\n", "```\n```"]},
    ]
    found, counts = clean(write_jsonl(tmp_path / "s.jsonl", rows), humaneval(tmp_path))
    assert found == [
        rows[0] | {"solution": "def twice(n):\n    return 2 * n\n"},
        rows[1] | {"completion": "\n    return sum(xs)\n"},
        rows[2],
    ]
    told = counts.to_json()
    assert (told["samples"], told["changed"], told["emptied"]) == (4, 2, 0)
    assert told["rules"] == {
        "thinking": 0, "end_tokens": 0, "fences": 1, "prose": 0, "indentation": 0, "prompts": 1,
        "stop_words": 1,
    }  # fmt: skip


def test_rules_that_are_off_are_not_counted(tmp_path):
    rows = [{"task_id": "HumanEval/2", "solution": FENCED}]
    found, counts = clean(
        write_jsonl(tmp_path / "s.jsonl", rows), None, [r for r in RULES if r.name not in ("fences", "prose")]
    )
    assert found == rows
    assert counts.to_json()["rules"]["fences"] is None


def test_a_format_without_columns_becomes_rows_that_name_their_problems(tmp_path):
    problems = humaneval(tmp_path)
    path = write_json(tmp_path / "s.json", [["x = 1"], [], [FENCED, "y = 2"]])
    found, _ = clean(path, problems)
    assert found[2] == {"task_id": "HumanEval/2", "solution": ["def twice(n):\n    return 2 * n\n", "y = 2"]}
    again = write_jsonl(tmp_path / "clean.jsonl", found)
    assert [row["task_name"] for row in solutions_of(read_samples(again), problems)] == list(problems.names)
    with pytest.raises(DatasetError, match="the file doesn't name its problems: give the `benchmark` or `dataset`"):
        clean(path)


def test_a_solutions_dataset_stays_one(tmp_path):
    save_solutions([ROWS[0] | {"solution_candidates": [f"```\n{TWICE}    return 2 * n\n```", ""]}], "mine")
    (row,), counts = clean("mine")
    assert row == ROWS[0] | {"solution_candidates": [TWICE + "    return 2 * n\n", ""]}
    assert counts.changed == 1


@pytest.mark.thorough
def test_published_programs_are_clean_already_but_for_a_few_that_are_indented():
    rows = read_samples(shared_path("data/samples_humaneval_mapcoder.jsonl"))
    counts = Cleaning()
    found = list(clean_rows(rows, load_problems(shared_path("data/humaneval.jsonl")), counts))
    assert (counts.samples, counts.changed, counts.changed_by) == (656, 5, {"indentation": 5})
    assert sum(new == row.values for new, row in zip(found, rows, strict=True)) == 651


def test_keys_that_may_be_places_need_the_problems(tmp_path):
    path = write_json(tmp_path / "s.json", {"1": ["x"]})
    with pytest.raises(DatasetError, match="the file doesn't name its problems"):
        clean(path)
    assert clean(path, humaneval(tmp_path))[0] == [{"task_id": "HumanEval/1", "solution": ["x"]}]
    assert clean(write_json(path, {"HumanEval/1": ["x"]}))[0] == [{"task_id": "HumanEval/1", "solution": ["x"]}]
