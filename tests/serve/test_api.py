"""The native API, asked over HTTP at a server in a process of its own."""

import json
import re
import shutil
import socket
import threading
import time
from collections.abc import Iterator

import httpx
import pytest

from alpha_codium.program import Job, Program
from alpha_codium.verdict import JUDGING_RULES, Report
from tests.judge.interactors import GUESSES, IN_PYTHON
from tests.serve.serving import started
from tests.support import ROOT

ADD = "print(sum(map(int, input().split())))"
TESTS = [{"input": "1 2", "output": "3"}, {"input": "4 5", "output": "9"}]
FOREVER = "while True: pass"


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with started() as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        yield client


def judged(client: httpx.Client, **request: object) -> dict:
    answer = client.post("/v1/judge", json={"program": ADD, "tests": TESTS} | request)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++: apt-get install g++")
def test_a_program_in_cpp_is_judged_as_one_in_python(client):
    source = "#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b; }"
    answer = judged(client, program=source, language="cpp")
    assert (answer["verdict"], answer["tests_passed"]) == ("accepted", 2)
    broken = judged(client, program="int main() { return x; }", language="cpp")
    assert broken["verdict"] == "compilation_error"
    assert "'x' was not declared" in broken["message"].replace("\u2018", "'").replace("\u2019", "'")
    refused = client.post("/v1/judge", json={"program": ADD, "tests": TESTS, "language": "ada"})
    assert (refused.status_code, "there is no 'ada'" in refused.text) == (422, True)


def test_a_right_program_is_accepted_test_by_test(client):
    answer = judged(client, id="a")
    assert (answer["id"], answer["verdict"], answer["accepted"], answer["judged"]) == ("a", "accepted", True, True)
    assert [(test["verdict"], test["stdout"], test["trust"]) for test in answer["tests"]] == [
        ("accepted", "3\n", "outside"),
        ("accepted", "9\n", "outside"),
    ]


def test_a_wrong_program_says_where_it_fails(client):
    answer = judged(client, program="print(3)")
    assert (answer["verdict"], answer["failed"], answer["tests_passed"], answer["tests_total"]) == (
        "wrong_answer",
        1,
        1,
        2,
    )


def test_the_first_failure_ends_it_if_asked(client):
    answer = judged(client, program="1 / 0", stop_on_first_failure=True)
    assert [test["verdict"] for test in answer["tests"]] == ["runtime_error"]
    assert answer["tests_total"] == 2


def test_functions_and_assertions_are_judged_too(client):
    call = judged(
        client, program="def f(x): return x + 1", kind="call", entry_point="f", tests=[{"input": "[1]", "output": "2"}]
    )
    code = judged(client, program="def f(x): return x + 1", kind="assertions", tests=[{"input": "assert f(1) == 3"}])
    assert (call["verdict"], code["verdict"]) == ("accepted", "wrong_answer")
    assert call["tests"][0]["stdout"] == "2", "the value, not as it is sent out of the sandbox"


def test_limits_and_the_checker_are_those_of_the_request(client):
    answer = judged(client, program=FOREVER, time_limit_seconds=0.2, tests=TESTS[:1])
    assert answer["verdict"] == "time_limit_exceeded"
    assert answer["tests"][0]["cpu_seconds"] < 1
    close = {"program": "print(0.3000001)", "tests": [{"input": "", "output": "0.3"}]}
    assert judged(client, **close)["verdict"] == "wrong_answer"
    near = {"name": "float", "arguments": {"abs": 1e-3}}
    assert judged(client, **close, checker=near)["verdict"] == "accepted"


def test_an_interactor_of_the_request_talks_to_the_program(client):
    assert IN_PYTHON.checker is not None
    checker = {"name": "interactor", "arguments": IN_PYTHON.checker.arguments}
    request = {"checker": checker, "tests": [{"input": "77", "output": "10"}], "time_limit_seconds": 2}
    assert judged(client, program=GUESSES, **request)["verdict"] == "accepted"
    answer = judged(client, program="for n in range(99): print(n, flush=True), input()", **request)
    assert answer["verdict"] == "wrong_answer"
    assert answer["tests"][0]["stderr"].endswith("the interactor said: more than 10 guesses")


def test_a_program_that_does_not_compile_says_why(client):
    answer = judged(client, program="def f(:")
    assert answer["verdict"] == "compilation_error"
    assert "SyntaxError" in answer["message"]


def test_outputs_that_are_no_text_come_as_json(client):
    answer = judged(client, program="import sys; sys.stdout.buffer.write(bytes(range(256)))")
    assert answer["verdict"] == "wrong_answer"
    assert "\ufffd" in answer["tests"][0]["stdout"]


@pytest.mark.parametrize(
    ("request_", "detail"),
    [
        ({"tests": TESTS}, "program: Field required"),
        ({"program": ADD, "tests": [{"output": "3"}]}, "tests.0.input: Field required"),
        ({"program": ADD, "tests": TESTS, "time_limit": 3}, "time_limit: Extra inputs are not permitted"),
        ({"program": ADD, "tests": TESTS, "language": "cobol"}, "language: there is no 'cobol', but python3"),
        (
            {"program": ADD, "tests": TESTS, "checker": {"name": "flaot"}},
            "problem 'request': there is no checker 'fl",
        ),
        ({"program": ADD, "tests": TESTS, "time_limit_seconds": -1}, "time_limit_seconds: Input should be greater"),
    ],
)
def test_an_invalid_request_is_refused_in_one_line(client, request_, detail):
    answer = client.post("/v1/judge", json=request_)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(detail)


