"""Real APPS records: their own solutions pass, and published results of model programs are found again."""

import json
from collections import Counter

import pytest

from alpha_codium.metrics.apps_metric import compute
from alpha_codium.metrics.apps_metric.scores import passes
from tests.support import shared_path

pytestmark = pytest.mark.usefixtures("shared_sandbox")

QUICK_RUN = "GPT4-Turbo-CoT-APPS-Python3-0-1.jsonl"
# CodeRL's tester wraps a program into a function `code`; two samples were published as wrapped, which is no solution.
WRAPPED = "def code():"


@pytest.fixture(scope="module")
def records():
    with shared_path("data/apps.jsonl").open() as lines:
        return [each for each in map(json.loads, lines) if each["x_meta"]["split"] == "train"]


def judged(records, programs_of, **arguments):
    """The codes of each program of each record."""
    programs = [programs_of(record) for record in records]
    path = str(shared_path("data/apps.jsonl"))
    result = compute(programs, split="train", dataset=path, detailed=True, progress=False, **arguments)
    assert result["names"] == [f"apps/train/{record['problem_id']}" for record in records]
    return result["results"]


def solutions(record):
    return json.loads(record["solutions"] or "[]")


def labelled(record):
    return record["x_meta"].get("labelled_samples", [])


def of_models(record, run=None):
    return [each for each in record["x_meta"].get("model_samples", []) if run in (None, each["run"])]


def complaint_about(program):
    try:
        compile(program, "program.py", "exec")
    except SyntaxError as error:
        return error.msg
    return ""


@pytest.mark.thorough
def test_two_solutions_of_each_record_that_has_some_pass(records):
    codes = judged(records, lambda record: solutions(record)[:2])
    failed = [record["problem_id"] for record, of in zip(records, codes, strict=True) if not all(map(passes, of))]
    assert failed == [] and sum(map(len, codes)) == 19
    call_based = [of for record, of in zip(records, codes, strict=True) if "fn_name" in record["input_output"] and of]
    assert len(call_based) == 12


@pytest.mark.slow
def test_all_solutions_pass_but_those_that_are_no_programs(records):
    codes = judged(records, solutions)
    pairs = [
        pair for record, of in zip(records, codes, strict=True) for pair in zip(solutions(record), of, strict=True)
    ]
    failed = [program for program, of_program in pairs if not passes(of_program)]
    # They return from outside of a function: APPS runs programs inside one.
    assert len(pairs) == 112 and len(failed) == 3
    assert set(map(complaint_about, failed)) == {"'return' outside function"}


@pytest.mark.slow
def test_coderls_labels_are_found_again(records):
    codes = judged(records, lambda record: [sample["code"] for sample in labelled(record)])
    seen = [pair for record, of in zip(records, codes, strict=True) for pair in zip(labelled(record), of, strict=True)]
    differ = [sample for sample, of_sample in seen if (sample["result"] is True) is not passes(of_sample)]
    assert len(seen) == 67
    assert len(differ) == 1 and WRAPPED in differ[0]["code"]


@pytest.mark.thorough
def test_one_run_of_mapcoder_is_found_again(records):
    assert_mapcoder(records, QUICK_RUN, Counter({False: 19, True: 4}))


@pytest.mark.slow
def test_all_runs_of_mapcoder_are_found_again(records):
    assert_mapcoder(records, None, Counter({False: 183, True: 47}))


def assert_mapcoder(records, run, expected):
    # One of them takes 4 s of CPU, or a little more.
    codes = judged(records, lambda record: [sample["code"] for sample in of_models(record, run)], timeout=10)
    seen = [
        (sample["is_solved_published"], passes(of_sample))
        for record, of in zip(records, codes, strict=True)
        for sample, of_sample in zip(of_models(record, run), of, strict=True)
    ]
    assert Counter(published for published, _ in seen) == expected
    assert [pair for pair in seen if pair[0] is not pair[1]] == []
