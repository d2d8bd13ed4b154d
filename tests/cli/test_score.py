"""`gencode eval score`: samples made elsewhere, judged in a real sandbox."""

import gzip
import json
import pickle
import tomllib
from pathlib import Path

import pytest

from alpha_codium.data.load import load_problems
from alpha_codium.data.solutions import origin_of, save_solutions
from alpha_codium.errors import DatasetError
from tests.cli.here import gencode
from tests.data.records import record, write_jsonl
from tests.data.samples.humaneval import ENCODE, humaneval_file, mbpp_record, write_json
from tests.data.test_solutions import ROWS
from tests.eval.splits import RIGHT, WRONG
from tests.judge.interactors import GUESSES, ICPC

GOOD = ["def add(xs):\n    return sum(xs)\n", ENCODE + "    return s[::-1]\n", "def twice(n):\n    return 2 * n\n"]


def score(home: Path, file: Path, *more: object, benchmark: Path | str = "humaneval"):
    chosen = ("--dataset_name", benchmark) if isinstance(benchmark, Path) else ("--benchmark", benchmark)
    return gencode("eval", "score", file, *chosen, "--json", home / "out.json", *more, home=home)


def result(home: Path) -> dict:
    return json.loads((home / "out.json").read_text())


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    return humaneval_file(tmp_path)


def test_completions_are_scored_over_all_problems(tmp_path: Path, problems: Path) -> None:
    rows = [
        {"task_id": "HumanEval/0", "completion": "    return sum(xs)\n"},
        {"task_id": "HumanEval/0", "completion": "    return 0\n"},
        {"task_id": "HumanEval/2", "completion": "    return (\n"},
        {"task_id": "HumanEval/2", "completion": ""},
    ]
    done = score(tmp_path, write_jsonl(tmp_path / "s.jsonl", rows), "--k", "1,2", benchmark=problems)
    assert done.returncode == 0, done.stderr
    values = result(tmp_path)
    assert values["pass_at_k"] == {"pass@1": pytest.approx(1 / 6), "pass@2": pytest.approx(1 / 3)}
    assert (values["n_problems"], values["verdicts"]["accepted"]) == (3, 1)
    # The third problem has no sample, so its known solution isn't judged.
    assert values["judge_error"]["correct_total"] == 2 and values["judge_error"]["correct_rejected"] == 0
    rates = {name: rate and rate["count"] for name, rate in values["rates"].items() if name[0] in "tned"}
    assert rates == {"truncated": None, "no_program": None, "empty": 1, "does_not_compile": 1}
    assert "samples      4 present; empty 1 (25.0%)" in done.stdout
    assert "1 problem without a sample: counted as failed" in done.stdout


def test_candidates_of_an_interactive_package_are_judged_beside_its_validator(tmp_path: Path) -> None:
    package = {"type": "custom interactive", "flags": "", "protocol": "exit 42 or 43", "files": {"v.py": ICPC}}
    tests = {"input": ["500\n", "1\n"], "output": ["10\n", "10\n"]}
    problems = write_jsonl(
        tmp_path / "p.jsonl", [record("guess", private_tests=tests, public_tests=None, checker=package)]
    )
    stored = gencode("data", "etl", "--dataset_name", problems, "--output_dataset_name", "guess", home=tmp_path)
    assert stored.returncode == 0, stored.stderr
    counts = "n = 500\nprint(n, flush=True)\nwhile input() != 'right':\n    n -= 1\n    print(n, flush=True)"
    samples = [{"task_id": "guess", "completion": program} for program in (GUESSES, counts)]
    done = gencode(
        *("eval", "score", write_jsonl(tmp_path / "s.jsonl", samples), "--dataset_name", "guess"),
        *("--json", tmp_path / "out.json"),
        home=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    (problem,) = result(tmp_path)["problems"]
    assert [each["verdict"] for each in problem["candidates"]] == ["accepted", "wrong_answer"]
    failure = problem["candidates"][1]["failure"]
    assert (failure["test"], failure["actual"]) == (1, "more than 10 guesses")


@pytest.mark.thorough
def test_every_format_gives_the_same_score(tmp_path: Path, problems: Path) -> None:
    rows = [{"task_id": f"HumanEval/{n}", "solution": program} for n, program in enumerate(GOOD)]
    write_jsonl(tmp_path / "a.jsonl", rows)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress((tmp_path / "a.jsonl").read_bytes()))
    write_json(tmp_path / "c.json", [[program] for program in GOOD])
    write_json(tmp_path / "d.json", {str(n): [program] for n, program in enumerate(GOOD)})
    (tmp_path / "e.pkl").write_bytes(pickle.dumps(dict(enumerate(GOOD)), protocol=0))
    for name in ("a.jsonl", "b.jsonl.gz", "c.json", "d.json", "e.pkl"):
        done = score(tmp_path, tmp_path / name, "--k", 1, benchmark=problems)
        assert done.returncode == 0, done.stderr
        assert result(tmp_path)["pass_at_k"] == {"pass@1": 1.0}, name


