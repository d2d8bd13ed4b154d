"""Serving a local model: a child process, from this side.

1. `start` runs `child` with an environment that holds no secret, and writes its order, with a fresh random key, to
   its stdin. It returns at once, so the model loads while the caller does something else.
2. `ready` waits, bounded, for the child's first line: its address.
3. `stop` tells the child to end and closes its stdin, waits a little and then kills it by its handle. If this
   process is killed, the system closes stdin.
4. What the child logs goes to a file without a name; its errors are quoted when the child fails.
"""

import asyncio
import importlib.util
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, MutableMapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Self

from loguru import logger

from alpha_codium.errors import ModelNotFound, UserError
from alpha_codium.llm.errors import ProviderUnavailable
from alpha_codium.llm.local.registry import StoredModel, find

CHILD = Path(__file__).with_name("child.py")
START_SECONDS = 120.0
STOP_SECONDS = 3.0
LOG_TAIL_BYTES = 8192
PROXIES = ("http_proxy", "https_proxy", "all_proxy")
PASSED_ON = re.compile(r"(PATH|HOME|LANG|TMPDIR|LC_\w+|LD_\w+|OMP_\w+|GGML_\w+|CUDA_\w+|PYTHON\w+)")


class LocalServerFailed(ProviderUnavailable, UserError):
    """The server of a local model didn't start, or ended by itself."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """Where a local model answers; `api_base` ends in `/v1`."""

    model_name: str
    api_base: str
    api_key: str = field(repr=False)

    @property
    def litellm_model(self) -> str:
        """The model string under which litellm reaches it at `api_base`."""
        return f"hosted_vllm/{self.model_name}"


def require_xllamacpp() -> None:
    """Raises ModelNotFound where the package that runs local models isn't installed."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise ModelNotFound("local models need the package xllamacpp: pip install 'alpha_codium[local]'")


class ServerProcess:
    """The child process of one model; `async with` starts it and stops it.

    `slots` answers are made at a time, each within `context` tokens of prompt and answer together.
    """

    def __init__(
        self, model: StoredModel, *, slots: int = 4, context: int = 4096, start_seconds: float = START_SECONDS
    ) -> None:
        self.model = model
        self.slots = slots
        self.context = context
        self.start_seconds = start_seconds
        self._api_key = secrets.token_urlsafe(32)
        self._server: LocalServer | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._running.pid

    @property
    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError("start() comes first")
        return self._process

    def start(self) -> None:
        """Start loading the model; raises ModelNotFound where xllamacpp isn't installed.

        Where the environment names a proxy, loopback is added to its `NO_PROXY`.
        """
        require_xllamacpp()
        reach_loopback_directly(os.environ)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop()
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=child_environment(os.environ),
            start_new_session=True,  # Ctrl-C is for us; we end the child in our own time
            bufsize=0,
        )
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended already: ready() says why
            self._process.stdin.write(self._order().encode() + b"\n")

    def _order(self) -> str:
        order = {"name": self.model.name, "path": str(self.model.path), "slots": self.slots, "context": self.context}
        return json.dumps(order | {"api_key": self._api_key, "parent": os.getpid()})

    async def ready(self) -> LocalServer:
        """Where the model answers, once it does; raises LocalServerFailed where it won't."""
        if self._server is None:
            line = await self._first_line()
            if not line.endswith(b"\n"):
                raise LocalServerFailed(await self._why_it_ended())
            address = json.loads(line)["address"]
            self._server = LocalServer(self.model.name, f"{address}/v1", self._api_key)
            logger.debug("{} answers at {}", self.model.name, address)
        return self._server

    async def _first_line(self) -> bytes:
        stdout = self._running.stdout
        assert stdout is not None
        try:
            async with asyncio.timeout(self.start_seconds):
                return await asyncio.to_thread(stdout.readline)
        except TimeoutError:
            self._running.kill()  # or the thread that reads would wait on
            raise LocalServerFailed(
                f"the local model {self.model.name} wasn't ready within {self.start_seconds:g} s: "
                "the machine may be too busy or too small for it"
            ) from None

    async def _why_it_ended(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self._running.wait, STOP_SECONDS)
        self._running.kill()
        self._running.wait()
        return self.failure()

    def failure(self) -> str:
        """Why the child has ended, in one line; empty while it runs."""
        code = self._running.poll()
        if code is None:
            return ""
        log = self._log_tail()
        logger.debug("the last that {} said:\n{}", self.model.name, log)
        said = f"; it said: {error}" if (error := quoted_error(log)) else ""
        mend = f"; if the file is damaged, delete {self.model.path} and get or add it again" if code > 0 else ""
        return f"the server of local model {self.model.name} ended: {ending(code)}{said}{mend}"

    def _log_tail(self) -> str:
        assert self._log is not None
        log = self._log.fileno()  # read without moving its position, where the child writes
        return os.pread(log, LOG_TAIL_BYTES, max(0, os.fstat(log).st_size - LOG_TAIL_BYTES)).decode(errors="replace")

    async def stop(self) -> None:
        """End the child and wait for its end; may be called at any time, and again."""
        process, self._process, self._server = self._process, None, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        assert self._log is not None
        with suppress(BrokenPipeError):  # it has ended already
            process.stdin.write(b"end\n")  # closing isn't enough where a process we forked holds the pipe, too
        process.stdin.close()
        try:
            await asyncio.to_thread(process.wait, STOP_SECONDS)
        except subprocess.TimeoutExpired:
            logger.debug("{} is killed: it didn't end by itself", self.model.name)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
            self._log.close()

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


@asynccontextmanager
async def serve(name: str, folder: Path, *, slots: int = 4, context: int = 4096) -> AsyncIterator[LocalServer]:
    """A server of the local model `name` of the folder, ready to be asked.

    Raises ModelNotFound where the file isn't in the folder or xllamacpp isn't installed, and LocalServerFailed where
    the server doesn't start, or ended by itself and so left a request without an answer.
    """
    async with ServerProcess(find(name, folder), slots=slots, context=context) as process:
        server = await process.ready()
        try:
            yield server
        except ProviderUnavailable as error:
            if why := process.failure():
                raise LocalServerFailed(why) from error
            raise


def reach_loopback_directly(environment: MutableMapping[str, str]) -> None:
    """Keep what is sent to loopback from a proxy that the environment names: HTTP clients would use it even there."""
    if not any(environment.get(name) for name in environment if name.lower() in PROXIES):
        return
    exempt = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    if "127.0.0.1" not in exempt.split(","):
        exempt = f"{exempt},127.0.0.1".lstrip(",")
    environment["no_proxy"] = environment["NO_PROXY"] = exempt


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What the child gets of our environment: what finds programs and tunes threads, and nothing else."""
    passed_on = {name: value for name, value in environment.items() if PASSED_ON.fullmatch(name)}
    return {"OMP_WAIT_POLICY": "passive"} | passed_on


def quoted_error(log: str) -> str:
    """The line of a child's log that says best why it ended: llama.cpp's first error, else the last line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [found[1] for line in lines if (found := re.match(r"[\d.]+ E (.*)", line))]
    return (errors or lines[-1:] or [""])[0]


def ending(code: int) -> str:
    """How a process ended, in words, from its return code."""
    if code >= 0:
        return f"exit status {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"{name}, perhaps for want of memory" if name == "SIGKILL" else name
