"""`gencode data clean_generations` before `gencode eval score`."""

import json
import pickle
from pathlib import Path

import pytest

from tests.cli.here import gencode
from tests.data.records import write_jsonl
from tests.data.samples.humaneval import TWICE, humaneval_file

ROWS = [
    {"task_id": "HumanEval/0", "completion": "    return sum(xs)\n\nprint(add([1]))\n"},
    {"task_id": "HumanEval/2", "completion": f"Sure:\n```python\n{TWICE}    return 2 * n\n```\nDone."},
    {"task_id": "HumanEval/1", "completion": "    return s[::-1]\n"},
]


def clean(folder: Path, *more: object):
    file = write_jsonl(folder / "raw.jsonl", ROWS)
    return gencode("data", "clean_generations", file, "--output", folder / "clean.jsonl", *more, home=folder)


@pytest.mark.thorough
def test_what_is_cleaned_is_counted_by_rule_and_scored(tmp_path: Path) -> None:
    problems = humaneval_file(tmp_path)
    done = clean(tmp_path, "--dataset_name", problems, "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    assert "3 samples, 2 changed, 0 left empty" in done.stdout
    counts = json.loads((tmp_path / "out.json").read_text())
    assert counts["rules"] == {
        "thinking": 0,
        "end_tokens": 0,
        "fences": 1,
        "prose": 0,
        "indentation": 0,
        "prompts": 1,
        "stop_words": 1,
    }
    score = ("--dataset_name", problems, "--k", 1, "--json", tmp_path / "score.json")
    passed = []
    for name in ("raw.jsonl", "clean.jsonl"):
        assert gencode("eval", "score", tmp_path / name, *score, home=tmp_path).returncode == 0
        passed.append(json.loads((tmp_path / "score.json").read_text())["verdicts"]["accepted"])
    assert passed == [2, 3]
    again = gencode("data", "clean_generations", tmp_path / "clean.jsonl", "--output", tmp_path / "again.jsonl",
                    "--dataset_name", problems, home=tmp_path)  # fmt: skip
    assert "3 samples, 0 changed" in again.stdout
    assert (tmp_path / "again.jsonl").read_text() == (tmp_path / "clean.jsonl").read_text()


def test_every_rule_can_be_left_out(tmp_path: Path) -> None:
    off = [
        f"--no_{name}" for name in ("thinking", "end_tokens", "fences", "prose", "indentation", "prompts", "stop_words")
    ]
    done = clean(tmp_path, *off)
    assert "3 samples, 0 changed" in done.stdout and done.stdout.count("    off  ") == 7
    assert [json.loads(line) for line in (tmp_path / "clean.jsonl").read_text().splitlines()] == ROWS


def test_stop_words_are_given_with_their_line_break(tmp_path: Path) -> None:
    assert "1 changed" in clean(tmp_path, "--no_fences", "--no_prose", "--stop", "\\nprint").stdout
    assert "0 changed" in clean(tmp_path, "--no_fences", "--no_prose", "--stop", "\\nassert").stdout


def test_a_mistake_of_the_user_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "clean.jsonl").write_text("kept")
    wrong = clean(tmp_path, "--benchmark", "humanevall")
    assert (wrong.returncode, "did you mean 'humaneval'" in wrong.stderr) == (2, True)
    others = write_jsonl(tmp_path / "others.jsonl", [{"task_id": "q", "solution": "x"}])
    strange = gencode("data", "clean_generations", others, "--output", tmp_path / "clean.jsonl",
                      "--dataset_name", humaneval_file(tmp_path), home=tmp_path)  # fmt: skip
    assert (strange.returncode, "'q' isn't a problem of" in strange.stderr) == (2, True)
    assert (tmp_path / "clean.jsonl").read_text() == "kept"
    assert not list(tmp_path.glob(".clean*"))
    for output in (tmp_path / "x.txt", tmp_path, tmp_path / "no" / "x.jsonl"):
        done = gencode("data", "clean_generations", others, "--output", output, home=tmp_path)
        assert done.returncode == 2, output


def test_a_pickle_is_written_in_the_form_of_the_one_that_was_read(tmp_path: Path) -> None:
    raw = {0: ["[PYTHON]\ndef add(xs):\n    return sum(xs)\n[/PYTHON]"], 2: [f"```\n{TWICE}    return 2 * n\n```", ""]}
    (tmp_path / "generations_all_0.7").write_bytes(pickle.dumps(raw))
    problems = humaneval_file(tmp_path)
    done = gencode("data", "clean_generations", tmp_path / "generations_all_0.7", "--output", tmp_path / "clean.pkl",
                   "--dataset_name", problems, home=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "3 samples, 2 changed" in done.stdout
    clean_programs = pickle.loads((tmp_path / "clean.pkl").read_bytes())
    assert clean_programs == {0: ["def add(xs):\n    return sum(xs)\n"], 2: [f"{TWICE}    return 2 * n\n", ""]}


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (("--output", "raw.jsonl"), "raw.jsonl is also the file of FILE: give another one"),
        (("--output", "problems.jsonl"), "problems.jsonl is also the file of --dataset_name"),
        (("--output", "new.json", "--json", "./new.json"), "new.json is also the file of --json"),
    ],
)
def test_a_file_that_is_read_or_written_already_is_not_written(
    tmp_path: Path, written: tuple[str, ...], words: str
) -> None:
    file = write_jsonl(tmp_path / "raw.jsonl", ROWS)
    humaneval_file(tmp_path).rename(tmp_path / "problems.jsonl")
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.jsonl")}
    paths = [each if each.startswith("--") else tmp_path / each for each in written]
    more = ("--dataset_name", tmp_path / "problems.jsonl", *paths)
    done = gencode("data", "clean_generations", file, *more, home=tmp_path)
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.jsonl")} == before
