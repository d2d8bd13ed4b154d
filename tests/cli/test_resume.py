import json
import tomllib

import pytest

from alpha_codium.app.run_folders import shown_settings
from alpha_codium.config import load_settings
from alpha_codium.runs import RunFolder
from alpha_codium.runs.folder import to_toml
from tests.gen.running import (
    KEY,
    assert_refused,
    columns_of,
    model_arguments,
    run_cli,
    signed,
    write_flow,
    write_problems,
)
from tests.servers.scripted import ScriptedServer, Status


@pytest.fixture
def server(home):
    with ScriptedServer(signed) as running:
        yield running


@pytest.fixture
def finished(home, server, tmp_path):
    """The options of a run called `r` that is done."""
    flow = write_flow(tmp_path / "steps", 1)
    job = ["--dataset_name", write_problems(tmp_path, 2), "--flow", flow, "--samples", 2, *model_arguments(server)]
    done = run_cli("gen", "solve_set", *job, "--run", "r")
    assert done.returncode == 0, done.stderr
    return job


def resume(*arguments):
    return run_cli("gen", "solve_set", "--resume", "r", *arguments)


def test_resume_alone_is_the_run_as_it_was(finished, home, server):
    before, asked = columns_of(home / "runs" / "r" / "solutions"), len(server.requests)
    done = resume()
    assert done.returncode == 0, done.stderr
    assert columns_of(home / "runs" / "r" / "solutions") == before
    assert len(server.requests) == asked


def test_the_run_says_what_it_was_made_of(finished, home):
    described = tomllib.loads((home / "runs" / "r" / "run.toml").read_text())
    assert described["samples"] == 2
    assert described["settings"]["config"]["model"] == "openai/scripted"
    assert len(described["fingerprint"]) == len(described["flow_fingerprint"]) == 64
    assert described["versions"].keys() == {"alpha_codium", "python", "git", "datasets", "litellm"}


