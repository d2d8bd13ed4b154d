"""`gencode ablate` as a user types it."""

import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

import pytest

from alpha_codium.errors import FlowError
from alpha_codium.flows import load_flow
from alpha_codium.runs import RunFolder
from tests.flows.scripted_flow import GOOD_ANSWERS, Call, ai_tests, answering, fixed, program
from tests.gen.running import (
    assert_refused,
    columns_of,
    model_arguments,
    run_cli,
    signed,
    write_flow,
    write_problems,
)
from tests.servers.scripted import Delay, ScriptedServer, Status

ECHO = "print(input())"
# Right for the public test of the problem `echo 0` only: what AI tests find out.
NARROW = program(answering({"0": 0}))


def answer(body: dict[str, Any]) -> Any:
    """A narrow first program, which the AI test shows to be wrong."""
    answers = GOOD_ANSWERS | {"initial_code": NARROW, "fix": fixed(ECHO), "generate_ai_tests": ai_tests(("5", "5"))}
    return answers[Call(body).prompt]


@pytest.fixture
def server(home):
    with ScriptedServer(answer) as running:
        yield running


def ablate(server, tmp_path, *more):
    problems = write_problems(tmp_path, 1)
    return run_cli(
        "ablate", "--dataset_name", problems, *model_arguments(server), "--json", tmp_path / "out.json", *more
    )


@pytest.mark.thorough
def test_each_variant_is_a_run_compared_with_the_whole_flow(server, home, tmp_path):
    done = ablate(server, tmp_path, "--without", "reflect", "--without", "ai-tests", "--run", "abl", "--k", "1")
    assert done.returncode == 0, done.stderr
    values = json.loads((tmp_path / "out.json").read_text())
    assert [run["run"] for run in values["runs"]] == ["abl", "abl-without-reflect", "abl-without-ai_tests"]
    assert [run["pass_at_k"]["pass@1"] for run in values["runs"]] == [1.0, 1.0, 0.0]
    assert [(d["first"], d["second"]) for d in values["differences"]] == [
        ("abl", "abl-without-reflect"), ("abl", "abl-without-ai_tests"),
    ]  # fmt: skip
    stages = {effect["stage"]: effect for effect in values["stages"]["abl"]}
    assert (stages["initial_code"]["first_fails"], stages["fix_ai_tests"]["gained"]) == (1, 1)
    assert {e["stage"] for e in values["stages"]["abl-without-ai_tests"]} == set(stages) - {
        "generate_ai_tests",
        "fix_ai_tests",
    }
    described = RunFolder.reopen(home / "runs", "abl-without-ai_tests").description()
    assert (described["flow"], described["without"]) == ("alphacodium", ["generate_ai_tests", "fix_ai_tests"])
    assert "run 2 of 3: abl-without-reflect" in done.stderr
    assert "Differences on the same problems" in done.stdout and "run 2 of 3" not in done.stdout


@pytest.mark.thorough
def test_repeating_the_command_asks_nothing_and_gives_the_same(server, tmp_path):
    job = ("--without", "choose_best", "--run", "abl", "--samples", 2)
    assert ablate(server, tmp_path, *job).returncode == 0
    first, asked = (tmp_path / "out.json").read_text(), len(server.requests)
    done = ablate(server, tmp_path, *job)
    assert done.returncode == 0, done.stderr
    assert ((tmp_path / "out.json").read_text(), len(server.requests)) == (first, asked)


@pytest.mark.thorough
def test_an_ablation_that_was_cut_off_goes_on_and_one_more_variant_may_be_added(home, tmp_path):
    with ScriptedServer(answer, faults=[lambda seen: Status(401) if seen.number == 3 else None]) as server:
        done = ablate(server, tmp_path, "--without", "reflect", "--run", "abl")
        assert done.returncode == 2, done.stderr
        done = ablate(server, tmp_path, "--without", "reflect", "--without", "plans,solutions", "--run", "abl")
        assert_refused(done, "has no stage 'plans'")
        done = ablate(server, tmp_path, "--without", "reflect", "--without", "choose,solutions", "--run", "abl")
        assert done.returncode == 0, done.stderr
    values = json.loads((tmp_path / "out.json").read_text())
    assert [run["run"] for run in values["runs"]] == ["abl", "abl-without-reflect", "abl-without-choose-solutions"]


