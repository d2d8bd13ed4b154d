"""The scripted server itself: an aiohttp application in a thread with an event loop of its own."""

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from aiohttp import web

from tests.servers.formats import ROUTES, Format, as_conversation
from tests.servers.replies import (
    Cut,
    Delay,
    Hang,
    Malformed,
    Reply,
    Rule,
    Script,
    Seen,
    Status,
    Tally,
    Text,
    echo,
    table,
)

PATIENCE_SECONDS = 30.0


class ScriptedServer:
    """A server on a free port of 127.0.0.1; `latency` is added to every answer, in seconds.

    Nobody is answered before `together` requests are open at once, whatever else keeps the machine busy.
    With an `api_key`, requests that don't bear it get 401. `script` is a callable, or rules for `table`; for a request
    with `n` it is called `n` times, with the number of the choice, from 0, as `body["choice"]`. With `takes_n` false,
    one choice is all there is.
    """

    def __init__(
        self,
        script: Script | Sequence[tuple[str, Reply | str]] = echo,
        *,
        faults: Sequence[Rule] = (),
        latency: float = 0.0,
        together: int = 0,
        journal: Path | None = None,
        api_key: str | None = None,
        port: int = 0,
        takes_n: bool = True,
    ) -> None:
        self._script = script if callable(script) else table(script)
        self._faults = tuple(faults)
        self._latency, self._together = latency, together
        self._journal = journal
        self._api_key = api_key
        self._port = port
        self._takes_n = takes_n
        self._arrived = threading.Condition()
        self._tally = Tally()
        self._requests: list[Seen] = []
        self._in_flight = 0
        self._answered = 0
        self._max_in_flight = 0
        self._other_paths: list[str] = []
        self._thread: threading.Thread | None = None
        self._ready = threading.Event()
        self._failure: BaseException | None = None

    @property
    def url(self) -> str:
        """The address without a path: the api_base of `anthropic/` and `ollama_chat/`."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def api_base(self) -> str:
        """The api_base of OpenAI-compatible providers."""
        return f"{self.url}/v1"

    @property
    def requests(self) -> list[Seen]:
        """All requests so far, in the order of arrival."""
        with self._arrived:
            return list(self._requests)

    @property
    def answered(self) -> int:
        """The number of answers that were sent to their end; faults don't count."""
        with self._arrived:
            return self._answered

    @property
    def in_flight(self) -> int:
        """The number of requests that are open."""
        with self._arrived:
            return self._in_flight

    @property
    def max_in_flight(self) -> int:
        """The largest number of requests that were open at once."""
        with self._arrived:
            return self._max_in_flight

    @property
    def other_paths(self) -> list[str]:
        """Requests that asked for no answer of a model: `METHOD /path`."""
        with self._arrived:
            return list(self._other_paths)

    def wait_for_requests(self, count: int, timeout: float = PATIENCE_SECONDS) -> None:
        """Block until so many requests have arrived."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self._requests) >= count, timeout):
                raise TimeoutError(f"{len(self._requests)} of {count} requests arrived")

    def wait_for_answers(self, count: int, timeout: float = PATIENCE_SECONDS) -> None:
        """Block until so many answers have been sent."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: self._answered >= count, timeout):
                raise TimeoutError(f"{self._answered} of {count} answers were sent")

    def start(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="scripted-server", daemon=True)
        self._thread.start()
        self._ready.wait(PATIENCE_SECONDS)
        if self._failure is not None:
            raise self._failure
        return self

    def stop(self) -> None:
        assert self._thread is not None
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(PATIENCE_SECONDS)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.start)

    async def __aexit__(self, *_exc: object) -> None:
        await asyncio.to_thread(self.stop)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._failure = error
            self._ready.set()

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=64 * 2**20)
        for path, form in ROUTES.items():
            app.router.add_post(path, self._handler(form))
        app.router.add_route("*", "/{rest:.*}", self._unknown)
        runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self._port)
        await site.start()
        self._port = runner.addresses[0][1]
        self._ready.set()
        try:
            await self._end.wait()
        finally:
            await runner.cleanup()

    async def _unknown(self, request: web.Request) -> web.Response:
        with self._arrived:
            self._other_paths.append(f"{request.method} {request.path}")
        return web.json_response({"error": {"message": f"no route {request.path}"}}, status=404)

    def _handler(self, form: Format) -> Any:
        async def handle(request: web.Request) -> web.StreamResponse:
            seen = self._record(request, json.loads(await request.read()))
            try:
                return await self._send(request, seen, form, self._decide(seen))
            finally:
                with self._arrived:
                    self._in_flight -= 1

        return handle

    def _record(self, request: web.Request, body: dict[str, Any]) -> Seen:
        times = self._tally.next(body)
        with self._arrived:
            seen = Seen(len(self._requests) + 1, request.path, dict(request.headers), body, time.monotonic(), times)
            self._requests.append(seen)
            self._in_flight += 1
            self._max_in_flight = max(self._max_in_flight, self._in_flight)
            self._arrived.notify_all()
        return seen

    def _decide(self, seen: Seen) -> Reply | str | list[Text]:
        if self._api_key is not None:
            headers = {name.lower(): value for name, value in seen.headers.items()}
            given = headers.get("authorization", "").removeprefix("Bearer ") or headers.get("x-api-key", "")
            if given != self._api_key:
                return Status(401, f"Incorrect API key provided: {given}", error_type="invalid_request_error")
        faults = (rule(seen) for rule in self._faults)
        fault = next((reply for reply in faults if reply is not None), None)
        return self._scripted(as_conversation(seen.body)) if fault is None else fault

    def _scripted(self, body: dict[str, Any]) -> Reply | str | list[Text]:
        n = body.get("n") or 1
        if n == 1 or not self._takes_n:
            return self._script(body)
        replies = [self._script(body | {"choice": choice}) for choice in range(n)]
        texts = [Text(reply) if isinstance(reply, str) else reply for reply in replies]
        return next((reply for reply in texts if not isinstance(reply, Text)), texts)  # a fault is that of all

    async def _send(
        self, request: web.Request, seen: Seen, form: Format, reply: Reply | str | list[Text]
    ) -> web.StreamResponse:
        match reply:
            case str():
                return await self._send(request, seen, form, Text(reply))
            case Delay(seconds, later):
                await asyncio.sleep(seconds)
                return await self._send(request, seen, form, later)
            case Hang():
                await self._end.wait()
                return await _cut(request, "", None)
            case Status():
                return _error(reply)
            case Malformed(body, content_type):
                return web.Response(text=body, content_type=content_type)
            case Cut(after_bytes):
                return await _cut(request, json.dumps(form(seen.body, [Text("cut " * 50)])), after_bytes)
            case Text():
                return await self._send(request, seen, form, [reply])
            case list():
                return await self._answer(request, seen, json.dumps(form(as_conversation(seen.body), reply)).encode())
        raise TypeError(f"a script gives a Reply or a text, not {reply!r}")

    async def _answer(self, request: web.Request, seen: Seen, payload: bytes) -> web.StreamResponse:
        end = time.monotonic() + PATIENCE_SECONDS
        while self._max_in_flight < self._together and time.monotonic() < end:
            await asyncio.sleep(0.01)
        await asyncio.sleep(self._latency)
        self._note("answering", seen)
        response = web.Response(body=payload, content_type="application/json")
        await response.prepare(request)
        await response.write_eof()
        self._note("answered", seen)
        with self._arrived:
            self._answered += 1
            self._arrived.notify_all()
        return response

    def _note(self, event: str, seen: Seen) -> None:
        if self._journal is not None:
            line = json.dumps({"event": event, "digest": seen.digest, "number": seen.number, "path": seen.path})
            with self._arrived, self._journal.open("a", encoding="utf-8") as file:
                file.write(line + "\n")


def _error(reply: Status) -> web.Response:
    headers = dict(reply.headers)
    if reply.retry_after is not None:
        headers["Retry-After"] = str(reply.retry_after)
    error = {"message": reply.message, "type": reply.error_type, "code": reply.error_code, "param": None}
    text = json.dumps({"error": error}) if reply.body is None else reply.body
    return web.Response(text=text, status=reply.code, headers=headers, content_type="application/json")


async def _cut(request: web.Request, payload: str, after_bytes: int | None) -> web.StreamResponse:
    """Send the head and the first bytes of an answer, then close the connection."""
    response = web.StreamResponse(headers={"Content-Length": str(len(payload)), "Content-Type": "application/json"})
    if after_bytes is not None:
        await response.prepare(request)
        await response.write(payload.encode()[:after_bytes])
    assert request.transport is not None
    request.transport.close()
    return response
