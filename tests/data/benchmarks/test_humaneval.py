import json

import pytest

from alpha_codium.data.load import load_problems
from alpha_codium.data.schema import problem_from_record
from alpha_codium.errors import DatasetError
from tests.data.benchmarks.judging import accepted, counted, verdicts
from tests.data.benchmarks.rows import HUMANEVAL_PROMPT, humaneval_row
from tests.data.records import write_jsonl
from tests.support import shared_path

STUBS = ("", "    pass\n", "    return None\n", "    return True\n", "    ...\n", "    import sys; sys.exit(0)\n")


def test_the_statement_is_the_prompt_and_the_test_is_the_records_own():
    problem = problem_from_record(humaneval_row())
    assert (problem.name, problem.description) == ("HumanEval/900", HUMANEVAL_PROMPT)
    assert problem.execution.entry_point == "total"
    assert [test.input for test in problem.tests(("private_tests",))] == [humaneval_row()["test"]]
    assert problem.public_tests == ()


def test_what_stands_before_the_function_runs_before_each_program():
    setup = problem_from_record(humaneval_row()).execution.setup_code
    assert setup.startswith("from typing import List\n")
    assert setup.endswith("return n + 1")


@pytest.mark.thorough
def test_solutions_pass_and_stubs_do_not():
    row = humaneval_row()
    programs = [HUMANEVAL_PROMPT + row["canonical_solution"], *(HUMANEVAL_PROMPT + stub for stub in STUBS), "", "pass"]
    assert verdicts([(row, program) for program in programs])[0] == "accepted"
    assert "accepted" not in verdicts([(row, program) for program in programs[1:]])


def test_a_solution_need_not_repeat_the_imports_and_helpers_of_the_prompt():
    program = "def total(numbers: List[int]) -> int:\n    return sum(map(shifted, numbers))\n"
    assert verdicts([(humaneval_row(), program)]) == ["accepted"]


@pytest.mark.parametrize("test", ["", None, "   \n"])
def test_a_record_without_a_test_is_never_passed(test):
    row = humaneval_row(test=test)
    assert verdicts([(row, HUMANEVAL_PROMPT + row["canonical_solution"])]) == ["no_tests"]


@pytest.mark.parametrize("test", ["def check(candidate):\n    pass\n", "METADATA = {}\n"])
def test_a_test_that_asserts_nothing_is_no_test(test):
    row = humaneval_row(test=test)
    assert verdicts([(row, HUMANEVAL_PROMPT + row["canonical_solution"])]) == ["no_tests"]


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"prompt": "no python"}, r"record 7 \('HumanEval/900'\): prompt is not the beginning of a function in Python"),
        ({"prompt": 7}, "prompt must be text, not a number"),
        ({"prompt": None}, "prompt is missing"),
        ({"entry_point": "sum_up"}, "prompt begins 'total', and the entry_point is 'sum_up'"),
        ({"entry_point": ""}, "entry_point is empty"),
        ({"task_id": 7}, "record 7: task_id must be text, not a number"),
        ({"test": ["assert True"]}, "test must be text, not a list"),
        ({"canonical_solution": 1.5}, "canonical_solution must be text, not a number"),
    ],
)
def test_what_is_malformed_is_told_with_record_and_field(fields, complaint):
    with pytest.raises(DatasetError, match=complaint) as caught:
        problem_from_record(humaneval_row(**fields), "record 7")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("indent", ["    ", "\t", "  "])
def test_a_prompt_may_be_indented_by_anything(indent):
    prompt = f'def total(numbers):\n{indent}"""The sum."""\n'
    row = humaneval_row(prompt=prompt, canonical_solution=f"{indent}return sum(numbers)\n")
    assert problem_from_record(row).execution.setup_code == ""


def real_rows() -> list[dict]:
    return [json.loads(line) for line in shared_path("data/humaneval.jsonl").open()]


def test_every_problem_of_the_real_file_loads_under_its_own_name():
    names = load_problems(shared_path("data/humaneval.jsonl")).names
    assert names == tuple(f"HumanEval/{number}" for number in range(164))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.thorough)])
def test_the_canonical_solutions_of_the_real_file_pass(tmp_path, home, every):
    rows = real_rows()[::every]
    programs = {row["task_id"]: [row["prompt"] + row["canonical_solution"]] for row in rows}
    assert len(accepted(counted(tmp_path, rows, programs))) == len(rows) == 164 // every


@pytest.mark.thorough
@pytest.mark.timeout(600)
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_no_stub_passes_any_of_the_real_problems(tmp_path, home, every):
    rows = real_rows()[::every]
    programs = {row["task_id"]: [row["prompt"] + stub for stub in STUBS] for row in rows}
    assert accepted(counted(tmp_path, rows, programs)) == []


def test_a_file_is_the_split_test_unless_its_name_says_otherwise(tmp_path):
    for name, split in (("humaneval.jsonl", "test"), ("humaneval_valid.jsonl", "valid")):
        path = write_jsonl(tmp_path / name, [humaneval_row()])
        assert load_problems(path).split_name == split
        assert len(load_problems(path, "anything")) == 1
