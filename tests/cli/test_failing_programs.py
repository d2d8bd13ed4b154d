"""What `gen solve_problem` says of a program that fails its tests."""

import json

import pytest

from tests.gen.running import ECHO, model_arguments, problem_record, run_cli
from tests.servers.scripted import ScriptedServer


@pytest.mark.parametrize(
    ("answer", "options", "said"),
    [
        (ECHO, (), ""),
        (ECHO, ("--evaluation_test_type", "private_tests"), ""),
        ("```python\nprint(7)\n```", (), "the program fails 1 of 2 public tests"),
        ("```python\nprint(7, input())\n```", (), "the program fails 2 of 2 public tests"),
    ],
)
def test_a_program_that_fails_its_tests_is_printed_and_ends_with_1(home, tmp_path, answer, options, said):
    problem = problem_record(1) | {"public_tests": {"input": ["1\n", "7\n"], "output": ["1\n", "7\n"]}}
    path = tmp_path / "p.json"
    path.write_text(json.dumps(problem))
    with ScriptedServer(lambda _: answer) as server:
        done = run_cli("gen", "solve_problem", "--problem_file", path, "--flow", "baseline", *options,
                       *model_arguments(server))  # fmt: skip
    assert done.stdout == answer.removeprefix("```python\n").removesuffix("```")
    assert (done.returncode, said in done.stderr) == (1 if said else 0, True), done.stderr


def test_a_program_that_fails_the_tests_asked_for_ends_with_1(home, tmp_path):
    problem = problem_record(1) | {"public_tests": {"input": ["1\n"], "output": ["1\n"]}}
    problem["private_tests"] = {"input": ["2\n", "1\n"], "output": ["2\n", "1\n"]}
    (tmp_path / "p.json").write_text(json.dumps(problem))
    asked = ("--problem_file", tmp_path / "p.json", "--flow", "baseline", "--evaluation_test_type", "private_tests")
    with ScriptedServer(lambda _: "```python\nprint(1)\n```") as server:
        done = run_cli("gen", "solve_problem", *asked, *model_arguments(server))
    assert (done.returncode, done.stdout) == (1, "print(1)\n")
    assert "the program fails the tests asked for: wrong_answer, 1 of 2" in done.stderr
    assert "first failing test: number 1 of 2, wrong_answer\ninput:\n  2\n" in done.stderr


def test_the_first_public_test_that_a_program_fails_is_shown_and_in_the_json_file(home, tmp_path):
    problem = problem_record(1) | {"public_tests": {"input": ["7\n", "1\n"], "output": ["7\n", "1\n"]}}
    (tmp_path / "p.json").write_text(json.dumps(problem))
    asked = ("--problem_file", tmp_path / "p.json", "--flow", "baseline", "--json", tmp_path / "out.json")
    with ScriptedServer(lambda _: "```python\nprint(7)\n```") as server:
        done = run_cli("gen", "solve_problem", *asked, *model_arguments(server))
    assert done.returncode == 1
    lines = ["first failing public test: number 2 of 2, wrong_answer", "input:", "  1"]
    assert "\n".join([*lines, "difference (- expected, + actual):", "  - 1", "  + 7"]) in done.stderr
    failure = json.loads((tmp_path / "out.json").read_text())["failure"]
    assert (failure["test"], failure["input"], failure["expected"], failure["actual"]) == (1, "1\n", "1\n", "7\n")


def test_the_run_folder_of_a_problem_shows_what_was_asked_answered_and_tested(home, tmp_path):
    problem = problem_record(1) | {"public_tests": {"input": ["1\n", "7\n"], "output": ["1\n", "7\n"]}}
    (tmp_path / "p.json").write_text(json.dumps(problem))
    with ScriptedServer(lambda _: "```python\nprint(7)\n```") as server:
        done = run_cli("gen", "solve_problem", "--problem_file", tmp_path / "p.json", "--flow", "baseline",
                       *model_arguments(server))  # fmt: skip
        asked = server.requests[0].body["messages"][-1]["content"]
    (folder,) = (home / "runs").iterdir()
    assert f"run folder: {folder}" in done.stderr.splitlines()
    (tmp_path / "p.json").unlink()
    shown = run_cli("runs", "show", folder.name)
    assert shown.returncode == 0, shown.stderr
    assert "print(7)" in shown.stdout
    assert "first failing test: number 1 of 2, wrong_answer\ninput:\n  1\n" in shown.stdout
    assert "1 of 1 sample of the run failed the public tests" in shown.stderr
    (transcript,) = (folder / "transcripts").rglob("*.json")
    assert json.dumps(asked, ensure_ascii=False) in transcript.read_text()
    listed = run_cli("runs", "list", "--json", tmp_path / "runs.json")
    (row,) = json.loads((tmp_path / "runs.json").read_text())
    assert (row["command"], row["dataset"], row["finished"]) == ("solve_problem", problem["name"], True), listed


def test_a_run_of_one_problem_is_not_replayed_and_says_so(home, tmp_path):
    (tmp_path / "p.json").write_text(json.dumps(problem_record(1)))
    with ScriptedServer(lambda _: ECHO) as server:
        run_cli("gen", "solve_problem", "--problem_file", tmp_path / "p.json", "--flow", "baseline",
                *model_arguments(server))  # fmt: skip
    (folder,) = (home / "runs").iterdir()
    done = run_cli("replay", folder.name)
    assert (done.returncode, "one of solve_problem: only runs of gencode gen solve_set" in done.stderr) == (2, True)
