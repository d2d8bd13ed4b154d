"""`gencode verify`: programs of an evaluation judged again, and what differs."""

import json

import pytest

from alpha_codium.app.verification import Deviation, Verification
from alpha_codium.verdict import Identity
from tests.data.records import record, write_jsonl
from tests.eval.splits import RIGHT, WRONG
from tests.gen.running import assert_refused, run_cli

DOUBLE = {"input": ["1\n", "2\n"], "output": ["2\n", "4\n"]}
NONE = {"input": [], "output": []}
JUDGE = Identity("local", "1", "CPython 3.11")


@pytest.fixture
def scored(home, tmp_path):
    """The folder of a run `r` of three samples, two of which have the same program."""
    problems = write_jsonl(tmp_path / "p.jsonl", [record("p/1", public_tests=NONE, private_tests=DOUBLE)])
    samples = write_jsonl(tmp_path / "s.jsonl", [{"task_id": "p/1", "solution": [RIGHT, WRONG, RIGHT]}])
    done = run_cli("eval", "score", samples, "--dataset_name", problems, "--k", 1, "--run", "r")
    assert done.returncode == 0, done.stderr
    return home / "runs" / "r"


def test_a_run_is_confirmed_by_judging_each_of_its_programs_once(scored):
    done = run_cli("verify", "r")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 of 2 programs judged as recorded\nthen local ")
    receipts = [json.loads(line) for line in (scored / "receipts.jsonl").read_text().splitlines()]
    assert len(receipts) == len({receipt["program"] for receipt in receipts}) == 2
    assert {len(receipt[name]) for receipt in receipts for name in ("program", "tests", "checker", "limits")} == {64}


def test_a_verdict_that_was_changed_is_named(scored, tmp_path):
    journal = scored / "journal.jsonl"
    text = journal.read_text()
    journal.write_text(text.replace('"wrong_answer", "tests_passed": 0', '"accepted", "tests_passed": 2'))
    assert journal.read_text() != text
    done = run_cli("verify", "r", "--json", tmp_path / "v.json")
    assert done.returncode == 1, done.stderr
    assert ": accepted, 2 of 2 tests passed, now wrong_answer, 0 of 2 tests passed\n" in done.stdout
    found = json.loads((tmp_path / "v.json").read_text())
    assert (found["confirmed"], len(found["deviations"]), found["programs"]) == (False, 1, 2)


def test_a_part_of_the_programs_can_be_verified(scored):
    del scored
    assert run_cli("verify", "r", "--sample", 1).stdout.startswith("1 of 1 program judged as recorded\n")


def test_other_limits_than_those_of_the_receipts_are_named(scored):
    del scored
    done = run_cli("verify", "r", "-o", "code_tester.timeout=9")
    assert done.returncode == 1
    assert "p/1: not the same limits as then\n" in done.stdout


def test_a_run_without_receipts_is_judged_again_and_says_what_is_not_known(scored):
    (scored / "receipts.jsonl").unlink()
    done = run_cli("verify", "r")
    assert done.returncode == 0, done.stderr
    assert "the run has no receipts: " in done.stdout


def test_problems_that_changed_and_other_runs_are_refused(scored, tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text(path.read_text().replace("4", "5"))
    assert_refused(run_cli("verify", "r"), "can't be verified", "changed since")
    run = scored / "run.toml"
    run.write_text(run.read_text().replace('command = "score"', 'command = "doctor"'))
    assert_refused(run_cli("verify", "r"), "only evaluations of candidates")


@pytest.mark.thorough
def test_a_program_that_is_only_too_slow_here_is_named_and_no_fault(home, tmp_path):
    del home
    slow = "import time\nwhile time.process_time() < 0.6: pass\n"
    problems = write_jsonl(tmp_path / "p.jsonl", [record("p/1", public_tests=NONE, private_tests=DOUBLE)])
    samples = write_jsonl(tmp_path / "s.jsonl", [{"task_id": "p/1", "solution": [slow + RIGHT, WRONG]}])
    done = run_cli("eval", "score", samples, "--dataset_name", problems, "--k", 1, "--run", "r")
    assert done.returncode == 0, done.stderr
    found = run_cli("verify", "r", "-o", "code_tester.timeout=0.3", "--json", tmp_path / "v.json")
    assert "accepted, 2 of 2 tests passed, now time_limit_exceeded" in found.stdout
    assert "(as recorded with 10 times the time, other limits)" in found.stdout
    (deviation,) = json.loads((tmp_path / "v.json").read_text())["deviations"]
    assert deviation["slower_here"]
    assert Verification("r", 5, (Deviation("p", "a", "x", "y", slower_here=True),), JUDGE, JUDGE, {}).confirmed


def test_only_a_program_near_a_limit_may_differ():
    near, other = (Deviation("p", "a" * 64, "accepted", "time_limit_exceeded", near) for near in (True, False))
    assert Verification("r", 5, (near,), JUDGE, JUDGE, {}).confirmed
    assert not Verification("r", 5, (near, other), JUDGE, JUDGE, {}).confirmed
    assert not Verification("r", 5, (), JUDGE, JUDGE, {"p": ("tests",)}).confirmed
    assert str(near).endswith("now time_limit_exceeded (near a limit)")
