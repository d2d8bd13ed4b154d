"""The backend `remote`: programs run on other machines, by `gencode serve`.

Inputs are sent in groups: one, then four times as many each time, so that a caller that stops at the first wrong answer
has few run in vain; a group is no larger than servers take. If a server is lost, the group runs on another one. Inputs
on which several programs run are stored at the servers, and sent only once.
"""

import itertools
import os
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from loguru import logger

from alpha_codium.errors import SandboxError
from alpha_codium.program import Job, PairJob
from alpha_codium.sandbox.protocol import Isolation, Sandbox
from alpha_codium.sandbox.remote.inputs import RepeatedInputs, StoredInputs
from alpha_codium.sandbox.remote.servers import RefusedByServer, Servers
from alpha_codium.verdict import Execution, Identity, PairReport, Report

GROWTH = 4
# Servers take jobs of at most 10,000 inputs and 512 MiB, and in JSON a character may need 12 bytes.
MOST_INPUTS = GROWTH**6
MOST_CHARACTERS = 32 << 20


class RemoteSandbox(Sandbox):
    """Runs programs on the servers at `urls`, whose sandboxes must have one identity.

    The token is in `token_file`, or in the environment variable `token_env`. `workers` is how many programs run at a
    time, by default the sum of the servers'.
    """

    def __init__(
        self,
        *,
        urls: Sequence[str] = (),
        token_file: str = "",
        token_env: str = "",
        workers: int = 0,
        isolation: Isolation = True,
        interpreter: str = "",
    ) -> None:
        self.urls, self.token_file, self.token_env = tuple(urls), token_file, token_env
        self.workers, self.isolation, self.interpreter = workers, isolation, interpreter
        self._servers: Servers | None = None
        self._repeated = RepeatedInputs()

    async def __aenter__(self) -> Self:
        """Find the servers; raises SandboxError if none answers, or their sandboxes differ."""
        self._check()
        self._servers = await Servers(self.urls, self._token()).__aenter__()
        self.workers = self.workers or self._servers.workers
        self.has_turns = self._servers.has_turns
        return await super().__aenter__()

    async def __aexit__(self, *exc: object) -> None:
        """End what still runs for us."""
        await super().__aexit__(*exc)
        servers, self._servers = self._servers, None
        if servers is not None:
            await servers.__aexit__(*exc)

    async def identity(self) -> Identity:
        """See `Sandbox.identity`: the servers', on which verdicts depend."""
        identity = self._open.identity
        assert identity is not None
        return identity

    def tool_version(self, language: str) -> str:
        """See `Sandbox.tool_version`: the servers'."""
        if language not in self._open.tools:
            raise SandboxError(f"the servers run {', '.join(self._open.tools)}, not {language}")
        return self._open.tools[language]

    async def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        """See `Sandbox.execute`; inputs are run in groups."""
        done, size = 0, 1
        stored = self._repeated.find(job.inputs)
        while True:
            group = _within(MOST_CHARACTERS, job.inputs[done : done + size])
            report = await self._executed(replace(job, inputs=group), stored, done)
            if not done:
                yield report.compilation
            for execution in report.executions:
                yield execution
            done, size = done + len(report.executions), min(MOST_INPUTS, GROWTH * size)
            if not report.executions or done >= len(job.inputs):
                return
            if job.stop_after_failure and not report.last.finished:
                return

    async def _executed(self, job: Job, stored: StoredInputs | None, first: int) -> Report:
        """Return the report on some inputs, those of the stored ones from `first` on."""
        if stored is not None:
            request = replace(job, inputs=()).to_json() | {"inputs": stored.part(first, len(job.inputs))}
            try:
                return Report.from_json(await self._open.ask_stored("/v1/execute", request, stored))
            except RefusedByServer as error:
                logger.debug(f"inputs are sent along: {error}")
        return Report.from_json(await self._open.ask("/v1/execute", job.to_json()))

    async def execute_pair(self, job: PairJob) -> PairReport:
        """See `Sandbox.execute_pair`."""
        return PairReport.from_json(await self._open.ask("/v1/execute_pair", job.to_json()))

    @property
    def _open(self) -> Servers:
        if self._servers is None:
            raise RuntimeError("a sandbox must be opened first: async with open_sandbox(...) as sandbox")
        return self._servers

    def _check(self) -> None:
        if not self.urls:
            raise SandboxError(
                "remote needs the addresses of servers, which `gencode serve` prints: "
                "-o 'sandbox.remote.urls=[\"http://127.0.0.1:8080\"]'"
            )
        for url in self.urls:
            if not url.startswith(("http://", "https://")):
                raise SandboxError(f"sandbox.remote.urls: {url!r} is no address such as http://127.0.0.1:8080")
        if self.isolation is False or self.interpreter:
            raise SandboxError("servers choose the isolation and the interpreter: remove both from [code_tester]")

    def _token(self) -> str:
        if self.token_file:
            try:
                return Path(self.token_file).expanduser().read_text().strip()
            except OSError as error:
                raise SandboxError(f"sandbox.remote.token_file: {error}") from error
        if self.token_env and self.token_env not in os.environ:
            raise SandboxError(f"sandbox.remote.token_env: there is no environment variable {self.token_env}")
        return os.environ.get(self.token_env, "").strip() if self.token_env else ""


def _within(characters: int, inputs: Sequence[str]) -> Sequence[str]:
    """Return the first inputs, which together have at most so many characters, but at least one."""
    sizes = itertools.accumulate(map(len, inputs))
    return inputs[: max(1, sum(size <= characters for size in sizes))]
