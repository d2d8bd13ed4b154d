import asyncio
import importlib.util
import json
import os
import urllib.request

import pytest

from alpha_codium.errors import ModelNotFound, UserError
from alpha_codium.llm.local import server
from alpha_codium.llm.local.registry import add
from alpha_codium.llm.local.server import (
    LocalServerFailed,
    ServerProcess,
    child_environment,
    ending,
    quoted_error,
    reach_loopback_directly,
    serve,
)
from tests.llm.local_support import ends_within, needs_xllamacpp


@pytest.fixture
def fake(tmp_path):
    file = tmp_path / "fake.gguf"
    file.write_bytes(b"GGUF but not really a model")
    return add("fake", file, tmp_path / "models")


@pytest.fixture
def run_instead(tmp_path, monkeypatch):
    """Run this script in place of the real child."""

    def use(code):
        script = tmp_path / "child.py"
        script.write_text(code)
        monkeypatch.setattr(server, "CHILD", script)
        monkeypatch.setattr(server, "require_xllamacpp", lambda: None)

    return use


@needs_xllamacpp
async def test_a_corrupt_file_is_a_clear_error(fake):
    with pytest.raises(LocalServerFailed, match=r"local model fake ended: .*it said: gguf.*delete") as caught:
        async with serve(fake):
            pass
    assert isinstance(caught.value, UserError)
    assert "\n" not in str(caught.value)


async def test_a_child_that_is_killed_before_it_is_ready_is_a_clear_error(fake, run_instead):
    run_instead("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(LocalServerFailed, match="SIGKILL"):
        async with serve(fake):
            pass


async def test_a_child_that_is_never_ready_is_killed(fake, run_instead):
    run_instead("import signal; signal.pause()")
    async with ServerProcess(fake, start_seconds=0.2) as process:
        handle = os.pidfd_open(process._process.pid)
        with pytest.raises(LocalServerFailed, match=r"wasn't ready within 0\.2 s"):
            await process.ready()
    assert ends_within(handle, 0)
    os.close(handle)


UNTIL_TOLD = """
import sys
sys.stdin.readline()
print('{"address": "http://x"}', flush=True)
sys.stdin.readline()
"""


async def test_stopping_does_not_wait_for_a_fork_that_holds_the_pipe(fake, run_instead):
    run_instead(UNTIL_TOLD)
    process = ServerProcess(fake)
    process.start()
    await process.ready()
    popen = process._process
    held = os.dup(popen.stdin.fileno())
    await process.stop()
    os.close(held)
    assert popen.returncode == 0  # it ended by itself


async def test_a_child_that_ignores_the_end_of_its_stdin_is_killed(fake, run_instead, monkeypatch):
    monkeypatch.setattr(server, "STOP_SECONDS", 0.1)
    run_instead('import signal; print(\'{"address": "http://x"}\', flush=True)\nwhile True: signal.pause()')
    process = ServerProcess(fake)
    process.start()
    assert (await process.ready()).api_base == "http://x/v1"
    handle = os.pidfd_open(process._process.pid)
    await process.stop()
    assert ends_within(handle, 0)
    os.close(handle)


async def test_waiting_for_the_child_does_not_block_and_can_be_cancelled(fake, run_instead):
    run_instead("import sys; sys.stdin.read()")
    async with ServerProcess(fake) as process:
        waiting = asyncio.create_task(process.ready())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


TELL = """
import json, os, sys
order = json.loads(sys.stdin.readline())
told = {"key": order["api_key"], "arguments": sys.argv, "environment": dict(os.environ)}
print(json.dumps({"address": json.dumps(told)}), flush=True)
sys.stdin.read()
"""


async def test_the_child_gets_its_key_in_neither_arguments_nor_environment_and_no_secret_of_ours(
    fake, run_instead, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-secret-of-ours")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another-one")
    run_instead(TELL)
    async with ServerProcess(fake) as process:
        local = await process.ready()
    told = json.loads(local.api_base.removesuffix("/v1"))
    assert told["key"] == local.api_key
    assert local.api_key not in json.dumps([told["arguments"], told["environment"]])
    assert "secret-of-ours" not in json.dumps(told)
    assert "AWS_SECRET_ACCESS_KEY" not in told["environment"]
    assert told["environment"]["OMP_WAIT_POLICY"] == "passive"


def test_the_users_own_wait_policy_is_kept():
    assert child_environment({"OMP_WAIT_POLICY": "active", "X": "y"}) == {"OMP_WAIT_POLICY": "active"}


def test_loopback_is_exempt_from_the_users_proxy():
    environment = {"https_proxy": "http://proxy", "NO_PROXY": "example.org"}
    reach_loopback_directly(environment)
    reach_loopback_directly(environment)
    assert environment["no_proxy"] == environment["NO_PROXY"] == "example.org,127.0.0.1"
    assert urllib.request.proxy_bypass_environment("127.0.0.1:80", {"no": environment["no_proxy"]})


def test_without_a_proxy_the_environment_stays_as_it_is():
    environment = {"PATH": "/bin"}
    reach_loopback_directly(environment)
    assert environment == {"PATH": "/bin"}


async def test_without_xllamacpp_the_error_says_what_to_install(fake, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ModelNotFound, match="pip install xllamacpp"):
        async with serve(fake):
            pass


@pytest.mark.parametrize(
    ("log", "quoted"),
    [
        ("", ""),
        ("0.00.033.278 E llama: can't read it\n0.01.000.000 E srv: exiting\n", "llama: can't read it"),
        ("0.10.033.278 E  gguf: this is version 9\n", "gguf: this is version 9"),
        ("0.00.033.278 W warned\nTraceback:\n  File x\nRuntimeError: no\n", "RuntimeError: no"),
    ],
)
def test_the_most_informative_line_is_quoted(log, quoted):
    assert quoted_error(log) == quoted


def test_ends_are_described_in_words():
    assert [ending(1), ending(-15), ending(-64)] == ["exit status 1", "SIGTERM", "SIGRTMAX"]
