"""Files of a run, and of the home, that are broken: one line and exit status 2, or made anew; and nothing is lost.

Each row of `REFUSED` is a command, a file that it reads, and the ways in which the file is broken.
"""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from alpha_codium.runs import answer_file
from tests.cli.broken_files import KINDS, Home, broken, made
from tests.gen.running import assert_refused

NO_FILE = "garbage folder dangling unreadable"
NO_JOURNAL = f"{NO_FILE} shape"
NO_SQLITE = f"torn {NO_JOURNAL}"
ALL = " ".join(KINDS)
ECHOES = "home/datasets/echoes"
ROWS = "data-00000-of-00001.arrow"
REFUSED = [
    ("solve_set", "home/runs/r/run.toml", ALL),
    ("solve_set", "home/runs/r/journal.jsonl", NO_JOURNAL),
    ("solve_set", "home/runs/r/answers.sqlite", NO_SQLITE),
    ("solve_set", "home/runs/r/.lock", "folder dangling unreadable"),
    ("eval_gen_solutions", "home/runs/e/run.toml", "gone empty torn shape"),
    ("eval_gen_solutions", "home/runs/e/journal.jsonl", NO_JOURNAL),
    ("eval_gen_solutions", "home/runs/e/.lock", "folder"),
    ("eval_gen_solutions", "home/runs/r/solutions", "gone empty folder unreadable"),
    ("eval_gen_solutions", "home/runs/r/solutions/state.json", "empty torn garbage shape folder unreadable"),
    ("eval_gen_solutions", "home/runs/r/solutions/dataset_info.json", "gone torn shape"),
    ("eval_gen_solutions", f"home/runs/r/solutions/{ROWS}", "gone empty torn garbage unreadable"),
    ("pass_at_k", "home/runs/p/journal.jsonl", "shape"),
    ("doctor", "home/runs/d/journal.jsonl", "shape folder"),
    ("doctor", "known.jsonl", "gone torn garbage shape folder unreadable"),
    ("validate", "home/runs/v/journal.jsonl", "shape"),
    ("validate", "home/runs/v/observations.jsonl", NO_JOURNAL),
    ("score", "samples.jsonl", "gone empty torn garbage shape folder dangling unreadable"),
    ("compare", "home/runs/r/run.toml", "empty shape folder"),
    ("compare", "home/runs/r/journal.jsonl", NO_JOURNAL),
    ("compare", "home/runs/s/.lock", "unreadable"),
    ("compare", "home/runs/s/evaluation.jsonl", NO_JOURNAL),
    ("replay", "home/runs/r/run.toml", "empty torn shape"),
    ("replay", "home/runs/r/journal.jsonl", NO_JOURNAL),
    ("stats", "home/cache/answers.sqlite", NO_SQLITE),
    ("stats", "home/cache/answers.lock", "folder dangling unreadable"),
    ("clear", "home/cache/answers.sqlite", NO_SQLITE),
    ("show", f"{ECHOES}/dataset_dict.json", ALL),
    ("show", f"{ECHOES}/train/state.json", ALL),
    ("show", f"{ECHOES}/train/dataset_info.json", ALL),
    ("show", f"{ECHOES}/train/{ROWS}", "gone empty torn garbage folder"),
    ("etl", f"{ECHOES}/dataset_dict.json", "empty torn garbage shape folder"),
    ("etl", ECHOES, "dangling unreadable"),
    ("settings", "mine.toml", "gone torn garbage shape folder dangling unreadable"),
]  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The home, made once."""
    with made(tmp_path_factory.mktemp("broken")) as home:
        yield home


@pytest.fixture
def home(whole):
    """The home as it was made."""
    whole.mend()
    return whole


# What root can read anyway is read by another user, whose jail has no control group: its verdicts are others.
WEAKER_JAIL = "sandbox.isolation"


def is_resumed_in_a_weaker_jail(command: str, file: str, kind: str) -> bool:
    """Whether another user resumes a run of root's."""
    run = {"eval_gen_solutions": "e", "solve_set": "r", "validate": "v"}.get(command)
    in_run = file.startswith(f"home/runs/{run}/") and not file.endswith("run.toml")
    return in_run and kind == "unreadable" and os.geteuid() == 0


def done_well(home: Home, command: str) -> str:
    """What a command says that ends well."""
    done = home.gencode(command)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("command", "file", "kind"), [(command, file, kind) for command, file, kinds in REFUSED for kind in kinds.split()]
)
def test_a_broken_file_is_named_in_one_line_and_nothing_is_written(home, command, file, kind):
    with broken(home.folder / file, kind):
        before = home.files() if kind != "unreadable" else {}
        done = home.gencode(command)
        after = home.files() if kind != "unreadable" else {}
    path = Path(file)
    # A damaged dataset is named by its folder.
    named = path.parent.name if {"echoes", "solutions"} & {*path.parts[:-1]} else path.name
    assert_refused(done, WEAKER_JAIL if is_resumed_in_a_weaker_jail(command, file, kind) else named)
    assert after == before


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", ["solve_set", "eval_gen_solutions"])
def test_results_are_made_anew(home, command, kind):
    path = home.run(home.commands[command][-1]) / "results.json"
    before = json.loads(path.read_text())
    with broken(path, kind):
        done = home.gencode(command)
    if kind == "folder":
        assert_refused(done, "results.json can't be written")
    elif is_resumed_in_a_weaker_jail(command, str(path.relative_to(home.folder)), kind):
        assert_refused(done, WEAKER_JAIL)
    else:
        assert done.returncode == 0, done.stderr
        assert json.loads(path.read_text()).keys() == before.keys()