@pytest.mark.thorough
def test_variants_that_are_spelt_in_two_ways_or_leave_out_the_same_stages_are_one_run(server, home, tmp_path):
    spelt = ("--without", "ai-tests", "--without", "ai_tests", "--without", " ai_tests,,ai-tests")
    same = ("--without", "fix_ai,generate", "--without", "generate_ai_tests,fix_ai_tests")
    done = ablate(server, tmp_path, *spelt, *same, "--run", "abl", "--k", "1")
    assert done.returncode == 0, done.stderr
    values = json.loads((tmp_path / "out.json").read_text())
    assert [run["run"] for run in values["runs"]] == ["abl", "abl-without-ai_tests"]
    assert sorted(path.name for path in (home / "runs").iterdir()) == ["abl", "abl-without-ai_tests"]
    assert len(values["differences"]) == 1
    assert "without fix_ai, generate is the same as abl-without-ai_tests, and run once\n" in done.stderr
    assert "without ai_tests is the same" not in done.stderr


@pytest.mark.thorough
def test_a_variant_that_is_added_later_is_as_the_whole_flow_was(server, home, tmp_path):
    first = ("--without", "reflect", "--run", "abl", "--k", "1")
    assert ablate(server, tmp_path, *first, "--samples", 2, "--temperature", 0.5).returncode == 0
    done = ablate(server, tmp_path, *first, "--without", "choose_best")
    assert done.returncode == 0, done.stderr
    added = RunFolder.reopen(home / "runs", "abl-without-choose_best").description()
    assert (added["samples"], added["settings"]["config"]["temperature"]) == (2, 0.5)
    assert "the runs differ in" not in done.stdout


@pytest.mark.thorough
def test_a_budget_that_ends_a_run_is_told_with_how_to_go_on(server, tmp_path):
    job = ("--without", "reflect", "--run", "abl", "--k", "1", "--no-cache")
    done = ablate(server, tmp_path, *job, "-o", "budget.run_calls=2")
    assert done.returncode == 1
    ended = "the run's budget of 2 calls is spent and ended 1 sample of"
    for run in ("abl", "abl-without-reflect"):
        assert f"{ended} {run}: raise it and repeat the command with --run abl\n" in done.stderr
    assert len(server.requests) == 4
    done = ablate(server, tmp_path, *job, "-o", "budget.run_calls=0")
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
def test_a_dry_run_says_what_each_run_would_take_and_asks_and_writes_nothing(server, home, tmp_path):
    job = ("--without", "reflect", "--run", "abl")
    done = ablate(server, tmp_path, *job, "--dry-run")
    assert done.returncode == 0, done.stderr
    whole, less = json.loads((tmp_path / "out.json").read_text())
    assert (whole["flow"], less["flow"]) == ("alphacodium", "alphacodium-without-reflect")
    assert less["calls"] < whole["calls"]
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == [
        "1 problem, 1 sample of alphacodium by openai/scripted",
        "1 problem, 1 sample of alphacodium-without-reflect by openai/scripted",
    ]
    assert server.requests == [] and not list((home / "runs").glob("*"))
    assert ablate(server, tmp_path, *job, "--k", "1").returncode == 0
    left = ablate(server, tmp_path, *job, "--without", "choose_best", "--dry-run")
    assert [line.split(" of ")[0] for line in left.stdout.splitlines()] == [
        "1 problem, 0 samples", "1 problem, 0 samples", "1 problem, 1 sample",
    ]  # fmt: skip


@pytest.mark.thorough
def test_runs_in_a_folder_of_ones_own_are_gone_on_with(server, tmp_path):
    job = ("--without", "reflect", "--run", "mine/abl")
    assert ablate(server, tmp_path, *job).returncode == 0
    asked = len(server.requests)
    done = ablate(server, tmp_path, *job)
    assert done.returncode == 0, done.stderr
    assert len(server.requests) == asked
    assert (tmp_path / "work/mine/abl-without-reflect/run.toml").exists()


