import json

import pytest

from alpha_codium.llm.errors import (
    ModelError,
    RequestRefused,
    TransientError,
)
from alpha_codium.llm.parameters import parameters
from tests.llm.asking import KEY, PROVIDERS, client_of, request
from tests.llm.sending import send
from tests.servers.scripted import Always, Malformed, ScriptedServer, Status, Text, Truncated

SCHEMA = {
    "title": "two sums",
    "type": "object",
    "properties": {"sum": {"type": "integer"}},
    "required": ["sum"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("model", ["openai/x", "hosted_vllm/x", "ollama_chat/x"])
async def test_parameters_reach_the_server(backend, model):
    given = request(temperature=0.5, top_p=0.9, max_tokens=7, seed=3, stop=("a", "b"), extra={"top_k": 5, "min_p": 0.1})
    with ScriptedServer() as server:
        await send(backend, server, model, given)
        body = server.requests[0].body
    sent = {**body, **body.get("options", {})}
    expected = {"temperature": 0.5, "top_p": 0.9, "seed": 3, "stop": ["a", "b"], "top_k": 5, "min_p": 0.1}
    assert expected.items() <= sent.items()
    assert sent.get("max_tokens", sent.get("num_predict")) == 7
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


async def test_parameters_reach_anthropic_in_its_own_form(backend):
    given = request(temperature=0.5, max_tokens=7, stop=("a",), extra={"top_k": 5})
    with ScriptedServer() as server:
        await send(backend, server, "anthropic/x", given)
        seen = server.requests[0]
    expected = {"temperature": 0.5, "max_tokens": 7, "stop_sequences": ["a"], "top_k": 5, "model": "x"}
    assert expected.items() <= seen.body.items()
    assert (seen.path, seen.headers["x-api-key"]) == ("/v1/messages", KEY)


async def test_parameters_that_are_not_given_are_not_sent(backend):
    with ScriptedServer() as server:
        await send(backend, server, given=request(frequency_penalty=0.0))
        assert set(server.requests[0].body) == {"model", "messages"}


@pytest.mark.parametrize("model", ["openai/x", "hosted_vllm/x"])
async def test_a_json_schema_is_sent_as_a_response_format(backend, model):
    with ScriptedServer() as server:
        await send(backend, server, model, request(json_schema=SCHEMA))
        sent = server.requests[0].body["response_format"]
    assert sent == {"type": "json_schema", "json_schema": {"name": "two_sums", "schema": SCHEMA, "strict": True}}


async def test_a_json_schema_reaches_ollama_as_its_format(backend):
    with ScriptedServer() as server:
        await send(backend, server, "ollama_chat/x", request(json_schema=SCHEMA))
        assert server.requests[0].body["format"]["required"] == ["sum"]


async def test_an_unsupported_parameter_is_an_error_that_names_it(backend):
    with ScriptedServer() as server:
        with pytest.raises(
            RequestRefused, match=r"anthropic/x doesn't support the parameter seed: .*config.drop_params"
        ):
            await send(backend, server, "anthropic/x", request(seed=3))
        assert server.requests == []
        await send(backend, server, "anthropic/x", request(seed=3), drop_params=True)
        assert "seed" not in server.requests[0].body


def test_a_request_is_not_changed_by_sending_it():
    given = request(json_schema=SCHEMA, extra={"a": {"b": 1}})
    sent = parameters(given)
    sent["a"]["b"] = 2
    sent["response_format"]["json_schema"]["schema"]["properties"]["sum"] = None
    assert given.extra == {"a": {"b": 1}}
    assert SCHEMA["properties"]["sum"] == {"type": "integer"}


async def test_extra_parameters_cannot_turn_retries_on(backend):
    with ScriptedServer(faults=[Always(Status(500))]) as server:
        with pytest.raises(TransientError):
            await send(backend, server, given=request(extra={"max_retries": 3, "num_retries": 3}))
        assert len(server.requests) == 1


@pytest.mark.parametrize("model", PROVIDERS)
async def test_reasoning_is_separated_from_the_answer(backend, model):
    with ScriptedServer(lambda body: Text("42", reasoning="six times seven")) as server:
        answer = await send(backend, server, model)
    assert (answer.text, answer.reasoning) == ("42", "six times seven")


@pytest.mark.parametrize("model", PROVIDERS)
async def test_a_truncated_answer_says_so(backend, model):
    with ScriptedServer(lambda body: Truncated("def f(")) as server:
        answer = await send(backend, server, model)
    assert answer.truncated


async def test_an_answer_without_text_is_empty(backend):
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": None}, "finish_reason": "stop"}]}
    with ScriptedServer(faults=[Always(Malformed(json.dumps(body)))]) as server:
        assert (await send(backend, server)).text == ""


async def test_a_private_server_needs_no_key(backend, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ScriptedServer() as server:
        assert (await send(backend, server, api_key=None)).text == "echo: hi"


async def test_the_key_of_the_environment_is_used(backend, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
    with ScriptedServer(api_key="from-the-environment") as server:
        assert (await send(backend, server, api_key=None)).text == "echo: hi"


async def test_ollama_is_not_looked_up_elsewhere(backend):
    with ScriptedServer() as server:
        await send(backend, server, "ollama_chat/never-seen")
        assert server.other_paths == []


async def test_litellm_says_nothing(backend, capfd):
    for reply in (Status(500), Status(400), Malformed(), Text("fine")):
        with ScriptedServer(faults=[Always(reply)]) as server:
            for model in PROVIDERS:
                client = client_of(server, model, max_retries=0, backend=backend)
                try:
                    await client.ask(request())
                except ModelError as error:
                    assert "\n" not in str(error)
    out, err = capfd.readouterr()
    assert out == ""
    assert "litellm" not in err.lower().replace("alpha_codium.llm", "")
