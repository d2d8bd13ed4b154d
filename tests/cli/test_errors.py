"""Mistakes of users: each one clear line, exit status 2, no traceback."""

import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gen.running import KEY, assert_refused, model_arguments, problem_record, run_cli, write_problems
from tests.llm.local_support import kept_models_folder, needs_xllamacpp, smallest_model
from tests.servers.scripted import ScriptedServer, Status
from tests.support import ROOT, gencode

MODEL = ("--model", "openai/scripted", "--api_base", "http://127.0.0.1:9/v1")


def solve_set(*arguments):
    return run_cli("gen", "solve_set", *arguments, *MODEL)


def solve_problem(*arguments):
    return run_cli("gen", "solve_problem", *arguments, *MODEL)


@pytest.fixture
def problems(home, tmp_path):
    return write_problems(tmp_path, 2)


def test_a_dataset_is_needed_and_must_be_there(home, problems, tmp_path):
    assert_refused(solve_set(), "no problems are given: use --dataset_name")
    assert_refused(solve_set("--dataset_name", "nowhere"), "there is no dataset 'nowhere'")
    assert_refused(solve_set("--dataset_name", tmp_path / "none.jsonl"), "there is no file or folder")
    assert_refused(solve_set("--dataset_name", tmp_path / "work"), f"{tmp_path / 'work'}")


def test_a_mistyped_dataset_or_split_is_met_with_the_nearest(home, problems, tmp_path):
    done = run_cli("data", "etl", "--source", problems, "--output_dataset_name", "echoes", "--split_name", "train")
    assert done.returncode == 0, done.stderr
    assert_refused(solve_set("--dataset_name", "echos"), "did you mean 'echoes'")
    assert_refused(solve_set("--dataset_name", "echoes", "--split_name", "trian"), "train")


def test_a_mistyped_problem_is_met_with_the_nearest(problems):
    at = ("--dataset_name", problems)
    assert_refused(solve_problem(*at, "--problem_name", "ecko 1"), "no problem 'ecko 1'", "did you mean 'echo")
    assert_refused(solve_problem(*at, "--problem_number", 2), "no problem number 2: 2 problems, numbered from 0")


def test_one_problem_is_asked_for_in_one_way(problems):
    which = "give exactly one of --problem_name, --problem_number, --problem_file"
    assert_refused(solve_problem("--dataset_name", problems), which)
    assert_refused(solve_problem("--dataset_name", problems, "--problem_name", "echo 1", "--problem_number", 1), which)
    assert_refused(solve_problem("--problem_number", 1), "--problem_name and --problem_number need a --dataset_name")


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "[1, 2]", "null", '{"name": 5}', '{"name": "p", "public_tests": "none"}',
     '{"name": "p", "description": "d", "public_tests": {"input": ["1"], "output": []}}'],
    ids=["empty", "broken", "no problem", "numbers", "null", "a number for a name", "text for tests",
         "tests that don't match"],
)  # fmt: skip
def test_a_malformed_problem_file_is_one_line(home, tmp_path, content):
    path = tmp_path / "p.json"
    path.write_text(content)
    assert_refused(solve_problem("--problem_file", path), str(path))


def test_a_problem_file_must_be_there(home, tmp_path):
    assert_refused(solve_problem("--problem_file", tmp_path / "none.json"), "there is no problem file")
    assert_refused(solve_problem("--problem_file", tmp_path), "there is no problem file")


def test_problems_of_one_name_are_refused(home, tmp_path):
    path = tmp_path / "twins.jsonl"
    path.write_text(json.dumps(problem_record(1)) + "\n" + json.dumps(problem_record(1)) + "\n")
    assert_refused(solve_set("--dataset_name", path, "--flow", "baseline"), "'echo 1' is in the dataset twice")


