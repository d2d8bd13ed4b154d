"""Files for training whose rows can't all be judged."""

import json
from pathlib import Path

import pytest

from alpha_codium.errors import UserError
from alpha_codium.rewards.rows import check_rows
from tests.gen.running import run_cli

ROWS = [
    {"prompt": "a", "tests": [["1", "2"]]},
    {"prompt": "b", "tests": [["1", "1"], ["2", "3", "4"]]},
    {"prompt": "c", "tests": {"inputs": ["1"], "outputs": []}},
    {"prompt": "d", "tests": "def test_f(database):\n    assert f()\n"},
    {"prompt": "e", "tests": ["assert f(1) == 2"]},
    {"prompt": "f", "tests": None},
    {"prompt": "g", "tests": []},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def test_rows_that_cannot_be_judged_are_listed_with_the_reason(file: Path) -> None:
    report = check_rows(str(file), "tests")
    faults = {fault["row"]: fault["reason"] for fault in report.faults}
    assert (report.rows, list(faults)) == (7, [1, 2, 3, 5, 6])
    assert "tests[1] must be a pair of texts" in faults[1]
    assert faults[3] == "test_f of the test needs 'database', which it doesn't define"
    assert faults[6] == "there are no tests"


def test_the_command_lists_them(file: Path, tmp_path: Path) -> None:
    done = run_cli("data", "validate", file, "--tests_column", "tests", "--json", tmp_path / "out.json")
    assert done.stdout.startswith(
        "7 rows, of which 5 can't be judged\n  rows[1]: the tests can't be read: tests[1] must"
    )
    assert [fault["row"] for fault in json.loads((tmp_path / "out.json").read_text())["faults"]] == [1, 2, 3, 5, 6]
    assert done.returncode == 1, "a script can stop before it trains"


def test_a_column_that_is_not_there_is_named(file: Path) -> None:
    with pytest.raises(UserError, match=r"has no column 'test' \(did you mean 'tests'\?\)"):
        check_rows(str(file), "test")


def test_an_empty_file_and_options_of_a_run_are_refused(file: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(UserError, match="has no rows"):
        check_rows(str(tmp_path / "empty.jsonl"), "tests")
    for option in (["--csv", "x.csv"], ["--run", "x"], ["--overwrite"]):
        done = run_cli("data", "validate", file, "--tests_column", "tests", *option)
        assert (done.returncode, f"leave out {option[0]}" in done.stderr) == (2, True)
