"""What one run has asked another need not: real HTTP, the real client, the real sandbox."""

import itertools
import json
import shutil
import subprocess
import sys
import threading

import pytest

from alpha_codium.config import Settings
from alpha_codium.flows.loading import shipped_flows
from alpha_codium.gen.caching import scope_of
from alpha_codium.llm.local.registry import SMALLEST, add
from alpha_codium.paths import models_folder
from tests.flows.scripted_flow import GOOD_ANSWERS, Call, chosen
from tests.gen.running import columns_of, model_arguments, run_cli, write_flow, write_problems
from tests.servers.scripted import ScriptedServer, Status, Text, When

PROBLEMS, SAMPLES, STEPS = 2, 3, 2
CALLS = PROBLEMS * SAMPLES * STEPS
OURS = ("asked", "from_cache", "spent", "seconds", "run", "run_folder", "solutions", "next_command")


@pytest.fixture
def server(home):
    """Never answers twice the same."""
    numbers = itertools.count()
    with ScriptedServer(lambda _body: Text(f"```python\nprint(input())  # {next(numbers)}\n```")) as running:
        yield running


@pytest.fixture
def job(tmp_path):
    flow = write_flow(tmp_path / "steps", STEPS)
    return ["--dataset_name", write_problems(tmp_path, PROBLEMS), "--flow", flow, "--samples", SAMPLES]


@pytest.fixture
def run(home, job, server, tmp_path):
    """Runs the job under a name; gives its summary, its Solutions, and how many requests it made."""

    def solve(name, *arguments, at=server):
        before = len(at.requests)
        result = tmp_path / f"{name}.json"
        given = [*job, "--run", name, *model_arguments(at), "--json", result, *arguments]
        done = run_cli("gen", "solve_set", *given)
        assert done.returncode == 0, done.stderr
        summary = json.loads(result.read_text())
        return summary, columns_of(home / "runs" / name / "solutions"), len(at.requests) - before

    return solve


@pytest.mark.thorough
def test_repeating_a_run_asks_nothing_and_gives_the_same_solutions(run, home):
    first, solutions, requests = run("first")
    assert requests == first["asked"] == CALLS
    assert first["from_cache"] == 0
    again, repeated, requests = run("again")
    assert (requests, again["asked"], again["from_cache"], again["spent"]) == (0, 0, CALLS, 0)
    assert repeated == solutions
    assert {k: v for k, v in again.items() if k not in OURS} == {k: v for k, v in first.items() if k not in OURS}
    programs = [program for candidates in solutions["solution_candidates"] for program in candidates]
    assert len(set(programs)) == PROBLEMS * SAMPLES, "samples stay different samples"


@pytest.mark.thorough
def test_the_repeated_run_needs_no_cache_to_be_gone_on_with(run, home):
    run("first")
    _, solutions, _ = run("again")
    shutil.rmtree(home / "cache")
    (home / "runs" / "again" / "journal.jsonl").unlink()
    done = run_cli("gen", "solve_set", "--resume", "again")
    assert done.returncode == 0, done.stderr
    assert columns_of(home / "runs" / "again" / "solutions") == solutions


@pytest.mark.thorough
def test_more_samples_ask_only_for_those_that_are_new(run):
    run("first")
    summary, _, requests = run("more", "--samples", SAMPLES + 2)
    assert requests == summary["asked"] == PROBLEMS * 2 * STEPS


@pytest.mark.thorough
def test_no_cache_asks_anew_and_leaves_nothing_for_others(run, home):
    run("first", "--no-cache")
    assert not (home / "cache").exists()
    assert run("second")[2] == CALLS
    summary, _, requests = run("third", "--no_cache")
    assert requests == summary["asked"] == CALLS
    assert run("fourth")[2] == 0


@pytest.mark.thorough
@pytest.mark.parametrize(
    "other",
    [["--temperature", 0.7], ["--model", "openai/another"], ["--seed", 3], ["-o", "config.drop_params=true"]],
    ids=lambda arguments: arguments[0],
)
def test_what_decides_an_answer_asks_anew(run, other):
    run("first")
    assert run("other", *other)[2] == CALLS


@pytest.mark.thorough
def test_another_address_is_asked_but_not_for_another_user_of_it(run, server):
    run("first")
    assert run("password", "--api_base", server.api_base.replace("http://", "http://me:secret@"))[2] == 0
    with ScriptedServer(lambda _body: "```python\nprint(input())\n```") as another:
        assert run("elsewhere", at=another)[2] == CALLS


@pytest.mark.thorough
def test_a_price_that_is_given_later_holds_for_answers_of_earlier_runs_too(run):
    summary, _, _ = run("first")
    assert summary["cost"] is None
    assert summary["spent"] is None
    price = "prices.models={'openai/scripted' = {input = 1.0, output = 2.0}}"
    summary, _, requests = run("priced", "-o", price)
    assert requests == summary["spent"] == 0
    assert summary["cost"] == pytest.approx((summary["prompt_tokens"] + 2 * summary["completion_tokens"]) / 1e6)