def test_a_mistyped_flow_or_set_of_tests_is_met_with_the_nearest(problems, tmp_path):
    at = ("--dataset_name", problems)
    assert_refused(solve_set(*at, "--flow", "alphacodum"), "did you mean 'alphacodium'")
    assert_refused(solve_set(*at, "--flow", tmp_path / "none"), "there is no flow")
    assert_refused(solve_set(*at, "--flow", tmp_path / "work"), "holds no flow.toml")
    number = ("--problem_number", 0, "--evaluation_test_type", "privat_tests")
    assert_refused(solve_problem(*at, *number), "privat_tests", "private_tests")


def test_a_model_that_the_server_does_not_know_is_named(problems):
    with ScriptedServer(faults=[lambda _: Status(404, "The model does not exist")]) as server:
        done = run_cli("gen", "ask", "hi", *model_arguments(server))
    assert_refused(done, "openai/scripted: no such model", "404")


@pytest.mark.thorough
def test_a_mistyped_provider_is_met_with_the_nearest(home):
    assert_refused(run_cli("gen", "ask", "hi", "--model", "opnai/gpt"), "no such provider (did you mean 'openai'?)")


@pytest.mark.thorough
def test_a_missing_key_is_named(home, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    done = run_cli("gen", "ask", "hi", "--model", "openai/gpt-4o-mini")
    assert_refused(done, "OPENAI_API_KEY")


def test_a_wrong_key_is_said_and_not_told(home):
    with ScriptedServer(api_key="sk-another-0123456789") as server:
        done = run_cli("gen", "ask", "hi", *model_arguments(server))
    assert_refused(done, "401")
    assert KEY not in done.stderr


def test_an_address_needs_a_model_and_must_be_one(home):
    assert_refused(run_cli("gen", "ask", "hi", "--api_base", "http://127.0.0.1:9/v1"), "Give --model")
    done = run_cli("gen", "ask", "hi", "--model", "openai/x", "--api_base", "nowhere")
    assert_refused(done, "error: --api_base nowhere: must be a URL such as http://HOST:PORT/v1, not 'nowhere'")
    done = run_cli("gen", "ask", "hi", "--model", "openai/x", "--temperature", "5")
    assert_refused(done, "error: --temperature 5.0: Input should be less than or equal to 2")


def test_a_malformed_address_is_refused_before_a_run_folder_is_made(home, tmp_path):
    problems = write_problems(tmp_path)
    job = ("--dataset_name", problems, "--model", "openai/x", "--flow", "baseline", "--run", "r")
    assert_refused(run_cli("gen", "solve_set", *job, "--api_base", "nowhere"), "must be a URL")
    assert not (home / "runs").exists()


def test_an_unknown_local_model_is_met_with_the_nearest(home):
    assert_refused(run_cli("gen", "ask", "hi", "--model", "local/smolm2-135m"), "smollm2-135m")


@pytest.mark.parametrize(
    "path", ["none/result.json", "file/result.json", "."], ids=["no folder", "below a file", "folder"]
)
def test_a_result_that_could_not_be_written_is_refused_before_a_call_is_paid_for(home, tmp_path, path):
    (tmp_path / "file").write_text("")
    with ScriptedServer() as server:
        done = run_cli("gen", "ask", "hi", "--json", tmp_path / path, *model_arguments(server))
        assert server.requests == []
    assert_refused(done, f"--json {tmp_path / path}")
    assert_refused(run_cli("eval", "score", "samples.jsonl", "--csv", tmp_path / path), f"--csv {tmp_path / path}")


def test_a_table_for_stdout_is_refused_with_what_to_give():
    assert_refused(run_cli("eval", "score", "samples.jsonl", "--csv", "-"), "for stdout, give /dev/stdout")


def test_a_home_that_cannot_be_made_is_one_line(problems, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path / "file" / "home"))
    assert_refused(solve_set("--dataset_name", problems), "set GENCODE_HOME to a folder you can write")


def test_a_dataset_of_problems_is_not_overwritten_with_candidates(problems):
    done = run_cli("data", "etl", "--source", problems, "--output_dataset_name", "echoes", "--split_name", "train")
    assert done.returncode == 0, done.stderr
    with ScriptedServer() as server:
        arguments = ("--dataset_name", "echoes", "--output_dataset_name", "echoes", *model_arguments(server))
        done = run_cli("gen", "solve_set", *arguments)
        assert server.requests == []
    assert_refused(done, "is a dataset of problems: choose another name")


