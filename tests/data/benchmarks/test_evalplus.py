import json
import math

import pytest

from alpha_codium.data.benchmarks import evalplus
from alpha_codium.data.benchmarks.evalplus_check import Oracle, close, digitwise, only_floats, pyramid
from alpha_codium.data.schema import problem_from_record
from alpha_codium.errors import DatasetError
from tests.data.benchmarks.judging import verdicts
from tests.data.benchmarks.rows import HUMANEVAL_PROMPT, evalplus_row, mbpp_plus_row
from tests.support import shared_path

RIGHT = HUMANEVAL_PROMPT + evalplus_row()["canonical_solution"]


def test_base_and_added_inputs_are_a_private_test_each():
    problem = problem_from_record(evalplus_row())
    assert problem.description == HUMANEVAL_PROMPT
    assert len(problem.private_tests) == 2
    assert len(problem_from_record(evalplus_row(plus_input=[])).private_tests) == 1


@pytest.mark.thorough
def test_a_program_is_compared_with_the_reference_on_every_input():
    only_base = HUMANEVAL_PROMPT + "    return {(): 0, (1, 2): 5}.get(tuple(numbers), 1)\n"
    stub = HUMANEVAL_PROMPT + "    pass\n"
    told = verdicts([(evalplus_row(), program) for program in (RIGHT, only_base, stub, "")])
    assert told == ["accepted", "wrong_answer", "wrong_answer", "compilation_error"]


@pytest.mark.thorough
def test_a_program_can_not_answer_by_asking_the_reference_or_by_being_equal_to_all():
    equal = "class All:\n    def __eq__(self, other): return True\n    def __hash__(self): return 0\n"
    cheats = [
        HUMANEVAL_PROMPT + "    return reference(numbers)\n",
        HUMANEVAL_PROMPT + "    import sys; sys.exit(0)\n",
        f"{equal}{HUMANEVAL_PROMPT}    return All()\n",
        "def check(candidate): pass\n" + HUMANEVAL_PROMPT + "    return 5\n",
    ]
    assert "accepted" not in verdicts([(evalplus_row(), cheat) for cheat in cheats])


@pytest.mark.thorough
def test_floats_are_compared_by_the_tolerance_and_other_values_as_they_are():
    code = "def half(x):\n    return x / 2 if isinstance(x, int) else x"
    row = mbpp_plus_row(9001, "half", code, [[1], [3], [10]])
    near = "def half(x):\n    return x / 2 + 4e-7\n"
    far = "def half(x):\n    return x / 2 + 4e-6\n"
    assert verdicts([(row, code), (row, near), (row, far)]) == ["accepted", "accepted", "wrong_answer"]
    assert verdicts([(row | {"atol": 1e-3}, far)]) == ["accepted"]
    texts = mbpp_plus_row(9002, "half", code, [["1.0"], ["2.0"]])
    assert verdicts([(texts, "def half(x):\n    return x + ''\n"), (texts, "def half(x):\n    return float(x)\n")]) == [
        "accepted",
        "wrong_answer",
    ]


def test_the_statement_of_mbpp_plus_is_its_docstring_and_names_the_function():
    row = mbpp_plus_row(
        2, "similar_elements", "def similar_elements(a, b): return set(a) & set(b)", [[[1], [1]], [[], []]]
    )
    description = problem_from_record(row).description
    assert description.startswith("Write a function similar_elements.")
    assert '"""' not in description


# task, its name, a program that tells the types of its arguments, inputs as JSON, what it returns for the last of them
TYPED = [
    (2, [[3, 4], [5]], "((3, 4), (5,))"),
    (63, [[[3, 4], [5, 6]]], "([(3, 4), (5, 6)],)"),
    (75, [[[3, 4]], 2], "([(3, 4)], 2)"),
    (106, [[1], [2, 3]], "([1], (2, 3))"),
    (307, [[1, "a"], 0, 5], "((1, 'a'), 0, 5)"),
    (259, [[[1, 2]], [[3]]], "(((1, 2),), ((3,),))"),
    (278, [[1, [2, 3]]], "((1, (2, 3)),)"),
    (580, [[1, [2, [3]]]], "((1, (2, (3,))),)"),
    (722, [{"a": [6.2, 70]}, 6.0, 70], "({'a': (6.2, 70)}, 6.0, 70)"),
    (115, [[[1], []]], "([{1}, {}],)"),
    (124, ["0", "1j"], "(0.0, 1j)"),
    (252, ["2j"], "(2j,)"),
    (11, [[1], "a"], "([1], 'a')"),
]


@pytest.mark.parametrize(("task", "arguments", "typed"), TYPED, ids=[str(t[0]) for t in TYPED])
def test_inputs_of_mbpp_have_the_types_of_the_task_again(task, arguments, typed):
    code = "def told(*arguments):\n    return repr(arguments)"
    row = json.loads(json.dumps(mbpp_plus_row(task, "told", code, [arguments, arguments])))
    (test, _) = problem_from_record(row).private_tests
    namespace = {}
    exec(test.input, namespace)
    namespace["check"](lambda *given: typed if repr(given) == typed else given)


