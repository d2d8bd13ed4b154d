"""The shapes in which datasets keep tests."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import alpha_codium as ac
from alpha_codium.app.tests_of import problem_of

PAIRS = (ac.TestCase("1", "2"), ac.TestCase("21", "42"))
STDIN = [
    [("1", "2"), ["21", "42"]],
    (("1", "2"), ac.TestCase("21", "42")),
    [{"input": "1", "output": "2"}, {"input": "21", "output": "42", "testtype": "stdin_stdout", "metadata": {}}],
    [{"type": "stdin_stdout", "fn_name": None, "input": "1", "output": "2"}, {"input": "21", "output": "42"}],
    {"inputs": ["1", "21"], "outputs": ["2", "42"]},
    {"inputs": '["1", "21"]', "outputs": '["2", "42"]'},
    {"type": "stdin_stdout", "fn_name": "main", "inputs": ["1", "21"], "outputs": ["2", "42"]},
    repr([{"input": "1", "output": "2"}, {"input": "21", "output": "42"}]),
    {"inputs": ["1", "21"], "outputs": ["2", "42"], "fn_name": None, "assert_case": ["", ""]},
    {"input": ["1", "21"], "output": ["2", "42"]},
    {"language": "python", "test_cases": [{"input": "1", "output": "2"}, {"input": "21", "output": "42"}]},
]
CALLS = [
    {"inputs": ["1\n[2]", "3\n[4]"], "outputs": ["3", "7"], "fn_name": "f"},
    {"inputs": [[1, [2]], [3, [4]]], "outputs": [3, 7], "fn_name": "f"},
    {"inputs": [[1, [2]], [3, [4]]], "outputs": [3, 7], "entry_point": "f"},
    {"fn_name": "f", "test_cases": {"inputs": [[1, [2]], [3, [4]]], "outputs": [3, 7]}},
    [{"input": "1\n[2]", "output": "3", "fn_name": "f"}, {"input": "3\n[4]", "output": "7", "fn_name": "f"}],
    [
        {"input": "1\n[2]", "output": "3", "testtype": "functional", "metadata": {"func_name": "f"}},
        {"input": "3\n[4]", "output": "7", "testtype": "functional", "metadata": {"func_name": "f"}},
    ],
]
ASSERTIONS = ["assert f(1) == 2", "assert f(2) == 3"]


def forms(shape):
    """The shape, and its JSON if it has any."""
    try:
        return [shape, json.dumps(shape)]
    except TypeError:
        return [shape]


@pytest.mark.parametrize("shape", STDIN)
def test_inputs_and_outputs_are_read_from_each_shape(shape):
    for form in forms(shape):
        problem = problem_of(form)
        assert (problem.private_tests, problem.execution.kind) == (PAIRS, "stdin")


@pytest.mark.parametrize("shape", CALLS)
def test_calls_are_read_from_each_shape(shape):
    for form in forms(shape):
        problem = problem_of(form)
        assert (problem.execution.kind, problem.execution.entry_point) == ("call", "f")
        assert problem.private_tests == (ac.TestCase("[1, [2]]", "3"), ac.TestCase("[3, [4]]", "7"))


@pytest.mark.parametrize("shape", [ASSERTIONS, tuple(ASSERTIONS), {"assert_case": ASSERTIONS}])
def test_assertions_are_read_from_each_shape(shape):
    for form in forms(shape):
        problem = problem_of(form)
        assert problem.execution.kind == "assertions"
        assert [test.input for test in problem.private_tests] == ASSERTIONS


@pytest.mark.parametrize(
    "code",
    [
        "assert f(1) == 2",
        "from solution import f\n\ndef test_f():\n    assert f(1) == 2\n",
        "for i in range(3):\n    assert f(i) == i\n",
        "import numpy as np\nnp.testing.assert_equal(f(1), 2)",
    ],
    ids=["plain", "KodCode", "a loop", "a call"],
)
def test_code_is_one_test(code):
    problem = problem_of(code)
    assert problem.execution.kind == "assertions"
    assert [test.input for test in problem.private_tests] == [code]


def test_arrays_as_pandas_reads_them_are_lists():
    shape = {"inputs": np.array(["1", "21"], dtype=object), "outputs": np.array(["2", "42"], dtype=object)}
    assert problem_of(shape).private_tests == PAIRS


def test_arrays_within_others_are_lists():
    calls = [{"input": np.array([1, 2]), "output": np.int64(3), "fn_name": "f"}]
    assert problem_of(calls).private_tests == (ac.TestCase("[1, 2]", "3"),)
    assert problem_of(pa.array([["1", "2"], ["21", "42"]])).private_tests == PAIRS


def test_the_name_in_the_metadata_may_be_in_json_and_counts_only_for_calls():
    row = {"input": "1", "output": "2", "metadata": '{"func_name": "f"}'}
    called, read = (problem_of([row | {"testtype": kind}]).execution.kind for kind in ("functional", "stdin"))
    assert (called, read) == ("call", "stdin")


def test_rows_of_livecodebench_are_judged_as_its_problems_and_those_of_apps_as_those_of_apps():
    rows = [{"input": '{"1": 2}\n3', "output": "[3]"}]
    livecodebench = problem_of([row | {"metadata": {"func_name": "f"}} for row in rows])
    apps = problem_of([row | {"fn_name": "f"} for row in rows])
    assert livecodebench.checker == ac.CheckerSpec("call_result", {"unwrap": False})
    assert livecodebench.private_tests == (ac.TestCase('[{"1": 2}, 3]', "[3]"),)
    assert apps.execution.kind == "assertions" and "{1: 2}, 3" in apps.private_tests[0].input


@pytest.mark.parametrize(
    ("output", "value"),
    [("yes", '"yes"'), ("1 2", '"1 2"'), ("True", "true"), ("None", "null"), ("'a'", '"a"'), ("2", "2")],
)
def test_the_result_of_a_call_may_be_text_as_for_verls_client(output, value):
    problem = problem_of({"inputs": ["1"], "outputs": [output], "fn_name": "f"})
    assert problem.private_tests == (ac.TestCase("[1]", value),)


def test_a_problem_is_itself():
    problem = ac.Problem("p", private_tests=PAIRS)
    assert problem_of(problem) is problem


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (7, "tests must be a list of tests"),
        ("f(1) is 1", "tests in a string must be JSON"),
        ([["1", "2", "3"]], r"tests\[0\] must be a pair of texts"),
        ([("1", 2)], r"tests\[0\] must be a pair of texts"),
        ([{"input": "1"}], r"tests\[0\] has no output \(it has: input\)"),
        ([{"input": "1", "output": "2", "fn_name": "f"}, {"input": "1", "output": "2"}], "all call the same function"),
        ({"inputs": ["1"], "outputs": []}, r"must have as many outputs \(0\) as inputs \(1\)"),
        ({"inputs": ["1"], "outputs": ["[1, "], "fn_name": "f"}, r"outputs\[0\] of a call must be JSON"),
        ({"inputs": ["1"], "outputs": ["1"], "assert_case": ["assert f(1)"]}, "both inputs and assert_case"),
        ({"stdin": ["1"]}, "neither inputs nor input, but stdin"),
        (
            [{"input": "1", "output": "2", "testtype": "functional"}],
            r"tests\[0\] calls a function, whose name is missing",
        ),
        (
            [{"type": "function_call", "input": [1], "output": [2]}],
            r"tests\[0\] calls a function, whose name is missing",
        ),
        ({"inputs": ["1"], "outputs": [float("nan")]}, r"outputs\[0\] is nan, which stands for a missing value"),
        ('{"inputs": [NaN], "outputs": ["1"]}', r"inputs\[0\] is nan, which stands for a missing value"),
        ({"inputs": [[1]], "outputs": [float("inf")], "fn_name": "f"}, r"outputs\[0\] is inf"),
    ],
)
def test_another_shape_is_an_error_that_says_what_is_wrong(shape, message):
    with pytest.raises(TypeError, match=message):
        problem_of(shape)


KEYS = st.sampled_from(["inputs", "outputs", "input", "output", "fn_name", "assert_case", "test_cases", "metadata"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)


@given(JSON)
def test_any_json_is_read_or_refused_by_a_type_error(value):
    try:
        assert isinstance(problem_of(value), ac.Problem)
    except TypeError as error:
        assert str(error)
