"""Problems that requests name: uploaded ones, and those of a dataset, at a server in a process of its own."""

import json
from collections.abc import Iterator

import httpx
import pytest
from fastapi import HTTPException
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.problem import ExecutionSpec, Problem, TestCase, TestType
from alpha_codium.program import Job, Program
from alpha_codium.sandbox.remote.inputs import RepeatedInputs, StoredInputs
from alpha_codium.serve.problems import Problems
from alpha_codium.serve.requests import JudgeRequest, ProblemRequest
from tests.judge.interactors import GUESSES, ICPC, interactive
from tests.serve.serving import started
from tests.support import ROOT

ADD = "print(sum(map(int, input().split())))"
TESTS = [{"input": "1 2", "output": "3"}, {"input": "4 5", "output": "9"}]
FLOATS = {
    "tests": [{"input": "", "output": "0.3"}],
    "checker": {"name": "float", "arguments": {"abs": 1e-3}},
    "time_limit_seconds": 0.5,
}
JARS = ROOT / "examples" / "jars.json"


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with started("--dataset_name", str(JARS)) as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        yield client


def stored(client: httpx.Client, **problem: object) -> str:
    answer = client.post("/v1/problems", json={"tests": TESTS} | problem)
    assert answer.status_code == 200, answer.text
    return answer.json()["problem"]


def judged(client: httpx.Client, **request: object) -> dict:
    answer = client.post("/v1/judge", json={"program": ADD} | request)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_request_that_names_a_problem_gets_the_answer_of_one_with_its_tests(client):
    by_name, with_tests = judged(client, problem=stored(client)), judged(client, tests=TESTS)
    for answer in (by_name, with_tests):
        for test in answer["tests"]:
            del test["cpu_seconds"], test["wall_seconds"], test["max_rss_bytes"]
    assert by_name == with_tests
    assert by_name["verdict"] == "accepted"


@pytest.mark.thorough
def test_checker_kind_and_limits_are_those_of_the_problem(client):
    floats = stored(client, **FLOATS)
    assert judged(client, program="print(0.3000001)", problem=floats)["verdict"] == "accepted"
    slow = judged(client, program="while True: pass", problem=floats)
    assert slow["verdict"] == "time_limit_exceeded"
    assert slow["tests"][0]["cpu_seconds"] < 1
    call = stored(client, kind="call", entry_point="f", tests=[{"input": "[1]", "output": "2"}])
    assert judged(client, program="def f(x): return x + 1", problem=call)["verdict"] == "accepted"


def test_a_request_may_have_limits_of_its_own(client):
    patient = stored(client, **FLOATS, memory_limit_bytes=1 << 29)
    hurried = judged(client, program="while True: pass", problem=patient, time_limit_seconds=0.1)
    assert hurried["tests"][0]["cpu_seconds"] < 0.4


def test_programs_of_a_batch_name_problems_too(client):
    programs = [{"id": str(n), "program": ADD, "problem": stored(client)} for n in range(5)]
    lines = client.post("/v1/judge/batch", json={"programs": programs}).text.splitlines()
    assert {json.loads(line)["answer"]["verdict"] for line in lines} == {"accepted"}
    unknown = {"program": ADD, "problem": "0" * 64}
    first, *others = client.post("/v1/judge/batch", json={"programs": [*programs, unknown]}).text.splitlines()
    found = json.loads(first)
    assert (found["index"], found["fault"], len(others)) == (5, "data", 5)
    assert "send it to /v1/problems again" in found["error"]


FILES = Problem("files", private_tests=(TestCase("1 2", "3"),), input_file="in.txt", output_file="out.txt")
IN_FILES = "a, b = map(int, open('in.txt').read().split())\nprint(a + b, file=open('out.txt', 'w'))"
IN_RUBY = Problem(
    "ruby",
    execution=ExecutionSpec("assertions", test_code="raise 'assertion failed' unless add(1, 2) == 3", language="ruby"),
)
WHOLE = [
    (FILES, "python3", IN_FILES, ADD),
    (interactive(ICPC, private_tests=(TestCase("7", "20"),)), "python3", GUESSES, "print(0)"),
    (IN_RUBY, "ruby", "def add(a, b) = a + b", "def add(a, b) = a"),
]


@pytest.mark.parametrize(
    ("whole", "language", "right", "wrong"), WHOLE, ids=["files", "interactor", "assertions in ruby"]
)
def test_a_request_may_have_a_whole_problem(client, whole, language, right, wrong):
    own = whole.to_json()
    by_name = client.post("/v1/problems", json={"problem": own}).json()
    assert by_name["tests"] == len(whole.tests(tuple(TestType)))
    for sent in (own, by_name["problem"]):
        answers = [judged(client, program=each, language=language, problem=sent) for each in (right, wrong)]
        assert [(answer["judged"], answer["accepted"]) for answer in answers] == [(True, True), (True, False)], answers


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"kind": "call"}, "problem: not a Problem: "),
        ({"private_tests": [{"input": 1, "output": ""}]}, "problem: not a TestCase: input must be a str"),
        ({"checker": {"name": "float", "arguments": [1]}}, "problem.checker.arguments: "),
        ({"execution": {"kind": "cal"}}, "it has tests of the kind 'cal'"),
        ({"private_tests": [{"input": "", "output": ""}] * 10_001}, "problem: a problem has at most 10000 tests"),
    ],
    ids=["unknown", "test", "checker", "kind", "many"],
)
def test_an_invalid_problem_is_refused_with_the_reason(client, changes, detail):
    answer = client.post("/v1/judge", json={"program": ADD, "problem": FILES.to_json() | changes})
    assert answer.status_code == 422
    assert detail in answer.json()["detail"]


