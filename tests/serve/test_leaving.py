"""Clients that close their connection: their work is ended. Over real sockets, at a server in a process of its own."""

import contextlib
import json
import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from tests.serve.serving import started
from tests.serve.test_nemo_gym import request_of

FOREVER = "while True: pass"
TEST = {"input": "", "output": ""}
ITEM = {"program": FOREVER, "tests": [TEST] * 20, "time_limit_seconds": 60}
SUBMISSION = {"type": "python", "solution": FOREVER}
SUBMIT = {
    "dataset": "a",
    "id": 1,
    "completion": f"```python\n{FOREVER}\n```",
    "config": {
        "dataset_type": "CommonOJDataset",
        "language": "python",
        "provided_data": {"test": [{"input": {"stdin": ""}, "output": {"stdout": ""}}]},
    },
}
JOB = {"program": {"language": "python3", "files": {"a.py": FOREVER}, "main": "a.py"}, "inputs": [""]}
REQUESTS = {
    "/v1/judge": ITEM,
    "/v1/judge/batch": {"programs": [ITEM] * 10},
    "/v1/execute": JOB | {"limits": {"cpu_seconds": 60}},
    "/run": SUBMISSION,
    "/submissions?wait=true": {"source_code": FOREVER, "language_id": 71, "cpu_time_limit": 15, "wall_time_limit": 20},
    "/judge/long-batch": {"submissions": [SUBMISSION] * 10},
    "/verify": request_of(f"```\n{FOREVER}\n```", {"inputs": [""], "outputs": [""]}),
    "/test_program_stdio": {"program": FOREVER, "tests": [TEST], "max_execution_time": 60},
    "/run_code": {"code": FOREVER, "language": "python", "run_timeout": 60},
    "/submit": SUBMIT,
    "/api/v2/execute": {
        "language": "python",
        "version": "*",
        "files": [{"content": FOREVER}],
        "run_timeout": 60000,
    },
}


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with started() as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        yield client


@contextlib.contextmanager
def asking(client: httpx.Client, path: str, item: object) -> Iterator[socket.socket]:
    """Send a request, and leave at the end without reading its answer."""
    body = json.dumps(item).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((client.base_url.host, client.base_url.port)) as connection:
        connection.sendall(head.encode() + body)
        yield connection


def wait_for(client: httpx.Client, *, busy: bool) -> None:
    deadline = time.monotonic() + 8
    while bool(client.get("/v1/info").json()["queued"]) is not busy:
        assert time.monotonic() < deadline, f"the server is {'not ' * busy}at work"
        time.sleep(0.05)


@pytest.mark.thorough
@pytest.mark.parametrize("path", [*REQUESTS])
def test_the_work_of_a_client_that_left_is_ended(client, path):
    with asking(client, path, REQUESTS[path]):
        wait_for(client, busy=True)
    wait_for(client, busy=False)
    assert client.post("/v1/judge", json={"program": "print()", "tests": [TEST]}).json()["accepted"]


def test_a_batch_whose_client_left_after_its_first_answer_is_ended(client):
    quick = {"program": "print()", "tests": [TEST]}
    with asking(client, "/v1/judge/batch", {"programs": [quick, ITEM, ITEM]}) as connection:
        received = b""
        while b'"accepted"' not in received:
            received += connection.recv(1 << 16)
        wait_for(client, busy=True)
    wait_for(client, busy=False)


def test_a_batch_that_is_never_answered_gives_its_place_back(client):
    for _ in range(5):
        with asking(client, "/v1/judge/batch", {"programs": [ITEM] * 50}):
            pass
    wait_for(client, busy=False)
