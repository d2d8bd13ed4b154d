"""A real server process: what it refuses, whom it answers, and what two of them do on one machine."""

import asyncio
import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.serve.serving import START, started

ADD = "print(sum(map(int, input().split())))"
TESTS = [{"input": "1 2", "output": "3"}]
# Ends when it has used a second of CPU time.
ENDLESS = {"program": "while True: pass", "tests": TESTS * 4, "time_limit_seconds": 1, "stop_on_first_failure": True}


@contextlib.contextmanager
def busy(address: str) -> Iterator[None]:
    """Have the server judge a program with four tests, which takes it a second or two."""
    with httpx.Client(base_url=address, timeout=60) as client:
        working = threading.Thread(target=client.post, args=["/v1/judge"], kwargs={"json": ENDLESS})
        working.start()
        try:
            while not client.get("/v1/info").json()["queued"]:
                time.sleep(0.02)
            yield
        finally:
            working.join()


@pytest.mark.thorough
def test_a_full_server_refuses_a_request_before_it_is_sent():
    with started("--max_queue", "4") as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        with busy(address), contextlib.closing(connected(client)) as connection:
            connection.sendall(b"POST /v1/judge HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n")
            head = connection.recv(1 << 16).decode()
            assert head.startswith("HTTP/1.1 429")
            assert re.search(r"retry-after: \d+", head)
            assert client.get("/readyz").status_code == 503
            assert client.get("/healthz").status_code == 200
            assert "gencode_queue_cost 4.0" in client.get("/metrics").text
        assert client.get("/readyz").status_code == 200


@pytest.mark.thorough
def test_a_connection_whose_request_was_refused_can_be_used_again():
    with started("--max_queue", "4") as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        with busy(address), contextlib.closing(connected(client)) as connection:
            for _ in range(3):
                head = b"POST /v1/judge HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
                connection.sendall(head + b"x" * 1_000_000)
                assert connection.recv(1 << 16).startswith(b"HTTP/1.1 429")
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                while b"ok" not in (answer := connection.recv(1 << 16)):
                    assert answer


def connected(client: httpx.Client) -> socket.socket:
    return socket.create_connection((client.base_url.host, client.base_url.port))


@pytest.mark.thorough
def test_connections_leave_the_sandbox_the_descriptors_that_it_needs():
    prefix = ("prlimit", "--nofile=600:600")
    with started(prefix=prefix) as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        with contextlib.ExitStack() as stack:
            for _ in range(250):
                stack.enter_context(contextlib.closing(connected(client)))
            assert httpx.get(address + "/healthz").status_code == 503
        while (answer := client.post("/v1/judge", json={"program": ADD, "tests": TESTS})).status_code == 503:
            time.sleep(0.05)
        assert answer.json()["accepted"]


@pytest.mark.thorough
async def test_a_batch_of_a_client_that_left_is_ended():
    with started() as (address, _):
        async with httpx.AsyncClient(base_url=address, timeout=60) as client:
            batch = {"programs": [ENDLESS | {"time_limit_seconds": 60}] * 8}
            sent = asyncio.create_task(client.post("/v1/judge/batch", json=batch))
            while (await client.get("/v1/info")).json()["queued"] != 32:
                await asyncio.sleep(0.02)
            sent.cancel()
            while (await client.get("/v1/info")).json()["queued"]:
                await asyncio.sleep(0.02)


# What a program does, and its verdict, under a limit of half a second of CPU time.
KINDS = [
    ("print(int(input()) + 1)", "accepted"),
    ("import time\nwhile time.process_time() < 0.25: pass\nprint(int(input()) + 1)", "accepted"),
    ("import time\ntime.sleep(0.2)\nprint(int(input()) + 1)", "accepted"),
    ("print(int(input()) + 2)", "wrong_answer"),
    ("1 / 0", "runtime_error"),
    ("while True: pass", "time_limit_exceeded"),
    ("x = bytearray(500 << 20)", "memory_limit_exceeded"),
    ("def f(:", "compilation_error"),
]


@pytest.mark.slow
async def test_verdicts_of_two_servers_that_share_the_cores_are_right():
    with started() as (left, _), started() as (right, _):
        requests = [
            {"id": f"{n} {verdict}", "program": f"# {n}\n{program}", "tests": [{"input": "4", "output": "5"}]}
            | {"time_limit_seconds": 0.5, "memory_limit_bytes": 200 << 20}
            for n in range(12)
            for program, verdict in KINDS
        ]
        async with httpx.AsyncClient(timeout=300) as client:
            posts = [client.post(url + "/v1/judge", json=each) for each in requests for url in (left, right)]
            answers = [answer.json() for answer in await asyncio.gather(*posts)]
    assert [answer["verdict"] for answer in answers] == [answer["id"].split()[1] for answer in answers]


@pytest.mark.thorough
def test_without_the_token_nothing_runs(tmp_path: Path):
    (tmp_path / "token").write_text("right\n")
    with started("--token_file", str(tmp_path / "token")) as (address, process):
        with httpx.Client(base_url=address, timeout=60) as client:
            right = {"Authorization": "Bearer right"}
            paths = client.get("/openapi.json", headers=right).json()["paths"]
            refused = [
                client.request(method, path, json={"program": ADD, "tests": TESTS}, headers=given).status_code
                for path, methods in paths.items()
                for method in methods
                for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "right"})
                if path not in ("/healthz", "/readyz")
            ]
            assert set(refused) == {401}
            assert len(refused) > 20
            assert "gencode_tests_total 0.0" in client.get("/metrics", headers=right).text
            judged = client.post("/v1/judge", json={"program": ADD, "tests": TESTS}, headers=right)
            assert judged.json()["accepted"]
        assert b"right" not in Path(f"/proc/{process.pid}/cmdline").read_bytes()


@pytest.mark.thorough
def test_pages_of_other_sites_may_not_read_answers():
    with started() as (address, _):
        asked = {"Origin": "http://example.org", "Access-Control-Request-Method": "POST"}
        preflight = httpx.options(address + "/v1/judge", headers=asked)
        simple = httpx.get(address + "/v1/info", headers={"Origin": "http://example.org"})
        for answer in (preflight, simple):
            assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--host", "0.0.0.0"], "0.0.0.0 can be reached by others: set GENCODE_SERVE_TOKEN, or give a --token_file"),
        (["--host", ""], "every address can be reached by others"),
        (["--token", "secret"], "No such option"),
        (["--token_file", sys.executable], "is not a text in UTF-8"),
        (["-o", "code_tester.sandbox=false"], "a server runs programs only in a sandbox"),
    ],
)
def test_a_server_that_would_not_be_safe_does_not_start(options: list[str], reason: str):
    command = [sys.executable, "-c", START, "serve", "--port", "0", *options]
    environment = {name: value for name, value in os.environ.items() if name != "GENCODE_SERVE_TOKEN"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode == 2
    assert reason in done.stderr
