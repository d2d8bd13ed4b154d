"""Budgets and their preview, as a user meets them."""

import json

import pytest

from alpha_codium.gen.preview import LONGEST_ANSWER
from tests.gen.running import (
    assert_refused,
    candidates_in,
    model_arguments,
    run_cli,
    signed,
    write_flow,
    write_problems,
)
from tests.servers.scripted import ScriptedServer

PRICE = 'prices.models={"openai/scripted" = {input = 1000000, output = 0}}'


@pytest.fixture
def server(home):
    with ScriptedServer(signed) as running:
        yield running


@pytest.fixture
def problems(tmp_path):
    return write_problems(tmp_path, 3)


def solve_set(problems, server, *arguments):
    at = ("--dataset_name", problems, "--flow", "baseline", "--no_cache", *model_arguments(server))
    return run_cli("gen", "solve_set", *at, *arguments)


@pytest.mark.thorough
def test_a_run_that_its_budget_ends_says_so_exits_with_1_and_goes_on_with_a_larger_one(server, problems, home):
    done = solve_set(problems, server, "--samples", 2, "--run", "r", "-o", "budget.run_calls=4")
    assert done.returncode == 1
    assert len(server.requests) == 4
    told = [line for line in done.stderr.splitlines() if line.startswith("the run's budget of 4 calls is spent")]
    assert len(told) == 1
    assert "ended 2 samples" in told[0]
    assert "--resume r" in told[0]
    rows = list(candidates_in(home / "runs/r/solutions"))
    assert [bool(program) for *_, program, _ in rows] == [True] * 4 + [False] * 2
    said = "internal: the run's budget of 4 calls was spent before this sample"
    assert {error for *_, error in rows[4:]} == {said}
    assert json.loads((home / "runs/r/results.json").read_text())["ended_by_budget"] == {
        "the run's budget of 4 calls": 2
    }
    again = run_cli("gen", "solve_set", "--resume", "r", "-o", "budget.run_calls=6")
    assert (again.returncode, len(server.requests)) == (0, 6)
    after = list(candidates_in(home / "runs/r/solutions"))
    assert after[:4] == rows[:4]
    assert all(program for *_, program, _ in after)


@pytest.mark.thorough
def test_samples_ended_by_their_own_budget_are_counted_and_complete(server, problems, home, tmp_path):
    own = ("--flow", write_flow(tmp_path / "flow", 3), "--run", "r", "-o", "solve.max_calls=2")
    done = solve_set(problems, server, *own)
    said = "3 samples ended by solve.max_calls: each counts with the program that it had"
    assert (done.returncode, said in done.stderr.splitlines()) == (0, True)
    again = run_cli("gen", "solve_set", "--resume", "r")
    assert (again.returncode, said in again.stderr.splitlines()) == (0, True)
    assert json.loads((home / "runs/r/results.json").read_text())["ended_by_own_budget"] == {"solve.max_calls": 3}


@pytest.mark.thorough
def test_of_the_samples_that_a_shared_budget_ended_only_those_without_a_program_are_tried_again(
    server, problems, tmp_path
):
    own = ("--flow", write_flow(tmp_path / "flow", 2), "--run", "r", "-o", "config.concurrency=1")
    done = solve_set(problems, server, *own, "-o", "budget.run_calls=3")
    said = "the run's budget of 3 calls is spent and ended 2 samples, 1 of them without a program: "
    assert [line for line in done.stderr.splitlines() if " ended " in line] == [
        f"{said}raise it and try again with --resume r"
    ]
    other = solve_set(problems, server, *own[:2], "-o", "config.concurrency=1", "-o", "budget.run_calls=5")
    said = "the run's budget of 5 calls is spent and ended 1 sample: each counts with the program that it had"
    assert said in other.stderr.splitlines()


@pytest.mark.thorough
def test_the_last_sample_of_a_budget_is_complete_and_no_reason_for_a_bad_status(server, problems):
    done = solve_set(problems, server, "-o", "budget.run_calls=3")
    assert (done.returncode, "is spent" in done.stderr) == (0, False)


@pytest.mark.thorough
def test_a_budget_in_dollars_ends_a_run_by_the_price_that_is_given(server, problems):
    done = solve_set(problems, server, "-o", PRICE, "-o", "budget.run_cost=1", "-o", "config.concurrency=1")
    assert done.returncode == 1
    assert "the run's budget of 1 dollars is spent and ended 2 samples" in done.stderr
    assert len(server.requests) == 1


@pytest.mark.thorough
def test_a_run_that_began_without_a_price_goes_on_with_one_and_a_budget_in_dollars(server, problems, home):
    solve_set(problems, server, "--run", "r", "-o", "budget.run_calls=1")
    price = 'prices.models={"openai/scripted" = {input = 1000, output = 1000}}'
    on = ("gen", "solve_set", "--resume", "r", "-o", "budget.run_calls=0", "-o", price)
    spent = run_cli(*on, "-o", "budget.run_cost=0.001")
    assert (spent.returncode, len(server.requests)) == (1, 1)
    done = run_cli(*on, "-o", "budget.run_cost=10")
    assert (done.returncode, len(server.requests)) == (0, 3), done.stderr


