"""Every setting changes what happens: here those that commands read for themselves."""

import json

import pytest
from click.testing import CliRunner
from loguru import logger

from alpha_codium.app.generation import solve_set
from alpha_codium.app.solving import solve, solve_problem_async
from alpha_codium.cli.eval import eval_gen_solutions
from alpha_codium.cli.options import CommonOptions
from alpha_codium.gen.choosing import chosen_flow
from tests.flows.scripted_flow import MODEL, ONE, program, settings_of
from tests.flows.switches import changes
from tests.servers.scripted import ScriptedServer


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A folder of our own for what commands write."""
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def common_of(server, *overrides):
    """The options of a call that asks this server."""
    return CommonOptions(None, (f"config.model={MODEL}", f"config.api_base={server.api_base}", *overrides), None, -2)


@changes("solve.use_baseline")
def test_use_baseline_runs_the_baseline_whatever_was_asked_for():
    assert chosen_flow("alphacodium", settings_of({})).name == "alphacodium"
    assert chosen_flow("alphacodium", settings_of({"solve.use_baseline": True})).name == "baseline"
    assert chosen_flow(None, settings_of({})).name == "auto"


def test_use_baseline_holds_in_python_too():
    with ScriptedServer(lambda body: program("print(3)")) as server:
        settings = settings_of({"solve.use_baseline": True, "config.api_base": server.api_base})
        assert solve(ONE, model=MODEL, settings=settings).flow == "baseline"


@changes("solve.reduce_verbose")
@pytest.mark.parametrize("reduced", [False, True])
def test_reduce_verbose_makes_log_lines_short(capsys, reduced):
    try:
        assert CommonOptions(None, (f"solve.reduce_verbose={str(reduced).lower()}",)).settings
        logger.info("the message")
        assert (capsys.readouterr().err == "the message\n") == reduced
    finally:
        logger.remove()


@changes("dataset.num_iterations")
@pytest.mark.parametrize("iterations", [1, 3])
async def test_num_iterations_is_how_many_samples_a_problem_gets(iterations):
    with ScriptedServer(lambda body: program("print(0)")) as server:
        common = common_of(server, f"dataset.num_iterations={iterations}")
        candidate = (await solve_problem_async(ONE, "baseline", settings=common.settings)).candidate
        assert len(server.requests) == iterations
        assert candidate.program.strip() == "print(0)"


async def test_no_more_samples_are_made_once_one_passes_the_public_tests():
    with ScriptedServer(lambda body: program("print(3)")) as server:
        settings = common_of(server, "dataset.num_iterations=3").settings
        candidate = (await solve_problem_async(ONE, "baseline", settings=settings)).candidate
        assert len(server.requests) == 1
        assert candidate.solved_public


@pytest.mark.thorough
@changes("config.concurrency")
def test_concurrency_is_how_many_samples_are_in_flight(home):
    tests = {"input": ["1 2\n"], "output": ["3\n"]}
    rows = [{"name": f"P{n}", "description": "Print 3.", "public_tests": tests} for n in range(4)]
    (home / "few.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for concurrency in (1, 2):
        with ScriptedServer(lambda body: program("print(3)"), latency=0.1, together=concurrency) as server:
            common = common_of(server, f"config.concurrency={concurrency}")
            run = {"run": f"r{concurrency}", "settings": common.settings}
            summary = solve_set(str(home / "few.jsonl"), flow="baseline", **run)
            assert (summary.samples, summary.solved_public) == (4, 4)
            assert server.max_in_flight == concurrency


@changes("code_tester.known_solutions")
@pytest.mark.parametrize("known", [0, 1])
def test_known_solutions_says_how_many_stand_beside_the_candidates(home, known):
    problem = {
        "name": "p",
        "private_tests": {"input": ["1"], "output": ["1"]},
        "solutions": {"language": [3, 3], "solution": ["print(input())", "print(1)"]},
    }
    (home / "problems.jsonl").write_text(json.dumps(problem))
    (home / "answers.jsonl").write_text(json.dumps({"task_name": "p", "solution_candidates": ["print(2)"]}))
    arguments = ["--solution_dataset", "answers.jsonl", "--ground_truth_dataset", "problems.jsonl", "--k", "1"]
    arguments += ["--evaluation_test_type", "private_tests", "-o", f"code_tester.known_solutions={known}"]
    done = CliRunner().invoke(eval_gen_solutions, [*arguments, "--json", "out.json"])
    assert done.exit_code == 0, done.output
    assert json.loads((home / "out.json").read_text())["judge_error"]["correct_total"] == known


@pytest.mark.thorough
@changes("code_tester.recheck_near_limit")
@pytest.mark.parametrize("again", [False, True])
def test_programs_near_a_limit_are_judged_again(home, again):
    """The program takes 90 % of its limit, whatever the load: it measures its own CPU time."""
    problem = {"name": "p", "private_tests": {"input": ["1"], "output": ["1"]}}
    program = "import time\nwhile time.process_time() < 0.36: pass\nprint(1)"
    (home / "problems.jsonl").write_text(json.dumps(problem))
    (home / "answers.jsonl").write_text(json.dumps({"task_name": "p", "solution_candidates": [program]}))
    arguments = ["--solution_dataset", "answers.jsonl", "--ground_truth_dataset", "problems.jsonl", "--k", "1"]
    arguments += ["--evaluation_test_type", "private_tests", "-o", "code_tester.timeout=0.4"]
    arguments += ["-o", f"code_tester.recheck_near_limit={str(again).lower()}"]
    done = CliRunner().invoke(eval_gen_solutions, [*arguments, "--json", "out.json"])
    assert done.exit_code == 0, done.output
    assert json.loads((home / "out.json").read_text())["near_limit"] == {"programs": 1, "rechecked": int(again)}


@changes("code_tester.header")
@pytest.mark.parametrize(("header", "verdict"), [("", "runtime_error"), ("import math", "accepted")])
def test_the_header_runs_before_each_program(home, header, verdict):
    problem = {"name": "p", "private_tests": {"input": ["9"], "output": ["3"]}}
    answer = {"task_name": "p", "solution_candidates": ["print(math.isqrt(int(input())))"]}
    (home / "problems.jsonl").write_text(json.dumps(problem))
    (home / "answers.jsonl").write_text(json.dumps(answer))
    arguments = ["--solution_dataset", "answers.jsonl", "--ground_truth_dataset", "problems.jsonl", "--k", "1"]
    arguments += ["--evaluation_test_type", "private_tests", "-o", f"code_tester.header={header}"]
    done = CliRunner().invoke(eval_gen_solutions, [*arguments, "--json", "out.json"])
    assert done.exit_code == 0, done.output
    assert json.loads((home / "out.json").read_text())["verdicts"] == {verdict: 1}