@pytest.mark.parametrize(("command", "run"), [("solve_set", "r"), ("eval_gen_solutions", "e"), ("validate", "v")])
def test_a_journal_that_is_gone_is_told_and_made_anew(home, command, run):
    path = home.run(run) / "journal.jsonl"
    before = path.read_bytes()
    path.unlink()
    assert f"{path} is missing or empty: the work it recorded will be repeated" in done_well(home, command)
    assert len(path.read_bytes().splitlines()) == len(before.splitlines())
    assert "missing or empty" not in done_well(home, command)


def test_a_run_that_was_cut_off_before_a_sample_was_done_has_lost_nothing(home):
    (home.run("r") / "results.json").unlink()
    (home.run("r") / "journal.jsonl").write_bytes(b"")
    assert "missing or empty" not in done_well(home, "solve_set")


def test_a_torn_line_is_told_before_it_is_cut_off(home):
    path = home.run("e") / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    assert f"{path}: the last line was cut off" in done_well(home, "eval_gen_solutions")
    assert "cut off" not in done_well(home, "eval_gen_solutions")


def test_an_end_that_is_no_torn_line_is_left_for_the_user_to_see(home):
    path = home.run("e") / "journal.jsonl"
    path.write_bytes(path.read_bytes() + b"a remark")
    before = path.read_bytes()
    assert_refused(home.gencode("eval_gen_solutions"), str(path), "its end (8 bytes) is no line of the journal")
    assert path.read_bytes() == before


def test_answers_that_are_gone_are_told(home):
    path = home.run("r") / "answers.sqlite"
    path.unlink()
    assert f"{path} is missing or empty" in done_well(home, "solve_set")


@pytest.mark.parametrize("kind", ["gone", "empty", "torn"])
def test_programs_whose_observation_is_lost_are_judged_again(home, kind):
    path = home.run("v") / "observations.jsonl"
    whole = len(path.read_bytes().splitlines())
    with broken(path, kind):
        assert f"{path} lacks the observations of" in done_well(home, "validate")
    assert len(path.read_bytes().splitlines()) == whole
    assert "lacks" not in done_well(home, "validate")


def test_a_run_whose_description_is_gone_is_not_begun_over(home):
    (home.run("p") / "run.toml").unlink()
    home.commands["anew"] = tuple("--run" if word == "--resume" else word for word in home.commands["pass_at_k"])
    before = home.files()
    assert_refused(home.gencode("anew"), "exists already")
    assert home.files() == before


def test_a_description_that_was_cut_off_between_two_lines_is_told(home):
    path = home.run("p") / "run.toml"
    path.write_text(path.read_text().partition("[versions]")[0])
    assert_refused(home.gencode("pass_at_k"), str(path), "lacks versions")


@pytest.mark.parametrize("answer", ["{", "[1", "nought"])
def test_an_answer_that_was_changed_is_told(home, answer):
    (home.run("r") / "journal.jsonl").unlink()
    with closing(sqlite3.connect(home.run("r") / "answers.sqlite")) as connection, connection:
        connection.execute("UPDATE answers SET answer = ?", (answer,))
    assert_refused(home.gencode("solve_set"), "answers.sqlite, the answers of the run, can't be used")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("gone", "empty", "unreadable")])
def test_a_run_goes_on_without_a_cache_that_is_broken(home, kind):
    path = home.folder / "home/cache/answers.sqlite"
    with broken(path, kind):
        before = path.read_bytes() if path.is_file() else None
        said = done_well(home, "solve_set")
        assert (path.read_bytes() if path.is_file() else None) == before
    assert f"the shared cache is no longer used: {path} can't be used" in said


def test_a_cache_that_another_process_holds_is_named(home, monkeypatch):
    monkeypatch.setattr(answer_file, "BUSY_SECONDS", 0.01)
    path = home.folder / "home/cache/answers.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        assert_refused(home.gencode("clear"), str(path), "database is locked")


@pytest.mark.parametrize("file", ["", "dataset_dict.json", "train", "train/state.json", "train/dataset_info.json",
                                  f"train/{ROWS}"])  # fmt: skip
@pytest.mark.parametrize("kind", ["gone", "folder", "dangling"])
def test_a_dataset_that_cannot_be_read_is_still_listed(home, file, kind):
    with broken(home.folder / ECHOES / file, kind):
        done = home.gencode("list")
    assert done.returncode == 0, done.stderr
    if file or kind != "gone":
        assert "echoes\tunreadable" in done.stdout


@pytest.mark.parametrize("text", ["{", "[1]", '{"splits": [1]}', '{"splits": {"train": 5}}',
                                  '{"splits": {"train": {"origin": 5}}}'])  # fmt: skip
def test_what_is_said_of_a_dataset_may_be_broken(home, text):
    (home.folder / ECHOES / "etl.json").write_text(text)
    assert "echoes\tproblems" in home.gencode("list").stdout


def test_a_setting_of_a_wrong_type_is_told_with_its_file(home):
    (home.folder / "mine.toml").write_text('[config]\ntemperature = "hot"\n')
    assert_refused(home.gencode("settings"), "mine.toml", "config.temperature")
    path = home.run("r") / "run.toml"
    path.write_text(path.read_text().replace("max_tokens = ", 'max_tokens = "some" #'))
    assert_refused(home.gencode("solve_set"), "run.toml", "solve.max_tokens")
