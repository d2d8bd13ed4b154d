"""Servers whose answers break, or come from a proxy: one request fails, and the others are answered."""

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from alpha_codium.client import JudgeError, RequestRefused, servers
from alpha_codium.client.servers import TRIES, Servers

PAGE = b"<html><h1>an error</h1></html>"


class Handler(BaseHTTPRequestHandler):
    """Says what it is, and answers `/right`; other requests have the status that their path names, and a page.

    Of `/broken` the connection breaks, and `/200` is a page in place of JSON.
    """

    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_GET(self) -> None:
        self.answer(502 if self.server.is_gone else 200, b'{"workers": 2}')

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.server.asked.append(self.path)
        if self.path == "/broken":
            self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ncontent-length: 100\r\n\r\n{")
            self.close_connection = True
        elif self.path == "/right":
            self.answer(200, b'"right"')
        else:
            self.answer(int(self.path[1:]), PAGE)

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class Server(ThreadingHTTPServer):
    """A server that keeps the paths of requests; if it `is_gone`, only a proxy in front of it answers."""

    is_gone = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.parametrize("path", ["/broken", "/200", "/500", "/502", "/504"])
async def test_a_request_that_always_fails_is_an_error_after_some_tries(server: Server, path: str) -> None:
    async with asyncio.timeout(20), Servers([server.url]) as opened:
        with pytest.raises(JudgeError, match=server.url):
            await opened.ask(path, {})
    assert server.asked == [path] * TRIES


@pytest.mark.parametrize("path", ["/400", "/401", "/403", "/413"])
async def test_a_page_that_refuses_a_request_is_a_refusal(server: Server, path: str) -> None:
    async with asyncio.timeout(20), Servers([server.url]) as opened:
        with pytest.raises(RequestRefused, match=f"{server.url}: {path[1:]} "):
            await opened.ask(path, {})
    assert server.asked == [path]


async def test_requests_beside_one_that_fails_are_answered_without_a_pause(server: Server) -> None:
    async with asyncio.timeout(20), Servers([server.url]) as opened:
        failing = asyncio.gather(*(opened.ask("/broken", {}) for _ in range(5)), return_exceptions=True)
        assert [await opened.ask("/right", {}) for _ in range(100)] == ["right"] * 100
        assert all(isinstance(error, JudgeError) for error in await failing)


async def test_a_server_behind_a_proxy_is_waited_for_while_it_is_gone(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "PATIENCE_SECONDS", 1.0)
    async with asyncio.timeout(20), Servers([server.url]) as opened:
        server.is_gone = True
        asking = asyncio.create_task(opened.ask("/502", {}))
        with pytest.raises(JudgeError, match="no server has answered"):
            await asking
    assert server.asked == ["/502"]