def test_an_output_name_that_can_be_none_is_refused_before_a_call_is_paid_for(problems):
    with ScriptedServer() as server:
        arguments = ("--dataset_name", problems, "--output_dataset_name", "a name?", *model_arguments(server))
        done = run_cli("gen", "solve_set", *arguments)
        assert server.requests == []
    assert_refused(done, "'a name?' isn't a valid dataset name")


def test_a_run_name_that_is_none_is_refused(problems):
    assert_refused(solve_set("--dataset_name", problems, "--run", ".."), "'..' isn't a valid name for a run")


@pytest.mark.thorough
@pytest.mark.model
@needs_xllamacpp
def test_without_a_model_and_a_key_the_local_one_answers_and_says_so(tmp_path):
    stored = smallest_model()
    models = tmp_path / "home" / "models"
    models.mkdir(parents=True)
    for file in kept_models_folder().glob(f"{stored.name}.*"):
        os.link(file, models / file.name)
    keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "")
    done = gencode("gen", "ask", "Say hi.", "--max_tokens", 8, home=tmp_path / "home", env=keys)
    assert done.returncode == 0, done.stderr
    assert f"no key is set: the model is local/{stored.name} (choose another with --model; " in done.stderr
    assert "a better local model: gencode model get qwen2.5-coder-0.5b" in done.stderr
    assert done.stdout.strip()
    assert Path(models / f"{stored.name}.gguf").exists()


def on_a_terminal(*arguments, **environment):
    """Return what a command writes to a terminal."""
    master, terminal = pty.openpty()
    command = [sys.executable, "-m", "alpha_codium", *map(str, arguments)]
    written = b""
    with subprocess.Popen(command, stdout=terminal, stderr=terminal, env=os.environ | environment) as running:
        os.close(terminal)
        # Linux reports an error when the other end of a terminal is closed.
        with contextlib.suppress(OSError), os.fdopen(master, "rb", buffering=0) as reading:
            while data := reading.read(1 << 16):
                written += data
    return running.returncode, written.decode()


@pytest.mark.thorough
def test_errors_and_verdicts_have_colours_on_a_terminal_unless_no_color_is_set(home):
    assert on_a_terminal("data", "show", "none")[1].startswith("\x1b[31m\x1b[1merror:\x1b[0m there is")
    assert on_a_terminal("data", "show", "none", NO_COLOR="1")[1].startswith("error: there is")
    many = ("eval", "score", ROOT / "examples/samples.jsonl", "-vv")
    assert "\x1b" in on_a_terminal(*many)[1] and "\x1b" not in on_a_terminal(*many, NO_COLOR="1")[1]
    example = ("--benchmark", "humaneval", "--dataset_name", ROOT / "examples/humaneval.jsonl", "--k", "1")
    status, said = on_a_terminal("eval", "score", ROOT / "examples/samples.jsonl", *example)
    assert status == 0 and "\x1b[32m  accepted\x1b[0m" in said and "\x1b[31m  compilation_error\x1b[0m" in said


@pytest.mark.thorough
def test_a_table_is_cut_to_the_width_of_the_terminal_and_whole_in_a_pipe(home):
    for name in ("short", "a-name-" + "x" * 80):
        (home / "runs" / name).mkdir(parents=True)
        (home / "runs" / name / "run.toml").write_text('command = "score"\n')
    status, said = on_a_terminal("runs", "list", COLUMNS="60")
    assert status == 0 and "short" in said and "a-name-" in said and "x" * 80 not in said
    assert all(len(line) <= 60 for line in said.splitlines())
    piped = subprocess.run([sys.executable, "-m", "alpha_codium", "runs", "list"], capture_output=True, check=True)
    assert b"x" * 80 in piped.stdout
