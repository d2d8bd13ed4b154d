"""`gencode eval` as a user types it: real sandboxes, real files, real data."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.here import gencode
from tests.data.records import record, write_jsonl
from tests.eval.splits import ALSO_WRONG, RIGHT, WRONG
from tests.gen.running import Done
from tests.support import gencode as gencode_process

DOUBLE = {"input": ["1\n", "2\n", "3\n"], "output": ["2\n", "4\n", "6\n"]}
NONE = {"input": [], "output": []}
AGREED = {"correct_accepted": 1, "correct_total": 2, "incorrect_rejected": 2, "incorrect_total": 2}
STRICT = 'code_tester.sandbox="strict"'


def double(name: str, **fields: object) -> dict:
    return record(name, **{"public_tests": NONE, "private_tests": DOUBLE} | fields)


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    """Two problems, one with solutions: two called right (one isn't), two called wrong, one in an unknown language."""
    correct = {"language": [3, 0, 3], "solution": [RIGHT, "print 1", WRONG]}
    incorrect = {"language": [3, 3], "solution": ["print(", ALSO_WRONG]}
    return write_jsonl(
        tmp_path / "problems.jsonl", [double("a", solutions=correct, incorrect_solutions=incorrect), double("b")]
    )


def solutions_file(folder: Path, *rows: dict) -> Path:
    return write_jsonl(folder / "solutions.jsonl", list(rows))


def row(name: str, *programs: str, **more: object) -> dict:
    return {"task_name": name, "solution_candidates": list(programs)} | more


def eval_gen(home: Path, solutions: Path, problems: Path, *more: object) -> Done:
    return gencode(
        "eval", "eval_gen_solutions", "--solution_dataset", solutions, "--ground_truth_dataset", problems,
        "--evaluation_test_type", "private_tests", *more, home=home,
    )  # fmt: skip


def eval_humans(home: Path, problems: Path, *more: object, command: str = "eval_cc_solutions"):
    return gencode(
        "eval", command, "--dataset_name", problems, "--evaluation_test_type", "private_tests", *more, home=home
    )


def of_json(path: Path) -> dict:
    return json.loads(path.read_text())


def without_costs(values: dict) -> dict:
    """A result without what differs between any two runs of a program."""
    for problem in values["problems"]:
        for candidate in problem["candidates"]:
            candidate["tests"] = [test["verdict"] for test in candidate["tests"]]
    return values


def test_human_solutions_of_both_kinds_give_scores_and_agreement(tmp_path: Path, problems: Path) -> None:
    done = eval_humans(tmp_path, problems, "--solutions", "both", "--k", "1", "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    values = of_json(tmp_path / "out.json")
    assert values["agreement"] == AGREED
    assert values["skipped_solutions"] == 1
    assert (values["n_problems"], values["pass_at_k"]) == (2, {"pass@1": 0.125})
    first = values["problems"][0]["candidates"][0]
    assert (first["group"], first["index"], first["verdict"]) == ("correct", 0, "accepted")
    assert (first["tests_passed"], first["tests_total"]) == (3, 3)
    assert set(first["tests"][0]) == {"verdict", "wall_seconds", "cpu_seconds", "max_rss_bytes"}
    assert first["tests"][0]["cpu_seconds"] > 0 and first["tests"][0]["max_rss_bytes"] > 2**20
    assert "correct solutions accepted    1 of 2" in done.stdout
    assert "pass@1" not in done.stdout
    assert "run folder" in done.stderr and "run folder" not in done.stdout


def test_the_results_in_the_run_folder_are_those_of_json(tmp_path: Path, problems: Path) -> None:
    eval_humans(tmp_path, problems, "--solutions", "both", "--run", "mine", "--json", tmp_path / "out.json")
    assert of_json(tmp_path / "runs" / "mine" / "results.json") == of_json(tmp_path / "out.json")


@pytest.mark.thorough
def test_json_to_stdout_is_nothing_but_json(tmp_path: Path, problems: Path) -> None:
    kind = ("--evaluation_test_type", "private_tests", "--solutions", "incorrect")
    done = gencode_process("eval", "eval_cc_solutions", "--dataset_name", problems, *kind, "--json", "-", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdicts"] == {"compilation_error": 1, "wrong_answer": 1}


def test_candidates_are_scored_over_all_problems_of_the_split(tmp_path: Path, problems: Path) -> None:
    solutions = solutions_file(tmp_path, row("a", RIGHT, WRONG, RIGHT))
    done = eval_gen(tmp_path, solutions, problems, "--k", "2,1,5", "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    values = of_json(tmp_path / "out.json")
    assert values["pass_at_k"] == {"pass@1": pytest.approx(1 / 3), "pass@2": 0.5, "pass@5": None}
    assert values["reasons"] == {"pass@5": "1 of 2 problems has samples, but fewer than 5 (least 3)"}
    assert values["problems"][1] == {"name": "b", "candidates": []}
    assert "pass@1   0.3333" in done.stdout
    assert "pass@5   n/a (1 of 2 problems has samples, but fewer than 5 (least 3))" in done.stdout


@pytest.mark.thorough
def test_several_kinds_of_tests_are_judged_together(tmp_path: Path) -> None:
    public = {"input": ["5\n"], "output": ["11\n"]}
    problems = write_jsonl(tmp_path / "p.jsonl", [double("a", public_tests=public)])
    solutions = solutions_file(tmp_path, row("a", RIGHT))
    totals = {}
    for kinds in (["private_tests"], ["public-tests", "private_tests"], ["all"], ["public_tests,private_tests"]):
        options = [part for kind in kinds for part in ("--evaluation-test-type", kind)]
        gencode(
            "eval", "eval-gen-solutions", "--solution-dataset", solutions, "--ground-truth-dataset", problems,
            *options, "--json", tmp_path / "out.json", home=tmp_path,
        )  # fmt: skip
        (candidate,) = of_json(tmp_path / "out.json")["problems"][0]["candidates"]
        totals[tuple(kinds)] = (candidate["tests_passed"], candidate["tests_total"], candidate["verdict"])
    assert totals.pop(("private_tests",)) == (3, 3, "accepted")
    assert set(totals.values()) == {(3, 4, "wrong_answer")}


@pytest.mark.thorough
def test_a_sample_of_the_problems_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    solved = {"language": [3], "solution": [RIGHT]}
    problems = write_jsonl(tmp_path / "p.jsonl", [double(f"p{i}", solutions=solved) for i in range(12)])
    names = []
    for seed in (1, 1, 2):
        options = ("--sample_rate", 0.4, "--seed", seed, "--k", 1, "--json", tmp_path / "out.json")
        assert eval_humans(tmp_path, problems, *options, command="pass_at_k").returncode == 0
        values = of_json(tmp_path / "out.json")
        assert values["pass_at_k"] == {"pass@1": 1.0}
        names.append([problem["name"] for problem in values["problems"]])
    assert names[0] == names[1] != names[2]
    assert 0 < len(names[0]) < 12


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--evaluation_test_type", "privat_tests"], "unknown type of tests 'privat_tests' (did you mean 'private_tests'?)"),  # noqa: E501
        (["--evaluation_test_type", "generated_tests"], "has generated_tests: choose another --evaluation_test_type"),
        (["--evaluation_test_type", "private_tests", "--k", "0"], "not a list of numbers above 0"),
        (["--evaluation_test_type", "private_tests", "--k", "1,x"], "not a list of numbers above 0"),
        (["--evaluation_test_type", "private_tests", "--resume", "none"], "there is no run 'none'"),
        (["--evaluation_test_type", "private_tests", "-o", "code_tester.tester_type=locl"], "did you mean 'local'"),
        (
            [*["--evaluation_test_type", "private_tests", "-o", "code_tester.tester_type=portable", "-o"], STRICT],
            "complete isolation",
        ),
        (["--evaluation_test_type", "private_tests", "-o", "code_tester.interpreter=/no/python"], "no interpreter"),
        (["--evaluation_test_type", "private_tests", "--run", "x", "--resume", "x"], "give one of them"),
    ],
)  # fmt: skip
def test_a_mistake_of_the_user_is_one_line_and_exit_status_2(
    tmp_path: Path, problems: Path, options: list[str], said: str
) -> None:
    done = gencode("eval", "eval_cc_solutions", "--dataset_name", problems, *options, home=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_solutions_of_another_dataset_are_a_mistake_of_the_user(tmp_path: Path, problems: Path) -> None:
    done = eval_gen(tmp_path, solutions_file(tmp_path, row("q", RIGHT)), problems)
    assert (done.returncode, done.stdout) == (2, "")
    assert "'q' is not in the split judged" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_incomplete_result_says_so_gives_bounds_and_can_be_gone_on_with(tmp_path: Path, problems: Path) -> None:
    lost = row("a", RIGHT, "", sample_errors=["", "provider: HTTP 503"])
    solutions = solutions_file(tmp_path, lost)
    done = eval_gen(tmp_path, solutions, problems, "--k", 1, "--run", "mine", "--json", tmp_path / "out.json")
    assert done.returncode == 1, done.stderr
    assert "INCOMPLETE" in done.stderr
    assert "1 sample missing (provider: HTTP 503): resume their run of gencode gen solve_set" in done.stderr
    assert "--resume mine" not in done.stderr, "judging again doesn't make the sample"
    assert "Traceback" not in done.stderr
    assert "pass@1 lies between 0.2500 and 0.5000" in done.stdout
    assert gencode("runs", "list", home=tmp_path).stdout.rstrip().endswith("incomplete")
    values = of_json(tmp_path / "out.json")
    assert (values["complete"], values["pass_at_k"], values["bounds"]) == (
        False,
        {"pass@1": None},
        {"pass@1": [0.25, 0.5]},
    )
    solutions_file(tmp_path, row("a", RIGHT, WRONG))
    again = eval_gen(tmp_path, solutions, problems, "--k", 1, "--resume", "mine", "--json", tmp_path / "out.json")
    assert again.returncode == 0, again.stderr
    assert of_json(tmp_path / "out.json")["pass_at_k"] == {"pass@1": 0.25}
    lines = (tmp_path / "runs/mine/journal.jsonl").read_text().splitlines()
    groups = [json.loads(line)["result"]["group"] for line in lines]
    assert groups.count("generated") == 3, "the program that had its verdict isn't judged again"


@pytest.mark.thorough
def test_a_run_is_not_gone_on_with_for_another_job(tmp_path: Path, problems: Path) -> None:
    assert eval_humans(tmp_path, problems, "--run", "mine").returncode == 0
    other = eval_humans(tmp_path, problems, "--resume", "mine", "-o", "code_tester.delta=0.5")
    assert other.returncode == 2
    assert "delta" in other.stderr
    assert eval_humans(tmp_path, problems, "--resume", "mine", "--k", "1", "--workers", "1").returncode == 0


def test_settings_of_the_tester_reach_the_judge(tmp_path: Path) -> None:
    expected = {"input": ["1\n"], "output": ["0.5\n"]}
    problems = write_jsonl(tmp_path / "p.jsonl", [double("a", private_tests=expected)])
    solutions = solutions_file(tmp_path, row("a", "print(0.5000001)"))
    verdicts = []
    for options in ((), ("-o", "code_tester.delta=1e-3")):
        eval_gen(tmp_path, solutions, problems, *options, "--json", tmp_path / "out.json")
        verdicts.append(of_json(tmp_path / "out.json")["problems"][0]["candidates"][0]["verdict"])
    assert verdicts == ["wrong_answer", "accepted"]


@pytest.mark.thorough
def test_an_eval_that_is_killed_goes_on_and_judges_nothing_twice(tmp_path: Path) -> None:
    programs = [f"{RIGHT}  # {i}" if i % 3 else f"{WRONG}  # {i}" for i in range(12)]
    problems = write_jsonl(tmp_path / "p.jsonl", [double("a"), double("b")])
    solutions = solutions_file(tmp_path, row("a", *programs), row("b", *programs))
    command = [
        sys.executable, "-m", "alpha_codium", "eval", "eval_gen_solutions", "--solution_dataset", solutions,
        "--ground_truth_dataset", problems, "--evaluation_test_type", "private_tests", "--run", "killed",
    ]  # fmt: skip
    process = subprocess.Popen(
        list(map(str, command)),
        env=os.environ | {"GENCODE_HOME": str(tmp_path), "TMPDIR": str(tmp_path)},
        stderr=subprocess.DEVNULL,
    )
    journal = tmp_path / "runs" / "killed" / "journal.jsonl"
    while process.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") >= 4):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = journal.read_bytes().splitlines(keepends=True)
    resumed = eval_gen(tmp_path, solutions, problems, "--resume", "killed", "--json", tmp_path / "resumed.json")
    assert resumed.returncode == 0, resumed.stderr
    after = journal.read_bytes().splitlines(keepends=True)
    assert after[: len(before)] == [line for line in before if line.endswith(b"\n")]
    done = [(e["problem"], e["result"]["index"]) for e in map(json.loads, after)]
    assert len(done) == len(set(done)) == 24
    eval_gen(tmp_path, solutions, problems, "--json", tmp_path / "whole.json")
    assert without_costs(of_json(tmp_path / "resumed.json")) == without_costs(of_json(tmp_path / "whole.json"))


@pytest.mark.thorough
def test_ctrl_c_ends_an_eval_in_one_line_and_leaves_nothing_behind(tmp_path: Path, problems: Path) -> None:
    (tmp_path / "tmp").mkdir()
    solutions = solutions_file(tmp_path, row("a", "import time; time.sleep(100)", RIGHT))
    command = [
        sys.executable, "-m", "alpha_codium", "eval", "eval_gen_solutions", "--solution_dataset", str(solutions),
        "--ground_truth_dataset", str(problems), "--evaluation_test_type", "private_tests", "-q", "--run", "cut",
    ]  # fmt: skip
    environment = os.environ | {"GENCODE_HOME": str(tmp_path), "TMPDIR": str(tmp_path / "tmp")}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)
    journal = tmp_path / "runs" / "cut" / "journal.jsonl"
    while process.poll() is None and not (journal.exists() and b"\n" in journal.read_bytes()):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate()
    assert process.returncode == 130, stderr
    assert stderr.endswith("interrupted\n") and "Traceback" not in stderr
    assert list((tmp_path / "tmp").glob("gencode-*")) == []


def test_an_unknown_backend_takes_no_name_of_a_run(tmp_path: Path, problems: Path) -> None:
    done = eval_humans(tmp_path, problems, "--run", "mine", "-o", "code_tester.tester_type=locl")
    assert (done.returncode, "did you mean 'local'" in done.stderr) == (2, True)
    assert not (tmp_path / "runs").exists()


def test_a_human_solution_in_both_lists_is_scored_and_says_nothing_of_the_judge(tmp_path: Path) -> None:
    both = {"language": [3], "solution": [WRONG]}
    correct = {"language": [3, 3], "solution": [RIGHT, WRONG]}
    path = write_jsonl(tmp_path / "p.jsonl", [double("a", solutions=correct, incorrect_solutions=both)])
    done = eval_humans(tmp_path, path, "--k", 1, "--json", "-")
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)
    assert values["pass_at_k"] == {"pass@1": 0.5}
    assert values["agreement"] == {
        "correct_accepted": 1, "correct_total": 1, "incorrect_rejected": 0, "incorrect_total": 0,
    }  # fmt: skip
    assert (values["judge_error"]["correct_rejected"], values["judge_error"]["correct_total"]) == (0, 1)


CRASHING = "raise SystemExit(99)"


def test_a_checker_that_crashes_is_said_to_have_crashed(tmp_path: Path) -> None:
    checker = {"name": "program", "arguments": {"protocol": "icpc", "files": {"check.py": CRASHING}}}
    solutions = {"language": [3], "solution": [RIGHT]}
    path = write_jsonl(tmp_path / "p.jsonl", [double("a", checker=checker, solutions=solutions)])
    done = eval_humans(tmp_path, path, "--run", "mine")
    assert done.returncode == 1, done.stderr
    assert "1 program got no verdict (" in done.stderr
    assert "a fault of the sandbox" not in done.stderr and "checker" in done.stderr
