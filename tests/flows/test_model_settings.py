"""Every setting changes what happens: here `[config]`, as it reaches a model's server."""

import asyncio
from dataclasses import replace

import pytest

from alpha_codium.llm.client import ModelClient
from alpha_codium.llm.errors import ModelError, ProviderUnavailable
from alpha_codium.llm.messages import ChatRequest, Message
from tests.flows.scripted_flow import ONE, PLANNING, settings_of
from tests.flows.switches import changes
from tests.servers.scripted import FaultOnce, Hang, ScriptedServer, Status, When

QUESTION = ChatRequest((Message("user", "hi"),), temperature=0.5)


def client_of(server, **config):
    """A client as `[config]` says, which waits next to nothing between tries."""
    given = {"model": "openai/one", "api_base": server.api_base, "max_retries": 0} | config
    settings = settings_of({f"config.{key}": value for key, value in given.items()})
    return ModelClient(settings.config, api_key="k", first_wait=0.01)


async def body_of(bench, **config):
    """The body of a request of the flow under these settings."""
    settings = {f"config.{key}": value for key, value in config.items()}
    return (await bench.solve(ONE, settings=settings, sample=2)).of("initial_code")[0].body


@changes("config.model", "config.api_base")
async def test_model_and_api_base_say_who_is_asked_and_where():
    with ScriptedServer() as here, ScriptedServer() as there:
        for server, model in ((here, "openai/one"), (there, "openai/two")):
            async with client_of(server, model=model) as client:
                await client.ask(QUESTION)
            assert [seen.body["model"] for seen in server.requests] == [model.removeprefix("openai/")]


@changes("config.fallback_models")
async def test_fallback_models_are_asked_where_the_model_cannot_be_reached():
    down = When(lambda seen: seen.body["model"] == "one", Status(503))
    with ScriptedServer(faults=[down]) as server:
        async with client_of(server, fallback_models=["openai/two"]) as client:
            assert (await client.ask(QUESTION)).text == "echo: hi"
        async with client_of(server) as client:
            with pytest.raises(ProviderUnavailable):
                await client.ask(QUESTION)


@changes("config.ai_timeout")
async def test_ai_timeout_ends_a_wait():
    with ScriptedServer(faults=[When(lambda seen: True, Hang())]) as server:
        async with client_of(server, ai_timeout=0.2) as client:
            with pytest.raises(ProviderUnavailable, match=r"0\.2 s"):
                await client.ask(QUESTION)


@changes("config.max_retries")
@pytest.mark.parametrize(("retries", "requests"), [(0, 1), (2, 3)])
async def test_max_retries_bounds_the_tries(retries, requests):
    with ScriptedServer(faults=[When(lambda seen: True, Status(500))]) as server:
        async with client_of(server, max_retries=retries) as client:
            with pytest.raises(ProviderUnavailable):
                await client.ask(QUESTION)
        assert len(server.requests) == requests


@changes("config.max_requests_per_minute")
async def test_max_requests_per_minute_holds_a_request_back():
    with ScriptedServer() as server:
        async with client_of(server, max_requests_per_minute=1) as client:
            calls = [asyncio.create_task(client.ask(QUESTION)) for _ in range(3)]
            await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
            assert len(server.requests) == 1
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        async with client_of(server) as client:
            await asyncio.gather(*(client.ask(QUESTION) for _ in range(3)))
        assert len(server.requests) == 4


@pytest.mark.thorough
@changes("config.max_concurrent_requests")
async def test_max_concurrent_requests_bounds_the_calls_in_flight():
    for most in (1, 3):
        with ScriptedServer(latency=0.1, together=most) as server:
            async with client_of(server, max_concurrent_requests=most) as client:
                await client.prepare()
                await asyncio.gather(*(client.ask(QUESTION) for _ in range(6)))
            assert server.max_in_flight == most


@changes("config.drop_params")
async def test_drop_params_leaves_out_what_a_provider_does_not_take():
    question = replace(QUESTION, seed=3)
    with ScriptedServer(faults=[FaultOnce()]) as server:
        given = {"model": "anthropic/x", "api_base": server.url}
        async with client_of(server, **given) as client:
            with pytest.raises(ModelError, match="seed"):
                await client.ask(question)
        assert not server.requests
        async with client_of(server, **given, drop_params=True) as client:
            await client.ask(question)
        assert "seed" not in server.requests[0].body


@pytest.mark.thorough
@changes("config.temperature")
async def test_a_temperature_of_the_settings_is_every_prompts(bench):
    outcome = await bench.solve(settings={"config.temperature": 0.9}, sample=2)
    assert {call.body["temperature"] for call in outcome.calls} == {0.9}
    assert (await body_of(bench))["temperature"] == 0.5


@pytest.mark.thorough
@changes("config.top_p", "config.max_tokens", "config.frequency_penalty", "config.seed", "config.extra")
async def test_parameters_reach_the_request_and_only_where_they_are_given(bench):
    extra = {"metadata_of_mine": {"a": 1}}
    given = {"top_p": 0.9, "max_tokens": 321, "frequency_penalty": 0.25, "seed": 40}
    body = await body_of(bench, **given, extra=extra)
    # Sample 2 has a seed of its own.
    assert {key: body[key] for key in given} == given | {"seed": 42}
    assert "metadata_of_mine" in str(body)
    plain = await body_of(bench)
    assert not set(given) & set(plain)
    assert "metadata_of_mine" not in str(plain)


@changes("config.structured_output")
@pytest.mark.parametrize(
    ("wanted", "supported", "by_schema"),
    [("auto", True, True), ("auto", False, False), ("yaml", True, False), ("json_schema", False, True)],
)
async def test_structured_output_says_how_fields_are_asked_for(bench, wanted, supported, by_schema):
    settings = {"config.structured_output": wanted}
    outcome = await bench.solve(ONE, settings=settings, supports_json_schema=supported)
    assert outcome.prompts == [*PLANNING, "initial_code"]
    for name in PLANNING:
        call = outcome.of(name)[0]
        assert ("response_format" in call.body) == by_schema
        assert ("as YAML, in one fence" in call.user) != by_schema
    # A program is never put into JSON.
    assert "response_format" not in outcome.of("initial_code")[0].body
