"""`gencode compare` as a user types it: runs made over real HTTP, judged in the real sandbox."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from alpha_codium.runs import RunFolder
from tests.gen.running import KEY, assert_refused, model_arguments, problem_record, run_cli, write_flow, write_problems
from tests.servers.scripted import ScriptedServer, Status, Text
from tests.test_imports import HEAVY, imported_by

WRITES_RIGHT, WRITES_WRONG = "```python\nprint(input())\n```", "```python\nprint('no')\n```"
PROBLEMS = 8


def answer(body: dict[str, Any]) -> Text:
    """The first step writes a wrong program for odd problems; every later step a right one."""
    asked = body["messages"][-1]["content"]
    number = int(asked.split("Problem number ")[1].split(":")[0])
    return Text(WRITES_WRONG if "Step 0" in asked and number % 2 else WRITES_RIGHT)


@pytest.fixture
def server(home):
    with ScriptedServer(answer) as running:
        yield running


@pytest.fixture
def problems(tmp_path):
    return write_problems(tmp_path, PROBLEMS)


def solve(server, problems, run, steps=1, *more, status=0):
    flow = Path(problems).parent / f"steps{steps}"
    flow = flow if flow.exists() else write_flow(flow, steps)
    job = ["--dataset_name", problems, "--flow", flow, *model_arguments(server), "--run", run]
    done = run_cli("gen", "solve_set", *job, *more)
    assert done.returncode == status, done.stderr


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A folder with the problems, the flows, and a home with two runs; made once."""
    folder = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch, ScriptedServer(answer) as server:
        patch.setenv("GENCODE_HOME", str(folder / "home"))
        patch.setenv("OPENAI_API_KEY", KEY)
        problems = write_problems(folder, PROBLEMS)
        solve(server, problems, "once", 1)
        solve(server, problems, "twice", 2)
    return folder


