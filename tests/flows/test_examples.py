"""Examples in a description of a function, as tests; inputs made of them, and read from answers; clusters."""

import ast
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.flows.clusters import clusters_of, distinguishing_input, valid_inputs
from alpha_codium.flows.inputs import function_name, inputs_in, mutations, public_inputs
from alpha_codium.flows.stages.selecting import first_is_right
from alpha_codium.flows.tasks import CodingTask
from alpha_codium.judge.behaviour import Behaviour
from alpha_codium.languages.python import Python
from alpha_codium.languages.python.examples import examples_in
from alpha_codium.problem import ExecutionSpec, Problem, Statement, TestCase
from alpha_codium.verdict import Status
from tests.flows.scripted_flow import program
from tests.flows.test_complete_flow import HUMANEVAL, MBPP
from tests.support import shared_path

PASSES = Behaviour(Status.FINISHED, "1", "1")
CRASHES = Behaviour(Status.RUNTIME_ERROR, shown="Error")


def described(*lines):
    inside = "\n".join(f"    {line}" for line in lines)
    return Statement("P", f'def f(a, b=0):\n    """ Does it.\n{inside}\n    """\n')


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ((">>> f(1)", "2"), ["f(1) == 2"]),
        ((">>> f([1,2], b=3)", "[1, 2]", "", ">>> f('x')", "'x'"), ["f([1, 2], b=3) == [1, 2]", "f('x') == 'x'"]),
        (("f(1) == 2",), ["f(1) == 2"]),
        (("For example f(1) returns 2.",), ["f(1) == 2"]),
        (("* f('a(b') => ['(']",), ["f('a(b') == ['(']"]),
        (("f(1) should return [1, 2], since it is so.",), ["f(1) == [1, 2]"]),
        (("f(1) -> true", "f(2) \u279e False"), ["f(1) == True", "f(2) == False"]),
        (("f(1) == 2", "f(1) == 3"), []),
        (("f(n) == f(n-1)",), []),
        (("f(1) is nice", "f(1)", "g(1) == 2", "xf(1) == 2"), []),
        ((">>> g(1)", "2"), []),
        ((">>> f(1)", "Traceback (most recent call last):", "ValueError"), []),
        ((">>> f(1)", "<object>"), []),
    ],
)
def test_examples_are_read_from_a_description(lines, found):
    assert [test.input for test in examples_in(described(*lines))] == [f"assert {each}" for each in found]


def test_a_description_that_is_no_code_has_no_examples():
    assert examples_in(Statement("P", "f(1) == 2")) == ()


@given(st.text(alphabet="f(1)=>'\"[], \n#\\", max_size=60))
def test_no_description_breaks_the_reading(text):
    for test in examples_in(Statement("P", f"def f(a):\n    '''\n    {text}\n    '''\n")):
        ast.parse(test.input)


def test_most_descriptions_of_humaneval_have_examples_and_most_are_true():
    rows = [json.loads(line) for line in shared_path("data/humaneval.jsonl").read_text().splitlines()]
    found = {row["task_id"]: examples_in(Statement(row["task_id"], row["prompt"])) for row in rows}
    assert sum(map(bool, found.values())) >= 135
    assert "assert median([-10, 4, 6, 1000, 10, 20]) == 15.0" in [test.input for test in found["HumanEval/47"]]


async def test_a_wrong_example_does_not_sink_the_right_programs(bench):
    prompt = 'def f(a):\n    """ Twice.\n    >>> f(1)\n    3\n    >>> f(2)\n    4\n    """\n'
    problem = Problem("P", prompt, execution=ExecutionSpec("assertions", "f", "assert f(5) == 10"))
    answers = {"complete": [program("return 0"), program("return 2 * a"), program("return a")]}
    outcome = await bench.solve(problem, answers, {"resample.max_attempts": 4}, flow="resample")
    assert outcome.program.endswith("return 2 * a")
    assert (outcome.candidate.public_tests_passed, outcome.candidate.public_tests_total) == (1, 2)


async def test_examples_are_not_shown_a_second_time(bench):
    outcome = await bench.solve(HUMANEVAL, {"complete": program("return 5")}, flow="resample")
    assert outcome.candidate.solved_public
    assert "It must pass this test" not in outcome.calls[0].user


def task(kind, *tests, beginning=None):
    return CodingTask(Statement("P", "D", tuple(TestCase(*test) for test in tests)), kind, beginning, (), Python())


def test_the_function_is_the_one_that_assertions_call():
    tests = ("assert sorted(add(1, 2)) == 3", ""), ("assert add(0, 0) == 0", "")
    assert function_name(task("assertions", *tests)) == "add"
    assert function_name(task("assertions")) == ""
    assert public_inputs(CodingTask(MBPP.statement, "assertions", None, (), Python()))[:2] == ["add(1, 2)", "add(0, 0)"]


