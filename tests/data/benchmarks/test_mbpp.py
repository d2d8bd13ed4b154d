import json

import pytest

from alpha_codium.data.etl import run_etl
from alpha_codium.data.load import load_problems
from alpha_codium.data.schema import problem_from_record
from alpha_codium.data.sources import find_source
from alpha_codium.errors import DatasetError
from alpha_codium.problem import TestType
from tests.data.benchmarks.judging import accepted, counted, verdicts
from tests.data.benchmarks.rows import mbpp_row, sanitized_row
from tests.data.records import write_jsonl
from tests.support import shared_path

NODE = "class Node:\n    def __init__(self, n):\n        self.n = n\ndef value(node):\n    return node.n\n"
NODES = mbpp_row(
    test_setup_code="root = Node(7)",
    test_list=["assert value(root) == 7", "assert value(Node(8)) == 8"],
    challenge_test_list=[],
    code=NODE,
)


def test_the_assertions_are_public_tests_one_by_one_and_stand_in_the_statement():
    row = mbpp_row()
    problem = problem_from_record(row)
    assert problem.name == "Mbpp/900"
    assert [test.input for test in problem.public_tests] == row["test_list"]
    assert problem.description.startswith(row["text"])
    assert all(test in problem.description for test in row["test_list"])


def test_the_private_test_is_all_assertions_as_one_and_challenges_are_generated_tests():
    row = mbpp_row()
    problem = problem_from_record(row)
    assert [test.input for test in problem.tests((TestType.PRIVATE,))] == ["\n".join(row["test_list"])]
    assert [test.input for test in problem.generated_tests] == row["challenge_test_list"]
    assert row["challenge_test_list"][0] not in problem.description


def test_the_function_is_the_one_that_the_tests_call_and_the_code_defines():
    assert problem_from_record(mbpp_row()).execution.entry_point == "add"
    assert problem_from_record(mbpp_row(code="")).execution.entry_point == ""
    assert problem_from_record(mbpp_row(test_list=["assert ("])).execution.entry_point == ""


@pytest.mark.thorough
def test_setup_code_uses_what_the_program_defines():
    assert verdicts([(NODES, NODE), (NODES, NODE.replace("node.n\n", "node.n + 1\n")), (NODES, "")], TestType) == [
        "accepted",
        "wrong_answer",
        "compilation_error",
    ]
    assert problem_from_record(NODES).public_tests[0].input == "root = Node(7)\nassert value(root) == 7"
    assert "root = Node(7)" in problem_from_record(NODES).description


@pytest.mark.thorough
def test_the_sanitized_columns_are_read_and_imports_stand_before_the_tests():
    problem = problem_from_record(sanitized_row())
    assert problem.name == "Mbpp/900"
    assert all(test.input.startswith("import math\n") for test in problem.public_tests)
    assert verdicts([(sanitized_row(), sanitized_row()["code"])], TestType) == ["accepted"]


@pytest.mark.thorough
def test_mbpp_plus_of_the_hub_is_judged_by_its_own_test():
    test = "inputs = [[1, 2], [5, 5]]\nresults = [3, 10]\nfor i, r in zip(inputs, results):\n    assert add(*i) == r\n"
    row = sanitized_row(test=test)
    assert problem_from_record(row).execution.test_code == "import math\n" + test
    wrong = "def add(a, b):\n    return 3 if a == 1 else 0\n"
    assert verdicts([(row, row["code"]), (row, wrong)]) == ["accepted", "wrong_answer"]


@pytest.mark.parametrize("tests", [[], None])
def test_a_record_without_assertions_is_never_passed(tests):
    row = mbpp_row(test_list=tests, challenge_test_list=[])
    assert verdicts([(row, row["code"])], TestType) == ["no_tests"]


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"task_id": "11"}, "record 7: task_id must be a number, not text"),
        ({"task_id": None}, "record 7: task_id is missing"),
        ({"text": None}, r"record 7 \(900\): text is missing"),
        ({"test_list": "assert True"}, "test_list must be a list, not text"),
        ({"test_list": ["assert True", 3]}, r"test_list\[1\] must be text, not a number"),
        ({"code": 3}, "code must be text, not a number"),
        ({"test_setup_code": []}, "test_setup_code must be text, not a list"),
        ({"challenge_test_list": {}}, "challenge_test_list must be a list, not an object"),
    ],
)
def test_what_is_malformed_is_told_with_record_and_field(fields, complaint):
    with pytest.raises(DatasetError, match=complaint) as caught:
        problem_from_record(mbpp_row(**fields), "record 7")
    assert "\n" not in str(caught.value)


