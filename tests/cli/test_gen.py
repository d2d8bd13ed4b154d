import json
import shlex

import pytest

from alpha_codium.data.load import load_problems
from tests.gen.running import (
    ECHO,
    candidates_in,
    columns_of,
    model_arguments,
    problem_record,
    run_cli,
    write_flow,
    write_problems,
)
from tests.servers.scripted import FaultOnce, Hang, ScriptedServer, Status, Text, When, digest_of, last_user


@pytest.fixture
def server(home):
    with ScriptedServer(lambda body: f"You said: {last_user(body)}\n{ECHO}") as running:
        yield running


def solve_problem(problems, server, *arguments):
    """The plain flow on one problem of the file."""
    at = ("--dataset_name", problems, "--flow", "baseline", *model_arguments(server))
    return run_cli("gen", "solve_problem", *at, *arguments)


def solve_set(problems, server, *arguments):
    """The plain flow on all problems of the file."""
    at = ("--dataset_name", problems, "--flow", "baseline", *model_arguments(server))
    return run_cli("gen", "solve_set", *at, *arguments)


@pytest.fixture
def problems(tmp_path):
    return write_problems(tmp_path, 3)


def test_ask_prints_the_answer_and_nothing_else(server, tmp_path):
    done = run_cli(
        "gen", "ask", "hello?", "--system", "Be brief.", "--json", tmp_path / "a.json", *model_arguments(server)
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"You said: hello?\n{ECHO}\n"
    assert json.loads((tmp_path / "a.json").read_text())["text"] == done.stdout.removesuffix("\n")
    roles = [message["role"] for message in server.requests[0].body["messages"]]
    assert roles == ["system", "user"]


@pytest.mark.thorough
def test_json_on_stdout_stands_alone(server, problems, tmp_path):
    to_stdout = ("--json", "-", *model_arguments(server))
    one = ("--dataset_name", problems, "--problem_number", 0, "--flow", "baseline")
    assert json.loads(run_cli("gen", "ask", "hello?", *to_stdout).stdout)["finish_reason"] == "stop"
    assert json.loads(run_cli("gen", "solve_problem", *one, *to_stdout).stdout)["program"] == "print(input())\n"
    many = ("--dataset_name", problems, "--flow", "baseline")
    assert json.loads(run_cli("gen", "solve_set", *many, *to_stdout).stdout)["programs"] == 3
    assert json.loads(run_cli("settings", "--json", "-").stdout)["config"]["concurrency"] == 8
    assert "tester_type" in json.loads(run_cli("sandbox", "check", "--json", "-").stdout)


def test_the_models_options_reach_the_provider(server):
    options = [
        "--temperature",
        0.7,
        "--top_p",
        0.9,
        "--max_tokens",
        77,
        "--seed",
        5,
        "-o",
        "config.frequency_penalty=0.5",
    ]
    assert run_cli("gen", "ask", "hi", *options, *model_arguments(server)).returncode == 0
    sent = server.requests[0].body
    expected = {
        "model": "scripted",
        "temperature": 0.7,
        "top_p": 0.9,
        "max_tokens": 77,
        "seed": 5,
        "frequency_penalty": 0.5,
    }
    assert {name: sent.get(name) for name in expected} == expected


def test_what_is_not_asked_for_is_left_to_the_provider(server):
    assert run_cli("gen", "ask", "hi", *model_arguments(server)).returncode == 0
    assert not {"temperature", "top_p", "max_tokens", "seed"} & server.requests[0].body.keys()


def test_extra_parameters_go_to_the_provider_as_they_are(server):
    done = run_cli("gen", "ask", "hi", "-o", "config.extra={top_k=5}", *model_arguments(server))
    assert done.returncode == 0, done.stderr
    assert server.requests[0].body["top_k"] == 5


@pytest.mark.parametrize("which", ["name", "number", "file"])
def test_a_problem_is_solved_by_its_name_number_or_file(server, problems, tmp_path, which):
    alone = tmp_path / "alone.json"
    alone.write_text(json.dumps(problem_record(2)))
    chosen = {
        "name": ("--dataset_name", problems, "--problem_name", "echo 2"),
        "number": ("--dataset_name", problems, "--problem_number", 2),
        "file": ("--problem_file", alone),
    }[which]
    judged = ("--evaluation_test_type", "private_tests", "--json", tmp_path / "r.json")
    done = run_cli("gen", "solve_problem", *chosen, "--flow", "baseline", *judged, *model_arguments(server))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "print(input())\n"
    assert "1 of 1 public test;" in done.stderr
    assert "private_tests: accepted (2/2)" in done.stderr
    result = json.loads((tmp_path / "r.json").read_text())
    assert result["task_name"] == "echo 2"
    assert (result["verdict"], result["tests_passed"], result["tests_total"]) == ("accepted", 2, 2)


def test_a_model_that_gives_no_program_is_no_traceback(home, problems):
    with ScriptedServer(lambda _: "I can't.") as server:
        done = solve_problem(problems, server, "--problem_number", 0)
    assert done.returncode == 1
    assert "no program: model: " in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_provider_that_gives_no_answer_is_exit_status_1(home, problems):
    with ScriptedServer(faults=[lambda _: Status(500, "down")]) as server:
        done = solve_problem(problems, server, "--problem_number", 0, "-o", "config.max_retries=0")
    assert done.returncode == 1
    assert "no program: provider: " in done.stderr
    assert "Traceback" not in done.stderr


def test_ask_of_a_provider_that_gives_no_answer_is_exit_status_1_without_a_traceback(home):
    with ScriptedServer(faults=[lambda _: Status(500, "down")]) as server:
        done = run_cli("gen", "ask", "hi", "-o", "config.max_retries=0", *model_arguments(server))
    assert done.returncode == 1
    assert "down" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_better_of_several_samples_is_given(home, problems):
    def script(body):
        return "```python\nprint('wrong')\n```" if body["temperature"] < 0.35 else ECHO

    with ScriptedServer(script) as server:
        done = solve_problem(problems, server, "--problem_number", 0, "-o", "dataset.num_iterations=5")
        assert len(server.requests) == 2
    assert done.stdout == "print(input())\n"


@pytest.mark.thorough
@pytest.mark.parametrize("target", ["a_name", "{}/folder", "{}/file.parquet"])
def test_the_candidates_go_to_a_name_a_folder_or_a_parquet_file(server, home, problems, tmp_path, target):
    import datasets

    target = target.format(tmp_path)
    done = solve_set(problems, server, "--output_dataset_name", target)
    assert done.returncode == 0, done.stderr
    where = {"a_name": home / "datasets" / "a_name"}.get(target, target)
    loaded = datasets.load_from_disk(str(where)) if ".parquet" not in target else datasets.Dataset.from_parquet(target)
    assert loaded["task_name"] == ["echo 0", "echo 1", "echo 2"]
    assert loaded["solution_candidates"] == [["print(input())\n"]] * 3
    assert f"{where}" in done.stdout


def test_every_problem_keeps_its_row_and_a_failed_sample_its_reason(home, problems):
    refused = When(lambda seen: "Problem number 1:" in str(seen.body["messages"]), Text("I can't."))
    with ScriptedServer(lambda _: ECHO, faults=[refused]) as server:
        done = solve_set(problems, server, "--samples", 2, "--run", "r")
    assert done.returncode == 0, done.stderr
    columns = columns_of(home / "runs" / "r" / "solutions")
    assert columns["task_name"] == ["echo 0", "echo 1", "echo 2"]
    assert columns["solution_candidates"][1] == ["", ""]
    assert all(error.startswith("model: ") for error in columns["sample_errors"][1])
    assert columns["sample_index"] == [[0, 1]] * 3
    assert columns["model"] == [["openai/scripted"] * 2] * 3
    assert columns["flow"] == [["baseline"] * 2] * 3
    assert columns["llm_calls"] == [[1, 1], [3, 3], [1, 1]]
    assert columns["truncated_answers"] == [[0, 0]] * 3
    made_for = load_problems(problems)
    assert columns["fingerprint"] == [made_for.fingerprint] * 3
    assert (columns["dataset"], columns["split"]) == ([made_for.dataset_name] * 3, [made_for.split_name] * 3)
    for name in columns.keys() - {"task_name", "dataset", "split", "fingerprint", "subset"}:
        assert [len(values) for values in columns[name]] == [2, 2, 2], name
    assert "failed_samples     2" in done.stdout


@pytest.mark.thorough
def test_a_share_of_the_problems_is_the_same_share_for_the_same_seed(server, home, tmp_path):
    problems = write_problems(tmp_path, 8)
    chosen = []
    for run in ("one", "two"):
        done = solve_set(problems, server, "--sample_rate", 0.5, "--seed", 3, "--run", run)
        assert done.returncode == 0, done.stderr
        chosen.append([name for name, *_ in candidates_in(home / "runs" / run / "solutions")])
    assert chosen[0] == chosen[1]
    assert 0 < len(chosen[0]) < 8


@pytest.mark.thorough
def test_concurrency_limits_the_samples_in_flight_and_a_slow_one_delays_no_other(home, tmp_path):
    problems = write_problems(tmp_path, 6)
    slow = When(lambda seen: "Problem number 0:" in last_user(seen.body) and not seen.times_before, Hang())
    with ScriptedServer(lambda _: ECHO, faults=[slow]) as server:
        done = solve_set(problems, server, "--concurrency", 2, "-o", "config.ai_timeout=4")
        order = [last_user(seen.body).split(":")[0][-1] for seen in server.requests]
        assert server.max_in_flight == 2
    assert done.returncode == 0, done.stderr
    assert order == ["0", "1", "2", "3", "4", "5", "0"], "the others went on while the first hung"


@pytest.mark.thorough
def test_a_flow_of_the_users_is_found_from_anywhere_on_resume(server, home, problems, tmp_path, monkeypatch):
    write_flow(tmp_path / "work" / "mine", 1)
    done = run_cli(
        "gen", "solve_set", "--dataset_name", problems, "--flow", "mine", "--run", "r", *model_arguments(server)
    )
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(tmp_path)
    assert run_cli("gen", "solve_set", "--resume", "r").returncode == 0


def test_dashes_and_underscores_are_the_same_in_commands_and_options(server, problems):
    which = ("--dataset-name", problems, "--problem-number", 1, "--flow", "baseline")
    options = ("--evaluation-test-type", "private_tests", "--max-tokens", 99, *model_arguments(server))
    done = run_cli("gen", "solve-problem", *which, *options)
    assert done.returncode == 0, done.stderr
    assert server.requests[0].body["max_tokens"] == 99
    assert run_cli("gen", "solve-set", "--help").stdout == run_cli("gen", "solve_set", "--help").stdout


@pytest.mark.thorough
def test_quiet_leaves_out_progress_and_verbose_tells_of_every_sample(home, problems):
    with ScriptedServer(
        lambda body: f"{ECHO} {digest_of(body)}", faults=[FaultOnce(Status(429, retry_after=0))]
    ) as server:
        job = ("--dataset_name", problems, "--flow", "baseline", *model_arguments(server))
        quiet, plain, verbose = (run_cli("gen", "solve_set", *job, *flag).stderr for flag in (["-q"], [], ["-v"]))
    assert [line for line in quiet.splitlines() if not line.startswith("run folder: ")] == []
    assert "samples: 3/3" in plain
    assert "echo 1, sample 0: 1/1 public test\n" in verbose


@pytest.mark.thorough
@pytest.mark.parametrize("target", ["a_name", "{}/a_path.parquet"])
def test_an_output_that_exists_is_replaced_only_on_request(server, home, problems, tmp_path, target):
    target = target.format(tmp_path)
    assert solve_set(problems, server, "--output_dataset_name", target, "--run", "r").returncode == 0
    asked = len(server.requests)
    done = solve_set(problems, server, "--output_dataset_name", target)
    assert (done.returncode, "exists already: choose another" in done.stderr) == (2, True)
    assert len(server.requests) == asked, "no call is paid before"
    assert solve_set(problems, server, "--output_dataset_name", target, "--overwrite").returncode == 0
    resumed = run_cli("gen", "solve_set", "--resume", "r")
    assert resumed.returncode == 0, "the output is the run's own"
    assert run_cli("replay", "r", "--output_dataset_name", target).returncode == 2
    assert run_cli("replay", "r", "--output_dataset_name", target, "--overwrite").returncode == 0


@pytest.mark.thorough
def test_a_run_ends_with_its_score_its_cost_and_the_command_that_judges_it(server, home, problems):
    done = solve_set(problems, server)
    *_, score, following, other, look = done.stderr.splitlines()
    assert score == "3 of 3 problems solved by the public tests, cost unknown"
    assert following.startswith("next: gencode eval eval_gen_solutions --solution_dataset ")
    assert other.startswith("  or: gencode compare solve_set")
    assert look.startswith("look at it: gencode report solve_set")
    judged = run_cli(*shlex.split(following)[2:])
    assert judged.returncode == 0, judged.stderr
    assert "pass@1   1.0000" in judged.stdout
