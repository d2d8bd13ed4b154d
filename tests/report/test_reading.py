"""What a page is made of, without a browser: all kinds of runs, what is never in it, and the parts of texts."""

import base64
import gzip
import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.report.bodies import difference
from alpha_codium.report.hiding import Hiding
from alpha_codium.report.highlighting import colours_of
from alpha_codium.report.page import GENERATOR
from tests.gen.running import assert_refused, run_cli
from tests.report.conftest import RIGHT, WRONG, report, score, solve

OLD_RUNS = Path(__file__).parent.parent / "app" / "runs_of_73d934d"
KINDS = ("doctor", "evaluation", "generation", "human", "pass_at_k", "score", "validation")


def index_of(page: Path) -> dict:
    """The index of the samples in a page."""
    text = page.read_text("utf-8").partition('id="index">')[2].partition("</script>")[0]
    return json.loads(text)


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_a_page_on_every_kind_of_run_also_of_earlier_versions(home, kind):
    shutil.copytree(OLD_RUNS / kind, home / "runs" / kind)
    problems = index_of(report(kind))["problems"]
    assert [problem["name"] for problem in problems] == ["echo 0", "echo 1"]
    assert all(problem["runs"][0]["verdicts"] for problem in problems)


def test_known_programs_whose_verdict_differs_from_their_label_are_marked(home):
    shutil.copytree(OLD_RUNS / "human", home / "runs" / "human")
    journal = home / "runs" / "human" / "journal.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    flipped = next(line for line in lines if line["result"]["group"] == "correct")
    flipped["result"]["verdict"] = "wrong_answer"
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    page = report("human")
    odd = [problem["name"] for problem in index_of(page)["problems"] if problem["runs"][0].get("odd")]
    assert odd == [flipped["problem"]]
    assert "5<small> of 6" in page.read_text()


def test_a_page_names_no_folder_user_or_key_and_no_other_setting(home, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "somebody"))
    secret = "sk-scripted-0123456789"
    solve(tmp_path, [f"raise ValueError('{home}/runs/x {tmp_path}/somebody/y')"])
    page = report("made")
    text = page.read_text()
    assert secret not in text and str(tmp_path) not in text
    for setting in ("api_base", "concurrency", "127.0.0.1"):
        assert setting not in text.partition('<script type="application/octet-stream"')[0]


def test_folders_are_hidden_in_texts_by_the_deepest_name(tmp_path):
    hiding = Hiding((f"{tmp_path}/a/b", f"{tmp_path}/a"))
    assert hiding.hide(f"{tmp_path}/a/b/c {tmp_path}/a/d {tmp_path}/ab") == f"~/c ~/d {tmp_path}/ab"


def test_a_page_replaces_an_earlier_page_and_nothing_else(home, tmp_path):
    del home
    page = score(tmp_path, "r", {"p/1": [RIGHT]})
    assert GENERATOR in page.read_text()
    assert report("r") == page
    other = tmp_path / "notes.html"
    other.write_text("mine")
    assert_refused(run_cli("report", "r", "--output", other), "notes.html exists and isn't a page", "--output")
    assert other.read_text() == "mine"
    assert_refused(run_cli("report", "r", "--output", tmp_path / "none" / "p.html"), "there is no folder")
    assert_refused(run_cli("report", "s"), "there is no run 's'")


def test_runs_that_share_no_problem_and_a_run_given_twice_are_refused(home, tmp_path):
    del home
    score(tmp_path, "one", {"p/1": [RIGHT]})
    score(tmp_path, "two", {"q/1": [WRONG]})
    assert_refused(run_cli("report", "one", "two"), "have no problem in common")
    assert_refused(run_cli("report", "one", "one"), "given twice")


def test_a_page_says_when_the_problems_cannot_be_read_any_more(home, tmp_path):
    del home
    score(tmp_path, "one", {"p/1": [WRONG]})
    (tmp_path / "one-problems.jsonl").unlink()
    page = report("one")
    assert index_of(page)["problems"][0]["runs"][0]["verdicts"] == "W"
    chunk = page.read_text().partition('class="body">')[2].partition("<")[0]
    body = json.loads(gzip.decompress(base64.b64decode(chunk)))
    assert body["missing"] == "the run's dataset can't be read any more"
    assert body["runs"][0]["samples"][0]["failure"]["difference"] == [["-", "2"], ["+", "0"]]


def test_every_command_that_ends_a_run_says_how_to_look_at_it(home, tmp_path):
    del home
    problems = solve(tmp_path, [RIGHT])
    arguments = ("--solution_dataset", tmp_path / "answers", "--dataset_name", problems, "--k", 1)
    for run, command in {
        "judged": ("eval", "eval_gen_solutions", *arguments),
        "valid": ("data", "validate", problems),
    }.items():
        assert f"look at it: gencode report {run}\n" in run_cli(*command, "--run", run).stderr
    assert "look at it: gencode report made\n" in run_cli("compare", "made", "--k", 1).stderr


@given(st.text(alphabet="ab\n", max_size=60), st.text(alphabet="ab\n", max_size=60))
def test_a_difference_has_the_lines_of_both_outputs(expected, actual):
    lines = difference(expected, actual)
    assert [line for sign, line in lines if sign != "+"] == expected.splitlines()
    assert [line for sign, line in lines if sign != "-"] == actual.splitlines()


@given(st.text(max_size=200), st.sampled_from(["python3", "cpp", "java", "nothing"]))
def test_colours_cover_a_program_exactly(source, language):
    colours = colours_of(source, language)
    assert sum(colours[1::2]) == len(source) or not colours