@pytest.fixture
def some_of_each(tmp_path):
    """A file with the first and the last task of each split, in the order of the benchmark."""
    tasks = (1, 10, 11, 510, 511, 600, 601, 974)
    return write_jsonl(tmp_path / "mbpp.jsonl", [mbpp_row(task_id=task) for task in tasks])


@pytest.mark.parametrize(
    ("split", "tasks"),
    [("test", (11, 510)), ("prompt", (1, 10)), ("validation", (511, 600)), ("train", (601, 974))],
)
def test_a_file_of_the_whole_benchmark_has_the_splits_of_the_paper(some_of_each, split, tasks):
    assert load_problems(some_of_each, split).names == tuple(f"Mbpp/{task}" for task in tasks)


def test_without_a_split_a_file_is_the_whole_benchmark(some_of_each):
    problems = load_problems(some_of_each)
    assert (len(problems), problems.split_name) == (8, "all")


def test_a_split_that_mbpp_has_not_is_told_the_nearest(some_of_each):
    with pytest.raises(DatasetError, match=r"has no split 'valid' \(did you mean 'validation'\?\)"):
        load_problems(some_of_each, "valid")


def test_a_split_of_which_a_file_holds_nothing_is_an_error_and_not_an_empty_set(tmp_path):
    path = write_jsonl(tmp_path / "mine.jsonl", [mbpp_row(task_id=11)])
    assert find_source(str(path)).parts() == ("test",)
    with pytest.raises(DatasetError, match=r"has no split 'train' \(there is: all, test\)"):
        load_problems(path, "train")


def test_a_task_that_is_in_no_split_is_an_error(tmp_path):
    path = write_jsonl(tmp_path / "mine.jsonl", [mbpp_row(task_id=975)])
    assert len(load_problems(path)) == 1
    with pytest.raises(DatasetError, match=r"record 1: task_id 975 is in no split: MBPP goes from 1 to 974"):
        load_problems(path, "test")


def test_etl_stores_every_split_or_those_asked_for(some_of_each, home):
    report = run_etl(str(some_of_each), "every")
    assert {s.split: s.problems_out for s in report.splits} == dict.fromkeys(
        ("test", "prompt", "validation", "train"), 2
    )
    assert load_problems("every", "train").names == ("Mbpp/601", "Mbpp/974")
    two = run_etl(str(some_of_each), "two", ["test", "prompt"])
    assert [s.split for s in two.splits] == ["test", "prompt"]
    with pytest.raises(DatasetError, match="did you mean 'test'"):
        run_etl(str(some_of_each), "none", ["tset"])


def test_a_stored_problem_is_the_problem_of_the_file(some_of_each, home):
    run_etl(str(some_of_each), "stored")
    assert list(load_problems("stored", "test")) == list(load_problems(some_of_each, "test"))
    assert load_problems("stored", "test").fingerprint == load_problems(some_of_each, "test").fingerprint


def real_rows() -> list[dict]:
    return [json.loads(line) for line in shared_path("data/mbpp.jsonl").open()]


def test_the_real_file_has_the_splits_of_the_paper():
    path = shared_path("data/mbpp.jsonl")
    sizes = {split: len(load_problems(path, split)) for split in ("test", "prompt", "validation", "train", "all")}
    assert sizes == {"test": 500, "prompt": 10, "validation": 90, "train": 374, "all": 974}


def judged(tmp_path, rows, program_of):
    programs = {f"Mbpp/{row['task_id']}": [program_of(row)] for row in rows}
    return accepted(counted(tmp_path, rows, programs))


@pytest.mark.thorough
def test_real_solutions_pass_those_of_classes_too(tmp_path, home):
    rows = real_rows()
    some = [*rows[:60], rows[366], rows[926]]  # 367 and 927 have setup code, which needs the program's class
    assert len(judged(tmp_path, some, lambda row: row["code"])) == len(some)


@pytest.mark.thorough
def test_no_stub_passes_real_problems(tmp_path, home):
    rows = real_rows()[:60:2]
    assert judged(tmp_path, rows, lambda row: "") == []
    assert judged(tmp_path, rows, lambda row: f"def {problem_from_record(row).execution.entry_point}(*_): pass\n") == []


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_all_974_real_solutions_pass(tmp_path, home):
    assert len(judged(tmp_path, real_rows(), lambda row: row["code"])) == 974


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("body", ["pass", "import sys; sys.exit(0)"])
def test_no_stub_passes_any_of_the_real_problems(tmp_path, home, body):
    def stub(row):
        return f"def {problem_from_record(row).execution.entry_point}(*_, **__):\n    {body}\n"

    assert judged(tmp_path, real_rows(), stub) == []
