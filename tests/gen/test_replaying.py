"""Runs gone through again without a model."""

import json
import os
import signal
import sqlite3
import subprocess
import sys

import pytest

from alpha_codium.flows.loading import shipped_flows
from alpha_codium.runs import RunFolder
from tests.flows.scripted_flow import GOOD_ANSWERS, Call
from tests.gen.replays import files_of, replay, run
from tests.gen.running import (
    assert_refused,
    candidates_in,
    columns_of,
    model_arguments,
    run_cli,
    write_flow,
    write_problems,
)
from tests.servers.scripted import Filtered, ScriptedServer, Status, When
from tests.support import ROOT

__all__ = ["run"]

# What a replay must not have: a provider's client, and a connection to anywhere.
OFFLINE = """
import socket, sys
inet = (socket.AF_INET, socket.AF_INET6)
connect = socket.socket.connect
def refuse(self, address):
    assert self.family not in inet, f"a replay connects to {address}"
    return connect(self, address)
socket.socket.connect = refuse
from alpha_codium.cli.main import main
try:
    main(sys.argv[1:])
finally:
    assert "litellm" not in sys.modules
"""


@pytest.mark.thorough
def test_a_replay_gives_the_candidates_of_the_run_and_changes_no_file_of_it(run, tmp_path):
    folder = run()
    before = files_of(folder)
    status, said, result = replay("--output_dataset_name", tmp_path / "again")
    assert status == 0, said
    assert (result["samples"], result["compared"], result["missing"], result["differing"]) == (6, 6, [], [])
    assert columns_of(tmp_path / "again") == columns_of(folder / "solutions")
    assert files_of(folder) == before


@pytest.mark.thorough
def test_a_replay_imports_no_client_and_connects_to_nothing(run, home):
    run()
    command = [sys.executable, "-c", OFFLINE, "replay", "r"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert "6 of 6 samples replayed, 6 compared with the journal" in done.stdout
    assert "all of them are identical to the journal's" in done.stdout


@pytest.mark.thorough
def test_all_stages_of_alphacodium_are_replayed(home, tmp_path):
    with ScriptedServer(lambda body: GOOD_ANSWERS[Call(body).prompt]) as server:
        job = ["--dataset_name", write_problems(tmp_path, 2), "--samples", 2, "--run", "r", "--flow", "alphacodium"]
        done = run_cli("gen", "solve_set", *job, *model_arguments(server))
        assert done.returncode == 0, done.stderr
    status, said, result = replay()
    assert (status, result["compared"], result["differing"]) == (0, 4, []), said


@pytest.mark.thorough
@pytest.mark.parametrize("flow", ["resample", "reflexion", "select"])
def test_the_other_flows_are_replayed_too(run, flow):
    run("-o", "resample.answers_per_request=2", flow=flow)
    status, said, result = replay()
    assert (status, result["compared"], result["differing"]) == (0, 6, []), said


@pytest.mark.thorough
def test_a_journal_that_says_something_else_is_told(run):
    journal = run() / "journal.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    lines[0] |= {"program": "print(1)", "llm_calls": 7}
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    status, said, result = replay()
    assert status == 1
    wrong = {"problem": lines[0]["task_name"], "sample": lines[0]["sample_index"], "fields": ["program", "llm_calls"]}
    assert result["differing"] == [wrong]
    assert f"{wrong['problem']}, sample {wrong['sample']}: program, llm_calls" in said


@pytest.mark.thorough
def test_a_run_whose_journal_keeps_errors_in_another_form_is_refused(run):
    journal = run() / "journal.jsonl"
    lines = [json.loads(line) | {"error": "model: no code"} for line in journal.read_text().splitlines()]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert_refused(run_cli("replay", "r"), "journal.jsonl, line 1, was changed")


@pytest.mark.thorough
def test_unanswered_calls_are_listed_and_the_other_samples_go_on(run, tmp_path):
    run()
    prompt = tmp_path / "steps" / "step1.toml"
    prompt.write_text(
        prompt.read_text().replace('"Step 1', "\"{% if '1' in problem.description %}Now {% endif %}Step 1")
    )
    status, said, result = replay("--output_dataset_name", tmp_path / "again")
    assert status == 1
    assert "was changed since the run" in said
    assert result["compared"] == 0
    missing = [{"problem": "echo 1", "sample": sample, "prompt": "step1", "calls": 1} for sample in range(2)]
    assert result["missing"] == missing
    assert "echo 1, sample 0: step1, 1 call" in said
    for name, _, program, error in candidates_in(tmp_path / "again"):
        assert bool(program) == (name != "echo 1")
        assert error.startswith("provider: " if name == "echo 1" else "")


@pytest.mark.thorough
def test_another_flow_is_replayed_as_far_as_its_questions_were_answered(run, tmp_path):
    run()
    shorter = write_flow(tmp_path / "one", 1)
    assert replay("--flow", shorter)[0] == 0
    status, _, result = replay("--flow", "baseline")
    assert status == 1
    assert len(result["missing"]) == 6
    assert {each["prompt"] for each in result["missing"]} == {"code_contests_prompts_baseline"}


@pytest.mark.thorough
def test_shared_takes_answers_of_other_runs(home, tmp_path):
    problems, flow = write_problems(tmp_path, 2), write_flow(tmp_path / "steps", 1)
    with ScriptedServer(lambda _body: "```python\nprint(input())\n```") as server:
        for name, chosen in (("r", flow), ("other", "baseline")):
            job = ["--dataset_name", problems, "--run", name, "--flow", chosen, *model_arguments(server)]
            assert run_cli("gen", "solve_set", *job).returncode == 0
    before = files_of(home / "runs" / "r")
    assert replay("--flow", "baseline")[0] == 1
    status, said, result = replay("--flow", "baseline", "--shared")
    assert (status, result["missing"]) == (0, []), said
    assert files_of(home / "runs" / "r") == before


@pytest.mark.thorough
def test_the_flow_option_overrides_use_baseline_of_the_run(run, tmp_path):
    run("-o", "solve.use_baseline=true")
    assert replay()[0] == 0
    assert {each["prompt"] for each in replay("--flow", tmp_path / "steps")[2]["missing"]} == {"step0"}


@pytest.mark.thorough
def test_other_settings_are_no_reason_to_compare(run):
    run()
    status, _, result = replay("-o", "solve.max_calls=1")
    assert (status, result["compared"]) == (0, 0)
    assert replay("--workers", 1, "-o", "config.concurrency=1")[2]["compared"] == 6


@pytest.mark.thorough
def test_max_seconds_ends_no_sample_of_a_replay(run, tmp_path):
    run()
    assert replay("-o", "solve.max_seconds=1e-9", "--output_dataset_name", tmp_path / "again")[0] == 0
    assert all(program for _, _, program, _ in candidates_in(tmp_path / "again"))


@pytest.mark.thorough
def test_refusals_are_replayed_and_faults_of_the_provider_are_missing_calls(run):
    first, second = (lambda seen, n=n: f"Problem number {n}:" in str(seen.body) for n in (0, 1))
    run("-o", "config.max_retries=0", faults=[When(first, Filtered("I")), When(second, Status(500))], status=(1,))
    status, said, result = replay()
    assert status == 1
    assert (result["compared"], result["differing"]) == (4, []), said
    assert {(each["problem"], each["prompt"]) for each in result["missing"]} == {("echo 1", "step0")}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "budget",
    ["solve.max_calls=1", "solve.max_tokens=1", "budget.problem_calls=3", "budget.run_calls=5", "solve.max_seconds=1"],
)
def test_a_sample_that_a_budget_ended_ends_there_again(run, budget):
    """Each sample's first answer is a program: it is kept where the second is refused."""
    slow = 0.7 if "seconds" in budget else 0.0
    folder = run("-o", budget, latency=slow, status=(0, 1))
    ended = sum('"budget_end"' in path.read_text() for path in (folder / "transcripts").rglob("*.json"))
    assert ended > 0
    status, said, result = replay()
    assert (status, result["differing"], result["missing"]) == (0, [], []), said
    if not slow:  # on a busy machine, not even the first answer may come in time
        assert result["compared"] == sum(not error for *_, error in candidates_in(folder / "solutions"))
    assert result["compared"] == result["replayed"] == 6 - len(result["never_begun"])


