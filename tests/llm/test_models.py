"""Kinds of models, each over HTTP: several in one run, reasoning models, base models, caches of providers."""

import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loguru import logger

from alpha_codium.config.sections import ConfigSection
from alpha_codium.llm.client import ModelClient
from alpha_codium.llm.endpoints import Endpoint
from alpha_codium.llm.errors import RequestRefused
from alpha_codium.llm.messages import ChatRequest, Message
from alpha_codium.llm.parameters import LONG_MESSAGE
from alpha_codium.llm.responses import MAX_CHARACTERS, split_reasoning
from tests.llm.asking import PROVIDERS, base_of, client_of, request
from tests.servers.scripted import Always, FaultOnce, ScriptedServer, Status, Text, When

UNSUPPORTED = Status(
    400,
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    error_type="invalid_request_error",
    error_code="unsupported_value",
)
REFUSES_TEMPERATURE = When(lambda seen: "temperature" in seen.body, UNSUPPORTED)


@pytest.fixture
def warnings_said():
    lines: list[str] = []
    sink = logger.add(lambda message: lines.append(message.record["message"]), level=logging.WARNING)
    yield lines
    logger.remove(sink)


# several models


async def test_a_request_goes_to_the_model_it_names():
    with ScriptedServer() as server:
        async with client_of(server, "openai/big") as client:
            answers = [await client.ask(request(model=model)) for model in ("openai/small", "", "openai/big")]
        assert [seen.body["model"] for seen in server.requests] == ["small", "big", "big"]
    assert [answer.model for answer in answers] == ["openai/small", "openai/big", "openai/big"]


async def test_a_model_of_another_provider_goes_to_its_own_address(monkeypatch):
    with ScriptedServer() as server, ScriptedServer(api_key="the-key-of-the-other") as other:
        monkeypatch.setenv("ANTHROPIC_API_BASE", other.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "the-key-of-the-other")
        async with client_of(server) as client:
            assert (await client.ask(request(model="anthropic/y"))).model == "anthropic/y"
        assert (len(server.requests), len(other.requests)) == (0, 1)


async def test_the_fallbacks_of_a_request_are_those_of_the_run():
    down = When(lambda seen: seen.body["model"] == "small", Status(503))
    with ScriptedServer(faults=[down]) as server:
        async with client_of(server, fallback_models=["openai/y"], max_retries=0) as client:
            assert (await client.ask(request(model="openai/small"))).model == "openai/y"
        assert [seen.body["model"] for seen in server.requests] == ["small", "y"]


async def test_a_model_with_an_endpoint_of_its_own_is_reached_there_and_answers_under_its_name():
    with ScriptedServer() as server, ScriptedServer(api_key="secret") as local:
        endpoint = Endpoint("hosted_vllm/tiny", local.api_base, "secret", free=True, max_tokens=9)
        async with client_of(server, endpoints={"local/tiny": endpoint}) as client:
            answer = await client.ask(request(model="local/tiny"))
        assert (local.requests[0].body["model"], local.requests[0].body["max_tokens"]) == ("tiny", 9)
        assert server.requests == []
    assert (answer.model, answer.cost) == ("local/tiny", 0.0)
    assert "secret" not in repr(endpoint)


async def test_the_address_is_that_of_the_first_model_that_is_not_local():
    with ScriptedServer() as server, ScriptedServer() as local:
        endpoints = {"local/tiny": Endpoint("hosted_vllm/tiny", local.api_base, "k")}
        given = {"endpoints": endpoints, "api_base": server.api_base, "rotate_models": ["openai/x"]}
        async with client_of(local, "local/tiny", **given) as client:
            await client.ask(request(model="openai/x"))
        assert len(server.requests) == 1


async def test_json_schema_support_is_known_for_each_model():
    endpoints = {"local/tiny": Endpoint("hosted_vllm/tiny", "http://127.0.0.1:9/v1", supports_json_schema=True)}
    async with ModelClient(ConfigSection(model="openai/gpt-4o-mini"), endpoints=endpoints) as client:
        await client.prepare()
        assert client.supports_json_schema("")
        assert client.supports_json_schema("openai/gpt-4o-mini")
        assert client.supports_json_schema("local/tiny")
        assert not client.supports_json_schema("openai/x")