@pytest.mark.parametrize("budget", ["solve.max_cost", "budget.run_cost", "budget.problem_cost"])
def test_an_unknown_price_is_asked_for_before_anything_else_is_done(server, problems, home, tmp_path, budget):
    one = ("gen", "solve_problem", "--dataset_name", problems, "--problem_number", 0, *model_arguments(server))
    for done in (
        solve_set(problems, server, "-o", f"{budget}=1"),
        solve_set(problems, server, "-o", f"{budget}=1", "--dry_run"),
        run_cli(*one, "-o", f"{budget}=1"),
    ):
        assert_refused(done, "price of openai/scripted", 'prices.models = {"openai/scripted" = {input = 0.5')
    assert server.requests == []
    assert not (home / "runs").exists() or not list((home / "runs").iterdir())


def test_the_lines_that_are_shown_for_a_price_are_settings(server, problems, tmp_path):
    done = solve_set(problems, server, "-o", "budget.run_cost=100")
    line = done.stderr.splitlines()[-1]
    (tmp_path / "prices.toml").write_text(line[line.index("prices.models") :])
    assert (
        solve_set(problems, server, "-o", "budget.run_cost=100", "--config", tmp_path / "prices.toml").returncode == 0
    )


def test_a_dry_run_says_what_it_takes_asks_nothing_and_writes_nothing(server, problems, home, tmp_path):
    flow = write_flow(tmp_path / "flow", 3)
    own = ("--flow", flow, "--samples", 5, "--dry-run", "-o", PRICE, "-o", "budget.run_calls=20")
    done = solve_set(problems, server, *own, "--json", tmp_path / "preview.json", "--run", "never")
    assert done.returncode == 0, done.stderr
    values = json.loads((tmp_path / "preview.json").read_text())
    assert (values["problems"], values["samples"], values["models"]) == (3, 15, ["openai/scripted"])
    assert values["calls"] == 135
    assert values["cost"] == pytest.approx(values["prompt_tokens"], abs=1)
    shown = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if " tokens " not in line)
    assert shown["calls"] == "up to 135"
    assert shown["budget"] == "at most 20 calls in all"
    assert "4 characters a token" in done.stderr
    assert server.requests == []
    assert not (home / "runs").exists()


def test_a_dry_run_of_one_problem_and_of_what_is_left_of_a_run(server, problems, tmp_path):
    one = ("gen", "solve_problem", "--dataset_name", problems, "--problem_number", 0, "--flow", "baseline")
    done = run_cli(*one, "--dry_run", "--json", "-", *model_arguments(server))
    assert json.loads(done.stdout)["calls"] == 3
    solve_set(problems, server, "--samples", 2, "--run", "r", "-o", "budget.run_calls=4")
    before = sorted(path.stat().st_mtime_ns for path in (tmp_path / "home/runs/r").rglob("*"))
    left = run_cli("gen", "solve_set", "--resume", "r", "--dry_run", "--json", "-")
    values = json.loads(left.stdout)
    assert values["samples"] == 2
    assert values["cuts"] == ["at most 4 calls in all, including earlier samples"]
    assert sorted(path.stat().st_mtime_ns for path in (tmp_path / "home/runs/r").rglob("*")) == before
    assert len(server.requests) == 4


def test_a_dry_run_needs_no_model_and_fetches_none(home, problems, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    done = run_cli("gen", "solve_set", "--dataset_name", problems, "--flow", "baseline", "--dry_run", "--json", "-")
    values = json.loads(done.stdout)
    assert values["models"][0].startswith("local/")
    assert values["cost"] == 0
    assert not (home / "models").exists() or not list((home / "models").iterdir())


def test_models_in_turn_need_no_other_and_none_is_fetched(home, problems, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    turns = ("-o", 'config.rotate_models=["openai/a", "openai/b"]')
    done = run_cli(
        "gen", "solve_set", "--dataset_name", problems, "--flow", "baseline", "--dry_run", "--json", "-", *turns
    )
    values = json.loads(done.stdout)
    assert values["models"] == ["openai/a", "openai/b"]
    # The bound of a local model would be another.
    assert values["completion_tokens"] == values["calls"] * LONGEST_ANSWER


def test_a_run_begins_with_its_folder_and_its_preview(server, problems):
    done = solve_set(problems, server, "--samples", 2, "-o", "budget.run_seconds=1000")
    folder, first = done.stderr.splitlines()[:2]
    assert folder.startswith("run folder: ")
    assert first.startswith("3 problems, 6 samples of baseline by openai/scripted: calls up to 18, tokens up to ")
    assert first.endswith("cost unknown; at most 1000 s in all")
