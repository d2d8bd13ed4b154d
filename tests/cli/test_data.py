import json
from pathlib import Path

import pytest

from tests.cli.here import gencode
from tests.support import gencode as gencode_process
from tests.support import shared_path

PROBLEM = {
    "name": "sum",
    "description": "Add two numbers.",
    "public_tests": [{"input": "1 2\n", "output": "3\n"}],
    "time_limit": {"seconds": 2, "nanos": 0},
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.mark.thorough
def test_real_problems_are_stored_listed_and_shown(home, tmp_path):
    source = shared_path("data/codecontests_train.jsonl")
    done = gencode_process(
        "data", "etl", "--source", source, "--output_dataset_name", "101", "--language", "python3", home=home
    )
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "101[train]: 184 of 184 problems")
    about_columns, *_, how_far = done.stderr.splitlines()
    assert about_columns.endswith(f"{source}[train]: dropped columns that aren't in the schema: x_meta")
    assert how_far.startswith("problems read: 184 in ")

    listed = gencode_process("data", "list", "--json", tmp_path / "list.json", home=home)
    assert listed.stdout.splitlines()[1].split("\t")[:3] == ["101", "problems", "train: 184"]
    assert json.loads((tmp_path / "list.json").read_text())[0]["splits"] == {"train": 184}

    shown = gencode_process("data", "show", "101", "--json", "-", home=home)
    assert "python3: 184" in shown.stderr
    assert "private_tests: 2168" in shown.stderr
    assert "train" in json.loads(shown.stdout), "JSON stands alone on stdout"

    problem = gencode_process("data", "show", "101", "--problem_name", "1000_E. We Need More Bosses", home=home)
    assert "Your friend is developing a computer game." in problem.stdout
    assert "Public test 2, input:\n4 3\n1 2" in problem.stdout


def test_a_sample_is_the_same_however_it_is_spelt(home, tmp_path):
    source = shared_path("data/codecontests_train.jsonl")
    for name, option in (("a", "--sample_rate"), ("b", "--sample-rate")):
        assert (
            gencode("data", "etl", "--source", source, "--output-dataset-name", name, option, 0.1, home=home).returncode
            == 0
        )
    infos = [json.loads((home / "datasets" / name / "etl.json").read_text())["splits"]["train"] for name in "ab"]
    assert infos[0]["fingerprint"] == infos[1]["fingerprint"]
    assert 5 < infos[0]["problems_out"] < 40


def test_a_problem_file_is_imported_under_its_own_name(home, tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps([PROBLEM, PROBLEM | {"name": "sum 2"}]))
    done = gencode("data", "import", tmp_path / "mine.json", home=home)
    assert done.returncode == 0
    assert done.stderr.startswith("problems read: 2 in ")
    shown = gencode("data", "show", "mine", "--problem_name", "sum 2", home=home)
    assert shown.stdout.startswith("sum 2\nunknown, unknown_difficulty, 2 s\n\nAdd two numbers.\n")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["show", "min"], "there is no dataset 'min' (did you mean 'mine'?)"),
        (["show", "mine", "--problem_name", "sun"], "(did you mean 'sum'?)"),
        (["show", "mine", "--split_name", "trian"], "(did you mean 'train'?)"),
        (["import", "missing.json"], "there is no file or folder missing.json"),
        (
            ["etl", "--source", "mine", "--output_dataset_name", "x", "--language", "pyton3"],
            "(did you mean 'python3'?)",
        ),
        (["etl", "--source", "mine", "--output_dataset_name", "x", "--date_from", "2024-01-01"], "no date column"),
        (["etl", "--source", "mine", "--output_dataset_name", "x", "--sample_rate", "2"], "a sample rate must be"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(home, tmp_path, arguments, complaint):
    (tmp_path / "mine.json").write_text(json.dumps(PROBLEM))
    gencode("data", "import", tmp_path / "mine.json", home=home)
    done = gencode("data", *arguments, home=home)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_malformed_problem_file_is_one_line(home, tmp_path):
    (tmp_path / "bad.json").write_text(json.dumps(PROBLEM | {"public_tests": {"input": ["1"], "output": []}}))
    done = gencode("data", "import", tmp_path / "bad.json", home=home)
    assert done.returncode == 2
    assert "bad.json[train], record 1 ('sum'): public_tests has 1 of input but 0 of output" in done.stderr


def test_an_empty_list_says_what_to_do(home):
    done = gencode("data", "list", "--json", "-", home=home)
    assert (done.returncode, done.stdout) == (0, "[]\n")
    assert "gencode data etl" in done.stderr
