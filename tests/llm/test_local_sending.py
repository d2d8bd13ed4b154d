"""Requests to local servers without litellm: the same requests, answers and errors as with it."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from alpha_codium.llm.endpoints import Endpoint
from alpha_codium.llm.errors import ModelError
from alpha_codium.llm.litellm_backend import LiteLLMBackend
from alpha_codium.llm.local.sending import LocalClient
from tests.llm.asking import KEY, request
from tests.llm.local_support import kept_models_folder, needs_xllamacpp, smallest_model
from tests.servers.scripted import Cut, Filtered, Malformed, ScriptedServer, Status, Text, Truncated

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "title": "my answer"}
REQUESTS = {
    "plain": request(),
    "sampled": request(temperature=0.3, top_p=0.9, seed=7, frequency_penalty=0.5, max_tokens=40),
    "ended by words": request(stop=("\n", "END")),
    "by a schema": request(json_schema=SCHEMA),
}
REPLIES = {
    "text": Text("hello", prompt_tokens=5, completion_tokens=2),
    "cut off": Truncated("hel"),
    "filtered": Filtered("no"),
    "thinking": Text("<think>hm</think>\nhello"),
    "reasoning beside the text": Text("hello", reasoning="hm", cached_tokens=1),
    "a parameter that isn't supported": Status(400, "temperature is not supported"),
    "a full context": Status(400, "the request exceeds the available context size"),
    "a wrong key": Status(401, "Invalid API Key"),
    "another model": Status(404, "no such model"),
    "too many requests": Status(429, "slow down", retry_after=2),
    "a model that is loading": Status(503, "Loading model"),
    "no JSON": Malformed(),
    "no choices": Malformed('{"id": "x"}'),
    "a list": Malformed("[]"),
    "a connection that ends in the answer": Cut(),
    "a connection that ends before it": Cut(None),
}


async def outcomes(answer, asked):
    """What litellm and the local client make of the server's answer: each an answer or an error, and what was sent."""
    found = []
    with ScriptedServer(lambda body: answer) as server:
        endpoint = Endpoint("hosted_vllm/tiny", server.api_base, KEY, free=True)
        local, backend = LocalClient(), LiteLLMBackend()
        for send in (backend.send, lambda *given: local.send(*given, 20.0)):
            try:
                [result] = await send(endpoint, asked)
                found.append(replace(result, latency_seconds=0.0, cost=0.0))
            except ModelError as error:
                found.append(error)
        await local.close()
        await backend.close()
        return found, [seen.body for seen in server.requests]


@pytest.mark.parametrize("asked", REQUESTS.values(), ids=REQUESTS.keys())
async def test_the_request_and_the_answer_are_the_same_as_through_litellm(asked):
    (one, other), (sent, sent_directly) = await outcomes(REPLIES["text"], asked)
    assert one == other
    assert sent == sent_directly


@pytest.mark.parametrize("answer", REPLIES.values(), ids=REPLIES.keys())
async def test_each_answer_and_fault_is_read_as_through_litellm(answer):
    (one, other), _ = await outcomes(answer, request())
    assert type(other) is type(one)
    if not isinstance(one, ModelError):
        # litellm leaves the line break after the thinking.
        assert other == replace(one, text=one.text.lstrip("\n"))
        return
    for name in ("retry_after", "cause", "parameter"):
        assert getattr(other, name, None) == getattr(one, name, None)
    assert KEY not in str(other)


USED = """
import sys
from alpha_codium.app.models import ask
print(ask("Say hi.").completion_tokens > 0, "litellm" in sys.modules, "openai" in sys.modules)
"""


@pytest.mark.model
@needs_xllamacpp
def test_a_local_model_is_asked_without_importing_litellm(tmp_path):
    model = smallest_model()
    (tmp_path / "models").mkdir()
    for file in kept_models_folder().glob(f"{model.name}.*"):
        os.link(file, tmp_path / "models" / file.name)
    settings = {"GENCODE_CONFIG__MODEL": f"local/{model.name}", "GENCODE_CONFIG__MAX_TOKENS": "5"}
    environment = os.environ | settings | {"GENCODE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", USED], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False", "False"]