@pytest.mark.thorough
def test_infinities_and_nan_come_through():
    code = "def told(x):\n    return repr(x)"
    row = json.loads(json.dumps(mbpp_plus_row(9003, "told", code, [[math.inf], [[math.nan, -math.inf]]])))
    assert verdicts([(row, code), (row, "def told(x): return 'inf'\n")]) == ["accepted", "wrong_answer"]


@pytest.mark.parametrize(
    ("name", "reference", "arguments", "right", "wrong"),
    [
        ("Diff", "lambda a: [1, 2]", [0], [2, 1, 1], [1]),
        ("check_str", "lambda a: None", [0], [None, False], ["x", True]),
        ("check_str", "lambda a: 'match'", [0], ["other", True], [None, False]),
        ("surface_Area", "lambda a, b: 33", [3, 4], [33, pyramid(3, 4)], [34]),
        ("digit_distance_nums", "lambda a, b: 1", [23, 56], [1, 6], [7]),
        ("find_zero", "lambda xs: -0.5", [[1, 2]], [-0.5, -0.5 + 1e-8], [0.5, -600.0]),
        ("f", "lambda a: (1.0, 2.0)", [0], [(1.0, 2.0000001)], [[1.0, 2.0], (1.0,), (1.0, 2.1)]),
        ("f", "lambda a: 1", [0], [1, True, 1.0], [1.0000001]),
        ("f", "lambda a: float('inf')", [0], [math.inf], [-math.inf, 1e308]),
    ],
)
def test_what_is_right_is_right_as_evalplus_says(name, reference, arguments, right, wrong):
    oracle = Oracle(name, 0.0, f"{name} = {reference}")
    expected = oracle.reference(*arguments)
    right = [right] if name == "Diff" else right
    wrong = [wrong] if name == "Diff" else wrong
    assert [oracle.right(value, expected, arguments) for value in right] == [True] * len(right)
    assert [oracle.right(value, expected, arguments) for value in wrong] == [False] * len(wrong)


def test_the_other_readings_and_tolerances_by_hand():
    assert pyramid(3, 4) == 35
    assert digitwise(1, 23) == 4
    assert only_floats([1.0, 2.0])
    assert not only_floats([])
    assert close([1, [2.0]], [1, [2.0 + 1e-9]], 1e-8)


DEEP: list = []
for _ in range(5000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"base_input": 3}, r"record 7 \('HumanEval/900'\): base_input must be a list, not a number"),
        ({"plus_input": [[1], 2]}, r"plus_input\[1\] must be a list of arguments"),
        ({"base_input": [], "plus_input": []}, "base_input and plus_input are empty: there is nothing to test with"),
        ({"canonical_solution": ""}, "canonical_solution is empty"),
        ({"atol": "0"}, "atol must be a number, not text"),
        ({"atol": math.nan}, "atol must be a finite number"),
        ({"atol": 10**400}, "atol must be a finite number"),
        ({"plus_input": [[DEEP]]}, "can't be written in Python"),
        ({"task_id": "Mbpp/252", "base_input": [[10**400]]}, "isn't as in MBPP\\+: int too large"),
        ({"entry_point": None}, "entry_point is missing"),
    ],
)
def test_what_is_malformed_is_told_with_record_and_field(fields, complaint):
    with pytest.raises(DatasetError, match=complaint):
        problem_from_record(evalplus_row(**fields), "record 7")


def test_inputs_that_are_not_of_the_tasks_types_are_an_error():
    row = mbpp_plus_row(124, "told", "def told(*a): return 1", [["x", "y"], ["0", "1"]])
    with pytest.raises(DatasetError, match=r"base_input\[0\] isn't as in MBPP\+: could not convert"):
        problem_from_record(row)


def test_every_task_of_the_table_has_one_shape():
    assert len(evalplus.SHAPES) == sum(len(tasks.split()) for _, tasks in evalplus.BY_SHAPE) == 62


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_records_made_of_the_real_humaneval_are_passed_by_its_solutions_and_by_no_stub():
    rows = [json.loads(line) for line in shared_path("data/humaneval.jsonl").open()]
    made = []
    for row in rows[:40]:
        if "(numbers: List[" in row["prompt"] and ", " not in row["prompt"].partition("def ")[2].partition(")")[0]:
            inputs = {"base_input": [[[1.0, 2.0, 4.0]], [[1.5, 2.5]]], "plus_input": [[[5.0, 3.0, -2.0, 5.0]]]}
            fields = ("task_id", "prompt", "entry_point", "canonical_solution")
            made.append({key: row[key] for key in fields} | inputs | {"contract": "", "atol": 0})
    assert len(made) == 6
    assert set(verdicts([(row, row["prompt"] + row["canonical_solution"]) for row in made])) == {"accepted"}
    assert "accepted" not in verdicts([(row, row["prompt"] + "    pass\n") for row in made])
