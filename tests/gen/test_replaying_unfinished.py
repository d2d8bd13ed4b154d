"""Replays of runs that were not gone through: a budget was spent, or they were cut off."""

import json
import subprocess
import sys
import threading

import pytest

from tests.gen.replays import replay, run
from tests.gen.running import ECHO, columns_of, model_arguments, run_cli, write_flow, write_problems
from tests.servers.scripted import Hang, ScriptedServer, Text
from tests.support import ROOT

__all__ = ["run"]

ONE_AT_A_TIME = ("-o", "config.concurrency=1")
CUT_OFF = "the run was cut off before their first answer"


def never_begun(*keys, reason):
    return [{"problem": problem, "sample": sample, "reason": reason} for problem, sample in keys]


def cut_off(home, tmp_path, number):
    """The run `r` of three problems, two samples, two calls each, one at a time; killed at a request that hangs."""
    reached = threading.Event()

    def hang(seen):
        if seen.number < number:
            return None
        reached.set()
        return Hang()

    with ScriptedServer(lambda _body: Text(ECHO), faults=[hang]) as server:
        job = ["--dataset_name", write_problems(tmp_path, 3), "--samples", 2, "--run", "r"]
        flow = ["--flow", write_flow(tmp_path / "steps", 2)]
        command = ["gen", "solve_set", *job, *flow, *model_arguments(server), *ONE_AT_A_TIME, "--no-cache"]
        with subprocess.Popen(
            [sys.executable, "-m", "alpha_codium", *map(str, command)], stderr=subprocess.DEVNULL, cwd=ROOT
        ) as process:
            came = reached.wait(100)
            process.kill()
    assert came
    return home / "runs" / "r"


@pytest.mark.thorough
def test_samples_that_a_spent_budget_kept_from_beginning_lack_nothing(run, tmp_path):
    folder = run("-o", "budget.run_calls=5", *ONE_AT_A_TIME, status=(1,))
    status, said, result = replay("--output_dataset_name", tmp_path / "again")
    assert (status, result["replayed"], result["compared"], result["missing"]) == (0, 3, 3, []), said
    reason = "the run's budget of 5 calls was spent"
    assert result["never_begun"] == never_begun(("echo 1", 1), ("echo 2", 0), ("echo 2", 1), reason=reason)
    assert f"3 samples not replayed: {reason}\n" in said
    assert columns_of(tmp_path / "again") == columns_of(folder / "solutions")


@pytest.mark.thorough
def test_nor_do_they_with_another_flow_but_those_that_were_begun_do(run):
    run("-o", "budget.run_calls=5", *ONE_AT_A_TIME, status=(1,))
    status, said, result = replay("--flow", "baseline")
    assert (status, result["replayed"], len(result["never_begun"])) == (1, 0, 3), said
    begun = [("echo 0", 0), ("echo 0", 1), ("echo 1", 0)]
    assert [(each["problem"], each["sample"]) for each in result["missing"]] == begun


@pytest.mark.thorough
def test_a_sample_that_the_run_did_not_begin_is_replayed_from_answers_of_other_runs(home, tmp_path):
    """But with the run's own flow it ends as it did."""
    problems, flow = write_problems(tmp_path, 2), write_flow(tmp_path / "steps", 1)
    with ScriptedServer(lambda _body: Text(ECHO)) as server:
        for name, chosen, calls in (("other", "baseline", 0), ("more", flow, 0), ("r", flow, 1)):
            job = ["--dataset_name", problems, "--run", name, "--flow", chosen, "-o", f"budget.run_calls={calls}"]
            done = run_cli("gen", "solve_set", *job, *model_arguments(server), *ONE_AT_A_TIME)
            assert done.returncode == bool(calls), done.stderr
    status, said, result = replay("--flow", "baseline", "--shared")
    assert (status, result["replayed"], result["never_begun"]) == (0, 2, []), said
    status, said, result = replay("--shared")
    assert (status, result["replayed"], len(result["never_begun"])) == (0, 1, 1), said


@pytest.mark.thorough
def test_a_run_that_was_killed_lacks_only_what_follows_its_last_answer(home, tmp_path):
    """It is killed in the fourth sample's second call."""
    folder = cut_off(home, tmp_path, 8)
    assert len((folder / "journal.jsonl").read_text().splitlines()) == 3
    status, said, result = replay()
    assert (status, result["replayed"], result["compared"]) == (1, 3, 3), said
    assert result["missing"] == [{"problem": "echo 1", "sample": 1, "prompt": "step1", "calls": 1}]
    assert result["never_begun"] == never_begun(("echo 2", 0), ("echo 2", 1), reason=CUT_OFF)


@pytest.mark.thorough
def test_a_run_that_was_killed_between_its_samples_is_replayed_as_far_as_it_came(home, tmp_path):
    cut_off(home, tmp_path, 7)
    status, said, result = replay()
    assert (status, result["replayed"], result["compared"], result["missing"]) == (0, 3, 3, []), said
    assert f"3 samples not replayed: {CUT_OFF}\n" in said
    assert "all of them are identical to the journal's" in said


@pytest.mark.thorough
def test_a_sample_that_a_shared_budget_left_without_a_program_is_compared_too(run):
    folder = run("-o", "budget.run_calls=1", *ONE_AT_A_TIME, flow="reflexion", status=(1,), answer="no program")
    assert (replay()[0], replay()[2]["compared"], len(replay()[2]["never_begun"])) == (0, 1, 5)
    journal = folder / "journal.jsonl"
    first, *others = journal.read_text().splitlines(keepends=True)
    assert "was spent before this sample had a program" in first
    journal.write_text("".join([json.dumps(json.loads(first) | {"llm_calls": 3}) + "\n", *others]))
    status, said, result = replay()
    assert (status, result["differing"]) == (1, [{"problem": "echo 0", "sample": 0, "fields": ["llm_calls"]}]), said
