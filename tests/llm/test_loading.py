"""How litellm is loaded: late, quietly, off the network, and closed without a trace. Each in a process of its own."""

import gc
import os
import subprocess
import sys

import pytest

from alpha_codium.llm.litellm_loading import without_collections
from tests.servers.scripted import ScriptedServer
from tests.support import ROOT


def run(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    dropped = ("LITELLM_", "HF_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return subprocess.run(
        [
            sys.executable,
            "-X",
            "dev",
            "-W",
            "ignore::DeprecationWarning",
            "-W",
            "ignore::SyntaxWarning",
            "-c",
            code,
            *arguments,
        ],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        env=kept | {"PYTHONPATH": str(ROOT)} | environment,
        check=True,
    )


ASK = """
import asyncio, os, sys
contacts = []
def watch(event, arguments):
    if event == "socket.getaddrinfo":
        contacts.append(str(arguments[0]))
    if event == "socket.connect":
        contacts.append(str(arguments[1]))
sys.addaudithook(watch)
from tests.llm.asking import request
from alpha_codium.config.sections import ConfigSection
from alpha_codium.llm.client import ModelClient
print("litellm" in sys.modules)
async def main():
    ticks = 0
    async def tick():
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1
    ticking = asyncio.create_task(tick())
    for place, model in enumerate(sys.argv[2:]):
        base = sys.argv[1] + ("/v1" if model.startswith("openai/") else "")
        async with ModelClient(ConfigSection(model=model, api_base=base), api_key="k") as client:
            print("litellm" in sys.modules)
            await client.prepare()
            print(place > 0 or ticks > 20)
            print((await client.ask(request())).text)
    ticking.cancel()
asyncio.run(main())
print({contact for contact in contacts if sys.argv[1].rpartition(":")[2] not in contact})
print(sorted(name for name in os.environ if name.startswith("HF_")))
"""


MODELS = ("openai/gpt-4o-mini", "anthropic/claude-sonnet-4-5", "ollama_chat/x")
EACH_ALONE = [pytest.param([model], marks=pytest.mark.slow, id=model) for model in MODELS]


@pytest.mark.thorough
@pytest.mark.parametrize("models", [pytest.param(MODELS, id="all in turn"), *EACH_ALONE])
def test_litellm_is_imported_at_the_first_call_without_blocking_or_network(models):
    with ScriptedServer() as server:
        done = run(ASK, server.url, *models)
    first, others = ["False", "True", "echo: hi"], ["True", "True", "echo: hi"] * (len(models) - 1)
    assert done.stdout.splitlines() == ["False", *first, *others, "set()", "[]"]
    assert "Unclosed" not in done.stderr
    assert "never awaited" not in done.stderr
    assert "Task was destroyed" not in done.stderr
    assert "LiteLLM" not in done.stderr


CANCELLED = """
import asyncio, sys
from tests.llm.asking import request
from alpha_codium.config.sections import ConfigSection
from alpha_codium.llm.client import ModelClient
async def main():
    async with ModelClient(ConfigSection(model="openai/x", api_base=sys.argv[1]), api_key="k") as client:
        await client.ask(request("first"))
        print("asking", flush=True)
        await client.ask(request("second"))
try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.thorough
def test_an_interrupt_ends_a_call_in_flight_cleanly():
    import signal

    from tests.servers.scripted import Hang, OnNumbers

    with ScriptedServer(faults=[OnNumbers({2: Hang()})]) as server:
        command = [sys.executable, "-X", "dev", "-W", "ignore", "-c", CANCELLED, server.api_base]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(command, **pipes, text=True, cwd=ROOT) as child:
            server.wait_for_requests(2)
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=60)
    assert out.splitlines() == ["asking", "interrupted"]
    assert "Unclosed" not in err


LOADED = """
import gc
seen = []
gc.callbacks.append(lambda phase, about: seen.append(phase))
from alpha_codium.llm.litellm_loading import load
before = len(seen)
load()
print(gc.isenabled(), len(seen) - before < 20)
"""


@pytest.mark.thorough
def test_the_garbage_collector_is_off_while_litellm_is_imported():
    assert run(LOADED).stdout.split() == ["True", "True"]


def test_a_garbage_collector_that_was_off_stays_off():
    gc.disable()
    try:
        with without_collections():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
