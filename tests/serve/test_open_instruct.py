"""The dialect of open-instruct, asked over HTTP at a server in a process of its own."""

import base64
import json
import pickle
import zlib

import httpx
import pytest

from alpha_codium.errors import UserError
from alpha_codium.serve.dialects import DIALECTS, named
from tests.serve.serving import started

ADD = "print(sum(map(int, input().split())))"
TESTS = [{"input": "1 2", "output": "3"}, {"input": "4 5", "output": "9"}]


def results(client: httpx.Client, program: str, tests: object = TESTS, path: str = "/test_program_stdio") -> list[int]:
    answer = client.post(path, json={"program": program, "tests": tests, "max_execution_time": 0.5})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert [runtime >= 0 for runtime in found["runtimes"]] == [result == 1 for result in found["results"]]
    assert all(runtime >= 0 or runtime == -1.0 for runtime in found["runtimes"])
    return found["results"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("program", "expected"),
    [(ADD, [1, 1]), ("print(3)", [1, 0]), ("1 / 0", [0, 0]), ("while True: pass", [0, 0]), ("def f(:", [0, 0])],
)
def test_each_test_has_a_result_and_a_runtime(client, program, expected):
    assert results(client, program) == expected


def test_no_runtime_is_above_the_limit_and_sleeping_counts(client):
    slow = "import time\ntime.sleep(0.9)\nprint(3)"
    assert results(client, slow) == [0, 0]
    assert results(client, "import time\ndef f(x): time.sleep(0.9)", ["f(1); assert True"], "/test_program") == [0]


def test_tests_may_be_json_in_a_string(client):
    assert results(client, ADD, json.dumps(TESTS)) == [1, 1]


def test_assertions_are_judged_one_by_one(client):
    tests = ["assert f(1) == 2", "assert f(1) == 3"]
    assert results(client, "def f(x): return x + 1", tests, "/test_program") == [1, 0]
    assert results(client, "def f(:", tests, "/test_program") == [0, 0]


def test_without_tests_there_are_no_results(client):
    assert results(client, ADD, []) == []


def test_pickled_tests_are_refused(client):
    packed = base64.b64encode(zlib.compress(pickle.dumps(json.dumps(TESTS)))).decode()
    answer = client.post("/test_program_stdio", json={"program": ADD, "tests": packed})
    assert answer.status_code == 422
    assert "pickled" in answer.json()["detail"]


def test_health_is_answered(client):
    assert client.get("/health").status_code == 200


@pytest.mark.thorough
def test_a_dialect_that_is_off_is_not_answered():
    with started("--dialects", "") as (address, _):
        assert httpx.post(address + "/test_program", json={}).status_code == 404


def test_unknown_dialects_are_refused():
    assert named("all") == tuple(DIALECTS)
    with pytest.raises(UserError, match="there is no dialect 'x', but "):
        named("open_instruct, x")
