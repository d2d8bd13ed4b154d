"""The servers of the backend `remote`: which of them gets a request, and what is done if one fails.

1. A request goes to the server that has the fewest for its number of workers.
2. A server that fails, or is too busy, gets no requests for a while; the request goes to another one. Before it gets
   requests again, it must say that it still has the same sandbox.
3. A request that fails on `TRIES` servers is an error, since the program itself may be the reason.
4. If no server has answered for `PATIENCE_SECONDS`, that is an error.
"""

import asyncio
import json
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import httpx
from loguru import logger

from alpha_codium.errors import SandboxError
from alpha_codium.sandbox.remote import IDENTITY_HEADER
from alpha_codium.sandbox.remote.inputs import StoredInputs, canonical
from alpha_codium.verdict import JUDGING_RULES, Identity

PATIENCE_SECONDS = 120.0
TRIES = 3
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0
# A program may compute for long, so answers have no time limit; a machine that is gone is found by these probes.
KEEP_ALIVE = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 20),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
)
CONNECT_SECONDS = 10.0


class Unavailable(Exception):
    """A server can't answer now; it may be asked again after `seconds`, or when it is known to be up for None."""

    def __init__(self, reason: object, seconds: float | None = None) -> None:
        super().__init__(str(reason) or type(reason).__name__)
        self.seconds = seconds


class Failed(Unavailable):
    """A server answered that it couldn't do what was asked for; the reason may be the request."""


class RefusedByServer(SandboxError):
    """A server doesn't do what was asked for, and wouldn't if it were asked again."""


@dataclass(slots=True)
class RemoteServer:
    """A server, the requests that it has, and until when (of `time.monotonic`) it gets no others."""

    url: str
    workers: int = 1
    busy: int = 0
    failures: int = 0
    resting_until: float = 0.0
    storing: asyncio.Lock = field(default_factory=asyncio.Lock)

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


