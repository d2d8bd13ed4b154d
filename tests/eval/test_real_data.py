"""Real programs with known verdicts: is the judge right?"""

import json
from pathlib import Path

import pytest

from tests.data.records import write_jsonl
from tests.eval.test_prepare import row
from tests.support import gencode, shared_path


def of_json(path: Path) -> dict:
    return json.loads(path.read_text())


def judged_train(tmp_path: Path, count: int) -> dict[str, dict]:
    """The first problems of the real training split whose solution is known to print just what is expected."""
    lines = shared_path("data/codecontests_train.jsonl").read_text().splitlines()
    sure = [r for r in map(json.loads, lines) if is_sure(r["x_meta"]["human_solution_check"])][:count]
    slice_ = write_jsonl(tmp_path / "train.jsonl", sure)
    done = gencode(
        "eval", "eval_cc_solutions", "--dataset_name", slice_, "--evaluation_test_type", "all", "--k", 1,
        "--json", tmp_path / "out.json", home=tmp_path, timeout=3000,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {problem["name"]: problem["candidates"][0] for problem in of_json(tmp_path / "out.json")["problems"]}


def is_sure(check: dict) -> bool:
    return check["all_ok"] is True and set(check["counts"]) <= {"ok_exact", "ok_token"}


def refused(results: dict[str, dict]) -> dict[str, str]:
    return {n: c["verdict"] for n, c in results.items() if c["verdict"] != "accepted"}


@pytest.mark.thorough
def test_real_human_solutions_that_are_known_to_be_right_are_accepted(tmp_path: Path) -> None:
    results = judged_train(tmp_path, 12)
    assert len(results) == 12
    assert refused(results) == {}


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_all_real_human_solutions_that_are_known_to_be_right_are_accepted(tmp_path: Path) -> None:
    results = judged_train(tmp_path, 1000)
    assert len(results) > 100
    assert refused(results) == {}


def contest_rows(count: int) -> tuple[list[dict], list[dict], dict[tuple[str, int], str]]:
    """Contest problems with the default checker, their python3 submissions, and what each should get."""
    problems, solutions, expected = [], [], {}
    for line in shared_path("data/icpc_known_verdict.jsonl").read_text().splitlines():
        contest = json.loads(line)
        told = [s for s in contest["submissions"] if s["language"] == 3 and s["agrees"]]
        if contest["checker"]["type"] == "default" and told:
            problems.append(contest)
            solutions.append(row(contest["name"], *(s["code"] for s in told)))
            expected |= {(contest["name"], i): s["expected_verdict"] for i, s in enumerate(told)}
    return problems[:count], solutions[:count], expected


def contest_errors(tmp_path: Path, count: int) -> tuple[dict[tuple[str, str], int], list[tuple[str, int, str, str]]]:
    """(expected, verdict) -> how many, and the submissions that the judge and the contest disagree on."""
    problems, solutions, expected = contest_rows(count)
    solutions_file = write_jsonl(tmp_path / "solutions.jsonl", solutions)
    problems_file = write_jsonl(tmp_path / "problems.jsonl", problems)
    done = gencode(
        "eval", "eval_gen_solutions", "--solution_dataset", solutions_file, "--ground_truth_dataset", problems_file,
        "--evaluation_test_type", "all", "--k", 1, "--json", tmp_path / "out.json",
        # The limits in these records are estimated for this language already.
        "-o", "code_tester.time_limit_factor=1", "-o", "code_tester.stop_on_first_failure=true",
        home=tmp_path, timeout=3000,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    table: dict[tuple[str, str], int] = {}
    wrong = []
    for problem in of_json(tmp_path / "out.json")["problems"]:
        for candidate in problem["candidates"]:
            told = expected[problem["name"], candidate["index"]]
            table[told, candidate["verdict"]] = table.get((told, candidate["verdict"]), 0) + 1
            if (told == "AC") != (candidate["verdict"] == "accepted"):
                wrong.append((problem["name"], candidate["index"], told, candidate["verdict"]))
    return table, wrong


@pytest.mark.thorough
def test_real_contest_submissions_get_the_verdict_that_the_contest_gave(tmp_path: Path) -> None:
    table, wrong = contest_errors(tmp_path, 3)
    assert wrong == [], table


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_all_real_contest_submissions_get_the_verdict_that_the_contest_gave(tmp_path: Path) -> None:
    table, wrong = contest_errors(tmp_path, 1000)
    print(sorted(table.items()))
    assert wrong == [], table
