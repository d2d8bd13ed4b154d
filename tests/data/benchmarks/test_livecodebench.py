"""LiveCodeBench records in the CodeContests schema."""

import base64
import json
import os
import pickle
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.data.benchmarks import in_our_schema, livecodebench
from alpha_codium.data.schema import difficulty_name, problem_from_record, stored_record
from alpha_codium.errors import DatasetError
from alpha_codium.judge import Judge
from alpha_codium.problem import Problem
from alpha_codium.sandbox import open_sandbox

WHERE = "where it is"


def test_of(input: str, output: str, testtype: str = "stdin") -> dict[str, str]:
    return {"input": input, "output": output, "testtype": testtype}


test_of.__test__ = False  # type: ignore[attr-defined]


def packed(value: object) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


def record(**fields: object) -> dict[str, object]:
    return {
        "question_title": "Double",
        "question_content": "Double a number.",
        "platform": "atcoder",
        "question_id": "abc301_a",
        "contest_id": "abc301",
        "contest_date": "2023-05-13T00:00:00",
        "starter_code": "",
        "difficulty": "easy",
        "public_test_cases": json.dumps([test_of("1\n", "2\n")]),
        "private_test_cases": packed(json.dumps([test_of("2\n", "4\n"), test_of("3\n", "6\n")])),
        "metadata": "{}",
        **fields,
    }


def functional(**fields: object) -> dict[str, object]:
    tests = [test_of('[1, 2]\n"a"', "[1, 2]", "functional")]
    return record(
        public_test_cases=json.dumps(tests),
        private_test_cases=packed(json.dumps(tests * 2)),
        metadata=json.dumps({"func_name": "keep"}),
        starter_code="class Solution:\n    def keep(self, a: List[int], s: str) -> List[int]:\n        ",
        **fields,
    )


def problem(raw: dict[str, object]) -> Problem:
    return problem_from_record(raw, WHERE)


def test_public_and_private_tests_are_read():
    made = problem(record())
    assert (made.name, made.description, made.execution.kind) == ("livecodebench/abc301_a", "Double a number.", "stdin")
    assert [(test.input, test.output) for test in made.public_tests] == [("1\n", "2\n")]
    assert [(test.input, test.output) for test in made.private_tests] == [("2\n", "4\n"), ("3\n", "6\n")]
    assert difficulty_name(made.difficulty) == "easy"


def test_private_tests_may_be_plain_json():
    plain = json.dumps([test_of("2", "4")])
    assert [test.output for test in problem(record(private_test_cases=plain)).private_tests] == ["4"]


def test_the_date_of_the_contest_is_kept():
    raw = in_our_schema(record(), WHERE)
    assert stored_record(raw, WHERE, ["contest_date"])["contest_date"] == "2023-05-13T00:00:00"


def test_functional_tests_are_calls_with_an_argument_a_line():
    made = problem(functional())
    assert (made.execution.kind, made.execution.entry_point) == ("call", "keep")
    assert [json.loads(test.input) for test in made.private_tests] == [[[1, 2], "a"]] * 2
    assert made.checker is not None and made.checker.arguments == {"unwrap": False}
    assert "def keep(self, a: List[int]" in made.description


async def test_a_solution_with_what_livecodebench_imports_passes_and_the_first_item_does_not():
    made = problem(functional())
    async with open_sandbox("local", workers=1) as sandbox:
        judge = Judge(sandbox).for_problem(made)

        async def accepts(body: str) -> bool:
            code = f"class Solution:\n    def keep(self, a: List[int], s: str) -> List[int]:\n        {body}"
            return (await judge.judge(code, made.private_tests)).accepted

        assert await accepts("return a if s == 'a' else []")
        assert await accepts("return list(accumulate([bisect_left(a, 1) + 1, 1]))")
        assert not await accepts("return a[0]")
        assert not await accepts("return [a]")


@pytest.mark.parametrize("nothing", ["", "[]", None])
def test_a_record_without_tests_is_a_problem_without_tests(nothing):
    made = problem(record(public_test_cases=nothing, private_test_cases=nothing))
    assert not made.public_tests and not made.private_tests


class Caller:
    def __reduce__(self):
        return os.mkdir, ("made by a pickle",)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"private_test_cases": "!!"}, "neither JSON nor a compressed pickle"),
        ({"private_test_cases": base64.b64encode(b"abc").decode()}, "neither JSON nor a compressed pickle"),
        ({"private_test_cases": base64.b64encode(zlib.compress(b"a" * 999)[:10]).decode()}, "is cut short"),
        ({"private_test_cases": packed(Caller())}, "import or call"),
        ({"private_test_cases": packed(["no text"])}, "must be an object with the texts"),
        ({"private_test_cases": packed({"a": 1})}, "must be a list, not"),
        ({"private_test_cases": packed("{")}, "isn't valid JSON"),
        ({"public_test_cases": "{"}, "isn't valid JSON"),
        (
            {"public_test_cases": '[{"input": 1, "output": "", "testtype": "stdin"}]'},
            "must be an object with the texts",
        ),
        ({"public_test_cases": json.dumps([test_of("", "", "stdim")])}, "did you mean 'stdin'"),
        ({"public_test_cases": json.dumps([test_of("1", "1", "functional")])}, "must be the same for all"),
        ({"difficulty": "esay"}, "did you mean 'easy'"),
    ],
)
def test_a_malformed_record_is_one_clear_line(fields, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetError, match=message) as raised:
        problem(record(**fields))
    assert str(raised.value).startswith(f"{WHERE} ('abc301_a')") and "\n" not in str(raised.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("metadata", ["{}", "", "[]", '{"func_name": "a b"}', "{", None])
def test_functional_tests_without_a_function_are_an_error(metadata):
    with pytest.raises(DatasetError, match="metadata"):
        problem(functional() | {"metadata": metadata})


def test_a_functional_test_whose_lines_are_no_json_is_an_error():
    tests = json.dumps([test_of("[1, 2]\noops", "1", "functional")])
    with pytest.raises(DatasetError, match=r"public_test_cases\[0\].input must have JSON on each line"):
        problem(functional() | {"public_test_cases": tests})


def test_tests_that_unfold_beyond_all_measure_are_refused_before_they_do(monkeypatch):
    monkeypatch.setattr(livecodebench, "MAX_BYTES", 1 << 20)
    with pytest.raises(DatasetError, match="unfolds to more than 1048576 bytes"):
        problem(record(private_test_cases=packed("a" * (1 << 21))))


@pytest.mark.thorough
@given(st.text() | st.binary().map(lambda data: base64.b64encode(zlib.compress(data)).decode()))
def test_any_private_tests_are_read_or_a_clear_error(text):
    try:
        in_our_schema(record(private_test_cases=text), WHERE)
    except DatasetError as error:
        assert str(error).startswith(WHERE)