def test_the_digest_depends_on_the_content_alone(client):
    assert stored(client) == stored(client, kind="stdin", time_limit_seconds=0)
    assert stored(client) != stored(client, time_limit_seconds=1)
    inputs = StoredInputs(("1 2", "ü\x00", ""))
    assert stored(client, **inputs.problem()) == inputs.digest


@pytest.mark.parametrize(
    ("problem", "detail"),
    [
        ("0" * 64, "isn't stored here, or not any more: send it to /v1/problems again"),
        ("no such", "the server's dataset has none of this name"),
    ],
)
def test_an_unknown_problem_is_not_found_and_the_answer_says_what_to_do(client, problem, detail):
    for answer in (
        client.post("/v1/judge", json={"program": ADD, "problem": problem}),
        client.get(f"/v1/problems/{problem}"),
    ):
        assert answer.status_code == 404
        assert detail in answer.json()["detail"]


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({}, "either tests or a problem is required"),
        ({"problem": "a", "tests": TESTS, "kind": "call"}, "a request with a problem has no kind, tests"),
    ],
)
def test_a_request_has_either_tests_or_a_problem(client, fields, detail):
    answer = client.post("/v1/judge", json={"program": ADD} | fields)
    assert answer.status_code == 422
    assert detail in answer.json()["detail"]


def test_the_problems_of_the_servers_dataset_are_known_by_their_names(client):
    record = json.loads(JARS.read_text())
    (record,) = record if isinstance(record, list) else [record]
    found = client.get(f"/v1/problems/{record['name']}").json()
    tests = sum(len(record.get(kind, {}).get("input", ())) for kind in ("public_tests", "private_tests"))
    assert found == {"problem": record["name"], "tests": tests}
    answer = judged(client, program=record["solutions"]["solution"][0], problem=record["name"])
    assert (answer["verdict"], answer["tests_total"]) == ("accepted", tests)


def test_a_job_may_name_inputs_that_are_stored(client):
    job = Job(Program.from_source("python3", ADD)).to_json()
    part = {"problem": stored(client), "first": 1, "count": 5}
    report = client.post("/v1/execute", json=job | {"inputs": part}).json()
    assert [execution["stdout"] for execution in report["executions"]] == ["9\n"]
    wrong = client.post("/v1/execute", json=job | {"inputs": part | {"first": -1}})
    assert (wrong.status_code, wrong.json()["detail"][:12]) == (422, "inputs.first")
    assert client.post("/v1/execute", json=job | {"inputs": part | {"problem": "0" * 64}}).status_code == 404


@pytest.mark.thorough
def test_the_least_recently_used_problem_is_dropped_and_may_be_sent_again():
    with started("--max_problem_bytes", "250000") as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        first, second = (stored(client, tests=[{"input": letter * 100_000}]) for letter in "ab")
        assert client.get(f"/v1/problems/{first}").status_code == 200
        third = stored(client, tests=[{"input": "c" * 100_000}])
        assert [client.get(f"/v1/problems/{each}").status_code for each in (first, second, third)] == [200, 404, 200]
        assert stored(client, tests=[{"input": "b" * 100_000}]) == second
        too_large = client.post("/v1/problems", json={"tests": [{"input": "d" * 300_000}]})
        assert too_large.status_code == 413
        assert client.get(f"/v1/problems/{second}").status_code == 200


async def test_problems_need_a_dataset_or_an_upload() -> None:
    with pytest.raises(HTTPException, match="the server has no dataset"):
        await Problems().of(JudgeRequest(program="", problem="jars"))


@given(st.lists(st.integers(1, 40), max_size=30))
def test_problems_never_exceed_their_memory(sizes: list[int]) -> None:
    problems = Problems(200_000)
    for number, size in enumerate(sizes):
        test = {"input": chr(97 + number) * size * 1000, "output": ""}
        digest = problems.add(ProblemRequest.model_validate({"tests": [test]}))
        assert digest in problems._kept
        assert problems.bytes == sum(size for _, size in problems._kept.values()) <= problems.most_bytes


def test_inputs_are_stored_when_a_second_program_runs_on_them_unless_they_are_small() -> None:
    repeated = RepeatedInputs(100_000)
    large = ["a" * 9000, "b"]
    assert [repeated.find(large), repeated.find(["a"]), repeated.find(["a"])] == [None] * 3
    found = repeated.find(list(large))
    assert found is not None
    assert found.inputs == tuple(large)
    for letter in "bcdefghijklmn":
        assert repeated.find([letter * 9000]) is None
    assert repeated.find(large) is None  # forgotten meanwhile