@pytest.mark.parametrize(
    ("other", "key"),
    [
        (["--temperature", 0.9], "settings.config.temperature"),
        (["--model", "openai/another"], "settings.config.model"),
        (["--samples", 3], "samples"),
        (["--flow", "baseline"], "flow"),
        (["--sample_rate", 0.999], "sample_rate"),
        (["-o", "solve.max_calls=1"], "settings.solve.max_calls"),
        (["-o", 'config.extra={effort="low"}'], "settings.config.extra.effort"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_another_job_is_refused_in_one_line_that_names_the_key(finished, other, key):
    assert_refused(resume(*other), f"run 'r' was made with {key} = ", "start a new run")


def test_another_dataset_is_refused(finished, tmp_path):
    (tmp_path / "other").mkdir()
    assert_refused(resume("--dataset_name", write_problems(tmp_path / "other", 2)), "dataset_name")


def test_a_dataset_that_was_changed_since_is_refused(finished, tmp_path):
    write_problems(tmp_path, 3)
    assert_refused(resume(), "the problems changed after run")


def test_a_prompt_that_was_changed_since_is_refused(finished, tmp_path):
    prompt = tmp_path / "steps" / "step0.toml"
    prompt.write_text(prompt.read_text().replace("Step", "Stage"))
    assert_refused(resume(), "the flow's stages or prompts changed after run")


def test_what_decides_only_how_fast_and_where_may_change(finished, tmp_path):
    done = resume(
        "--concurrency",
        1,
        "-o",
        "sandbox.oci.image=mine",
        "--workers",
        1,
        "-o",
        "config.max_retries=0",
        "-o",
        "config.adaptive_concurrency=false",
        "--output_dataset_name",
        tmp_path / "out",
    )
    assert done.returncode == 0, done.stderr
    assert columns_of(tmp_path / "out")["task_name"] == ["echo 0", "echo 1"]


def test_the_settings_of_the_run_win_over_the_environment_of_today(finished, monkeypatch):
    monkeypatch.setenv("GENCODE_CONFIG__MODEL", "openai/another")
    assert resume().returncode == 0


def test_a_name_that_is_taken_is_refused(finished):
    assert_refused(run_cli("gen", "solve_set", *finished, "--run", "r"), "run 'r' exists already", "--resume r")


def test_a_new_name_and_an_earlier_run_exclude_each_other(finished):
    assert_refused(resume("--run", "s"), "--run names a new run and --resume an earlier one")


def test_an_unknown_run_is_met_with_the_nearest(home, finished):
    assert_refused(run_cli("gen", "solve_set", "--resume", "rr"), "there is no run 'rr'", "did you mean 'r'")


def test_a_run_in_use_is_refused(finished, home):
    with RunFolder.reopen(home / "runs", "r"):
        assert_refused(resume(), "run 'r' is in use by another process")


@pytest.mark.thorough
def test_secrets_among_the_extra_parameters_are_in_no_file_and_may_change(home, tmp_path):
    secret = "sk-extra-0123456789"
    extra = f'config.extra={{user="me", extra_headers={{"x-api-key"="{secret}", "x-team"="a"}}}}'
    down = [lambda seen: Status(500) if seen.number == 1 else None]
    with ScriptedServer(signed, faults=down) as server:
        job = ["--dataset_name", write_problems(tmp_path, 2), "--flow", "baseline", *model_arguments(server)]
        done = run_cli("gen", "solve_set", *job, "--run", "r", "-o", extra, "-o", "config.max_retries=0")
        assert done.returncode == 1, done.stderr
        done = resume("-o", extra.replace(secret, "sk-newer-0123456789"))
        assert done.returncode == 0, done.stderr
        assert len(server.requests) == 3
        assert server.requests[-1].headers["x-api-key"] == "sk-newer-0123456789"
    for path in home.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert not any(word.encode() in content for word in (secret, "sk-newer-0123456789", KEY)), path


def test_a_password_in_the_address_of_the_model_is_not_kept():
    settings = load_settings(overrides=["config.api_base=http://me:hunter2@host:80/v1?key=1"], environment={})
    assert shown_settings(settings)["config"]["api_base"] == "http://host:80/v1"


@pytest.mark.thorough
def test_an_evaluation_is_resumed_by_its_name_alone(home, tmp_path):
    problems = write_problems(tmp_path, 4)
    rows = [{"task_name": f"echo {n}", "solution_candidates": ["print(input())", "print(7)"]} for n in range(3)]
    solutions = tmp_path / "s.jsonl"
    solutions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    part = ("--limit", 2, "--k", "1,2", "-o", "code_tester.timeout=2.5", "-o", "code_tester.known_solutions=0")
    gen = ("--solution_dataset", solutions, "--dataset_name", problems, "--evaluation_test_type", "public_tests", *part)
    options = {
        "eval_gen_solutions": gen,
        "score": (solutions, "--dataset_name", problems, "--header", "import re", "--only_present", *part),
        "pass_at_k": ("--dataset_name", problems, *part),
    }
    for command, given in options.items():
        first = run_cli("eval", command, *given, "--run", command, "--json", tmp_path / "first")
        assert first.returncode == 0, first.stderr
        again = run_cli("eval", command, "--resume", command, "--json", tmp_path / "again")
        assert again.returncode == 0, again.stderr
        values = [json.loads((tmp_path / name).read_text()) for name in ("first", "again")]
        assert values[0] == values[1]
        assert values[0]["pass_at_k"].keys() == {"pass@1", "pass@2"}
        assert_refused(run_cli("eval", command, "--resume", command, "--limit", 1), "was made with", "limit")


def test_an_evaluation_of_an_earlier_version_needs_its_options(home, tmp_path):
    problems = write_problems(tmp_path, 1)
    given = ("--dataset_name", problems, "--k", 1)
    assert run_cli("eval", "pass_at_k", *given, "--run", "old").returncode == 0
    path = home / "runs" / "old" / "run.toml"
    described = tomllib.loads(path.read_text())
    del described["options"]
    path.write_text(to_toml(described))
    done = run_cli("eval", "pass_at_k", "--resume", "old")
    assert (done.returncode, "--dataset_name" in done.stderr) == (2, True)
    assert run_cli("eval", "pass_at_k", *given, "--resume", "old").returncode == 0


def test_a_command_without_its_samples_is_refused(home):
    for command in ("score", "eval_gen_solutions", "pass_at_k"):
        done = run_cli("eval", command)
        assert (done.returncode, "Missing " in done.stderr) == (2, True), done.stderr


@pytest.mark.thorough
def test_a_run_is_gone_on_with_from_any_folder_and_never_writes_over_its_files(home, tmp_path, monkeypatch):
    work, other = tmp_path / "began", tmp_path / "other"
    other.mkdir()
    work.mkdir()
    problems = write_problems(work, 2)
    (work / "samples.jsonl").write_text('{"task_id": "echo 0", "solution": "print(input())"}\n')
    monkeypatch.chdir(work)
    job = (
        "eval",
        "score",
        "samples.jsonl",
        "--dataset_name",
        problems.name,
        "--only_present",
        "--k",
        "1",
        "--run",
        "e",
    )
    first = run_cli(*job)
    assert first.returncode == 0, first.stderr
    assert_refused(
        run_cli("eval", "score", "--resume", "e", "--csv", problems.name),
        "a file that run 'e' was made with",
    )
    monkeypatch.chdir(other)
    assert_refused(run_cli("eval", "score", "--resume", "e", "--csv", problems), "a file that run 'e' was made with")
    again = run_cli("eval", "score", "--resume", "e")
    assert (again.returncode, again.stdout) == (0, first.stdout), again.stderr
    named = run_cli("eval", "score", work / "samples.jsonl", "--dataset_name", problems, "--resume", "e")
    assert (named.returncode, named.stdout) == (0, first.stdout), named.stderr
    assert run_cli("verify", "e").returncode == 0
    (other / "samples.jsonl").write_text('{"task_id": "echo 0", "solution": "1"}\n')
    assert_refused(run_cli("eval", "score", "samples.jsonl", "--resume", "e"), "run 'e' was made with ")


@pytest.mark.thorough
def test_a_resumed_run_replaces_its_own_output_and_no_other_ones(home, server, tmp_path):
    job = ("--dataset_name", write_problems(tmp_path, 2), "--flow", write_flow(tmp_path / "steps", 1))
    output = ("--output_dataset_name", "answers")
    other = run_cli("gen", "solve_set", *job, *output, "--run", "b", *model_arguments(server))
    assert other.returncode == 0, other.stderr
    assert run_cli("gen", "solve_set", "--resume", "b").returncode == 0
    (home / "runs/c").mkdir()
    for file in ("run.toml", "journal.jsonl"):  # as if it had been cut off before the output was written
        text = (home / "runs/b" / file).read_text()
        (home / "runs/c" / file).write_text("".join(line for line in text.splitlines(True) if "written_to" not in line))
    assert_refused(run_cli("gen", "solve_set", "--resume", "c"), "answers exists already", "--overwrite")
    done = run_cli("data", "validate", job[1], "--output_dataset_name", "checked", "--run", "v")
    assert done.returncode == 0, done.stderr
    assert run_cli("data", "validate", "--resume", "v").returncode == 0
    assert_refused(run_cli("data", "validate", job[1], "--output_dataset_name", "checked"), "has the split")


@pytest.mark.thorough
def test_a_run_that_could_not_begin_leaves_its_name_and_an_output_that_cannot_be_written_costs_nothing(
    home, server, tmp_path
):
    job = ("--dataset_name", write_problems(tmp_path, 1), "--flow", write_flow(tmp_path / "steps", 1), "--run", "r")
    misspelt = run_cli("gen", "solve_set", *job, "--model", "nope/x")
    assert misspelt.returncode == 2 and not (home / "runs/r").exists(), misspelt.stderr
    (tmp_path / "file").touch()
    refused = run_cli(
        "gen", "solve_set", *job, *model_arguments(server), "--output_dataset_name", tmp_path / "file/out"
    )
    assert_refused(refused, "can't be written")
    assert not server.requests
    done = run_cli("gen", "solve_set", *job, *model_arguments(server))
    assert done.returncode == 0, done.stderr