@pytest.fixture
def runs(template, home, tmp_path):
    """One run that writes once, and one that writes twice and so mends what was wrong."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    for described in (home / "runs").glob("*/run.toml"):
        described.write_text(described.read_text().replace(str(template), str(tmp_path)))


def compare(*arguments):
    return run_cli("compare", *arguments)


def compared(tmp_path, *arguments, status=0):
    done = compare(*arguments, "--json", tmp_path / "out.json")
    assert done.returncode == status, done.stderr
    return json.loads((tmp_path / "out.json").read_text()), done


def test_two_runs_are_scored_priced_and_told_apart(runs, tmp_path):
    values, done = compared(tmp_path, "once", "twice", "--csv", tmp_path / "out.csv")
    once, twice = values["runs"]
    assert (once["pass_at_k"]["pass@1"], twice["pass_at_k"]["pass@1"]) == (0.5, 1.0)
    assert (once["per_sample"]["calls"], once["per_solved"]["calls"], twice["per_solved"]["calls"]) == (1, 2, 2)
    difference = values["differences"][0]
    assert difference["only_second"] == [f"echo {n}" for n in (1, 3, 5, 7)]
    assert (difference["p_value"], difference["shown"], difference["test"]) == (0.125, False, "McNemar")
    written = values["stages"]["twice"][1]
    assert (written["stage"], written["gained"], written["lost"], written["unchanged"]) == ("write_code (2)", 4, 0, 4)
    assert "no difference shown at pass@1: twice minus once: +0.5000" in done.stdout
    assert "unequal budgets: a sample took 1.0 calls in once and 2.0 in twice" in done.stdout
    assert all(len(line) <= 80 for line in (done.stdout + done.stderr).splitlines())
    assert "judged: " in done.stderr and "judged: " not in done.stdout
    rows = list(csv.DictReader((tmp_path / "out.csv").open(newline="")))
    assert [(row["run"], row["minus"], row["value"]) for row in rows if row["measure"] == "pass@1"] == [
        ("once", "", "0.5"), ("twice", "", "1.0"), ("twice", "once", "0.5"),
    ]  # fmt: skip


def test_the_score_is_that_of_eval_gen_solutions(runs, problems, home, tmp_path):
    values, _ = compared(tmp_path, "once", "--k", "1")
    done = run_cli(
        "eval", "eval_gen_solutions", "--solution_dataset", home / "runs/once/solutions", "--ground_truth_dataset",
        problems, "--evaluation_test_type", "private_tests", "--k", 1, "--json", tmp_path / "eval.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    scored = json.loads((tmp_path / "eval.json").read_text())
    for key in ("pass_at_k", "intervals", "verdicts"):
        assert values["runs"][0][key] == scored[key]


@pytest.mark.thorough
def test_comparing_again_judges_nothing_and_says_the_same(runs, home, tmp_path):
    first, _ = compared(tmp_path, "once", "twice")
    journals = [home / "runs" / name / "evaluation.jsonl" for name in ("once", "twice")]
    before = [journal.read_bytes() for journal in journals]
    again, _ = compared(tmp_path, "once", "twice")
    assert again == first
    assert [journal.read_bytes() for journal in journals] == before


@pytest.mark.thorough
def test_a_comparison_that_is_killed_goes_on(runs, home, tmp_path):
    whole, _ = compared(tmp_path, "once", "twice")
    journals = [home / "runs" / name / "evaluation.jsonl" for name in ("once", "twice")]
    lines = [journal.read_bytes().splitlines(keepends=True) for journal in journals]
    journals[0].write_bytes(b"".join(lines[0][:2]) + lines[0][2][:-9])
    journals[1].unlink()
    assert compared(tmp_path, "once", "twice")[0] == whole
    assert sorted(journals[0].read_bytes().splitlines(keepends=True)) == sorted(lines[0])


@pytest.mark.thorough
def test_ctrl_c_ends_a_comparison_in_one_line_and_keeps_what_was_judged(runs, home, tmp_path):
    journal = home / "runs/once/journal.jsonl"
    entries = [json.loads(line) for line in journal.read_text().splitlines()]
    slow = entries[0] | {"program": "import time; time.sleep(60)"}
    journal.write_text("".join(json.dumps(entry) + "\n" for entry in [slow, *entries[1:]]))
    command = [sys.executable, "-m", "alpha_codium", "compare", "once", "twice", "-q"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True, env=os.environ)
    verdicts = home / "runs/once/evaluation.jsonl"
    while process.poll() is None and not (verdicts.exists() and b"\n" in verdicts.read_bytes()):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate()
    assert process.returncode == 130, stderr
    assert stderr.endswith("interrupted\n") and "Traceback" not in stderr


@pytest.mark.thorough
def test_a_run_that_is_unfinished_has_bounds_and_says_how_to_go_on(problems, home, tmp_path):
    def down(seen):
        return Status(500) if "number 3:" in json.dumps(seen.body) else None

    with ScriptedServer(answer, faults=[down]) as server:
        solve(server, problems, "down", 1, "-o", "config.max_retries=0", status=1)
        solve(server, problems, "mine/also", 1, "-o", "config.max_retries=0", status=1)
    assert run_cli("runs", "list").stdout.rstrip().endswith("incomplete")
    values, done = compared(tmp_path, "down", "mine/also", status=1)
    assert (values["complete"], values["runs"][0]["unfinished"]) == (False, 1)
    assert values["runs"][0]["bounds"]["pass@1"] == [0.5, 0.625]
    assert values["differences"][0]["bounds"] == [-0.125, 0.125]
    assert "run down is unfinished: 1 of 8 samples without a verdict on the model" in done.stderr
    assert "--resume down\n" in done.stderr and "INCOMPLETE" in done.stderr
    assert f"--resume {Path('mine/also').absolute()}\n" in done.stderr


@pytest.mark.thorough
def test_a_run_that_was_cut_off_and_resumed_is_compared_as_if_it_had_not_been(runs, server, home, tmp_path):
    whole, _ = compared(tmp_path, "once", "twice")
    journal = home / "runs/twice/journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    cut, _ = compared(tmp_path, "once", "twice", status=1)
    assert (cut["runs"][1]["finished"], cut["runs"][1]["unfinished"]) == (3, 5)
    assert run_cli("gen", "solve_set", "--resume", "twice", "--api_base", server.api_base).returncode == 0
    assert compared(tmp_path, "once", "twice")[0] == whole


def test_one_run_alone_is_shown_with_nothing_to_compare(runs):
    done = compare("twice")
    assert done.returncode == 0, done.stderr
    assert "Only one run: nothing to compare it with." in done.stdout
    assert "Stages of A" in done.stdout


def test_a_run_without_transcripts_is_compared_without_its_stages(runs, home, tmp_path):
    shutil.rmtree(home / "runs/twice/transcripts")
    values, done = compared(tmp_path, "once", "twice")
    assert values["stages"]["twice"] == [] and values["stages"]["once"]
    assert "n/a: the run's transcripts don't record the program after each stage" in done.stdout


@pytest.mark.thorough
def test_a_baseline_is_what_the_others_are_compared_with_and_comes_first(runs, server, problems, tmp_path):
    solve(server, problems, "again", 1)
    values, _ = compared(tmp_path, "once", "twice", "--baseline", "again", "--k", "1")
    assert [(d["first"], d["second"]) for d in values["differences"]] == [("again", "once"), ("again", "twice")]
    assert values["baseline"] == "again"


@pytest.mark.thorough
def test_runs_may_be_named_by_their_folders_also_two_of_one_name(runs, home, tmp_path, monkeypatch):
    shutil.copytree(home / "runs/twice", tmp_path / "once")
    monkeypatch.chdir(tmp_path)
    assert compare(home / "runs/twice").returncode == 0
    values, _ = compared(tmp_path, "once", "./once", "--k", "1")
    names = [run["run"] for run in values["runs"]]
    assert names == [str(home / "runs/once"), str(tmp_path / "once")]
    assert list(values["stages"]) == names


@pytest.mark.thorough
def test_problems_that_have_moved_are_named_anew(runs, problems, tmp_path):
    moved = Path(problems).rename(tmp_path / "moved.jsonl")
    assert_refused(compare("once", "twice"), "give their location as --dataset_name")
    assert compare("once", "twice", "--dataset_name", moved).returncode == 0


def test_problems_that_one_run_names_by_a_path_of_elsewhere_are_read_by_the_others_name(runs, home):
    described = home / "runs/once/run.toml"
    described.write_text(described.read_text().replace('problems.jsonl"', 'nowhere.jsonl"'))
    done = compare("once", "twice", "--k", "1")
    assert done.returncode == 0, done.stderr


def test_problems_that_have_changed_are_refused(runs, tmp_path):
    write_problems(tmp_path, PROBLEMS + 1)
    assert_refused(compare("once", "twice"), "aren't those that run 'once' was made for", "--dataset_name")


def test_runs_of_other_problems_are_refused(runs, server, tmp_path):
    (tmp_path / "other").mkdir()
    solve(server, write_problems(tmp_path / "other", 3), "other", 1)
    assert_refused(compare("once", "other"), "run 'once' is of", "run 'other' of", "only runs of the same problems")


@pytest.mark.thorough
def test_a_part_of_the_split_is_not_compared_with_the_whole(runs, server, problems):
    solve(server, problems, "part", 1, "--sample_rate", 0.5)
    assert_refused(compare("once", "part"), "the whole split, run 'part' of a part of it (sample_rate 0.5, seed 0)")
    assert compare("part").returncode == 0


def test_other_tests_give_other_verdicts(runs, tmp_path):
    values, _ = compared(tmp_path, "once", "--evaluation_test_type", "public_tests", "--k", "1")
    assert values["test_types"] == ["public_tests"]
    assert values["runs"][0]["pass_at_k"] == {"pass@1": 0.5}


@pytest.mark.thorough
def test_published_numbers_are_shown_on_request(runs):
    assert "Published" not in compare("once").stdout
    assert "Published, not measured here" in compare("once", "--references").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["once", "twise"], ["there is no run 'twise'", "did you mean 'twice'?"]),
        (["once", "twice", "--baseline", "onse"], ["there is no run 'onse'", "did you mean 'once'?"]),
        (["once", "once"], ["run 'once' is given twice"]),
        (["once", "--evaluation_test_type", "privat_tests"], ["did you mean 'private_tests'?"]),
        (["once", "--evaluation_test_type", "generated_tests"], ["has generated_tests: choose another"]),
        (["once", "-o", "code_tester.tester_type=locl"], ["did you mean 'local'"]),
    ],
    ids=" ".join,
)
def test_a_mistake_is_one_line_and_exit_status_2(runs, arguments, words):
    done = compare(*arguments)
    assert_refused(done, *words)
    assert done.stdout == ""


@pytest.mark.parametrize("command", ["compare", "ablate"])
def test_asking_for_help_imports_nothing_heavy(command):
    assert imported_by(f"from alpha_codium.cli.main import main; main(['{command}', '--help'])") & HEAVY == set()


def test_no_run_at_all_is_a_mistake(home):
    assert compare().returncode == 2


def test_a_run_of_another_command_is_refused(runs, home, problems):
    kind = ("--evaluation_test_type", "private_tests", "--k", 1)
    job = ("--solution_dataset", home / "runs/once/solutions", "--ground_truth_dataset", problems)
    assert run_cli("eval", "eval_gen_solutions", *job, *kind, "--run", "judged").returncode == 0
    refused = compare("once", "judged")
    assert_refused(refused, "run 'judged' was made by eval_gen_solutions", "gencode report has the paired differences")


def test_a_run_in_use_is_refused(runs, home):
    with RunFolder.reopen(home / "runs", "twice"):
        assert_refused(compare("once", "twice"), "run 'twice' is in use by another process")


@pytest.mark.thorough
def test_known_solutions_tell_the_judges_own_error(server, tmp_path):
    known = {"language": [3], "solution": ["print(input())"]}
    problems = tmp_path / "known.jsonl"
    records = [
        problem_record(n) | {"solutions": known, "incorrect_solutions": known | {"solution": ["print(0)"]}}
        for n in range(2)
    ]
    problems.write_text("".join(json.dumps(record) + "\n" for record in records))
    solve(server, problems, "r", 1)
    values, done = compared(tmp_path, "r", "--k", "1")
    assert (values["judge_error"]["correct_total"], values["judge_error"]["correct_rejected"]) == (2, 0)
    said = "judge error: 0 of 2 known-correct rejected, 0 of 2 known-incorrect accepted (local)"
    assert said in done.stdout.replace("\n  ", " ")
    assert compared(tmp_path, "r", "--k", "1")[0] == values