@pytest.mark.thorough
def test_a_run_that_was_killed_is_replayed_from_its_log_too(run, home):
    """What SQLite hasn't moved to its file yet counts; a sample that isn't in the journal is only not compared."""
    folder = run()
    script = (
        "import os, sys; from pathlib import Path; from alpha_codium.runs import AnswerStore\n"
        "store = AnswerStore(Path(sys.argv[1])).__enter__(); store.put('k', {'text': 'x', 'model': 'm'})\n"
        "os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", script, folder / "answers.sqlite"], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (folder / "answers.sqlite-wal").stat().st_size > 0
    journal = folder / "journal.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:4]))
    before = files_of(folder)
    status, said, result = replay()
    assert (status, result["samples"], result["compared"]) == (0, 6, 4), said
    assert files_of(folder) == before


@pytest.mark.thorough
def test_a_run_without_any_answers_misses_them_all(run):
    (run() / "answers.sqlite").unlink()
    status, _, result = replay()
    assert (status, len(result["missing"])) == (1, 6)


@pytest.mark.thorough
def test_an_impossible_replay_is_refused_in_one_line(run, home, tmp_path):
    folder = run()
    assert_refused(run_cli("replay", "rr"), "there is no run 'rr'", "did you mean 'r'")
    with RunFolder.reopen(home / "runs", "r"):
        assert_refused(run_cli("replay", "r"), "run 'r' is in use")
    assert_refused(run_cli("replay", "r", "--flow", "baselin"), "baseline")
    own = folder / "solutions"
    assert_refused(
        run_cli("replay", "r", "--output_dataset_name", own), "a replay changes no file of its run", str(own)
    )
    (folder / "answers.sqlite").write_text("something else " * 20)
    assert_refused(run_cli("replay", "r"), f"{folder / 'answers.sqlite'}, the answers of the run, can't be used")
    (folder / "answers.sqlite").unlink()
    (folder / "answers.sqlite").mkdir()
    assert_refused(run_cli("replay", "r"), f"{folder / 'answers.sqlite'} can't be read: Is a directory")
    write_problems(tmp_path, 4)
    assert_refused(run_cli("replay", "r"), "has changed since the run")
    RunFolder.create(home / "runs", "judged", {"command": "eval_gen_solutions"})
    assert_refused(run_cli("replay", "judged"), "run 'judged' is one of ")


@pytest.mark.thorough
def test_an_error_during_a_replay_is_one_line(run):
    folder = run("-o", "budget.run_calls=5", status=(1,))
    no_such = 'config.model_by_prompt={"none"="x"}'
    assert_refused(run_cli("replay", "r", "-o", no_such), "there is no prompt 'none'")
    with sqlite3.connect(folder / "answers.sqlite") as answers:
        answers.execute("UPDATE answers SET answer = 'no JSON'")
    assert_refused(run_cli("replay", "r"), f"{folder / 'answers.sqlite'}, the answers of the run, can't be used")


def test_every_shipped_flow_is_known_here():
    """A new one belongs in a test above."""
    here = {"alphacodium", "resample", "reflexion", "select", "baseline"}
    assert set(shipped_flows()) - here <= {"auto", "complete", "write_and_repair"}