# reasoning models


async def test_a_refused_temperature_is_left_out_from_then_on(warnings_said):
    with ScriptedServer(faults=[REFUSES_TEMPERATURE]) as server:
        async with client_of(server) as client:
            first = await client.ask(request("one", temperature=0.2, top_p=0.9))
            second = await client.ask(request("two", temperature=0.2, top_p=0.9))
            other = await client.ask(request("one", temperature=1.0, model="openai/y"))
        sent = [seen.body.get("temperature") for seen in server.requests]
        assert all(seen.body["top_p"] == 0.9 for seen in server.requests[:3])
    assert sent == [0.2, None, None, 1.0, None]
    assert (first.attempts, second.attempts, other.attempts) == (2, 1, 2)
    assert [line for line in warnings_said if "openai/x" in line] == [
        "openai/x doesn't support temperature: it is left out from now on"
    ]


async def test_a_refused_max_tokens_is_sent_under_its_newer_name():
    refusal = Status(400, "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.")
    with ScriptedServer(faults=[When(lambda seen: "max_tokens" in seen.body, refusal)]) as server:
        async with client_of(server) as client:
            await client.ask(request(max_tokens=7))
        assert server.requests[1].body["max_completion_tokens"] == 7


async def test_a_model_that_keeps_refusing_is_not_asked_forever():
    with ScriptedServer(faults=[Always(UNSUPPORTED)]) as server:
        async with client_of(server) as client:
            with pytest.raises(RequestRefused, match="temperature"):
                await client.ask(request(temperature=0.2))
        assert len(server.requests) == 2


@pytest.mark.parametrize("parameter", ["stop", "seed", "response_format"])
async def test_a_parameter_that_changes_the_question_is_not_left_out(parameter):
    refusal = Status(400, f"Unsupported parameter: '{parameter}' is not supported with this model.")
    with ScriptedServer(faults=[Always(refusal)]) as server:
        async with client_of(server) as client:
            with pytest.raises(RequestRefused, match=parameter):
                await client.ask(request(stop=("a",), seed=1, temperature=0.2))
        assert len(server.requests) == 1


@pytest.mark.parametrize("model", ["openai/o3-mini", "openai/o1", "openai/gpt-5"])
async def test_a_known_reasoning_model_is_never_sent_a_temperature(model, warnings_said):
    with ScriptedServer() as server:
        async with client_of(server, model) as client:
            for text in ("one", "two"):
                answer = await client.ask(request(text, temperature=0.2, top_p=0.9, max_tokens=7))
                assert answer.attempts == 1
        bodies = [seen.body for seen in server.requests]
    assert all(not {"temperature", "top_p", "max_tokens"} & body.keys() for body in bodies)
    assert [body["max_completion_tokens"] for body in bodies] == [7, 7]
    assert len([line for line in warnings_said if "temperature" in line]) == 1


@pytest.mark.parametrize("model", PROVIDERS)
@pytest.mark.parametrize("opening", ["<think>\n", ""])
async def test_reasoning_in_the_text_is_separated(model, opening):
    said = f"{opening}6 * 7?\n```python\nwrong()\n```\n</think>\n\nIt is 42."
    with ScriptedServer(lambda body: said) as server:
        async with client_of(server, model) as client:
            answer = await client.ask(request())
    assert answer.text.strip() == "It is 42."
    assert "wrong()" in answer.reasoning
    assert "think>" not in answer.reasoning


async def test_an_answer_cut_off_in_its_reasoning_has_no_text():
    with ScriptedServer(lambda body: Text("<think>\nLet me see: def f(", finish_reason="length")) as server:
        async with client_of(server) as client:
            answer = await client.ask(request())
    assert (answer.text, answer.reasoning, answer.truncated) == ("", "Let me see: def f(", True)


@pytest.mark.parametrize(
    "text",
    [
        "print('<think>')",
        "Use <think>this</think> tag.",
        "```python\nprint('</think>')\n```",
        "x = s.split('</think>') # no more",
        "",
    ],
)
def test_tags_within_an_answer_are_part_of_it(text):
    assert split_reasoning(text) == (text, "")


