"""APPS records in the CodeContests schema."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.data.benchmarks import in_our_schema
from alpha_codium.data.benchmarks.apps import AMBIGUOUS, APPS, DIFFICULTIES, integer_of
from alpha_codium.data.load import load_problems
from alpha_codium.data.schema import difficulty_name, problem_from_record
from alpha_codium.errors import DatasetError
from alpha_codium.judge import Judge
from alpha_codium.problem import Problem
from alpha_codium.sandbox import Sandbox, open_sandbox
from tests.support import shared_path

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
SPLIT = "where it is"


def record(**fields: object) -> dict[str, object]:
    return {
        "problem_id": 7,
        "question": "Double a number.",
        "solutions": json.dumps(["print(2 * int(input()))"]),
        "input_output": json.dumps({"inputs": ["1\n", "2\n"], "outputs": ["2\n", "4\n"]}),
        "difficulty": "interview",
        "url": "",
        "starter_code": "",
        **fields,
    }


def calls(inputs: object, outputs: object, name: str = "f", **fields: object) -> dict[str, object]:
    return record(input_output=json.dumps({"fn_name": name, "inputs": inputs, "outputs": outputs}), **fields)


def problem(raw: dict[str, object]) -> Problem:
    return problem_from_record(raw, SPLIT)


@pytest.fixture
async def sandbox():
    async with open_sandbox("local", workers=1) as opened:
        yield opened


async def accepted(sandbox: Sandbox, of: Problem, program: str) -> bool:
    return (await Judge(sandbox).for_problem(of).judge(program, of.private_tests)).accepted


def test_a_problem_of_streams_keeps_its_tests_as_private_ones():
    made = problem(record())
    assert (made.name, made.description, made.execution.kind) == ("apps/7", "Double a number.", "stdin")
    assert [(test.input, test.output) for test in made.private_tests] == [("1\n", "2\n"), ("2\n", "4\n")]
    assert not made.public_tests and not made.generated_tests
    assert [(each.language, each.code) for each in made.solutions] == [("python3", "print(2 * int(input()))")]


def test_inputs_and_outputs_that_are_lists_of_lines_are_joined():
    made = problem(record(input_output=json.dumps({"inputs": [["1", "2"], [3, 4.5]], "outputs": [["a", ""], "b"]})))
    assert [(test.input, test.output) for test in made.private_tests] == [("1\n2", "a\n"), ("3\n4.5", "b")]


def test_a_problem_with_a_function_is_one_of_calls():
    made = problem(calls([[1, [2]], [3, []]], [[3], [3]], starter_code="\ndef f(a, b):\n\t"))
    assert (made.execution.kind, made.execution.entry_point) == ("call", "f")
    assert [(test.input, test.output) for test in made.private_tests] == [("[1, [2]]", "[3]"), ("[3, []]", "[3]")]
    assert made.checker is not None and made.checker.name == "call_result"
    assert "Double a number." in made.description and "def f(a, b):" in made.description


def test_a_function_without_starter_code_is_named_in_the_statement():
    assert "the function f" in problem(calls([[1]], [[1]])).description


@pytest.mark.thorough
@given(st.lists(st.tuples(st.lists(JSON, max_size=3), JSON), max_size=4))
def test_arguments_and_values_cross_as_json_or_as_code(pairs):
    made = problem(calls([arguments for arguments, _ in pairs], [value for _, value in pairs]))
    assert len(made.private_tests) == len(pairs)
    for test, (arguments, value) in zip(made.private_tests, pairs, strict=True):
        if made.execution.kind == "call":
            assert json.loads(test.input) == arguments and json.loads(test.output) == value
        else:
            scope = {"f": lambda *given, value=value: value}
            exec(compile(test.input, "test", "exec"), scope)


@pytest.mark.parametrize("word", DIFFICULTIES)
def test_a_difficulty_reads_as_apps_calls_it(word):
    assert difficulty_name(problem(record(difficulty=word)).difficulty) == word


def test_a_problem_says_which_split_it_is_of_where_its_record_does():
    assert problem(record(split="test")).name == "apps/test/7"
    assert problem(record(x_meta={"split": "train"})).name == "apps/train/7"
    assert problem(record(split="unheard of")).name == "apps/7"


def test_tests_that_were_rebuilt_by_guessing_are_marked():
    assert problem(record(x_meta={AMBIGUOUS: True})).tags == (AMBIGUOUS,)
    assert problem(record(x_meta={AMBIGUOUS: False})).tags == ()


@pytest.mark.parametrize("nothing", ["", "{}", None, '{"inputs": [], "outputs": []}'])
def test_a_record_without_tests_is_a_problem_without_tests(nothing):
    assert problem(record(input_output=nothing)).private_tests == ()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"input_output": "{"}, "input_output isn't valid JSON"),
        ({"input_output": "[" * 100_000}, "input_output isn't valid JSON"),
        ({"input_output": "[1]"}, "input_output must be an object"),
        ({"input_output": '{"inputs": ["1"], "outputs": []}'}, r"must have as many outputs \(0\) as inputs \(1\)"),
        ({"input_output": '{"inputs": "1", "outputs": "2"}'}, "must have inputs and outputs, which are lists"),
        ({"input_output": '{"inputs": [{}], "outputs": ["2"]}'}, r"inputs\[0\] must be text"),
        ({"input_output": '{"inputs": ["1"], "outputs": [[["2"]]]}'}, r"outputs\[0\] must be text"),
        ({"input_output": '{"fn_name": "f", "inputs": ["1"], "outputs": [1]}'}, r"inputs\[0\] must be a list"),
        ({"input_output": '{"fn_name": "f(", "inputs": [], "outputs": []}'}, "not the name of a function"),
        ({"input_output": '{"fn_name": 1, "inputs": [], "outputs": []}'}, "not the name of a function"),
        ({"solutions": "{}"}, "solutions must be a list"),
        ({"question": 1}, "question must be text"),
        ({"difficulty": "intervew"}, "did you mean 'interview'"),
    ],
)
def test_a_malformed_record_is_one_clear_line(fields, message):
    with pytest.raises(DatasetError, match=message) as raised:
        problem(record(**fields))
    assert str(raised.value).startswith(f"{SPLIT} (7)") and "\n" not in str(raised.value)


@pytest.mark.thorough
@given(st.dictionaries(st.sampled_from(["solutions", "input_output", "starter_code", "difficulty"]), JSON | st.text()))
def test_any_record_is_a_problem_or_a_clear_error(fields):
    try:
        in_our_schema(record(**fields), SPLIT)
    except DatasetError as error:
        assert str(error).startswith(SPLIT)


def test_other_records_are_left_alone():
    assert not APPS.matches({"name": "x", **record()})
    assert not APPS.matches({"task_id": 1, "text": ""})


@pytest.mark.thorough
@given(st.integers(0, 10**400), st.integers(0, 30))
def test_an_integer_of_any_length_is_read(number, zeros):
    digits = str(number) + "0" * 300 * zeros
    assert integer_of(digits) % 10**9 == int(digits[-9:])
    assert integer_of("-" + digits) == -integer_of(digits)
    assert integer_of(digits) == number * 10 ** (300 * zeros)


async def test_keys_that_spell_integers_are_integers_in_arguments(sandbox):
    made = problem(calls([[{"1": "one", "-2": "two"}], [{"3": "x"}]], [["one"], [{"3": "x"}]]))
    assert made.execution.kind == "assertions"
    assert await accepted(sandbox, made, "def f(d): return d.get(1, d)")
    assert await accepted(sandbox, made, "class Solution:\n    def f(self, d): return (d.get(1, d),)[0]")
    assert not await accepted(sandbox, made, "def f(d): return d.get('1', d)")


async def test_integers_too_long_for_json_are_given_and_compared(sandbox):
    digits = "7" * 10_000
    made = problem(record(input_output=f'{{"fn_name": "f", "inputs": [[{digits}]], "outputs": [[-{digits}]]}}'))
    assert await accepted(sandbox, made, "def f(n): return -n")
    assert await accepted(sandbox, made, "def f(n): return [-n]")
    assert not await accepted(sandbox, made, "def f(n): return 1 - n")
    assert not await accepted(sandbox, made, "class Lie:\n    def __eq__(s, o): return True\ndef f(n): return Lie()")


async def test_a_program_may_use_what_apps_imports_for_it(sandbox):
    streams = problem(record())
    assert await accepted(sandbox, streams, "print(int(sqrt(4)) * math.floor(int(sys.stdin.readline())))")
    made = problem(calls([[[3, 1, 2]]], [[1]]))
    assert await accepted(
        sandbox, made, "class Solution:\n    def f(self, a: List[int]) -> int:\n        return min(a)"
    )


async def test_a_program_that_prints_what_a_function_should_return_is_wrong(sandbox):
    assert not await accepted(sandbox, problem(calls([[1]], [[1]])), "def f(n): print(n)")


@pytest.mark.thorough
def test_every_record_of_the_shared_file_is_read_and_has_tests():
    problems = load_problems(shared_path("data/apps.jsonl"))
    kinds = [each.execution.kind for each in problems]
    assert len(set(problems.names)) == len(problems) == 152
    assert (kinds.count("stdin"), kinds.count("call"), kinds.count("assertions")) == (100, 52, 0)
    assert all(each.private_tests for each in problems)
    assert sum(AMBIGUOUS in each.tags for each in problems) == 28
    assert {each.difficulty for each in problems} == set(DIFFICULTIES.values())


def test_a_record_is_not_changed_by_converting_it():
    raw = calls([[{"1": 2}]], [[1]])
    before = json.dumps(raw)
    in_our_schema(raw, SPLIT)
    assert json.dumps(raw) == before
