"""`gencode data validate` as a user types it: real sandboxes, real files, real data."""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from alpha_codium.data.load import load_problems
from alpha_codium.data.schema import record_from_problem
from alpha_codium.runs.folder import to_toml
from tests.audit.datasets.cases import sound_problem, with_second_answer, with_weak_tests
from tests.cli.here import gencode
from tests.data.records import record, write_jsonl
from tests.gen.running import Done, assert_refused
from tests.support import gencode as gencode_process
from tests.support import shared_path


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    """Four problems: sound, with a second answer, with weak tests, without any known program."""
    kinds = [
        sound_problem("sum-0", "sum"),
        with_second_answer(sound_problem("span-1", "span")),
        with_weak_tests(sound_problem("largest-2", "largest")),
    ]
    return write_jsonl(tmp_path / "problems.jsonl", [*map(record_from_problem, kinds), record("bare")])


def validate(home: Path, name: object, *more: object) -> Done:
    return gencode("data", "validate", name, *more, home=home)


def of_json(path: Path) -> dict:
    return json.loads(path.read_text())


def without_costs(values: dict) -> dict:
    """A report without what differs between any two runs of a program."""
    values.pop("calibration")
    for problem in values["problems"]:
        for measured in ("slowest_cpu_seconds", "suggested_memory_limit_bytes"):
            problem.pop(measured)
    return values


@pytest.mark.thorough
def test_a_dataset_is_validated_reported_and_stored(tmp_path: Path, problems: Path, monkeypatch) -> None:
    options = ("--output_dataset_name", "checked", "--json", tmp_path / "out.json", "--run", "r")
    done = gencode_process("data", "validate", problems, *options, home=tmp_path)
    assert done.returncode == 0, done.stderr
    for line in (
        "valid problems                        1 of 3 (33.3 %)",
        "several answers seen                  1 of 3 (33.3 %)",
        "tests catch too little                1 of 3 (33.3 %)",
        "with wrong tests                      0 of 3 (0.0 %)",
    ):
        assert line in done.stdout
    assert "solutions[3] private_tests[0] verdict='wrong_answer' token=0" in done.stdout
    assert "run folder" in done.stderr and "run folder" not in done.stdout
    values = of_json(tmp_path / "out.json")
    assert values == of_json(tmp_path / "runs" / "r" / "results.json")
    assert [p["is_valid_problem"] for p in values["problems"]] == [True, False, False, None]
    assert values["calibration"]["problems"] == 3
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))
    stored = load_problems("checked")
    assert [stored.records[i]["multiple_answers"] for i in range(4)] == [False, True, False, None]


def test_a_dataset_without_known_programs_has_no_rates(tmp_path: Path) -> None:
    files = ("--json", tmp_path / "out.json", "--csv", tmp_path / "out.csv")
    done = validate(tmp_path, write_jsonl(tmp_path / "p.jsonl", [record("bare")]), *files)
    assert done.returncode == 0, done.stderr
    header, row = (tmp_path / "out.csv").read_text().splitlines()
    assert header.startswith("name,is_valid_problem,findings,") and row.startswith("bare,,,,tokens,")
    assert "known-incorrect rejected              n/a (no known-incorrect program could be run)" in done.stdout
    assert "calibration  n/a" in done.stdout
    assert of_json(tmp_path / "out.json")["rates"]["correct_accepted"]["rate"] is None


