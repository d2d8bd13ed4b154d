"""Servers of models in the background: how they are started, awaited, recorded, and ended."""

import asyncio
import json
import os
import socket
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from alpha_codium.errors import UserError
from alpha_codium.llm import vllm
from alpha_codium.llm.server_records import ModelServer, ServerRecords, end_servers, read_records
from alpha_codium.llm.vllm import (
    ServedModel,
    ServerFailed,
    autorun,
    kill_servers,
    lora_adapters,
    running_servers,
    servers_folder,
    start_servers,
)
from tests.llm.local_support import needs_xllamacpp, smallest_model
from tests.repository.served import LLAMA, SCRIPT, adapter, command

pytestmark = pytest.mark.asyncio
STAND_IN = ServedModel("some/model", command=command(SCRIPT, "{lora}"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))
    monkeypatch.setattr(vllm, "POLL_SECONDS", 0.01)
    yield servers_folder()
    kill_servers()


def free_ports(count: int = 2) -> int:
    """The first of some ports in a row that are free."""
    for first in range(20000 + os.getpid() % 10000, 60000, count):
        try:
            for number in range(count):
                socket.create_server(("127.0.0.1", first + number)).close()
        except OSError:
            continue
        return first
    raise AssertionError("no free ports")


def asked(server: ModelServer, key: str) -> httpx.Response:
    return httpx.get(f"{server.address}/models", headers={"Authorization": f"Bearer {key}"}, trust_env=False)


def exists(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:1]
    except OSError:
        return False


async def test_each_gpu_has_a_server_with_a_key_which_are_recorded_and_ended(folder: Path, tmp_path: Path) -> None:
    for name, config in {"step-10": '{"r": 8}', "step-9": '{"r": 20, "rank_pattern": {"q": 24}}'}.items():
        adapter(tmp_path / "loras", name, config)
    served = replace(STAND_IN, loras=lora_adapters(tmp_path / "loras"))
    port = free_ports()
    records = await start_servers(served, ["0", "3"], port)
    assert [server.port for server in records.servers] == [port, port + 1]
    assert records.addresses == (f"http://127.0.0.1:{port}/v1", f"http://127.0.0.1:{port + 1}/v1")
    assert read_records(folder / "servers.json") == records == running_servers()
    assert stat.S_IMODE((folder / "servers.json").stat().st_mode) == 0o600
    children = []
    for server, gpu in zip(records.servers, ["0", "3"], strict=True):
        told = asked(server, records.api_key).json()
        assert asked(server, "wrong").status_code == 401
        assert told["gpu"] == gpu and told["data"] == [{"id": "some/model"}]
        modules = [f"step-9={tmp_path}/loras/step-9", f"step-10={tmp_path}/loras/step-10"]
        assert told["arguments"] == ["--enable-lora", "--max-lora-rank", "32", "--lora-modules", *modules]
        assert records.api_key not in Path(f"/proc/{server.pid}/cmdline").read_text()
        assert f"ready on GPU {gpu}" in (folder / f"gpu-{gpu}.log").read_text()
        children.append(told["child"])
    with pytest.raises(UserError, match="servers are running already: end them with `kill-vllm`"):
        await start_servers(served, ["0"], port)
    assert kill_servers() == list(records.servers)
    assert not any(exists(pid) for pid in [*children, *(server.pid for server in records.servers)])
    assert running_servers() is None and kill_servers() == []


async def test_a_server_that_fails_ends_the_others_and_its_log_is_quoted(folder: Path) -> None:
    fails = replace(STAND_IN, command=command(SCRIPT, "{gpu}s"))
    with pytest.raises(
        ServerFailed, match=r"GPU fail ended; it said: RuntimeError: out of GPU memory \(see .*gpu-fail"
    ):
        await start_servers(fails, ["0", "fail"], free_ports())
    assert not (folder / "servers.json").exists()


async def test_a_server_that_never_answers_is_ended() -> None:
    silent = replace(STAND_IN, command=f"{sys.executable} -c 'import signal; signal.pause()'")
    with pytest.raises(ServerFailed, match=r"GPU 0 wasn't ready within 0\.1 s; it said: nothing"):
        await start_servers(silent, ["0"], free_ports(), start_seconds=0.1)


