"""Guarding an application, whatever framework it is written with."""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.responses import Response
from pydantic import BaseModel

from alpha_codium import hosting
from alpha_codium.hosting import Guarded, Refused, host_app


class Numbers(BaseModel):
    numbers: list[int]


@pytest.mark.asyncio
async def test_a_body_of_undeclared_size_that_is_too_large_is_answered_with_413() -> None:
    app = FastAPI()

    @app.post("/sum")
    async def add(numbers: Numbers) -> int:
        return sum(numbers.numbers)

    async def parts(count: int) -> AsyncIterator[bytes]:
        yield b'{"numbers": [1'
        for _ in range(count):
            yield b", 1"
        yield b"]}"

    transport = httpx.ASGITransport(Guarded(app, token="", largest=100))
    headers = {"content-type": "application/json"}
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
        assert (await client.post("/sum", content=parts(5), headers=headers)).text == "6"
        answer = await client.post("/sum", content=parts(50), headers=headers)
        assert (answer.status_code, answer.json()) == (413, {"detail": "the request is larger than 100 bytes"})


async def test_bodies_of_all_requests_together_are_bounded() -> None:
    app, waiting = FastAPI(), asyncio.Event()

    @app.post("/size")
    async def size(request: Request) -> int:
        return len(await request.body())

    async def slowly(size: int) -> AsyncIterator[bytes]:
        yield b"x" * size
        await waiting.wait()

    async def refused() -> httpx.Response:
        while (answer := await client.post("/size", content=b"x" * 60)).status_code == 200:
            await asyncio.sleep(0)
        return answer

    transport = httpx.ASGITransport(Guarded(app, token="", largest=1000, most_held=100))
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
        assert (await client.post("/size", content=b"x" * 200)).text == "200"  # alone, it may be as large as any
        first = asyncio.create_task(client.post("/size", content=slowly(80)))
        answer = await refused()
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        waiting.set()
        assert (await first).text == "80"
        assert (await client.post("/size", content=b"x" * 60)).text == "60"


async def test_a_body_that_is_refused_when_it_has_been_read_is_answered_at_once() -> None:
    messages = [{"type": "http.request", "body": b"x" * 60, "more_body": False}]
    sent: list[int] = []

    async def app(scope: object, receive: Callable[[], Awaitable[object]], send: object) -> None:
        await receive()

    async def receive() -> dict[str, object]:
        return messages.pop(0)  # a second call would wait for ever

    async def send(message: dict[str, int]) -> None:
        sent.append(message.get("status", 0))

    guarded = Guarded(app, token="", largest=50)
    await guarded({"type": "http", "method": "POST", "path": "/", "headers": []}, receive, send)
    assert sent == [413, 0]


async def test_what_is_refused_before_it_is_read_is_answered_with_its_status() -> None:
    def admit(method: str) -> None:
        if method == "POST":
            raise Refused(503, "not now", retry_after=3)

    transport = httpx.ASGITransport(Guarded(FastAPI(), token="", largest=100, admit=admit))
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
        answer = await client.post("/", content=b"x")
        assert (answer.status_code, answer.headers["retry-after"], answer.json()) == (503, "3", {"detail": "not now"})
        assert (await client.get("/openapi.json")).status_code == 200


@pytest.mark.thorough
async def test_a_client_that_takes_nothing_of_its_answer_loses_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "STALLED_SECONDS", 1)
    started: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    app = FastAPI()

    @app.get("/large")
    async def large() -> Response:
        return Response(b"x" * (64 << 20))

    guarded = Guarded(app, token="", largest=1000)
    serving = asyncio.create_task(host_app(guarded, "127.0.0.1", 0, on_start=started.set_result))
    try:
        port = int((await started).rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
            while not established(port):
                await asyncio.sleep(0.05)
            while established(port):
                await asyncio.sleep(0.05)
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


async def test_after_a_signal_work_is_refused_but_what_was_accepted_is_answered(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hosting, "GRACE_SECONDS", 1.0)
    started: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    app, begun, stopped, done = FastAPI(), asyncio.Semaphore(0), asyncio.Event(), asyncio.Event()

    @app.post("/wait")
    async def wait(forever: bool) -> str:
        begun.release()
        await (asyncio.Event() if forever else done).wait()
        return "done"

    @app.get("/poll")
    async def poll() -> str:
        return "here"

    guarded = Guarded(app, token="", largest=1000)
    serving = asyncio.create_task(
        host_app(guarded, "127.0.0.1", 0, on_start=started.set_result, on_stop=stopped.set, is_busy=lambda: True)
    )
    async with httpx.AsyncClient(base_url=await started) as client:
        asked = [asyncio.create_task(client.post("/wait", params={"forever": each})) for each in (False, True)]
        for _ in asked:
            await begun.acquire()
        os.kill(os.getpid(), signal.SIGTERM)
        await stopped.wait()
        assert (await client.get("/poll")).json() == "here", "those who wait for their results may ask for them"
        refused = await client.post("/wait", params={"forever": False})
        done.set()
        finished, cut = await asyncio.gather(*asked)
    stopping = {"detail": "the server is stopping: try another one"}
    assert (refused.status_code, refused.json(), refused.headers["retry-after"]) == (503, stopping, "1")
    assert (finished.status_code, finished.json()) == (200, "done")
    assert (cut.status_code, cut.json()) == (503, stopping)
    await serving
    assert not caplog.records, "nor is there a traceback in the log"


@pytest.mark.parametrize(("bytes_sent", "pause", "status"), [(1000, 30.0, 408), (1000, 0.2, 408), (100_000, 0.2, 200)])
async def test_a_body_that_stops_coming_is_refused_and_a_slow_one_is_not(
    monkeypatch: pytest.MonkeyPatch, bytes_sent: int, pause: float, status: int
) -> None:
    monkeypatch.setattr(hosting, "LEAST_SECONDS", 1)
    started: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    app = FastAPI()

    @app.post("/size")
    async def size(request: Request) -> int:
        return len(await request.body())

    guarded = Guarded(app, token="", largest=1 << 30, most_held=1 << 30)
    serving = asyncio.create_task(host_app(guarded, "127.0.0.1", 0, on_start=started.set_result))
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", int((await started).rpartition(":")[2]))
        writer.write(b"POST /size HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (10 * bytes_sent))

        async def send() -> None:
            for _ in range(10):
                writer.write(b"x" * bytes_sent)
                await asyncio.sleep(pause)

        sending = asyncio.create_task(send())
        answer = await reader.readuntil(b"\r\n\r\n")
        sending.cancel()
        assert answer.startswith(b"HTTP/1.1 %d" % status)
        assert (b"connection: close" in answer) == (status == 408)
        writer.close()
        assert guarded._held == 0
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


def test_connections_send_what_is_written_at_once() -> None:
    with hosting.listener("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def established(port: int) -> int:
    """The connections that a server on this port has."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(line[1].endswith(f":{port:04X}") and line[3] == "01" for line in lines)