def test_json_to_stdout_is_nothing_but_json(tmp_path: Path, problems: Path) -> None:
    done = validate(tmp_path, problems, "--sample_rate", 0.5, "--json", "-")
    assert json.loads(done.stdout)["complete"] is True


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--evaluation_test_type", "privat_tests"], "unknown type of tests 'privat_tests' (did you mean"),
        (["--output_dataset_name", "a b"], "isn't a valid dataset name"),
        (["--resume", "none"], "there is no run 'none'"),
        (["-o", "code_tester.tester_type=locl"], "did you mean 'local'"),
        (["--split_name", "x", "--run", "a", "--resume", "b"], "give one of them"),
        (["--near", "2"], "is not in the range"),
    ],
)
def test_a_mistake_of_the_user_is_one_line_and_exit_status_2(
    tmp_path: Path, problems: Path, options: list[str], said: str
) -> None:
    done = validate(tmp_path, problems, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and "Traceback" not in done.stderr


def test_a_dataset_without_problems_is_refused(tmp_path: Path) -> None:
    empty = write_jsonl(tmp_path / "empty.jsonl", [])
    assert_refused(gencode("data", "validate", empty, home=tmp_path), f"{empty} has no problems to check")


def test_an_unknown_backend_takes_no_name_of_a_run(tmp_path: Path, problems: Path) -> None:
    done = validate(tmp_path, problems, "--run", "mine", "-o", "code_tester.tester_type=locl")
    assert (done.returncode, "did you mean 'local'" in done.stderr) == (2, True)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("seconds", "options", "given"),
    [
        ([4, 4], [], True),
        ([4, None], [], False),
        ([None, None], [], False),
        ([4, 4], ["-o", "code_tester.timeout=4"], False),
    ],
)
def test_a_factor_to_set_is_given_only_where_the_problems_own_limits_were_in_force(
    tmp_path: Path, seconds: list[int | None], options: list, given: bool
) -> None:
    slow = {"language": [3], "solution": ["import time\nwhile time.process_time() < 0.1: pass\nprint(3)"]}
    tests = {"public_tests": {"input": ["1\n"], "output": ["3\n"]}}
    limits = [{"time_limit": {"seconds": each} if each else None} for each in seconds]
    rows = [record(f"p{i}", solutions=slow, **tests | limit) for i, limit in enumerate(limits)]
    path = write_jsonl(tmp_path / "p.jsonl", rows)
    done = validate(tmp_path, path, *options, "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    calibration = of_json(tmp_path / "out.json")["calibration"]
    assert calibration["factor"] > 0
    assert ("time_limit_factor" in calibration) == given


@pytest.mark.thorough
def test_a_validation_that_is_killed_goes_on_and_says_the_same(tmp_path: Path, problems: Path) -> None:
    command = [sys.executable, "-m", "alpha_codium", "data", "validate", str(problems), "--run", "killed", "-q"]
    command += ["--near", "0.7", "-o", "code_tester.timeout=3"]
    environment = os.environ | {"GENCODE_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    journal = tmp_path / "runs" / "killed" / "journal.jsonl"
    while process.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") >= 3):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = journal.read_bytes().count(b"\n")
    resume = ("data", "validate", "--resume", "killed")
    resumed = gencode(*resume, "--json", tmp_path / "resumed.json", home=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    done = [(e["problem"], e["program"]) for e in map(json.loads, journal.read_bytes().splitlines())]
    assert len(done) == len(set(done)) == 16 > before >= 3
    validate(tmp_path, problems, *command[-4:], "--json", tmp_path / "whole.json")
    assert without_costs(of_json(tmp_path / "resumed.json")) == without_costs(of_json(tmp_path / "whole.json"))
    assert tomllib.loads((tmp_path / "runs/killed/run.toml").read_text())["options"]["near"] == 0.7
    assert_refused(gencode(*resume, "-o", "code_tester.delta=0.5", home=tmp_path), "code_tester.delta = 0.0, not 0.5")
    assert_refused(gencode(*resume, "--limit", 1, home=tmp_path), "limit = 'not set', not 1")


def test_a_validation_of_an_earlier_version_needs_its_options(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "p.jsonl", [record("bare")])
    assert validate(tmp_path, path, "--run", "old").returncode == 0
    described = tomllib.loads((tmp_path / "runs/old/run.toml").read_text())
    del described["options"]
    (tmp_path / "runs/old/run.toml").write_text(to_toml(described))
    resume = ("data", "validate", "--resume", "old")
    assert_refused(gencode(*resume, home=tmp_path), "run 'old' doesn't record its dataset: give it as NAME")
    assert gencode(*resume, path, home=tmp_path).returncode == 0
    assert_refused(gencode("data", "validate", home=tmp_path), "give the dataset once")


@pytest.mark.thorough
def test_ctrl_c_ends_a_validation_in_one_line_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    sleepy = {"language": [3, 3], "solution": ["print(3)", "import time; time.sleep(100)"]}
    problems = write_jsonl(tmp_path / "p.jsonl", [record("a", solutions=sleepy)])
    command = [sys.executable, "-m", "alpha_codium", "data", "validate", str(problems), "-q", "--run", "cut"]
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


def planted_copy(folder: Path, count: int) -> tuple[Path, dict[str, int]]:
    """Contest problems with at least two known-correct programs, wrong outputs planted in some; problem -> its test."""
    rows, planted = [], {}
    for line in shared_path("data/icpc_known_verdict.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["solutions"]["language"].count(3) < 2 or row["checker"]["type"] != "default":
            continue
        if len(rows) % 2 == 0:
            place = len(rows) % len(row["private_tests"]["output"])
            row["private_tests"]["output"][place] = "41 of them\n" + row["private_tests"]["output"][place]
            planted[row["name"]] = place
        rows.append(row)
    return write_jsonl(folder / "planted.jsonl", rows[:count]), {
        r["name"]: planted[r["name"]] for r in rows[:count] if r["name"] in planted
    }


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_wrong_outputs_planted_in_real_contest_problems_are_found_and_no_others(tmp_path: Path) -> None:
    copy, planted = planted_copy(tmp_path, 1000)
    done = validate(tmp_path, copy, "-o", "code_tester.time_limit_factor=1", "--json", tmp_path / "o.json")
    assert done.returncode == 0, done.stderr
    found = {
        (problem["name"], place)
        for problem in of_json(tmp_path / "o.json")["problems"]
        for place, valid in enumerate(problem["is_valid_test"]["private_tests"])
        if valid is False
    }
    assert len(planted) >= 5
    assert found == set(planted.items())


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_real_contest_problems_and_real_human_solutions_are_validated(tmp_path: Path) -> None:
    contests = shared_path("data/icpc_known_verdict.jsonl")
    done = validate(tmp_path, contests, "-o", "code_tester.time_limit_factor=1", "--json", tmp_path / "i.json")
    assert done.returncode == 0, done.stderr
    rates = of_json(tmp_path / "i.json")["rates"]
    assert rates["wrong_tests"]["count"] == rates["strict_checkers"]["count"] == 0
    assert rates["incorrect_rejected"]["total"] > 50
    humans = shared_path("data/codecontests_train.jsonl")
    done = validate(tmp_path, humans, "--json", tmp_path / "h.json")
    assert done.returncode == 0, done.stderr
    problems = {problem["name"]: problem for problem in of_json(tmp_path / "h.json")["problems"]}
    told = {row["name"]: row["x_meta"] for row in map(json.loads, humans.read_text("utf-8").splitlines())}
    several = {name for name, problem in problems.items() if problem["multiple_answers"]}
    told_so = {name for name in several if told[name]["multi_answer_text"]}
    assert len(told_so) >= 18
    # The other two allow another order of lines, as far as their solutions show.
    assert len(several - told_so) <= 2
    assert of_json(tmp_path / "h.json")["rates"]["incorrect_rejected"]["rate"] is None