@pytest.mark.thorough
def test_several_runs_are_not_mixed_and_one_is_chosen(tmp_path: Path, problems: Path) -> None:
    runs = {"good/1": GOOD, "bad/1": ["x = 1"] * 3}
    rows = [{"task_id": n, "solution": runs[run][n], "run": run} for run in runs for n in range(3)]
    file = write_jsonl(tmp_path / "s.jsonl", rows)
    done = score(tmp_path, file, benchmark=problems)
    assert (done.returncode, done.stdout) == (2, "")
    assert "holds several runs: the column 'run' has the values good/1, bad/1; choose one" in done.stderr
    done = score(tmp_path, file, "--select", "run=good*", "--k", 1, benchmark=problems)
    assert (done.returncode, "selected: run=good/1\n" in done.stderr) == (0, True)
    assert result(tmp_path)["pass_at_k"] == {"pass@1": 1.0}


@pytest.mark.thorough
def test_the_run_folder_says_what_was_scored_and_goes_on_with_nothing_else(tmp_path: Path, problems: Path) -> None:
    file = write_jsonl(tmp_path / "s.jsonl", [{"task_id": 2, "solution": "def twice(n):\n    return floor(n * 2)\n"}])
    header = ("--header", "from math import floor")
    assert score(tmp_path, file, *header, "--k", 1, "--run", "mine", benchmark=problems).returncode == 0
    assert result(tmp_path)["verdicts"] == {"accepted": 1}
    kept = tomllib.loads((tmp_path / "runs/mine/run.toml").read_text())
    assert kept["code_tester"]["header"] == "from math import floor"
    assert (kept["setup"], kept["columns"], len(kept["file_sha256"])) == ("imports", {"solution": "solution"}, 64)
    assert json.loads((tmp_path / "runs/mine/results.json").read_text()) == result(tmp_path)
    assert score(tmp_path, file, *header, "--resume", "mine", benchmark=problems).returncode == 0
    assert score(tmp_path, file, "--resume", "mine", benchmark=problems).returncode == 0, "the header is the run's"
    changed = score(tmp_path, file, "--header", "import re", "--resume", "mine", benchmark=problems)
    assert "header" in changed.stderr
    write_jsonl(file, [{"task_id": 2, "solution": "def twice(n):\n    return 0\n"}])
    other = score(tmp_path, file, *header, "--resume", "mine", benchmark=problems)
    assert (other.returncode, "the file of samples changed" in other.stderr) == (2, True)


@pytest.mark.thorough
def test_what_the_prompt_gives_a_whole_program_is_a_choice(tmp_path: Path, problems: Path) -> None:
    programs = ["def add(xs: List[int]):\n    return sum(xs)\n", "def decode(s):\n    return s[::-1]\n"]
    file = write_json(tmp_path / "s.json", {str(n): [program] for n, program in enumerate(programs)})
    accepted = []
    for setup in ("none", "imports", "all"):
        assert score(tmp_path, file, "--setup", setup, benchmark=problems).returncode == 0
        accepted.append(result(tmp_path)["verdicts"].get("accepted", 0))
    assert accepted == [0, 1, 2]


@pytest.mark.thorough
def test_a_stored_dataset_of_the_benchmarks_name_is_taken(tmp_path: Path, problems: Path) -> None:
    etl = ("data", "etl", "--source", problems, "--output_dataset_name", "humaneval", "--split_name", "test")
    assert gencode(*etl, home=tmp_path).returncode == 0
    done = score(tmp_path, write_json(tmp_path / "s.json", [[program] for program in GOOD]), "--k", 1)
    assert done.returncode == 0, done.stderr
    assert result(tmp_path)["pass_at_k"] == {"pass@1": 1.0}


def test_programs_that_read_and_print_are_scored_as_well(tmp_path: Path) -> None:
    doubled = {"input": ["1\n", "2\n"], "output": ["2\n", "4\n"]}
    problems = write_jsonl(tmp_path / "p.jsonl", [record("1_A. Double", private_tests=doubled)])
    future = f"from __future__ import annotations\n{RIGHT}  # {{math}}"
    file = write_json(tmp_path / "s.json", {"1_A. Double": [RIGHT, WRONG, future]})
    done = score(tmp_path, file, "--header", "import math", "--k", 1, benchmark=problems)
    assert done.returncode == 0, done.stderr
    assert result(tmp_path)["verdicts"] == {"accepted": 2, "wrong_answer": 1}


