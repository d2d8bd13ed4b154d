"""Requests to servers of OpenAI's protocol without litellm: the same requests, answers and errors as with it."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from alpha_codium.config.sections import ConfigSection, Price, PricesSection
from alpha_codium.llm.direct import DirectClient
from alpha_codium.llm.endpoints import Endpoint, Endpoints
from alpha_codium.llm.errors import ModelError
from alpha_codium.llm.litellm_backend import LiteLLMBackend
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


MODELS = ("hosted_vllm/tiny", "openai/tiny", "openai/a-maker/Tiny-0.5B")
PRICES = PricesSection(models={"openai/tiny": Price(input=2, output=10, cached=0.5)})


async def outcomes(model, answer, asked, n=1):
    """What litellm and the direct client make of the answer: each the answers or an error; and what was sent."""
    found = []
    with ScriptedServer(lambda body: answer) as server:
        endpoint = Endpoint(model, server.api_base, KEY)
        direct, backend = DirectClient(PRICES), LiteLLMBackend(PRICES)
        sends = (lambda: backend.send(endpoint, asked, n=n), lambda: direct.send(endpoint, asked, 20.0, n))
        for send in sends:
            try:
                found.append([replace(result, latency_seconds=0.0) for result in await send()])
            except ModelError as error:
                found.append(error)
        await direct.close()
        await backend.close()
        return found, server.requests


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("asked", REQUESTS.values(), ids=REQUESTS.keys())
async def test_the_request_and_the_answer_are_the_same_as_through_litellm(model, asked):
    (one, other), (sent, sent_directly) = await outcomes(model, REPLIES["text"], asked)
    assert one == other
    assert (sent.path, sent.body) == (sent_directly.path, sent_directly.body)
    assert sent.headers["Authorization"] == sent_directly.headers["Authorization"]


async def test_several_answers_are_asked_for_and_read_as_through_litellm():
    (one, other), (sent, sent_directly) = await outcomes("openai/tiny", REPLIES["text"], request(), n=3)
    assert one == other
    assert sent.body == sent_directly.body


@pytest.mark.parametrize("api_base", ["http://127.0.0.1:1/v1", "https://127.0.0.1:1/v1", ""])
@pytest.mark.parametrize(
    ("model", "plain"),
    [
        *((model, True) for model in MODELS),
        ("openai/gpt-4o-mini", False),  # litellm has data on it, and its own way with such names
        ("hosted_vllm/openai/gpt-oss-20b", False),
        ("openai/o9", False),
        ("openai/responses/tiny", False),
        ("ollama_chat/tiny", False),
    ],
)
def test_only_unknown_models_of_ones_own_plain_servers_are_asked_directly(model, plain, api_base):
    endpoints = Endpoints(ConfigSection(model=model, api_base=api_base), None, {})
    assert endpoints[model].direct is (plain and api_base.startswith("http:"))


@pytest.mark.parametrize("model", MODELS)
async def test_what_is_said_of_a_directly_asked_model_is_what_litellm_says(model):
    backend, endpoint = LiteLLMBackend(), Endpoints(ConfigSection(model=model, api_base="http://h/v1"), None, {})[model]
    await backend.prepare()
    assert endpoint.supports_json_schema is backend.supports_json_schema(model)
    assert endpoint.supports_n is backend.supports_n(model)


@pytest.mark.parametrize("answer", REPLIES.values(), ids=REPLIES.keys())
async def test_each_answer_and_fault_is_read_as_through_litellm(answer):
    (one, other), _ = await outcomes("openai/tiny", answer, request())
    assert type(other) is type(one)
    if not isinstance(one, ModelError):
        # litellm leaves the line break after the thinking.
        assert other == [replace(one[0], text=one[0].text.lstrip("\n"))]
        return
    for name in ("retry_after", "cause", "parameter"):
        assert getattr(other, name, None) == getattr(one, name, None)
    assert KEY not in str(other)


USED = """
import sys
from alpha_codium.app.models import ask
print(ask("Say hi.").completion_tokens > 0, "litellm" in sys.modules, "openai" in sys.modules)
"""


def imported_by_asking(home, model, **settings):
    """Whether there was an answer, and whether litellm and openai were imported."""
    settings = {f"GENCODE_CONFIG__{name.upper()}": value for name, value in {"model": model, **settings}.items()}
    environment = os.environ | settings | {"GENCODE_HOME": str(home)}
    done = subprocess.run([sys.executable, "-c", USED], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.thorough
def test_a_server_of_ones_own_is_asked_without_importing_litellm(tmp_path):
    with ScriptedServer(lambda body: REPLIES["text"]) as server:
        assert imported_by_asking(tmp_path, "openai/tiny", api_base=server.api_base) == ["True", "False", "False"]


@pytest.mark.thorough
@pytest.mark.model
@needs_xllamacpp
def test_a_local_model_is_asked_without_importing_litellm(tmp_path):
    model = smallest_model()
    (tmp_path / "models").mkdir()
    for file in kept_models_folder().glob(f"{model.name}.*"):
        os.link(file, tmp_path / "models" / file.name)
    assert imported_by_asking(tmp_path, f"local/{model.name}", max_tokens="5") == ["True", "False", "False"]