@pytest.mark.thorough
def test_ctrl_c_says_how_to_go_on_with_the_whole_ablation(home, tmp_path):
    begun = threading.Event()

    def slow(body):
        if Call(body).prompt == "generate_ai_tests":
            begun.set()
            return Delay(60, "")
        return answer(body)

    with ScriptedServer(slow) as server:
        job = ["--dataset_name", write_problems(tmp_path, 1), "--without", "reflect", "--run", "abl"]
        command = [sys.executable, "-m", "alpha_codium", "ablate", *job, *model_arguments(server)]
        process = subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True, start_new_session=True)
        assert begun.wait(60)
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert stderr.endswith("repeat the command with --run abl\n\ninterrupted\n") and "Traceback" not in stderr


@pytest.mark.thorough
def test_without_a_name_the_runs_are_told_how_to_go_on(home, tmp_path):
    with ScriptedServer(answer, faults=[lambda seen: Status(401)]) as server:
        done = ablate(server, tmp_path, "--without", "reflect")
    assert done.returncode == 2, done.stderr
    assert "if this is interrupted, repeat the command with --run ablate-" in done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--without", "reflekt"], ["flow 'alphacodium' has no stage 'reflekt'", "did you mean 'reflect'?"]),
        (["--without", "reflect", "--flow", "auto"], ["flow 'auto' only chooses another one", "alphacodium"]),
        (["--without", "write_code", "--flow", "baseline"], ["has no stages but write_code"]),
        (["--without", "reflect", "--flow", "alphacodum"], ["there is no flow 'alphacodum'"]),
        (["--without", "reflect", "--evaluation_test_type", "privat"], ["unknown type of tests 'privat'"]),
        (["--without", ","], ["matches no stage"]),
    ],
    ids=" ".join,
)
def test_a_mistake_is_told_before_anything_is_asked(server, home, tmp_path, more, words):
    assert_refused(ablate(server, tmp_path, *more), *words)
    assert server.requests == []
    assert list((home / "runs").glob("*")) == []


def test_a_name_of_a_stage_may_be_a_part_of_several():
    flow = load_flow("alphacodium")
    assert flow.stage_kinds_named(["reflect"]) == ("reflect",)
    assert flow.stage_kinds_named(["ai-tests"]) == ("generate_ai_tests", "fix_ai_tests")
    assert flow.stage_kinds_named(["fix", "reflect", "fix_ai_tests"]) == ("reflect", "fix_public_tests", "fix_ai_tests")
    with pytest.raises(FlowError, match="has no stage ''"):
        flow.stage_kinds_named([""])


@pytest.mark.thorough
def test_a_run_without_a_stage_says_so_and_goes_on_without_it(home, tmp_path):
    flow = write_flow(tmp_path / "steps2", 2)
    (flow / "flow.toml").write_text((flow / "flow.toml").read_text().replace('"write_code"', '"complete_code"', 1))
    with ScriptedServer(signed) as server:
        job = ["--dataset_name", write_problems(tmp_path), "--flow", flow, *model_arguments(server)]
        done = run_cli("gen", "solve_set", *job, "--run", "less", "--without", "write")
        assert done.returncode == 0, done.stderr
        described = RunFolder.reopen(home / "runs", "less").description()
        assert (described["flow"], described["without"]) == (str(flow), ["write_code"])
        before, asked = columns_of(home / "runs/less/solutions"), len(server.requests)
        for again in ([], ["--without", "write-code"]):
            assert run_cli("gen", "solve_set", "--resume", "less", *again).returncode == 0
        assert (columns_of(home / "runs/less/solutions"), len(server.requests)) == (before, asked)
        assert_refused(
            run_cli("gen", "solve_set", "--resume", "less", "--without", "complete"), "run 'less' was made with"
        )
        assert_refused(
            run_cli("gen", "solve_set", *job, "--without", "writ_code"), "has no stage 'writ_code'", "'write_code'"
        )
