"""The child process that serves a local model, as seen by its parent.

1. `start` runs `child` with an environment without secrets, and writes its settings, with a random key, to its stdin.
   It returns at once, so that the model is loaded while the caller does something else.
2. `ready` waits at most `start_seconds` for the first line of the child's output, its address.
3. `stop` asks the child to end, closes its stdin, and kills it after `STOP_SECONDS`. If this process is killed, the
   operating system closes the child's stdin.
4. The child's log is an unnamed file; its errors are quoted if the child fails.
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
from pathlib import Path
from typing import Self

from loguru import logger

from alpha_codium.errors import ModelNotFound, UserError
from alpha_codium.llm.endpoints import Endpoint
from alpha_codium.llm.errors import ProviderUnavailable
from alpha_codium.llm.local.registry import StoredModel

CHILD = Path(__file__).with_name("child.py")
START_SECONDS = 120.0
STOP_SECONDS = 3.0
LOG_TAIL_BYTES = 8192
PROXIES = ("http_proxy", "https_proxy", "all_proxy")
PASSED_ON = re.compile(r"(PATH|HOME|LANG|TMPDIR|LC_\w+|LD_\w+|OMP_\w+|GGML_\w+|CUDA_\w+|PYTHON\w+)")


class LocalServerFailed(ProviderUnavailable, UserError):
    """The server of a local model didn't start, or ended unexpectedly."""


def require_xllamacpp() -> None:
    """Raise ModelNotFound unless the package that runs local models is installed."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise ModelNotFound("local models need the package xllamacpp: pip install xllamacpp")


class ServerProcess:
    """The child process of one model; `async with` starts and stops it.

    It answers `slots` requests at a time; each has `context` tokens for prompt and answer.
    """

    def __init__(
        self, model: StoredModel, *, slots: int = 4, context: int = 4096, start_seconds: float = START_SECONDS
    ) -> None:
        self._model, self._slots, self._context = model, slots, context
        self._start_seconds = start_seconds
        self._api_key = secrets.token_urlsafe(32)
        self._endpoint: Endpoint | None = None

    def start(self) -> None:
        """Start loading the model; raises ModelNotFound if xllamacpp isn't installed.

        If the environment names a proxy, loopback is added to its `NO_PROXY`.
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
            start_new_session=True,  # Ctrl-C must not reach the child, which stop() ends
            bufsize=0,
        )
        settings = {
            "name": self._model.name,
            "path": str(self._model.path),
            "slots": self._slots,
            "context": self._context,
            "api_key": self._api_key,
            "parent": os.getpid(),
        }
        self._send(json.dumps(settings))

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # the child has ended: ready() reports why
            self._process.stdin.write(line.encode() + b"\n")

    async def ready(self) -> Endpoint:
        """Wait until the model is loaded, and return its endpoint; raises LocalServerFailed if it doesn't start."""
        if self._endpoint is None:
            line = await self._first_line()
            if not line.endswith(b"\n"):
                with suppress(subprocess.TimeoutExpired):
                    await asyncio.to_thread(self._process.wait, STOP_SECONDS)
                self._process.kill()
                self._process.wait()
                raise LocalServerFailed(self.failure())
            address = json.loads(line)["address"]
            logger.debug("{} answers at {}", self._model.name, address)
            self._endpoint = Endpoint(
                f"hosted_vllm/{self._model.name}",
                f"{address}/v1",
                self._api_key,
                free=True,
                direct=True,
                slots=self._slots,
                supports_json_schema=True,
                supports_n=False,  # it does, but counts the tokens of one answer only
            )
        return self._endpoint

    async def _first_line(self) -> bytes:
        stdout = self._process.stdout
        assert stdout is not None
        try:
            async with asyncio.timeout(self._start_seconds):
                return await asyncio.to_thread(stdout.readline)
        except TimeoutError:
            self._process.kill()  # otherwise the reading thread would wait forever
            raise LocalServerFailed(
                f"the local model {self._model.name} wasn't ready within {self._start_seconds:g} s: "
                "the machine may be too busy or too small for it"
            ) from None

    def failure(self) -> str:
        """Return the reason why the child has ended, in one line; "" while it runs."""
        code = self._process.poll()
        if code is None:
            return ""
        fd = self._log.fileno()  # pread doesn't move the position, which the child shares
        log = os.pread(fd, LOG_TAIL_BYTES, max(0, os.fstat(fd).st_size - LOG_TAIL_BYTES)).decode(errors="replace")
        for line in log.splitlines():
            logger.debug("end of the log of {}: {}", self._model.name, line)
        said = f"; it said: {error}" if (error := quoted_error(log)) else ""
        hint = f"; if the file is damaged, delete {self._model.path} and get or add it again" if code > 0 else ""
        return f"the server of local model {self._model.name} ended: {ending(code)}{said}{hint}"

    async def stop(self) -> None:
        """End the child and wait for it; may be called more than once."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        if process.stdin.closed:
            return
        self._send("end")  # closing isn't enough if a forked process has the pipe open, too
        process.stdin.close()
        try:
            await asyncio.to_thread(process.wait, STOP_SECONDS)
        except subprocess.TimeoutExpired:
            logger.debug("killing {}: it didn't end by itself", self._model.name)
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
async def serve(model: StoredModel, *, slots: int = 4, context: int = 4096) -> AsyncIterator[Endpoint]:
    """Yield the endpoint of a local model while its server runs.

    Raises ModelNotFound if xllamacpp isn't installed, and LocalServerFailed if the server doesn't start, or if a
    request failed because it ended unexpectedly.
    """
    async with ServerProcess(model, slots=slots, context=context) as process:
        endpoint = await process.ready()
        try:
            yield endpoint
        except ProviderUnavailable as error:
            if why := process.failure():
                raise LocalServerFailed(why) from error
            raise


def reach_loopback_directly(environment: MutableMapping[str, str]) -> None:
    """Exempt loopback from the proxies in the environment, which HTTP clients would use for it, too."""
    if not any(environment.get(name) for name in environment if name.lower() in PROXIES):
        return
    exempt = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    if "127.0.0.1" not in exempt.split(","):
        exempt = f"{exempt},127.0.0.1".lstrip(",")
    environment["no_proxy"] = environment["NO_PROXY"] = exempt


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables passed to the child: those for finding programs and tuning threads."""
    passed_on = {name: value for name, value in environment.items() if PASSED_ON.fullmatch(name)}
    return {"OMP_WAIT_POLICY": "passive"} | passed_on


def quoted_error(log: str) -> str:
    """Return the line of the log that best explains a failure: llama.cpp's first error, else the last line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [found[1] for line in lines if (found := re.match(r"[\d.]+ E +(.*)", line))]
    return (errors or lines[-1:] or [""])[0]


def ending(code: int) -> str:
    """Describe how a process ended, from its return code."""
    if code >= 0:
        return f"exit status {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"{name}, perhaps out of memory" if name == "SIGKILL" else name
