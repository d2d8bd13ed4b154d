"""Several servers of `gencode serve`: which of them gets a request, and what is done if one fails.

1. A request goes to the server that has the fewest for its number of workers.
2. A server that is gone, or too busy, gets no requests for a while; the request goes to another one. Before a server
   that failed gets requests again, it must answer `GET /v1/info`.
3. A request that fails `TRIES` times is an error, since the request itself may be the reason: its connection breaks,
   or its answer can't be read, or has a status of 500 and above.
4. If no server has answered for `PATIENCE_SECONDS`, that is an error.
"""

import asyncio
import json
import logging
import socket
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import httpx

PATIENCE_SECONDS = 120.0
TRIES = 3
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0
# A program may compute for long, so answers have no time limit; a machine that is gone is found by these probes.
PROBES = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
KEEP_ALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *((socket.IPPROTO_TCP, getattr(socket, name), value) for name, value in PROBES.items() if hasattr(socket, name)),
]
CONNECT_SECONDS = 10.0
# The status of what a server can read, but not do.
INVALID = 422


class JudgeError(Exception):
    """No server has answered, or one has answered something else than it should."""


class RequestRefused(JudgeError):
    """A server doesn't do what was asked for, and wouldn't if it were asked again."""


class Unavailable(Exception):
    """A server can't answer now; it may be asked again after `seconds`, or when it is known to be up for None."""

    def __init__(self, reason: object, seconds: float | None = None) -> None:
        super().__init__(str(reason) or type(reason).__name__)
        self.seconds = seconds


class Failed(Unavailable):
    """A server got a request and couldn't do what was asked for; the reason may be the request."""


@dataclass(slots=True)
class Server:
    """A server, the requests that it has, and until when (of `time.monotonic`) it gets no others."""

    url: str
    workers: int = 1
    busy: int = 0
    failures: int = 0
    resting_until: float = 0.0

    @property
    def load(self) -> float:
        """The number of requests for each worker."""
        return self.busy / self.workers

    def rest(self, seconds: float | None) -> None:
        """Get no requests for a while: the longer, the more often the server has failed."""
        if seconds is None:
            seconds = min(LONGEST_PAUSE, FIRST_PAUSE * 2**self.failures)
            self.failures += 1
        self.resting_until = time.monotonic() + seconds

    def suspect(self) -> None:
        """Get no request before it is known to be up."""
        self.failures = self.failures or 1


