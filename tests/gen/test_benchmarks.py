"""Benchmarks of functions from one end to the other: solve_set on them, and eval_gen_solutions on what it wrote."""

import json

import pytest

from tests.data.benchmarks.rows import humaneval_row, mbpp_row
from tests.data.records import write_jsonl
from tests.gen.running import ECHO, assert_refused, columns_of, model_arguments, problem_record, run_cli
from tests.servers.scripted import ScriptedServer, last_user
from tests.support import shared_path

APPS_CALL = {
    "problem_id": 7,
    "question": "Add the two numbers.",
    "solutions": "[]",
    "input_output": json.dumps({"fn_name": "add", "inputs": [[1, 2], [5, 5]], "outputs": [3, 10]}),
    "difficulty": "introductory",
    "url": "",
    "starter_code": "class Solution:\n    def add(self, a: int, b: int) -> int:\n",
}
APPS_STDIN = APPS_CALL | {
    "problem_id": 8,
    "question": "Read two numbers and print their sum.",
    "input_output": json.dumps({"inputs": ["1 2\n", "5 5\n"], "outputs": ["3\n", "10\n"]}),
    "starter_code": "",
}
METHOD = "class Solution:\n    def add(self, a: int, b: int) -> int:\n        return a + b\n"


def fenced(code):
    return f"```python\n{code}```"


def evaluated(solutions, problems, folder, *arguments):
    done = run_cli(
        "eval", "eval_gen_solutions", "--solution_dataset", solutions, "--ground_truth_dataset", problems,
        "--evaluation_test_type", "private_tests", "--k", 1, "--json", folder / "out.json", *arguments,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "out.json").read_text())


@pytest.mark.thorough
def test_problems_of_humaneval_and_mbpp_are_solved_by_functions_and_scored(home, tmp_path):
    problems = write_jsonl(tmp_path / "both.jsonl", [humaneval_row(), mbpp_row()])
    answers = {"def total": "    return sum(map(shifted, numbers))\n", "def": "def add(a, b):\n    return a + b\n"}

    def script(body):
        return fenced(answers["def total" if "def total" in last_user(body) else "def"])

    with ScriptedServer(script) as server:
        done = run_cli(
            "gen", "solve_set", "--dataset_name", problems, "--output_dataset_name", "out", *model_arguments(server)
        )
        assert done.returncode == 0, done.stderr
        assert not any("input()" in last_user(seen.body) for seen in server.requests)
        assert len(server.requests) == 2
    columns = columns_of(home / "datasets" / "out")
    assert columns["task_name"] == ["HumanEval/900", "Mbpp/900"]
    assert columns["flow"] == [["complete"], ["complete"]]
    result = evaluated("out", problems, tmp_path)
    assert result["pass_at_k"] == {"pass@1": 1.0}
    assert result["judge_error"]["correct_rejected"] == 0


@pytest.mark.thorough
def test_apps_problems_of_both_kinds_are_solved_in_one_run_each_by_its_flow(home, tmp_path):
    problems = write_jsonl(tmp_path / "apps.jsonl", [APPS_CALL, APPS_STDIN])

    def script(body):
        if "def add(self" in last_user(body):
            return fenced(METHOD)
        return fenced("print(sum(map(int, input().split())))\n")

    with ScriptedServer(script) as server:
        job = ("--dataset_name", problems, "--output_dataset_name", "out", *model_arguments(server))
        done = run_cli("gen", "solve_set", *job, "--run", "r", "-o", "solve.use_direct_solutions=true")
        assert done.returncode == 0, done.stderr
        asked = len(server.requests)
        again = run_cli("gen", "solve_set", "--resume", "r")
        assert again.returncode == 0, again.stderr
        assert len(server.requests) == asked
    assert columns_of(home / "datasets" / "out")["flow"] == [["complete"], ["alphacodium"]]
    assert evaluated("out", problems, tmp_path)["pass_at_k"] == {"pass@1": 1.0}


