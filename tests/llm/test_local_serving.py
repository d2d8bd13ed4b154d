import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from alpha_codium.llm.errors import ProviderUnavailable
from alpha_codium.llm.local.server import LocalServerFailed, ServerProcess, serve
from tests.llm.local_support import best_model, ends_within, needs_xllamacpp, smallest_model

ESTABLISHED = "01"  # as /proc/net/tcp writes it
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"enum": [3, 4, 5]}, "sure": {"type": "boolean"}},  # finite: it always comes to an end
    "required": ["answer", "sure"],
    "additionalProperties": False,
}


def chat(api_base, api_key, **parameters):
    body = {"messages": [{"role": "user", "content": "What is 2 + 2?"}], "max_tokens": 200, **parameters}
    headers = {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{api_base}/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=120) as response:
        return json.load(response)


def json_schema(schema):
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}


@pytest.mark.thorough
@pytest.mark.model
@needs_xllamacpp
async def test_a_local_model_answers_a_chat_within_a_json_schema():
    model = smallest_model()
    async with serve(model, slots=2, context=1024) as local:
        answer = await asyncio.to_thread(chat, local.api_base, local.api_key, response_format=json_schema(SCHEMA))
    assert set(json.loads(answer["choices"][0]["message"]["content"])) == {"answer", "sure"}
    assert answer["model"] == "smollm2-135m"
    assert answer["usage"]["completion_tokens"] > 0


@pytest.mark.thorough
@pytest.mark.model
@needs_xllamacpp
async def test_the_better_model_answers_too():
    model = best_model()
    async with serve(model, slots=1, context=1024) as local:
        answer = await asyncio.to_thread(chat, local.api_base, local.api_key, temperature=0)
    assert "4" in answer["choices"][0]["message"]["content"]


@pytest.mark.thorough
@pytest.mark.model
@needs_xllamacpp
async def test_litellm_reaches_it_by_its_model_string_whatever_the_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "example.org")
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    model = smallest_model()
    async with serve(model, slots=1, context=1024) as local:
        answer = await litellm.acompletion(
            local.model,
            [{"role": "user", "content": "What is 2 + 2?"}],
            api_base=local.api_base,
            api_key=local.api_key,
            max_tokens=200,
            seed=1,
            response_format=json_schema(SCHEMA),
        )
    assert set(json.loads(answer.choices[0].message.content)) == {"answer", "sure"}


@pytest.mark.model
@needs_xllamacpp
async def test_a_wrong_key_is_rejected_and_the_key_is_not_shown():
    model = smallest_model()
    async with serve(model, slots=1, context=512) as local:
        with pytest.raises(urllib.error.HTTPError, match="401"):
            await asyncio.to_thread(chat, local.api_base, "a guess")
        assert local.api_key not in repr(local)


@pytest.mark.model
@needs_xllamacpp
async def test_stopping_leaves_no_process_even_with_a_request_in_flight():
    model = smallest_model()
    process = ServerProcess(model, slots=1, context=4096)
    process.start()
    handle = os.pidfd_open(process._process.pid)
    local = await process.ready()
    assert await process.ready() == local
    long = {"max_tokens": 3000, "ignore_eos": True}
    in_flight = asyncio.create_task(asyncio.to_thread(chat, local.api_base, local.api_key, **long))
    await asyncio.to_thread(wait_until_busy, process._process.pid)
    await process.stop()
    assert ends_within(handle, 0)
    os.close(handle)
    with pytest.raises(OSError):
        await in_flight
    await process.stop()


def wait_until_busy(pid):
    """Wait until a request has come in: until the server has an established connection."""
    while not has_connection(pid):
        select.select([], [], [], 0.01)


def has_connection(pid):
    sockets = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    lines = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return any(line[3] == ESTABLISHED and f"socket:[{line[9]}]" in sockets for line in lines)


PARENT = """
import asyncio, os, sys
from pathlib import Path
from alpha_codium.llm.local.registry import find
from alpha_codium.llm.local.server import ServerProcess

async def main(name, folder, fork):
    process = ServerProcess(find(name, Path(folder)), slots=1, context=512)
    process.start()
    await process.ready()
    forked = os.fork() if fork else 0
    if fork and not forked:
        os.close(1)
        sys.stdin.read()
        os._exit(0)
    print(process._process.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3] == "fork"))
"""


@pytest.mark.thorough
@pytest.mark.model
@needs_xllamacpp
@pytest.mark.parametrize("with_a_fork", [False, True], ids=["alone", "while a fork holds the pipe"])
def test_the_child_ends_when_its_parent_is_killed(with_a_fork):
    model = smallest_model()
    command = [sys.executable, "-c", PARENT, model.name, str(model.path.parent), "fork" if with_a_fork else "alone"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        handle = os.pidfd_open(int(parent.stdout.readline()))
        assert not ends_within(handle, 0)
        parent.kill()
        parent.wait()
        assert ends_within(handle, 30)
        os.close(handle)


@pytest.mark.model
@needs_xllamacpp
async def test_a_terminated_child_is_reported():
    model = smallest_model()
    async with ServerProcess(model, slots=1, context=512) as process:
        await process.ready()
        assert process.failure() == ""
        handle = os.pidfd_open(process._process.pid)
        os.kill(process._process.pid, signal.SIGTERM)
        assert await asyncio.to_thread(ends_within, handle, 30)
        os.close(handle)
        assert "ended: SIGTERM" in process.failure()


@pytest.mark.model
@needs_xllamacpp
async def test_a_request_that_failed_because_the_child_was_killed_says_so(monkeypatch):
    model = smallest_model()
    started = []
    start = ServerProcess.start
    monkeypatch.setattr(ServerProcess, "start", lambda self: (start(self), started.append(self)))
    with pytest.raises(LocalServerFailed, match="SIGKILL, perhaps out of memory"):
        async with serve(model, slots=1, context=512):
            handle = os.pidfd_open(started[0]._process.pid)
            os.kill(started[0]._process.pid, signal.SIGKILL)
            assert await asyncio.to_thread(ends_within, handle, 30)
            os.close(handle)
            raise ProviderUnavailable("connection refused")