@given(st.text(), st.text(alphabet="ab<>/\n "))
def test_reasoning_never_reaches_the_text(thoughts, answer):
    thoughts = thoughts.replace("</", "")
    text, reasoning = split_reasoning(f"<think>{thoughts}</think>{answer}")
    assert (text, reasoning) == (answer.lstrip(), thoughts.strip())


# base models


async def test_a_base_model_continues_one_text_until_a_stop_word():
    said = (Message("system", "# Python"), Message("user", "def add(a, b):\n"))
    asked = ChatRequest(said, stop=("\ndef ", "\nclass "))
    with ScriptedServer(lambda body: "    return a + b\n") as server:
        async with client_of(server, "text-completion-openai/base") as client:
            answer = await client.ask(asked)
        seen = server.requests[0]
    assert seen.path == "/v1/completions"
    assert seen.body["prompt"] == "# Python\n\ndef add(a, b):\n"
    assert (seen.body["stop"], seen.body["model"]) == (["\ndef ", "\nclass "], "base")
    assert answer.text == "    return a + b\n"
    assert (answer.prompt_tokens, answer.completion_tokens, answer.finish_reason) == (5, 4, "stop")


async def test_a_base_model_leaves_no_connection_open_and_is_retried():
    def sockets() -> int:
        return sum(link.is_socket() for link in Path("/proc/self/fd").iterdir())

    with ScriptedServer(faults=[FaultOnce(Status(500))]) as server:
        before = sockets()
        async with client_of(server, "text-completion-openai/base") as client:
            answers = [await client.ask(request(str(number))) for number in range(8)]
        del client
        # The server, in this process too, closes its end of a connection in its own time.
        assert sockets() <= before + 4
        assert [answer.attempts for answer in answers] == [2] * 8
        assert len(server.requests) == 16


async def test_a_private_base_model_needs_no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ScriptedServer() as server:
        async with client_of(server, "text-completion-openai/base", api_key=None) as client:
            assert (await client.ask(request("x"))).text.startswith("echo: ")


# caches of providers


@pytest.mark.parametrize("model", ["openai/x", "hosted_vllm/x", "anthropic/x"])
async def test_tokens_read_from_a_cache_are_counted(model):
    script = Text("x", prompt_tokens=1000, completion_tokens=10, cached_tokens=600)
    with ScriptedServer(lambda body: script) as server:
        async with client_of(server, model) as client:
            answer = await client.ask(request())
    assert (answer.prompt_tokens, answer.cached_tokens) == (1000, 600)


async def test_long_messages_are_marked_for_a_provider_that_needs_cache_marks():
    model = "anthropic/claude-haiku-4-5"
    with ScriptedServer() as server:
        async with client_of(server, model) as client:
            await client.ask(request("long " * LONG_MESSAGE))
            await client.ask(request("short"))
            await client.ask(ChatRequest((Message("system", "s" * LONG_MESSAGE), Message("user", "short"))))
        long, short, system = (seen.body for seen in server.requests)
    assert long["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in str(short)
    assert system["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in str(system["messages"])


@pytest.mark.parametrize("model", ["openai/gpt-4o-mini", "hosted_vllm/x", "ollama_chat/x", "anthropic/x"])
async def test_no_other_provider_gets_cache_marks(model):
    with ScriptedServer() as server:
        async with client_of(server, model) as client:
            await client.ask(request("long " * LONG_MESSAGE))
        assert "cache_control" not in str(server.requests[0].body)


# answers out of bounds


@pytest.mark.parametrize("model", PROVIDERS)
async def test_a_huge_answer_is_cut_off_and_truncated(model):
    with ScriptedServer(lambda body: Text("x" * (MAX_CHARACTERS + 1), completion_tokens=5)) as server:
        async with client_of(server, model, api_base=base_of(server, model)) as client:
            answer = await client.ask(request())
    assert (len(answer.text), answer.truncated) == (MAX_CHARACTERS, True)


async def test_huge_reasoning_is_cut_off():
    with ScriptedServer(lambda body: Text("42", reasoning="x" * (MAX_CHARACTERS + 1))) as server:
        async with client_of(server) as client:
            answer = await client.ask(request())
    assert (answer.text, len(answer.reasoning), answer.truncated) == ("42", MAX_CHARACTERS, False)
