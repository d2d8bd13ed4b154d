"""Parts of a split: what was asked for is the denominator of the score, and the result says so."""

import json
import tomllib

import pytest

from alpha_codium.data.load import load_problems
from tests.data.records import record, write_jsonl
from tests.eval.splits import RIGHT, WRONG
from tests.gen.running import ECHO, columns_of, model_arguments, run_cli, write_problems
from tests.servers.scripted import ScriptedServer

DOUBLE = {"input": ["1\n", "2\n"], "output": ["2\n", "4\n"]}
NONE = {"input": [], "output": []}


@pytest.fixture
def server(home):
    with ScriptedServer(lambda _: ECHO) as running:
        yield running


@pytest.fixture
def samples(home, tmp_path):
    """Forty problems with a known solution each, of which two have samples."""
    known = {"language": [3], "solution": [RIGHT]}
    tests = {"public_tests": NONE, "private_tests": DOUBLE, "solutions": known}
    write_jsonl(tmp_path / "p.jsonl", [record(f"p/{n}", **tests) for n in range(40)])
    return write_jsonl(tmp_path / "s.jsonl", [{"task_id": "p/1", "solution": RIGHT}, {"task_id": 7, "solution": WRONG}])


def solve(server, problems, *more):
    at = ("--dataset_name", problems, "--flow", "baseline", *model_arguments(server))
    return run_cli("gen", "solve_set", *at, *more)


def scored(tmp_path, samples, *more):
    done = run_cli(
        "eval", "score", samples, "--dataset_name", tmp_path / "p.jsonl", "--k", 1, "--json", tmp_path / "o", *more
    )
    assert done.returncode == 0, done.stderr
    return json.loads((tmp_path / "o").read_text()), done.stdout


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("options", "by"),
    [
        (("--sample_rate", 0.5, "--seed", 3), "sample_rate 0.5, seed 3"),
        (("--limit", 2), "limit 2"),
        (("--problems", "echo 1,echo 5"), "names echo 1, echo 5"),
    ],
)
def test_a_run_of_a_part_is_scored_over_that_part(server, home, tmp_path, options, by):
    problems = write_problems(tmp_path, 8)
    assert solve(server, problems, *options, "--run", "part").returncode == 0
    solutions = home / "runs" / "part" / "solutions"
    asked = columns_of(solutions)["task_name"]
    done = run_cli(
        "eval", "eval_gen_solutions", "--solution_dataset", solutions, "--ground_truth_dataset", problems,
        "--evaluation_test_type", "private_tests", "--k", 1, "--json", tmp_path / "out.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    values = json.loads((tmp_path / "out.json").read_text())
    assert values["pass_at_k"] == {"pass@1": 1.0}
    assert (values["n_problems"], values["subset"]) == (len(asked), {"of": 8, "by": by})
    assert f"{len(asked)} of 8 problems ({by}), {len(asked)} programs" in done.stdout
    resumed = solve(server, problems, "--resume", "part")
    assert resumed.returncode == 0, resumed.stderr
    assert run_cli("gen", "solve_set", "--resume", "part").returncode == 0
    assert columns_of(solutions)["task_name"] == asked
    assert run_cli("replay", "part").returncode == 0


@pytest.mark.thorough
def test_a_run_records_its_part_and_another_is_refused(server, home, tmp_path):
    problems = write_problems(tmp_path, 4)
    assert solve(server, problems, "--limit", 2, "--problems", "echo 0,echo 2,echo 3", "--run", "r").returncode == 0
    described = tomllib.loads((home / "runs" / "r" / "run.toml").read_text())
    assert (described["limit"], described["names"]) == (2, ["echo 0", "echo 2", "echo 3"])
    done = solve(server, problems, "--resume", "r", "--limit", 3)
    assert (done.returncode, "was made with limit = 2, not 3" in done.stderr) == (2, True)


@pytest.mark.thorough
def test_candidates_of_two_parts_are_scored_over_both(server, home, tmp_path):
    import datasets

    problems = write_problems(tmp_path, 6)
    for name in ("echo 0", "echo 4"):
        assert solve(server, problems, "--problems", name, "--run", name).returncode == 0
    parts = [datasets.load_from_disk(str(home / "runs" / name / "solutions")) for name in ("echo 0", "echo 4")]
    datasets.concatenate_datasets(parts).to_parquet(str(tmp_path / "both.parquet"))
    done = run_cli("eval", "score", tmp_path / "both.parquet", "--dataset_name", problems, "--k", 1, "--json", "-")
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)
    assert (values["n_problems"], values["pass_at_k"], values["subset"]["of"]) == (2, {"pass@1": 1.0}, 6)