class Servers:
    """Servers that all can answer a request, to be used with `async with`.

    `error` and `refused` are the exceptions that are raised; a derived class may have its own, and its own `logger`.
    """

    logger: ClassVar[Any] = logging.getLogger(__name__)
    error: ClassVar[type[Exception]] = JudgeError
    refused: ClassVar[type[Exception]] = RequestRefused

    def __init__(self, urls: Sequence[str], token: str = "") -> None:
        self.servers = [Server(url.rstrip("/")) for url in urls]
        self._headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
        self._client: httpx.AsyncClient | None = None
        self._answered = 0.0

    async def __aenter__(self) -> Self:
        """Ask all servers what they are; raises `error` if none answers."""
        self._client = httpx.AsyncClient(
            headers=self._headers,
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
            transport=httpx.AsyncHTTPTransport(
                limits=httpx.Limits(max_connections=None), socket_options=KEEP_ALIVE, retries=0
            ),
        )
        try:
            await self._meet_all()
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(self, *_exc: object) -> None:
        """Close the connections, which ends what still runs for us."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    @property
    def workers(self) -> int:
        """How many programs all servers run at a time."""
        return sum(server.workers for server in self.servers)

    def met(self, server: Server, info: Mapping[str, Any]) -> None:
        """Take what a server says of itself; raises `error` if it can't be used, KeyError and such if it is another."""
        server.workers = max(1, int(info["workers"]))

    def check(self, server: Server, response: httpx.Response) -> None:
        """Look at an answer; raises `error` if the server can't be used any more."""

    async def ask(
        self, path: str, request: Mapping[str, Any], *, mend: Callable[[Server], Awaitable[None]] | None = None
    ) -> Any:
        """Return the answer of a server to a request, of NDJSON a list; another one is asked if it can't answer.

        If a server refuses the request, `mend` may give it what it needs, and it is asked again. Raises `error` if no
        server answers, and `refused` if the request is refused.
        """
        body, since, failures = json.dumps(request).encode(), time.monotonic(), 0
        while True:
            server = await self._next(since)
            server.busy += 1
            try:
                answer = await self._mended(server, path, body, mend)
            except Failed as error:
                failures += 1
                if failures == TRIES:
                    raise self.error(f"{server.url}: {error}") from error
                self.logger.debug(f"{server.url} failed: {error}")
                server.suspect()
            except Unavailable as error:
                # A server that is busy names the seconds; one that is gone is said once.
                say = self.logger.debug if error.seconds is not None or server.failures else self.logger.warning
                say(f"{server.url} can't answer now: {error}")
                server.rest(error.seconds)
            else:
                server.failures = 0
                return answer
            finally:
                server.busy -= 1

    async def _mended(
        self, server: Server, path: str, body: bytes, mend: Callable[[Server], Awaitable[None]] | None
    ) -> Any:
        try:
            return await self.request(server, "POST", path, body)
        except self.refused:
            if mend is None:
                raise
        await mend(server)
        return await self.request(server, "POST", path, body)

    async def _meet_all(self) -> None:
        found = await asyncio.gather(*(self._meet(server) for server in self.servers), return_exceptions=True)
        for server, error in zip(self.servers, found, strict=True):
            if isinstance(error, Unavailable):
                self.logger.warning(f"{server.url} doesn't answer: {error}")
                server.rest(None)
            elif isinstance(error, BaseException):
                raise error
        if all(server.failures for server in self.servers):
            raise self.error(f"no server answers: {', '.join(server.url for server in self.servers)}")

    async def _meet(self, server: Server) -> None:
        info = await self.request(server, "GET", "/v1/info")
        try:
            self.met(server, info)
        except (KeyError, TypeError, ValueError) as error:
            raise self.error(f"{server.url} is no server of gencode") from error

    async def _next(self, since: float) -> Server:
        """Return the server for a request made at `since`; waits while all of them rest."""
        while True:
            now = time.monotonic()
            if ready := [server for server in self.servers if server.resting_until <= now]:
                server = min(ready, key=lambda each: each.load)
                if not server.failures or await self._is_back(server):
                    return server
            elif all(each.failures for each in self.servers) and now > max(since, self._answered) + PATIENCE_SECONDS:
                raise self.error(f"no server has answered for {PATIENCE_SECONDS:.0f} s: is one of them running?")
            else:
                # A server that is asked whether it is up may be back sooner.
                pause = min(server.resting_until for server in self.servers) - now
                await asyncio.sleep(min(FIRST_PAUSE, max(0.0, pause)))

    async def _is_back(self, server: Server) -> bool:
        """Whether a server that failed answers again; nobody else tries meanwhile."""
        server.rest(LONGEST_PAUSE)
        try:
            await self._meet(server)
        except Unavailable:
            server.rest(None)
            return False
        server.failures, server.resting_until = 0, 0.0
        return True

    async def request(self, server: Server, method: str, path: str, body: bytes = b"") -> Any:
        """Return the JSON of an answer; raises Unavailable, or `error` or `refused` if asking again is of no use."""
        assert self._client is not None
        try:
            response = await self._client.request(method, server.url + path, content=body)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Unavailable(error) from error
        except httpx.HTTPError as error:
            raise Failed(error) from error
        seconds = _seconds(response.headers.get("retry-after", ""))
        # A proxy whose server is gone answers, too, but names no time.
        if seconds is not None or not response.is_server_error:
            self._answered = time.monotonic()
        if response.status_code in (429, 503):
            raise Unavailable(_detail(response), seconds)
        if response.is_server_error:
            raise Failed(_detail(response))
        if not response.is_success:
            # Any server would say the same of an invalid request.
            where = "" if response.status_code == INVALID else f"{server.url}: "
            raise self.refused(f"{where}{_detail(response)}")
        try:
            answer = _json_of(response)
        except (ValueError, RecursionError) as error:
            raise Failed(f"its answer can't be read: {error}") from error
        self.check(server, response)
        return answer


def _json_of(response: httpx.Response) -> Any:
    """Return the JSON of an answer, of NDJSON a list; raises ValueError and RecursionError."""
    if response.headers.get("content-type") == "application/x-ndjson":
        return [json.loads(line) for line in response.text.splitlines()]
    return response.json()


def _detail(response: httpx.Response) -> str:
    """Return why a request wasn't answered; of what isn't JSON, as proxies answer, only the status."""
    try:
        answer = response.json()
    except (ValueError, RecursionError):
        return f"{response.status_code} {response.reason_phrase}"
    return str(answer.get("detail", answer) if isinstance(answer, dict) else answer)[:500]


def _seconds(text: str) -> float | None:
    return float(text) if text.isdigit() else None