def test_the_flow_for_functions_accepts_a_mixed_set_with_a_warning(home, tmp_path):
    problems = write_jsonl(tmp_path / "apps.jsonl", [APPS_CALL, APPS_STDIN])

    def script(body):
        return fenced(METHOD) if "def add(self" in last_user(body) else ECHO

    with ScriptedServer(script) as server:
        job = ("--dataset_name", problems, "--flow", "complete", *model_arguments(server))
        done = run_cli("gen", "solve_set", *job)
        assert done.returncode == 0, done.stderr
        assert "where the task says to read input" in last_user(server.requests[-1].body)
    assert done.stderr.count("flow 'complete' asks for functions, and 'apps/8' wants a program that reads stdin") == 1


def test_a_set_without_functions_is_refused_before_the_first_call(home, tmp_path):
    problems = write_jsonl(tmp_path / "stdin.jsonl", [problem_record(0), problem_record(1)])
    with ScriptedServer(lambda _: ECHO) as server:
        job = ("--dataset_name", problems, "--flow", "complete", *model_arguments(server))
        done = run_cli("gen", "solve_set", *job)
        one = run_cli("gen", "solve_problem", *job, "--problem_number", 0)
        assert server.requests == []
    for refused in (done, one):
        assert_refused(refused, "flow 'complete' asks for functions, and 'echo 0' wants a program that reads stdin")


@pytest.mark.thorough
def test_one_problem_is_solved_and_judged(home, tmp_path):
    problems = write_jsonl(tmp_path / "he.jsonl", [humaneval_row()])
    with ScriptedServer(lambda _: fenced("return sum(map(shifted, numbers))\n")) as server:
        which = ("--dataset_name", problems, "--problem_name", "HumanEval/900")
        done = run_cli(
            "gen", "solve_problem", *which, "--evaluation_test_type", "private_tests", *model_arguments(server)
        )
    assert done.returncode == 0, done.stderr
    assert "private_tests: accepted (1/1)" in done.stderr
    assert "def total" in done.stdout


def test_a_flow_that_suits_no_problem_is_refused_before_the_first_call_also_in_a_dry_run(home, tmp_path):
    problems = write_jsonl(tmp_path / "he.jsonl", [humaneval_row(), humaneval_row(task_id="HumanEval/901")])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/flow.toml").write_text('[[stages]]\nkind = "write_code"\nprompt = "ask"\n')
    (tmp_path / "mine/ask.toml").write_text('code = true\nuser = "{{ problem.description }}"\n')
    with ScriptedServer(lambda _: ECHO) as server:
        job = ("gen", "solve_set", "--dataset_name", problems, *model_arguments(server), "--flow")
        for more in ((), ("--dry_run",)):
            done = run_cli(*job, tmp_path / "mine", *more)
            assert (done.returncode, done.stdout) == (2, "")
            assert "flow 'mine' asks for programs that read stdin, and 'HumanEval/900' wants a function" in done.stderr
        assert not server.requests
        (tmp_path / "mine/ask.toml").write_text('code = true\nuser = "{{ problm }}"\n')
        done = run_cli(*job, tmp_path / "mine", "--dry_run")
        assert (done.returncode, "ask.toml, line 2: there is no variable 'problm'" in done.stderr) == (2, True)
        assert run_cli(*job, "alphacodium", "--dry_run").returncode == 0


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_the_real_humaneval_is_solved_by_bodies_alone(home, tmp_path):
    rows = [json.loads(line) for line in shared_path("data/humaneval.jsonl").open()]
    bodies = {row["prompt"].strip(): row["canonical_solution"] for row in rows}

    def script(body):
        asked = last_user(body)
        return fenced(next(solution for prompt, solution in bodies.items() if prompt in asked))

    problems = write_jsonl(tmp_path / "humaneval.jsonl", rows)
    with ScriptedServer(script) as server:
        done = run_cli(
            "gen", "solve_set", "--dataset_name", problems, "--output_dataset_name", "out", *model_arguments(server)
        )
    assert done.returncode == 0, done.stderr
    assert evaluated("out", problems, tmp_path, "-o", "code_tester.known_solutions=0")["verdicts"] == {"accepted": 164}
