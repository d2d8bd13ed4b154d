"""Results of runs in the formats of others: what they say, and what they never say."""

import getpass
import socket
from pathlib import Path

import pytest
import yaml

from tests.gen.running import assert_refused, run_cli
from tests.report.conftest import CRASH, RIGHT, WRONG, score, solve

CORRECT = {"solutions": {"language": [3], "solution": [RIGHT]}, "incorrect_solutions": {"language": [], "solution": []}}
PROGRAMS = {"p/1": [WRONG, RIGHT], "p/2": [CRASH, WRONG], "p/3": [RIGHT, RIGHT]}
HUB = ("--format", "hf", "--dataset", "openai/openai_humaneval", "--task", "openai_humaneval")


def export(run: str, *options: object) -> list[Path]:
    """Export a run; returns the files."""
    done = run_cli("runs", "export", run, *options)
    assert done.returncode == 0, done.stderr
    return [Path(line) for line in done.stdout.splitlines()]


def assert_of_nobody(text: str, *folders: Path) -> None:
    """Check that a text names neither this machine, nor its user, nor a folder."""
    assert socket.gethostname() not in text
    assert f"/{getpass.getuser()}/" not in text and f"/home/{getpass.getuser()}" not in text
    assert not [folder for folder in folders if str(folder) in text]


def test_the_hub_gets_the_score_with_its_interval_judge_error_judge_and_subset(home, tmp_path):
    score(tmp_path, "one", PROGRAMS, "--sample_rate", "1", **CORRECT)
    (path,) = export("one", *HUB, "--source_url", "https://example.org/one")
    (entry,) = yaml.safe_load(path.read_text())
    assert path.name == "one.yaml"
    assert entry["dataset"] == {"id": "openai/openai_humaneval", "task_id": "openai_humaneval"}
    assert entry["value"] == 0.5 and entry["source"]["url"] == "https://example.org/one"
    notes = entry["notes"]
    assert notes.startswith("pass@1, 95 % interval 0.0000 to 1.0000, by bootstrap over problems; ")
    assert "judge backend: " in notes and "judge isolation: " in notes and "problems judged: 3" in notes
    assert "Wrong on 0 of 3 programs with known verdicts" in notes
    assert_of_nobody(path.read_text(), home, tmp_path)


def test_a_part_of_the_problems_is_named_as_one(home, tmp_path):
    del home
    score(tmp_path, "part", PROGRAMS, "--problems", "p/1", "--problems", "p/2")
    (path,) = export("part", *HUB)
    assert "part of the problems: 2 of 3 (" in yaml.safe_load(path.read_text())[0]["notes"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "hf", "--task", "t"), "give it as --dataset"),
        (("--format", "hf", "--dataset", "a/b"), "as --task"),
        (("--format", "xml"), "'xml' is not one of"),
        ((), "Missing option '--format'"),
        (HUB, "one.yaml exists: remove it, or choose another --output"),
    ],
)
def test_what_is_missing_is_named_in_one_line_and_nothing_is_overwritten(home, tmp_path, options, message):
    del home
    score(tmp_path, "one", {"p/1": [RIGHT]})
    Path("one.yaml").write_text("mine")
    assert_refused(run_cli("runs", "export", "one", *options), message)
    assert Path("one.yaml").read_text() == "mine" and {p.name for p in Path().iterdir()} == {"one.yaml", "one.html"}


def test_a_run_without_verdicts_on_a_model_is_refused(home, tmp_path):
    del home
    problems = solve(tmp_path, [RIGHT])
    assert_refused(run_cli("runs", "export", "made", *HUB), "only ran on public tests")
    assert run_cli("data", "validate", problems, "--run", "valid").returncode == 0
    assert_refused(run_cli("runs", "export", "valid", *HUB), "no score to export")
    assert_refused(run_cli("runs", "export", "none", *HUB), "there is no run 'none'")