def test_a_file_of_one_split_needs_its_name(tmp_path: Path) -> None:
    problems = write_jsonl(tmp_path / "mbpp.jsonl", [mbpp_record(n) for n in (1, 11, 12)])
    rows = [{"task_id": f"MBPP/{n}", "solution": mbpp_record(n)["code"], "test": "assert False"} for n in (11, 12)]
    file = write_jsonl(tmp_path / "s.jsonl", rows)
    done = score(tmp_path, file, benchmark=problems)
    assert (done.returncode, "with --split_name test" in done.stderr) == (2, True)
    assert score(tmp_path, file, "--split_name", "test", "--k", 1, benchmark=problems).returncode == 0
    assert result(tmp_path)["pass_at_k"] == {"pass@1": 1.0}


@pytest.mark.thorough
def test_solutions_of_other_problems_are_scored_only_where_that_is_asked_for(tmp_path: Path) -> None:
    paths = [write_jsonl(tmp_path / f"{n}.jsonl", [record(name, description=n) for name in "abc"]) for n in "pq"]
    home = str(tmp_path / "saved")
    save_solutions([row | origin_of(load_problems(paths[0])) for row in ROWS], Path(home))
    gen = ("eval", "eval_gen_solutions", "--solution_dataset", home, "--evaluation_test_type", "all",
           "--json", tmp_path / "out.json", "--ground_truth_dataset")  # fmt: skip
    for own, other in (
        (gencode(*gen, paths[0], home=tmp_path), gencode(*gen, paths[1], home=tmp_path)),
        (score(tmp_path, Path(home), benchmark=paths[0]), score(tmp_path, Path(home), benchmark=paths[1])),
    ):
        assert own.returncode == 0, own.stderr
        assert "samples      3 present of 3 asked; no program 1 (33.3%), empty 0" in own.stdout
        assert other.returncode == 2
        assert f"made for {paths[0]}[train]" in other.stderr and f"not for {paths[1]}[train]" in other.stderr
    assert gencode(*gen, paths[1], "--ignore_fingerprint", home=tmp_path).returncode == 0
    assert score(tmp_path, Path(home), "--ignore_fingerprint", benchmark=paths[1]).returncode == 0
    rates = result(tmp_path)["rates"]
    assert (rates["asked"], rates["no_program"]["count"], rates["truncated"]) == (3, 1, None)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "no problems are given for the samples: use --benchmark or --dataset_name"),
        (["--benchmark", "humanevl"], "there is no benchmark 'humanevl' (did you mean 'humaneval'?)"),
        (
            ["--benchmark", "humanevl", "--dataset_name", "PROBLEMS"],
            "other problems need no --benchmark",
        ),
        (["--benchmark", "mine", "--dataset_name", "x.jsonl"], "there is no file or folder x.jsonl"),
        (["--dataset_name", "PROBLEMS", "--select", "run=x"], "has no column 'run' to select by"),
        (["--dataset_name", "PROBLEMS", "--header", "import ("], "the header 'import (' isn't Python"),
        (["--dataset_name", "PROBLEMS", "--header", "-" * 9000 + "1"], "isn't Python: it is nested too deep"),
        (["--dataset_name", "PROBLEMS", "--column", "solutoin"], "no column 'solutoin' (did you mean 'solution'?)"),
        (["--dataset_name", "PROBLEMS", "--evaluation_test_type", "public_tests"], "has public_tests: choose another"),
    ],
)
def test_a_mistake_of_the_user_is_one_line(tmp_path: Path, problems: Path, options: list[str], said: str) -> None:
    file = write_jsonl(tmp_path / "s.jsonl", [{"task_id": 2, "solution": GOOD[2]}])
    done = gencode("eval", "score", file, *(str(problems) if o == "PROBLEMS" else o for o in options), home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_a_file_without_samples_is_an_error(tmp_path: Path, problems: Path) -> None:
    (tmp_path / "s.jsonl").write_text("")
    assert "contains no samples" in score(tmp_path, tmp_path / "s.jsonl", benchmark=problems).stderr


@pytest.mark.thorough
def test_both_commands_say_the_same_of_a_solutions_dataset(tmp_path: Path, problems: Path) -> None:
    rows = [
        {"task_name": "HumanEval/0", "solution_candidates": [GOOD[0], "", ""],
         "sample_errors": ["", "model: no code", "provider: 503"], "truncated_answers": [0, 2, 0]},
        {"task_name": "HumanEval/1", "solution_candidates": None},
        {"task_name": "HumanEval/2", "solution_candidates": [GOOD[2]],
         "sample_errors": [""], "truncated_answers": [1]},
    ]  # fmt: skip
    file = write_jsonl(tmp_path / "s.jsonl", rows)
    assert score(tmp_path, file, "--k", "1", benchmark=problems).returncode == 1
    scored = result(tmp_path)
    gen = ("eval", "eval_gen_solutions", "--solution_dataset", file, "--ground_truth_dataset", problems, "--k", "1")
    more = ("--evaluation_test_type", "private_tests", "--json", tmp_path / "out.json")
    assert gencode(*gen, *more, home=tmp_path).returncode == 1
    for key in ("rates", "pass_at_k", "verdicts", "bounds", "n_problems"):
        assert scored[key] == result(tmp_path)[key], key
    assert (scored["rates"]["truncated"]["count"], scored["rates"]["present"]) == (2, 3)


def test_samples_remember_their_problems_in_any_form(tmp_path: Path) -> None:
    paths = [write_jsonl(tmp_path / f"{n}.jsonl", [record("a", description=n)]) for n in "pq"]
    row = {"task_id": "a", "solution": RIGHT} | origin_of(load_problems(paths[0]))
    file = write_jsonl(tmp_path / "s.jsonl", [row])
    other = score(tmp_path, file, benchmark=paths[1])
    assert (other.returncode, f"made for {paths[0]}[train]" in other.stderr) == (2, True)
    assert score(tmp_path, file, "--evaluation_test_type", "all", "--k", "1", benchmark=paths[0]).returncode == 0


def test_a_benchmark_whose_problems_cannot_be_read_may_be_given_as_a_file(tmp_path, monkeypatch) -> None:
    def unreachable(*_: object) -> None:
        raise DatasetError("the hub can't be reached")

    monkeypatch.setattr("alpha_codium.app.scoring.problems_for", unreachable)
    file = write_jsonl(tmp_path / "s.jsonl", [{"task_id": 0, "solution": GOOD[0]}])
    remedy = "problems of humaneval: the hub can't be reached; give a file with them as --dataset_name"
    done = score(tmp_path, file)
    assert (done.returncode, remedy in done.stderr) == (2, True), done.stderr


@pytest.mark.thorough
def test_raw_answers_are_recognized_and_cleaned(tmp_path: Path, problems: Path) -> None:
    answers = [[f"Sure:\n```python\n{program}```"] for program in GOOD]
    file = write_json(tmp_path / "s.json", answers)
    done = score(tmp_path, file, "--k", 1, benchmark=problems)
    assert (done.returncode, result(tmp_path)["pass_at_k"]) == (0, {"pass@1": 0.0})
    assert "empty or don't compile: 3 of 3 programs" in done.stdout
    assert "the commonest error (3 programs): SyntaxError: invalid syntax, for example 'Sure:'" in done.stdout
    assert "gencode eval score with --clean, or gencode data clean_generations" in done.stdout
    done = score(tmp_path, file, "--k", 1, "--clean", "--run", "clean", benchmark=problems)
    assert done.returncode == 0, done.stderr
    assert "\ncleaning changed 3 of 3 samples (fences 3), and left 0 empty\n" in f"\n{done.stderr}"
    assert result(tmp_path)["pass_at_k"] == {"pass@1": 1.0}
    assert "broken_programs" not in result(tmp_path)
    assert tomllib.loads((tmp_path / "runs/clean/run.toml").read_text())["clean"] is True


@pytest.mark.thorough
def test_a_benchmark_with_the_problems_of_another_one_is_refused(tmp_path: Path, problems: Path) -> None:
    file = write_json(tmp_path / "s.json", [[program] for program in GOOD])
    stored = ("data", "etl", "--source", problems, "--output_dataset_name", "stored", "--split_name", "test")
    assert gencode(*stored, home=tmp_path).returncode == 0
    for dataset in (problems, "stored"):
        done = score(tmp_path, file, "--dataset_name", dataset, benchmark="mbpp")
        assert (done.returncode, done.stdout) == (2, "")
        assert "[test] are those of humaneval, not of --benchmark mbpp: use --benchmark humaneval" in done.stderr
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())
    assert score(tmp_path, file, "--dataset_name", problems, benchmark="openai_humaneval").returncode == 0
