"""The commands that start and end servers of a model, and the servers of a run."""

import json
import os
from pathlib import Path

import pytest

from alpha_codium.app.repository_plan import reached
from alpha_codium.app.repository_servers import checked, served_model, servers_for
from alpha_codium.errors import SettingsError, UserError
from alpha_codium.llm import vllm
from alpha_codium.llm.server_records import ModelServer
from alpha_codium.repository.running.config import RunConfig, load_config
from tests.gen.running import run_cli
from tests.llm.test_vllm import asked, exists, free_ports
from tests.repository.served import SCRIPT, adapter, command

pytestmark = pytest.mark.asyncio


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration whose servers are stand-ins."""
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path / "home"))
    adapter(tmp_path / "loras", "b", '{"r": 8}')
    adapter(tmp_path / "loras", "a", '{"r": 8}')
    values = {
        "inference": {"model": "openai/some/model", "provider": "vllm", "lora_ckpts_list": ["b"]},
        "paths": {"checkpoints": str(tmp_path / "loras")},
        "vllm": {"command": command(SCRIPT, "{lora}"), "start_seconds": 60},
    }
    path = tmp_path / "config.yaml"
    path.write_text(json.dumps(values))
    return path


@pytest.fixture
def config(file: Path) -> RunConfig:
    return load_config(file)


async def test_servers_are_started_in_the_background_and_ended_by_their_commands(file: Path, tmp_path: Path) -> None:
    port, record = free_ports(), tmp_path / "servers.json"
    job = ["--config", str(file), "--gpu_ids", "0,1", "--base_port", str(port), "--json", str(record)]
    done = run_cli("repo", "serve-vllm", *job)
    assert done.returncode == 0, done.stderr
    assert f"GPU 1: http://127.0.0.1:{port + 1}/v1 (log: {os.environ['GENCODE_HOME']}/servers/gpu-1.log)" in done.stdout
    servers = [ModelServer.from_json(each) for each in json.loads(record.read_text())]
    assert all(server.is_running for server in servers)
    again = run_cli("repo", "serve-vllm", *job)
    assert again.returncode == 2 and "servers are running already: end them with `kill-vllm`" in again.stderr
    ended = run_cli("repo", "kill-vllm")
    assert ended.stdout.splitlines() == [f"GPU {each.gpu}: ended process {each.pid}" for each in servers]
    assert not any(exists(server.pid) for server in servers)
    assert run_cli("repo", "kill-vllm").stdout == "no servers were running\n"


async def test_a_run_starts_servers_of_its_own_and_ends_them(config: RunConfig) -> None:
    async with servers_for(config, ["0"], free_ports(1)) as records:
        assert records is not None
        (server,) = records.servers
        told = asked(server, records.api_key).json()
        assert told["data"] == [{"id": "some/model"}], "without the prefix of litellm"
        assert told["arguments"][-1].startswith("b=") and not told["arguments"][-2].startswith("a=")
        async with servers_for(config) as found:
            assert found == records, "a run without --autorun uses the servers that are running"
        model, addresses, _ = reached(config, records.addresses, {})
        assert (model, addresses) == ("openai/some/model", records.addresses)
    assert not exists(server.pid)


async def test_a_run_that_needs_servers_says_how_to_start_them(config: RunConfig) -> None:
    with pytest.raises(UserError, match="start them with `serve-vllm`, or for this run with `autorun`"):
        async with servers_for(config):
            pass
    async with servers_for(load_config(None, ["inference.provider=litellm"])) as found:
        assert found is None


async def test_what_cannot_be_served_is_refused(config: RunConfig) -> None:
    assert served_model(config).model == "some/model"
    assert load_config(None).vllm.command == vllm.COMMAND
    with pytest.raises(SettingsError, match=r"inference\.model must name the model to serve"):
        served_model(load_config(None))
    for gpus in ([""], ["../0"], [], ["0", "0"]):
        with pytest.raises(SettingsError, match="`gpu_ids`"):
            checked(gpus)