@pytest.mark.parametrize(
    ("kind", "answer", "found"),
    [
        ("stdin", "```\n1 2\n```\nand\n```text\n3\n4\n```\n```\n1 2\n```", ["1 2\n", "3\n4\n"]),
        ("stdin", "1 2", []),
        ("call", "```json\n[1, 2],\n[3, [4]]\n{}\n```", ["[1, 2]", "[3, [4]]"]),
        ("assertions", "1. add(1)\n2. add(3, b=[4])  # \nsub(1)\nprint(add(5))", ["add(1)", "add(3, b=[4])", "add(5)"]),
        ("assertions", "add(x, 1)\nadd(open('f'))\nadd(1,", []),
    ],
)  # fmt: skip
def test_inputs_are_read_from_answers(kind, answer, found):
    assert inputs_in(answer, task(kind, ("assert add(0, 1) == 1", ""))) == found


@pytest.mark.parametrize("line", ["add(" * 500 + ")" * 500, ("add(['" + "(" * 30 + "1," * 900 + ")" * 60) * 20])
def test_an_answer_full_of_broken_calls_is_read_at_a_bounded_cost(line, monkeypatch):
    read = []
    monkeypatch.setattr("alpha_codium.languages.python.examples.parsed", lambda text: read.append(len(text)))
    inputs_in(f"{line}\n" * 200, task("assertions", ("assert add(0, 1) == 1", "")))
    assert 0 < sum(read) < 1_000_000


@given(st.lists(st.integers(-9, 9) | st.text(max_size=3) | st.lists(st.integers(-9, 9), max_size=3), max_size=3))
def test_changed_arguments_are_arguments_still_and_none_comes_twice(arguments):
    changed = list(mutations(task("call", (json.dumps(arguments), "0"))))
    assert len(set(changed)) == len(changed)
    assert json.dumps(arguments) not in changed
    for each in map(json.loads, changed):
        assert list(map(type, each)) == list(map(type, arguments))
    call = f"add({', '.join(map(repr, arguments))})"
    assert all(ast.parse(each) for each in mutations(task("assertions", (f"assert {call} == 1", ""))))


@given(st.text(alphabet="0123456789 -ab\n", max_size=30))
def test_changed_texts_differ(text):
    changed = list(mutations(task("stdin", (text, ""))))
    assert len({text, *changed}) == 1 + len(changed)


def test_inputs_of_which_most_programs_crash_are_not_valid():
    assert valid_inputs([(PASSES, CRASHES, CRASHES), (PASSES, PASSES, CRASHES)]) == [0, 1]
    assert valid_inputs([]) == []


@given(st.lists(st.sampled_from("abX"), min_size=1, max_size=8))
def test_clusters_hold_each_candidate_once_and_the_largest_comes_first(keys):
    behaviours = {n: (CRASHES if key == "X" else Behaviour(Status.FINISHED, key, key),) for n, key in enumerate(keys)}
    clusters = clusters_of(behaviours, {n: [n] for n in behaviours})
    assert sorted(member for cluster in clusters for member in cluster.members) == list(range(len(keys)))
    sizes = [len(cluster.members) for cluster in clusters]
    assert sizes == sorted(sizes, reverse=True)
    crashes = [sum(not each.ran for each in cluster.behaviour) for cluster in clusters]
    assert sum(crashes) == keys.count("X") == sum(each > 0 for each in crashes)


def test_the_shortest_input_that_tells_two_apart_is_shown():
    def ran(*texts):
        return tuple(Behaviour(Status.FINISHED, text, text) for text in texts)

    one, other = clusters_of({0: ran("a", "bbbb", "c"), 1: ran("a", "dddd", "e")}, {0: [0], 1: [1]})
    assert distinguishing_input(one, other, ["1", "2", "3"]) == 2
    assert distinguishing_input(one, one, ["1", "2", "3"]) is None


@pytest.mark.parametrize(
    ("answer", "first"),
    [
        ("Answer: A", True),
        ("**Answer:** B", False),
        ("Output A is wrong.\nAnswer: B.", False),
        ("Because it adds up.\n\n(A)", True),
        ("The correct output is Output B", False),
        ("Answer: B\nThe first one would output a wrong value.", False),
        ("Answer: B, since Output A is wrong.", False),
        ("Answer: A (output B misses the zero)", True),
        ("Output A is correct. It is a list.\nAnswer: b", False),
        ("Answer:\n\nB", False),
        ("Both programs output a list.", None),
        ("A lot of thinking", None),
        ("", None),
        ("Both", None),
    ],
)
def test_which_output_is_said_to_be_right(answer, first):
    assert first_is_right(answer) is first
