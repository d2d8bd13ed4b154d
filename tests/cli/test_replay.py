"""What `gencode replay` says; that it is right is in `tests/gen/test_replaying.py`."""

import json

import pytest

from tests.gen.running import model_arguments, run_cli, write_flow, write_problems
from tests.servers.scripted import ScriptedServer


@pytest.fixture
def prompt(home, tmp_path):
    """The prompt file of a run `r` of 25 problems."""
    flow = write_flow(tmp_path / "steps", 1)
    with ScriptedServer(lambda _body: "```python\nprint(input())\n```") as server:
        job = ["--dataset_name", write_problems(tmp_path, 25), "--flow", flow, "--run", "r", *model_arguments(server)]
        done = run_cli("gen", "solve_set", *job)
        assert done.returncode == 0, done.stderr
    return flow / "step0.toml"


def test_a_replay_says_what_was_compared_and_where_it_was_written(prompt, tmp_path):
    done = run_cli("replay", "r", "--output-dataset-name", tmp_path / "again")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "25 of 25 samples replayed, 25 compared with the journal",
        "all of them are identical to the journal's",
        f"written to {tmp_path / 'again'}",
    ]


def test_many_missing_calls_are_told_in_short_and_all_in_json(prompt, tmp_path):
    prompt.write_text(prompt.read_text().replace("Step 0.", "Step nought."))
    done = run_cli("replay", "r", "--json", tmp_path / "result.json")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[:3] == [
        "0 of 25 samples replayed, 0 compared with the journal",
        "25 samples without all answers:",
        "  echo 0, sample 0: step0, 1 call",
    ]
    assert lines[-1] == "  ... and 5 more (all are in the JSON result)"
    changed, progress = done.stderr.splitlines()
    assert "was changed since the run" in changed
    assert progress.startswith("replayed: 25/25 in ")
    assert progress.endswith(", 25 lacking an answer")
    result = json.loads((tmp_path / "result.json").read_text())
    assert len(result["missing"]) == result["samples"] == 25
    assert result["solutions"] is None


@pytest.mark.thorough
def test_a_missing_call_is_logged_on_request_only(prompt):
    changed = "{% if 'number 3:' in problem.description %}Now {% endif %}Step 0."
    prompt.write_text(prompt.read_text().replace("Step 0.", changed))
    done = run_cli("replay", "r", "-qq")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        "24 of 25 samples replayed, 0 compared with the journal",
        "1 sample without all answers:",
        "  echo 3, sample 0: step0, 1 call",
    ]
    logged = [line for line in run_cli("replay", "r", "-v").stderr.splitlines() if "was not asked this" in line]
    assert len(logged) == 1
    assert "echo 3: openai/scripted was not asked this" in logged[0]