async def test_autorun_ends_its_servers_also_after_an_error_and_when_it_is_cancelled() -> None:
    pids = []

    async def run() -> None:
        async with autorun(STAND_IN, ["0"], base_port=free_ports(1)) as records:
            pids.append(records.servers[0].pid)
            if len(pids) == 1:
                raise ValueError("a fault of the run")
            await asyncio.Event().wait()

    with pytest.raises(ValueError, match="a fault of the run"):
        await run()
    running = asyncio.create_task(run())
    while len(pids) < 2:
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not any(map(exists, pids)) and running_servers() is None


async def test_a_process_that_got_the_number_of_a_server_is_left_alone(folder: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], start_new_session=True) as other:
        ours = ModelServer.of(other.pid, "0", 1, folder / "log")
        for record in (replace(ours, started=ours.started - 1), replace(ours, boot="another")):
            ServerRecords("m", "k", (record,)).write(folder / "servers.json")
            assert not record.is_running and kill_servers() == []
            assert other.poll() is None
        assert end_servers([ours]) == [ours]
        assert other.wait() != 0


async def test_what_ignores_sigterm_is_killed_and_so_are_processes_that_are_left(folder: Path) -> None:
    script = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"
    parent = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {script!r}])"
    with subprocess.Popen([sys.executable, "-c", parent], start_new_session=True, stdout=subprocess.PIPE) as first:
        server = ModelServer.of(first.pid, "0", 1, folder / "log")
        assert first.stdout is not None and first.stdout.readline()
        first.wait()
        (left,) = server.members()
        assert end_servers([server], 0.05) == [server]
        assert not exists(left)


async def test_a_port_in_use_and_a_missing_program_are_refused_before_anything_starts(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=rf"can't listen on port {port} .*: choose another `base_port`"):
            await start_servers(STAND_IN, ["0"], port)
    with pytest.raises(UserError, match=r"there is no program 'no-vllm' to start a server \(pip install vllm\)"):
        await start_servers(replace(STAND_IN, command="no-vllm serve"), ["0"])
    with pytest.raises(UserError, match=r"the command of the servers, 'python3 {what}', can't be used"):
        await start_servers(replace(STAND_IN, command="python3 {what}"), ["0"])
    assert list(folder.iterdir()) == []


async def test_adapters_are_found_in_natural_order_and_missing_ones_are_refused(tmp_path: Path) -> None:
    for name in ("checkpoint-100", "checkpoint-20", "best"):
        adapter(tmp_path, name, '{"r": 16, "rank_pattern": {}}')
    assert [lora.name for lora in lora_adapters(tmp_path)] == ["best", "checkpoint-20", "checkpoint-100"]
    assert [lora.name for lora in lora_adapters(tmp_path, ["checkpoint-100", "best"])] == ["checkpoint-100", "best"]
    with pytest.raises(UserError, match=r"doesn't have the adapter 'bst' \(did you mean 'best'\?\)"):
        lora_adapters(tmp_path, ["bst"])
    with pytest.raises(UserError, match=r"doesn't have any folder with adapter_config\.json"):
        lora_adapters(tmp_path / "best")
    (tmp_path / "best/adapter_config.json").write_text(json.dumps({"lora_alpha": 3}))
    with pytest.raises(UserError, match=r"best/adapter_config\.json can't be read, or has no rank `r`"):
        lora_adapters(tmp_path)


async def test_a_damaged_record_is_refused(folder: Path) -> None:
    (folder / "servers.json").write_text("[]")
    with pytest.raises(UserError, match=r"servers.json is damaged .*: end the servers yourself, and delete it"):
        kill_servers()
    (folder / "servers.json").unlink()


@needs_xllamacpp
@pytest.mark.thorough
async def test_a_real_model_answers_behind_two_servers() -> None:
    model = smallest_model()
    served = ServedModel(str(model.path), command=command(LLAMA))
    async with autorun(served, ["0", "1"], base_port=free_ports()) as records:
        async with httpx.AsyncClient(trust_env=False, timeout=120) as client:
            for address in records.addresses:
                question = {"model": "small", "max_tokens": 4, "messages": [{"role": "user", "content": "Say hi."}]}
                headers = {"Authorization": f"Bearer {records.api_key}"}
                answer = await client.post(f"{address}/chat/completions", json=question, headers=headers)
                assert answer.json()["choices"][0]["message"]["content"]
                assert (await client.post(f"{address}/chat/completions", json=question)).status_code == 401