@pytest.mark.parametrize(
    ("options", "problems", "passed", "by"),
    [
        ((), 40, 1 / 40, None),
        (("--only_present",), 2, 1 / 2, "only_present"),
        (("--limit", 4), 4, 1 / 4, "limit 4"),
        (("--problems", "p/1,3", "--problems", "p/7"), 3, 1 / 3, "names p/1, p/3, p/7"),
        (("--only_present", "--limit", 1), 1, 1.0, "only_present; limit 1"),
    ],
)
def test_samples_are_scored_over_the_problems_that_are_chosen(tmp_path, samples, options, problems, passed, by):
    values, said = scored(tmp_path, samples, *options)
    assert values["n_problems"] == problems
    assert values["pass_at_k"]["pass@1"] == pytest.approx(passed)
    assert values["subset"] == (by and {"of": 40, "by": by})
    assert values["judge_error"]["correct_total"] <= 2, "known solutions are judged only beside samples"
    assert f"{problems} of 40 problems ({by}), " in said or by is None


def test_a_sample_of_no_problem_is_an_error_that_says_so(home, tmp_path, samples):
    options = ("--dataset_name", tmp_path / "p.jsonl", "--evaluation_test_type", "private_tests")
    done = run_cli("eval", "pass_at_k", *options, "--sample_rate", 0.0001)
    assert done.returncode == 2
    assert "sample_rate 0.0001, seed 0 chose none of 40 problems: use a higher --sample_rate" in done.stderr
    done = run_cli("eval", "pass_at_k", *options, "--limit", 3, "--k", 1)
    assert (done.returncode, "3 of 40 problems (limit 3), 3 programs" in done.stdout) == (0, True)


def test_python_takes_the_same_parts(home, tmp_path):
    from alpha_codium import evaluate

    problems = load_problems(
        write_jsonl(tmp_path / "p.jsonl", [record(n, public_tests=NONE, private_tests=DOUBLE) for n in "abcd"])
    )
    rows = [{"task_name": "b", "solution_candidates": [RIGHT]}]
    for options in ({"names": ["b"]}, {"only_present": True}, {"limit": 2}):
        found = evaluate(rows, problems, k=[1], **options)
        assert found.pass_at_k["pass@1"] == (0.5 if "limit" in options else 1.0)
        assert found.extra["subset"]["of"] == 4


@pytest.mark.thorough
def test_problems_of_one_difficulty_are_scored_under_either_name_of_the_option(samples, tmp_path):
    known = {"language": [3], "solution": [RIGHT]}
    tests = {"public_tests": NONE, "private_tests": DOUBLE, "solutions": known}
    write_jsonl(tmp_path / "p.jsonl", [record(f"p/{n}", **tests, difficulty=29 + n % 2) for n in range(40)])
    for option in ("--difficulty", "--level"):
        result, said = scored(tmp_path, samples, option, "interview")
        assert "20 of 40 problems (difficulty interview)" in said
        assert result["n_problems"] == 20 and result["pass_at_k"] == {"pass@1": 1 / 20}
    done = run_cli("eval", "score", samples, "--dataset_name", tmp_path / "p.jsonl", "--level", "hard")
    assert done.returncode == 2
    assert "no problem has the difficulty 'hard'; there are: interview, introductory" in done.stderr
