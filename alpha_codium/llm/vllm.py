"""Servers of vLLM, or of another program with OpenAI's protocol: one for each GPU, in the background.

1. The command is a template of words: `{model}`, `{port}`, `{gpu}`; the word `{lora}` becomes the options for LoRA
   adapters. The key is in the environment variable VLLM_API_KEY, as other users could read arguments.
2. `servers.json` in the folder of the servers has their ports, processes and key (see `server_records`), and
   `gpu-N.log` is the log of each.
3. A server is ready when it answers `/v1/models`. If one doesn't get ready, all are ended.
"""

import asyncio
import json
import os
import secrets
import shlex
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from alpha_codium.errors import UserError, nearest
from alpha_codium.llm.server_records import ModelServer, ServerRecords, end_servers, read_records
from alpha_codium.paths import home
from alpha_codium.wording import natural_order

COMMAND = "vllm serve {model} --host 127.0.0.1 --port {port} {lora}"
PORT = 3117
START_SECONDS = 1800.0
POLL_SECONDS = 0.5
# The ranks that vLLM accepts as the largest one.
RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
ADAPTER = "adapter_config.json"
TAIL_BYTES = 4096


class ServerFailed(UserError):
    """A server didn't start."""


@dataclass(frozen=True, slots=True)
class Lora:
    """A LoRA adapter: its name, folder, and largest rank."""

    name: str
    folder: Path
    rank: int


@dataclass(frozen=True, slots=True)
class ServedModel:
    """What each server serves, and the command that starts it; see the module."""

    model: str
    loras: tuple[Lora, ...] = ()
    command: str = COMMAND

    def words(self, gpu: str, port: int) -> list[str]:
        """Return the command line of one server; raises UserError if the template can't be filled in."""
        try:
            words = shlex.split(self.command)
            filled = [
                [*self._lora()] if word == "{lora}" else [word.format(model=self.model, port=port, gpu=gpu)]
                for word in words
            ]
        except (ValueError, LookupError) as error:
            raise UserError(f"the command of the servers, {self.command!r}, can't be used: {error!r}") from error
        found = [word for words in filled for word in words]
        if not found or shutil.which(found[0]) is None:
            raise UserError(f"there is no program {''.join(found[:1])!r} to start a server (pip install vllm)")
        return found

    def _lora(self) -> Sequence[str]:
        if not self.loras:
            return ()
        largest = max(lora.rank for lora in self.loras)
        rank = next((rank for rank in RANKS if rank >= largest), largest)
        modules = (f"{lora.name}={lora.folder}" for lora in self.loras)
        return ("--enable-lora", "--max-lora-rank", str(rank), "--lora-modules", *modules)


def lora_adapters(folder: Path, names: Sequence[str] = ()) -> tuple[Lora, ...]:
    """Return the adapters in a folder, or those of these names, in natural order: `step-9` before `step-10`.

    Raises UserError if there are none, or one is missing or damaged.
    """
    found = {path.parent.name: path for path in folder.glob(f"*/{ADAPTER}")}
    missing = [name for name in names if name not in found]
    if missing or not found:
        what = f"the adapter {missing[0]!r}{nearest(missing[0], found)}" if missing else f"any folder with {ADAPTER}"
        raise UserError(f"{folder} doesn't have {what}")
    return tuple(
        Lora(name, found[name].parent, _rank(found[name])) for name in names or sorted(found, key=natural_order)
    )


def _rank(file: Path) -> int:
    try:
        values = json.loads(file.read_text("utf-8"))
        return max(int(values["r"]), *map(int, (values.get("rank_pattern") or {"": 0}).values()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(f"{file} can't be read, or has no rank `r`: {error!r}") from error


def servers_folder() -> Path:
    """Return the folder of the servers' records and logs."""
    folder = home() / "servers"
    folder.mkdir(exist_ok=True)
    return folder


def running_servers() -> ServerRecords | None:
    """Return the records of the servers, if all of them are running."""
    records = read_records(servers_folder() / "servers.json")
    return records if records and all(server.is_running for server in records.servers) else None


async def start_servers(
    served: ServedModel, gpus: Sequence[str], base_port: int = PORT, start_seconds: float = START_SECONDS
) -> ServerRecords:
    """Start a server for each GPU, on the ports from `base_port` up, and wait until all are ready.

    Raises ServerFailed if one isn't, and UserError if some are running already, or a port is in use.
    """
    file = servers_folder() / "servers.json"
    earlier = read_records(file)
    if earlier and any(server.members() for server in earlier.servers):
        raise UserError("servers are running already: end them with `kill-vllm`")
    planned = [(served.words(gpu, port), gpu, port) for port, gpu in enumerate(gpus, base_port)]
    for _, _, port in planned:
        _require_free(port)
    records = ServerRecords(served.model, secrets.token_urlsafe(32))
    try:
        for each in planned:
            records = replace(records, servers=(*records.servers, _start(*each, records.api_key)))
            records.write(file)
        async with asyncio.TaskGroup() as waiting:
            for server in records.servers:
                waiting.create_task(_wait(server, records.api_key, start_seconds))
    except BaseException as error:
        await asyncio.to_thread(end_servers, records.servers)
        file.unlink(missing_ok=True)
        if isinstance(error, ExceptionGroup):
            raise error.exceptions[0] from error
        raise
    return records


def kill_servers() -> list[ModelServer]:
    """End the servers that are recorded, and no other process; return those that still ran."""
    file = servers_folder() / "servers.json"
    records = read_records(file)
    ended = end_servers(records.servers) if records else []
    file.unlink(missing_ok=True)
    return ended


@asynccontextmanager
async def autorun(served: ServedModel, gpus: Sequence[str], **options: Any) -> AsyncIterator[ServerRecords]:
    """Start servers, see `start_servers`, and end them with the context, however it ends."""
    records = await start_servers(served, gpus, **options)
    try:
        yield records
    finally:
        await asyncio.shield(asyncio.to_thread(kill_servers))


def _start(command: Sequence[str], gpu: str, port: int, key: str) -> ModelServer:
    log = servers_folder() / f"gpu-{gpu}.log"
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": gpu, "VLLM_API_KEY": key}
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment, start_new_session=True
        )
    server = ModelServer.of(process.pid, gpu, port, log)
    # The server may outlive this process, which would otherwise complain about it.
    process.returncode = 0
    return server


async def _wait(server: ModelServer, key: str, seconds: float) -> None:
    import httpx

    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}, trust_env=False) as client:
        try:
            async with asyncio.timeout(seconds):
                while not await _is_ready(client, server):
                    if not server.is_running:
                        raise ServerFailed(f"the server for GPU {server.gpu} ended{_last_words(server)}")
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            message = f"the server for GPU {server.gpu} wasn't ready within {seconds:g} s{_last_words(server)}"
            raise ServerFailed(message) from None


async def _is_ready(client: Any, server: ModelServer) -> bool:
    import httpx

    try:
        return (await client.get(f"{server.address}/models")).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def _last_words(server: ModelServer) -> str:
    """Return the last line of a server's log, and where the others are."""
    text = Path(server.log).read_bytes()[-TAIL_BYTES:].decode(errors="replace")
    lines = [line for line in text.splitlines() if line.strip()] or ["nothing"]
    return f"; it said: {lines[-1].strip()} (see {server.log})"


def _require_free(port: int) -> None:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except (OSError, OverflowError) as error:
        raise UserError(f"a server can't listen on port {port} ({error}): choose another `base_port`") from error
