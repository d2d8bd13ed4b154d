import asyncio
import json

import pytest

from alpha_codium.data.load import load_problems
from alpha_codium.data.schema import problem_from_record
from alpha_codium.errors import DatasetError
from alpha_codium.sandbox import open_sandbox
from alpha_codium.verdict import Status
from tests.data.benchmarks.judging import verdicts
from tests.data.benchmarks.rows import multipl_e_row
from tests.support import shared_path

ADD = "def add(a: int, b: int) -> int:\n    return a + b\n"


def test_a_record_keeps_its_name_and_its_test_decides():
    problem = problem_from_record(multipl_e_row())
    assert (problem.name, problem.description) == ("mbpp_900_add", multipl_e_row()["prompt"])
    assert (problem.execution.entry_point, problem.execution.setup_code) == ("add", "from typing import List")
    wrong = ADD.replace("+", "-")
    assert verdicts([(multipl_e_row(), ADD), (multipl_e_row(), wrong)]) == ["accepted", "wrong_answer"]


def test_the_column_of_the_test_may_be_spelt_in_the_singular():
    row = multipl_e_row()
    row["test"] = row.pop("tests")
    assert verdicts([(row, ADD), (row, "")]) == ["accepted", "compilation_error"]


def test_shown_examples_are_public_tests():
    problem = problem_from_record(multipl_e_row(sample_io=["assert add(1, 2) == 3"]))
    assert [test.input for test in problem.public_tests] == ["assert add(1, 2) == 3"]


@pytest.mark.parametrize("tests", ["", None, "def check(candidate):\n    pass\n"])
def test_a_record_without_a_test_is_never_passed(tests):
    assert verdicts([(multipl_e_row(tests=tests), ADD)]) == ["no_tests"]


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"language": "lua"}, r"record 7 \('mbpp_900_add'\): language is 'lua': tests of MultiPL-E can be run in"),
        ({"prompt": "int add(long a) {"}, "prompt is not the beginning of a function in Python"),
        ({"prompt": 3}, "prompt must be text, not a number"),
        ({"tests": 3}, "tests must be text, not a number"),
        ({"sample_io": "assert True"}, "sample_io must be a list, not text"),
        ({"name": None}, "name is missing"),
    ],
)
def test_what_is_malformed_is_told_with_record_and_field(fields, complaint):
    with pytest.raises(DatasetError, match=complaint):
        problem_from_record(multipl_e_row(**fields), "record 7")


def test_a_record_of_our_own_schema_is_not_taken_for_one():
    record = {"name": "1_A", "description": "Add.", "execution": {"kind": "assertions", "test_code": "assert True"}}
    assert problem_from_record(record).name == "1_A"


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_the_397_real_problems_load_and_refuse_stubs(home):
    problems = load_problems(shared_path("data/mbpp_multiple_py397.jsonl"))
    assert len(set(problems.names)) == 397
    assert problems.get("mbpp_809_check_smaller").execution.entry_point == "check_smaller"
    rows = [json.loads(line) for line in shared_path("data/mbpp_multiple_py397.jsonl").open()][:80]
    assert "accepted" not in verdicts([(row, row["prompt"] + "    pass\n") for row in rows])


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_the_judge_and_a_plain_run_of_program_and_test_agree_on_real_solutions_of_the_same_tasks():
    solutions = {r["task_id"]: r["code"] for r in map(json.loads, shared_path("data/mbpp.jsonl").open())}
    rows = [json.loads(line) for line in shared_path("data/mbpp_multiple_py397.jsonl").open()][:80]
    rows = [row for row in rows if row["mbpp_task_id"] != 123]  # as slow as a test may be
    work = [(row, solutions[row["mbpp_task_id"]]) for row in rows]
    plain = [execution.status is Status.FINISHED for execution in asyncio.run(plain_runs(work))]
    # MultiPL-E changed signatures, names and tests of some of the tasks that it took over.
    assert plain.count(True) == 64
    assert [verdict == "accepted" for verdict in verdicts(work)] == plain


async def plain_runs(work):
    async with open_sandbox("local", workers=2) as sandbox:
        reports = [sandbox.run(f"from typing import *\n{code}\n{row['test']}", [""]) for row, code in work]
        return [report.executions[0] for report in await asyncio.gather(*reports)]
