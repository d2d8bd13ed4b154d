"""The servers of the backend `remote`: those of `client/servers.py`, which must all have one sandbox.

Before a server that failed gets requests again, it must say that it still has the same sandbox.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import httpx
from loguru import logger

from alpha_codium.client import servers
from alpha_codium.client.servers import Server
from alpha_codium.errors import JobUnsupported, SandboxError
from alpha_codium.sandbox.remote import IDENTITY_HEADER
from alpha_codium.sandbox.remote.inputs import StoredInputs, canonical
from alpha_codium.verdict import JUDGING_RULES, Identity


class RefusedByServer(JobUnsupported):
    """A server doesn't do what was asked for, and wouldn't if it were asked again."""


class Servers(servers.Servers):
    """Servers with one sandbox, to be used with `async with`; `identity` is that of their sandbox."""

    logger: ClassVar[Any] = logger
    error: ClassVar[type[Exception]] = SandboxError
    refused: ClassVar[type[Exception]] = RefusedByServer

    def __init__(self, urls: Sequence[str], token: str = "") -> None:
        super().__init__(urls, token)
        self.identity: Identity | None = None
        self.tools: dict[str, str] = {}
        self.has_turns = False
        self._storing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def ask_stored(self, path: str, request: Mapping[str, Any], stored: StoredInputs) -> Any:
        """As `ask`; a server that doesn't have the `stored` inputs that the request names gets them first."""

        async def store(server: Server) -> None:
            async with self._storing[server.url]:
                try:
                    await self.request(server, "GET", f"/v1/problems/{stored.digest}")
                except RefusedByServer:
                    await self.request(server, "POST", "/v1/problems", canonical(stored.problem()))

        return await self.ask(path, request, mend=store)

    def met(self, server: Server, info: Mapping[str, Any]) -> None:
        """Take a server's sandbox and workers; raises SandboxError if the sandbox isn't that of the others."""
        super().met(server, info)
        identity, tools, has_turns = Identity.from_json(info["sandbox"]), dict(info["tools"]), bool(info.get("turns"))
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
        self.identity, self.tools, self.has_turns = identity, tools, has_turns

    def check(self, server: Server, response: httpx.Response) -> None:
        """Raise SandboxError if the server's sandbox was changed."""
        if self.identity and response.headers.get(IDENTITY_HEADER, self.identity.digest) != self.identity.digest:
            raise SandboxError(f"the sandbox of {server.url} was changed; verdicts of both can't be mixed")