class Servers:
    """Servers with one sandbox, to be used with `async with`; `identity` is that of their sandbox."""

    def __init__(self, urls: Sequence[str], token: str = "") -> None:
        self.servers = [RemoteServer(url.rstrip("/")) for url in urls]
        self.identity: Identity | None = None
        self.tools: dict[str, str] = {}
        self.has_turns = False
        self._headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
        self._client: httpx.AsyncClient | None = None
        self._answered = 0.0

    async def __aenter__(self) -> Self:
        """Ask all servers what they are; raises SandboxError if none answers, or their sandboxes differ."""
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

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections, which ends what still runs for us."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    @property
    def workers(self) -> int:
        """How many programs all servers run at a time."""
        return sum(server.workers for server in self.servers)

    async def ask(self, path: str, request: Mapping[str, Any], stored: StoredInputs | None = None) -> Any:
        """Return the answer of a server to a request, of NDJSON a list; another one is asked if it can't answer.

        A server that doesn't have the `stored` inputs that the request names gets them first. Raises SandboxError if
        no server answers, or the request is refused (RefusedByServer).
        """
        body, since, failures = json.dumps(request).encode(), time.monotonic(), 0
        while True:
            server = await self._next(since)
            server.busy += 1
            try:
                answer = await self._answer(server, path, body, stored)
            except Failed as error:
                failures += 1
                if failures == TRIES:
                    raise SandboxError(f"{server.url}: {error}") from error
            except Unavailable as error:
                logger.debug(f"{server.url} can't answer now: {error}")
                server.rest(error.seconds)
            else:
                server.failures = 0
                return answer
            finally:
                server.busy -= 1

    async def _answer(self, server: RemoteServer, path: str, body: bytes, stored: StoredInputs | None) -> Any:
        try:
            return await self._request(server, "POST", path, body)
        except RefusedByServer:
            if stored is None:
                raise
        async with server.storing:
            try:
                await self._request(server, "GET", f"/v1/problems/{stored.digest}")
            except RefusedByServer:
                await self._request(server, "POST", "/v1/problems", canonical(stored.problem()))
        return await self._request(server, "POST", path, body)

    async def _meet_all(self) -> None:
        found = await asyncio.gather(*(self._meet(server) for server in self.servers), return_exceptions=True)
        for server, error in zip(self.servers, found, strict=True):
            if isinstance(error, Unavailable):
                logger.warning(f"{server.url} doesn't answer: {error}")
                server.rest(None)
            elif isinstance(error, BaseException):
                raise error
        if self.identity is None:
            raise SandboxError(f"no server answers: {', '.join(server.url for server in self.servers)}")

    async def _meet(self, server: RemoteServer) -> None:
        """Ask a server for its sandbox and workers; raises SandboxError if the sandbox isn't that of the others."""
        info = await self._request(server, "GET", "/v1/info")
        try:
            identity, server.workers = Identity.from_json(info["sandbox"]), max(1, int(info["workers"]))
            tools, self.has_turns = dict(info["tools"]), bool(info.get("turns"))
        except (KeyError, TypeError, ValueError) as error:
            raise SandboxError(f"{server.url} is no server of gencode") from error
        if identity.rules != JUDGING_RULES:
            raise SandboxError(
                f"{server.url} has version {identity.rules} of the judging rules, and this gencode has version "
                f"{JUDGING_RULES}; verdicts of both can't be mixed: install the same version of gencode on both"
            )
        if self.identity not in (None, identity):
            raise SandboxError(
                f"{server.url} has another sandbox than the others: {identity} instead of {self.identity}; verdicts of "
                "both can't be mixed"
            )
        if self.identity is not None and tools != self.tools:
            raise SandboxError(
                f"{server.url} has other compilers than the others: {tools} instead of {self.tools}; verdicts of both "
                "can't be mixed"
            )
        self.identity, self.tools = identity, tools

    async def _next(self, since: float) -> RemoteServer:
        """Return the server for a request made at `since`; waits while all of them rest."""
        while True:
            now = time.monotonic()
            if ready := [server for server in self.servers if server.resting_until <= now]:
                server = min(ready, key=lambda each: each.load)
                if not server.failures or await self._is_back(server):
                    return server
            elif now > max(since, self._answered) + PATIENCE_SECONDS:
                raise SandboxError(f"no server has answered for {PATIENCE_SECONDS:.0f} s: is one of them running?")
            else:
                await asyncio.sleep(max(0.0, min(server.resting_until for server in self.servers) - now))

    async def _is_back(self, server: RemoteServer) -> bool:
        """Whether a server that failed answers again; nobody else tries meanwhile."""
        server.rest(LONGEST_PAUSE)
        try:
            await self._meet(server)
        except Unavailable:
            server.rest(None)
            return False
        server.failures, server.resting_until = 0, 0.0
        return True

    async def _request(self, server: RemoteServer, method: str, path: str, body: bytes = b"") -> Any:
        """Return the JSON of an answer; raises Unavailable, or SandboxError if asking again is of no use."""
        assert self._client is not None
        try:
            response = await self._client.request(method, server.url + path, content=body)
            self._answered = time.monotonic()
            lines = response.headers.get("content-type") == "application/x-ndjson"
            answer = [json.loads(line) for line in response.text.splitlines()] if lines else response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise Unavailable(error) from error
        if response.status_code in (429, 503):
            raise Unavailable(_detail(answer), _seconds(response.headers.get("retry-after", "")))
        if response.is_server_error:
            raise Failed(_detail(answer))
        if not response.is_success:
            raise RefusedByServer(f"{server.url}: {_detail(answer)}")
        if self.identity and response.headers.get(IDENTITY_HEADER, self.identity.digest) != self.identity.digest:
            raise SandboxError(f"the sandbox of {server.url} was changed; verdicts of both can't be mixed")
        return answer


def _detail(answer: Any) -> str:
    return str(answer.get("detail", answer) if isinstance(answer, dict) else answer)[:500]


def _seconds(text: str) -> float | None:
    return float(text) if text.isdigit() else None