@pytest.mark.thorough
def test_a_batch_is_answered_program_by_program_as_they_finish(client):
    slow = {"id": "slow", "program": FOREVER, "tests": TESTS[:1], "time_limit_seconds": 1}
    programs = [slow, *({"id": str(n), "program": ADD, "tests": TESTS} for n in range(8))]
    with client.stream("POST", "/v1/judge/batch", json={"programs": programs}) as stream:
        lines = [json.loads(line) for line in stream.iter_lines()]
    assert sorted(line["index"] for line in lines) == list(range(9))
    assert lines[-1]["answer"]["id"] == "slow"
    assert {line["answer"]["verdict"] for line in lines[:-1]} == {"accepted"}


def test_a_job_is_executed_and_its_report_comes_back(client):
    job = Job(Program.from_source("python3", ADD), ("1 2", "x"))
    answer = client.post("/v1/execute", json=job.to_json())
    report = Report.from_json(answer.json())
    assert [execution.stdout for execution in report.executions] == ["3\n", ""]
    refused = client.post("/v1/execute", json=job.to_json() | {"limit": 3})
    assert refused.status_code == 422


def test_what_the_page_shows_works(client, capsys):
    (shown,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "service.md").read_text(), re.DOTALL)
    exec(shown.replace("http://127.0.0.1:8080", str(client.base_url).rstrip("/")))
    assert capsys.readouterr().out == "accepted 2 2\n"


def test_the_server_tells_what_it_is(client):
    info = client.get("/v1/info").json()
    assert info["sandbox"]["backend"] == "local"
    assert info["sandbox"]["rules"] == JUDGING_RULES
    assert any(each.startswith("numpy==") for each in info["sandbox"]["packages"])
    assert info["languages"][0] == "python3"
    assert info["tools"]["python3"] == ""
    assert ("cpp" in info["languages"]) == (shutil.which("g++") is not None)
    assert client.get("/healthz").text == client.get("/readyz").text == "ok"
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/v1/judge", "/v1/judge/batch", "/v1/execute"} <= paths.keys()


def test_verdicts_are_counted_for_prometheus(client):
    def count() -> float:
        lines = client.get("/metrics").text.splitlines()
        return sum(
            float(line.split()[1]) for line in lines if line.startswith('gencode_verdicts_total{verdict="accepted"')
        )

    before = count()
    judged(client)
    assert count() == before + 1


def test_work_of_a_client_that_left_is_ended(client):
    body = json.dumps({"program": FOREVER, "tests": TESTS * 50, "time_limit_seconds": 30}).encode()
    head = (
        f"POST /v1/judge HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((client.base_url.host, client.base_url.port)) as connection:
        connection.sendall(head.encode() + body)
        while client.get("/v1/info").json()["queued"] != 100:
            time.sleep(0.05)
    deadline = time.monotonic() + 20
    while client.get("/v1/info").json()["queued"]:
        assert time.monotonic() < deadline, "the work goes on"
        time.sleep(0.05)


@pytest.mark.thorough
def test_beyond_its_queue_a_server_says_when_to_try_again():
    with started("--max_queue", "10") as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        endless = {"program": FOREVER, "tests": TESTS * 4, "time_limit_seconds": 1, "stop_on_first_failure": True}
        working = threading.Thread(target=judged, args=[client], kwargs=endless)
        working.start()
        while not client.get("/v1/info").json()["queued"]:
            time.sleep(0.02)
        refused = client.post("/v1/judge", json={"program": ADD, "tests": TESTS * 2})
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) >= 1
        working.join()
        assert judged(client)["accepted"]


@pytest.mark.thorough
def test_with_a_token_nothing_else_is_answered(tmp_path):
    with started(GENCODE_SERVE_TOKEN="secret") as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        assert client.post("/v1/judge", json={}).status_code == 401
        assert client.get("/docs").status_code == 401
        assert client.get("/healthz").status_code == 200
        answer = client.post(
            "/v1/judge", json={"program": ADD, "tests": TESTS}, headers={"Authorization": "Bearer secret"}
        )
        assert answer.json()["accepted"]


@pytest.mark.thorough
def test_a_stopping_server_ends_its_work_first():
    with started() as (address, process), httpx.Client(base_url=address, timeout=60) as client:
        answers: list[dict] = []
        sleeper = {"program": "import time; time.sleep(1); print(3)", "tests": TESTS[:1]}
        working = threading.Thread(target=lambda: answers.append(judged(client, **sleeper)))
        working.start()
        while not client.get("/v1/info").json()["queued"]:
            time.sleep(0.02)
        process.terminate()
        working.join()
        assert answers[0]["accepted"]
        assert process.wait(60) == 0
