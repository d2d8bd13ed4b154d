"""The dialect of code-judge, asked over HTTP at a server in a process of its own."""

import httpx
import pytest

ADD = "print(sum(map(int, input().split())))"
PRINT_A = "import sys; print('a'); print('b', file=sys.stderr)"


def ask(client: httpx.Client, path: str, **item: object) -> dict:
    answer = client.post(path, json={"type": "python"} | item)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize(
    ("solution", "expected", "success", "run_success"),
    [
        (ADD, "3", True, True),
        (ADD, " 3\n\n", True, True),
        (ADD, None, True, True),
        (ADD, "4", False, True),
        ("print(3); 1 / 0", "3", False, False),
        ("def f(:", "3", False, False),
        ("", "", True, True),
    ],
)
def test_a_program_is_run_and_its_output_compared(client, solution, expected, success, run_success):
    item = {"sub_id": "x", "solution": solution, "input": "1 2", "expected_output": expected}
    for path in ("/judge", "/run"):
        found = ask(client, path, **item)
        assert (found["sub_id"], found["success"], found["run_success"]) == ("x", success, run_success)
        assert found["reason"] == ""
        assert ("stdout" in found) == (path == "/run")


def test_run_returns_the_outputs(client):
    found = ask(client, "/run", solution=PRINT_A)
    assert (found["stdout"], found["stderr"], found["cost"] > 0) == ("a\n", "b\n", True)
    assert "SyntaxError" in ask(client, "/run", solution="def f(:")["stderr"]


def test_an_output_that_is_cut_says_so(client):
    found = ask(client, "/run", solution="print('x' * 5000)", expected_output="x" * 5000)
    assert found["success"]
    assert found["stdout"] == "x" * 1000 + "... (4001 more characters)"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "solution", ["import time; time.sleep(60)", pytest.param("while True: pass", marks=pytest.mark.slow)]
)
def test_after_ten_seconds_a_program_is_ended(client, solution):
    found = ask(client, "/judge", solution=solution)
    assert (found["success"], found["run_success"], found["reason"]) == (False, False, "worker_timeout")


def test_a_language_that_the_server_does_not_run_is_an_invalid_input(client):
    found = ask(client, "/run", type="math", solution="1 + 1", expected_output="2")
    assert (found["success"], found["reason"]) == (False, "invalid_input")
    assert found["stderr"] == "this server runs no programs of the type math"
    assert client.post("/run", json={"type": "cobol", "solution": ""}).status_code == 422


@pytest.mark.parametrize("path", ["/judge/batch", "/judge/long-batch", "/run/batch", "/run/long-batch"])
def test_a_batch_is_answered_in_its_order(client, path):
    items = [
        {
            "type": "python",
            "solution": f"{'import time; time.sleep(0.3)' * (n == 0)}\nprint({n})",
            "expected_output": out,
        }
        for n, out in enumerate("0120")
    ]
    found = client.post(path, json={"type": "batch", "sub_id": "b", "submissions": items}).json()
    assert found["sub_id"] == "b"
    assert [result["success"] for result in found["results"]] == [True, True, True, False]
    assert len({result["sub_id"] for result in found["results"]}) == 4
    assert client.post(path, json={"submissions": []}).status_code == 422


def test_the_server_tells_how_it_is(client):
    assert client.get("/ping").json() == "pong"
    assert client.get("/status").json() == {"queue": 0, "num_workers": 2}