@pytest.mark.thorough
def test_what_failed_is_not_in_the_cache(home, tmp_path):
    mended = threading.Event()
    broken = When(lambda seen: "Problem number 1" in str(seen.body) and not mended.is_set(), Status(400, "no"))
    with ScriptedServer(lambda _body: "```python\nprint(input())\n```", faults=[broken]) as server:
        job = ["--dataset_name", write_problems(tmp_path, 2), "--flow", "baseline", *model_arguments(server)]
        assert run_cli("gen", "solve_set", *job).returncode == 1
        mended.set()
        before = len(server.requests)
        done = run_cli("gen", "solve_set", *job, "--json", "-")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["asked"] == len(server.requests) - before == 1


@pytest.mark.thorough
def test_a_changed_prompt_asks_only_what_follows_from_it(home, tmp_path):
    """As long as the answer to the changed prompt is the same, nothing follows from it."""
    flow = shutil.copytree(shipped_flows()["alphacodium"], tmp_path / "mine")
    prompt = flow / "choose_best.toml"
    answers = dict(GOOD_ANSWERS)
    with ScriptedServer(lambda body: answers[Call(body).prompt]) as server:

        def asked(name):
            before = len(server.requests)
            problems = write_problems(tmp_path, 1)
            job = ["--dataset_name", problems, "--flow", flow, "--run", name, *model_arguments(server)]
            done = run_cli("gen", "solve_set", *job)
            assert done.returncode == 0, done.stderr
            return [Call(seen.body).prompt for seen in server.requests[before:]]

        whole = asked("first")
        assert whole[:3] == ["reflect", "possible_solutions", "choose_best"]
        prompt.write_text(prompt.read_text().replace("Choose the simplest", "Take your time. Choose the simplest"))
        assert asked("same answer") == ["choose_best"]
        prompt.write_text(prompt.read_text().replace("Take your time.", "Think twice."))
        answers["choose_best"] = chosen("counting")
        followed = asked("another answer")
    assert followed[0] == "choose_best"
    assert "initial_code" in followed
    assert not {"reflect", "possible_solutions"} & set(followed)


@pytest.mark.slow
def test_two_runs_at_once_share_what_they_ask(home, job, server):
    """Both end with all they need, whoever asked; neither asks twice."""
    command = [sys.executable, "-m", "alpha_codium", "gen", "solve_set", *map(str, job), *model_arguments(server)]
    runs = [subprocess.Popen([*command, "--run", name], stderr=subprocess.PIPE, text=True) for name in ("a", "b")]
    said = [each.communicate()[1] for each in runs]
    assert [each.returncode for each in runs] == [0, 0], said
    assert not any("cache" in line for text in said for line in text.splitlines() if "WARNING" in line), said
    before = len(server.requests)
    assert CALLS <= before <= 2 * CALLS
    done = run_cli("gen", "solve_set", *job, *model_arguments(server), "--run", "c")
    assert done.returncode == 0, done.stderr
    assert len(server.requests) == before


@pytest.mark.thorough
def test_a_cache_that_is_no_cache_is_one_warning_of_the_run(run, home):
    (home / "cache").mkdir(parents=True)
    (home / "cache" / "answers.sqlite").write_text("something else entirely " * 10)
    assert run("first")[2] == CALLS


@pytest.mark.thorough
def test_one_problem_solved_twice_is_asked_once_and_anew_with_no_cache(home, tmp_path, server):
    problems = write_problems(tmp_path, 1)
    solve = ["gen", "solve_problem", "--dataset_name", problems, "--problem_number", 0, "--flow", "baseline"]
    solve += model_arguments(server)
    first = run_cli(*solve)
    assert first.returncode == 0, first.stderr
    assert run_cli(*solve).stdout == first.stdout
    assert len(server.requests) == 1
    assert run_cli(*solve, "--no-cache").stdout != first.stdout
    assert run_cli(*solve).stdout == first.stdout


def test_another_file_under_a_local_models_name_is_another_model(home, tmp_path):
    def scope(*names):
        return scope_of(Settings.model_validate({"config": {"rotate_models": [f"local/{name}" for name in names]}}))

    gguf = tmp_path / "a.gguf"
    scopes = [scope("mine"), scope("mine", SMALLEST.name)]
    assert scopes[0] == scopes[1], "a model that we know has one file only"
    for content in (b"GGUF one", b"GGUF two"):
        for path in models_folder().glob("mine.*"):
            path.unlink()
        gguf.write_bytes(content)
        add("mine", gguf, models_folder())
        scopes.append(scope("mine"))
    assert len(set(scopes)) == 3
    assert scope() == scope("other")
