"""What is judged: every problem of the split, with the programs there are for it."""

from typing import Any

import pytest

from alpha_codium.errors import DatasetError, UserError
from alpha_codium.eval.prepare import human_solutions, parse_test_types, prepare_for_evaluation
from alpha_codium.problem import Problem, TestCase, TestType
from alpha_codium.solution import ErrorKind, SampleError
from tests.eval.splits import ALSO_WRONG, BROKEN, RIGHT, WRONG, labelled, problem

SPLIT = [problem("a"), problem("b"), problem("c", tests=1)]


def row(name: str, *programs: str | None, **more: object) -> dict:
    return {"task_name": name, "solution_candidates": list(programs)} | more


def test_the_two_columns_have_a_row_for_every_problem_in_the_splits_order() -> None:
    evaluation_set = prepare_for_evaluation([row("c", RIGHT), row("a", WRONG, RIGHT)], SPLIT)
    assert evaluation_set["predictions"] == [
        {"task_name": "a", "solution_candidates": [WRONG, RIGHT]},
        {"task_name": "b", "solution_candidates": []},
        {"task_name": "c", "solution_candidates": [RIGHT]},
    ]
    assert evaluation_set["references"][2] == {"tests_inputs": ["1\n"], "tests_outputs": ["2\n"]}
    assert len(evaluation_set) == len(evaluation_set["references"]) == 3


def test_a_name_that_is_not_in_the_split_is_an_error_with_the_nearest_one() -> None:
    with pytest.raises(DatasetError, match=r"'1_A. Sun' is not in the split judged \(did you mean '1_A. Sum'\?\)"):
        prepare_for_evaluation([row("1_A. Sun")], [problem("1_A. Sum"), problem("x")])


def test_a_problem_twice_in_the_solutions_is_an_error() -> None:
    with pytest.raises(DatasetError, match="contain the problem 'a' twice"):
        prepare_for_evaluation([row("a"), row("a")], SPLIT)


def test_a_problem_twice_in_the_split_is_an_error() -> None:
    with pytest.raises(DatasetError, match="two problems of the split are called 'a'"):
        prepare_for_evaluation([row("a", RIGHT)], [problem("a"), problem("a", tests=1)])


def test_rows_of_another_dataset_are_an_error_that_names_the_column() -> None:
    with pytest.raises(DatasetError, match="no column 'solution_candidates'"):
        prepare_for_evaluation([{"task_name": "a"}], SPLIT)


@pytest.mark.parametrize("programs", [RIGHT, 5, [RIGHT, 1], [{"solution": RIGHT}], {"solution": RIGHT}])
def test_candidates_that_are_not_a_list_of_strings_are_an_error(programs: object) -> None:
    with pytest.raises(DatasetError, match="'a': solution_candidates must be a list of strings"):
        prepare_for_evaluation([{"task_name": "a", "solution_candidates": programs}], SPLIT)


@pytest.mark.parametrize("row", [None, "a", {"task_name": 1, "solution_candidates": []}])
def test_rows_that_do_not_name_a_problem_are_an_error(row: Any) -> None:
    with pytest.raises(DatasetError, match=r"must be a (dict|string), not"):
        prepare_for_evaluation([row], SPLIT)


def test_problems_of_another_type_are_an_error() -> None:
    given: Any = [{"name": "a"}]
    with pytest.raises(DatasetError, match="instances of Problem, not dict: use load_problems"):
        prepare_for_evaluation([row("a")], given)


def test_errors_of_another_number_than_candidates_are_an_error() -> None:
    with pytest.raises(DatasetError, match="2 candidates and 1 sample_errors"):
        prepare_for_evaluation([row("a", "", "", sample_errors=[""])], SPLIT)


def test_a_candidates_language_is_that_of_its_column_and_python_without() -> None:
    rows = [row("a", RIGHT, WRONG, language=["python3", None]), row("b", RIGHT)]
    tasks = list(prepare_for_evaluation(rows, SPLIT))
    assert {entry.language for task in tasks for entry in task.entries} == {"python3"}


def test_a_candidate_in_a_language_that_cannot_be_run_is_refused_before_anything_is_judged() -> None:
    with pytest.raises(DatasetError, match="'a', candidate 1 is in 'ada', a language that can't be run"):
        prepare_for_evaluation([row("a", RIGHT, "null;", language=["python3", "ada"])], SPLIT)


def test_a_samples_error_is_kept_and_null_is_no_program() -> None:
    (task, *_) = prepare_for_evaluation([row("a", None, RIGHT, sample_errors=["provider: HTTP 500", None])], SPLIT)
    assert [(e.program, e.error) for e in task.entries] == [
        ("", SampleError(ErrorKind.PROVIDER, "HTTP 500")),
        (RIGHT, None),
    ]


@pytest.mark.parametrize(
    ("asked", "kinds"),
    [
        ("private_tests", [TestType.PRIVATE]),
        ("private-tests", [TestType.PRIVATE]),
        (TestType.PUBLIC, [TestType.PUBLIC]),
        ("generated_tests,public_tests", [TestType.PUBLIC, TestType.GENERATED]),
        (["private_tests", "public_tests, private_tests"], [TestType.PUBLIC, TestType.PRIVATE]),
        ("all", list(TestType)),
        (("public_tests", "all"), list(TestType)),
    ],
)
def test_kinds_of_tests_are_asked_for_by_one_name_or_several_or_all(asked: object, kinds: list[TestType]) -> None:
    assert list(parse_test_types(asked)) == kinds  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "said"),
    [("privat_tests", "did you mean 'private_tests'"), ("", "no type of tests"), ([], "no type of tests")],
)
def test_an_unknown_kind_of_tests_is_one_clear_line(asked: object, said: str) -> None:
    with pytest.raises(UserError, match=said):
        parse_test_types(asked)  # type: ignore[arg-type]


def test_tests_of_several_kinds_stand_in_the_datasets_order() -> None:
    cases = {kind.value: (TestCase(kind.value, ""),) for kind in TestType}
    evaluation_set = prepare_for_evaluation([], [Problem("a", **cases)], "generated_tests,public_tests")  # type: ignore[arg-type]
    assert evaluation_set["references"][0]["tests_inputs"] == ["public_tests", "generated_tests"]


@pytest.mark.parametrize(
    ("groups", "programs", "skipped"),
    [
        ("correct", [("correct", 0, RIGHT), ("correct", 1, WRONG)], 1),
        ("incorrect", [("incorrect", 0, BROKEN), ("incorrect", 1, ALSO_WRONG)], 1),
        (
            "both",
            [("correct", 0, RIGHT), ("correct", 1, WRONG), ("incorrect", 0, BROKEN), ("incorrect", 1, ALSO_WRONG)],
            2,
        ),
    ],
)
def test_human_solutions_in_python3_are_judged_and_others_are_counted(
    groups: str, programs: list, skipped: int
) -> None:
    (task,) = human_solutions([labelled("a")], groups, "private_tests")
    assert [(e.group, e.index, e.program) for e in task.entries] == programs
    assert task.skipped == {("unknown", "not supported"): skipped}


def test_human_solutions_of_two_problems_of_one_name_are_refused():
    twins = [Problem("a", private_tests=(TestCase("1", "1"),)), Problem("a", private_tests=(TestCase("2", "2"),))]
    with pytest.raises(DatasetError, match="two problems of the split are called 'a'"):
        human_solutions(twins, "both", "all")
