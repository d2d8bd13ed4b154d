import asyncio
import itertools

import pytest

from alpha_codium.config.sections import ConfigSection
from alpha_codium.errors import UserError
from alpha_codium.llm.client import ModelClient
from alpha_codium.llm.endpoints import Endpoint
from alpha_codium.llm.errors import (
    AuthenticationFailed,
    ContentFiltered,
    ModelError,
    ProviderUnavailable,
    UnknownModel,
)
from tests.llm.asking import KEY, PROVIDERS, base_of, client_of, request
from tests.servers.scripted import (
    Delay,
    FaultOnce,
    Filtered,
    Hang,
    OnNumbers,
    ScriptedServer,
    Status,
    Text,
    Truncated,
    When,
    last_user,
)


async def test_an_answer_has_its_text_tokens_and_latency():
    with ScriptedServer(lambda body: Text("four", prompt_tokens=12, completion_tokens=3)) as server:
        async with client_of(server) as client:
            answer = await client.ask(request("2 + 2?"))
    assert (answer.text, answer.model, answer.finish_reason) == ("four", "openai/x", "stop")
    assert (answer.prompt_tokens, answer.completion_tokens, answer.attempts) == (12, 3, 1)
    assert answer.latency_seconds > 0
    assert client.name == "openai/x"


async def test_a_truncated_answer_is_an_answer():
    with ScriptedServer(lambda body: Truncated("def f(")) as server:
        async with client_of(server) as client:
            answer = await client.ask(request())
    assert answer.truncated
    assert answer.text == "def f("


@pytest.mark.parametrize("model", PROVIDERS)
async def test_a_filtered_answer_is_no_answer(model):
    with ScriptedServer(lambda body: Filtered("I can")) as server:
        async with client_of(server, model, fallback_models=["openai/y"]) as client:
            with pytest.raises(ContentFiltered, match=model):
                await client.ask(request())
        assert len(server.requests) == 1


async def test_requests_per_minute_are_spread_evenly_and_include_retries():
    with ScriptedServer(faults=[FaultOnce(Status(500))]) as server:
        async with client_of(server, max_requests_per_minute=600) as client:
            await client.prepare()
            await asyncio.gather(*(client.ask(request(str(number))) for number in range(4)))
        times = [seen.arrived for seen in server.requests]
    assert len(times) == 8
    assert times[-1] - times[0] >= 0.5  # seven gaps of 0.1 s, less what the network adds to the first
    assert all(late - early >= 0.05 for early, late in zip(times, times[3:], strict=False))


async def test_no_more_requests_are_in_flight_than_allowed():
    with ScriptedServer(latency=0.05, together=3) as server:
        async with client_of(server, max_concurrent_requests=3) as client:
            await asyncio.gather(*(client.ask(request(str(number))) for number in range(12)))
        assert server.max_in_flight == 3


@pytest.mark.thorough
async def test_a_call_that_waits_before_a_retry_holds_no_slot():
    patient = When(lambda seen: last_user(seen.body) == "a" and not seen.times_before, Status(429, retry_after=1))
    with ScriptedServer(faults=[patient]) as server:
        async with client_of(server, max_concurrent_requests=1) as client:
            await asyncio.gather(client.ask(request("a")), client.ask(request("b")))
        assert [last_user(seen.body) for seen in server.requests] == ["a", "b", "a"]


async def test_a_cancelled_call_ends_at_once_and_frees_its_slot():
    with ScriptedServer(faults=[OnNumbers({1: Hang()})]) as server:
        async with client_of(server, max_concurrent_requests=1) as client:
            task = asyncio.create_task(client.ask(request("one")))
            await asyncio.to_thread(server.wait_for_requests, 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await client.ask(request("two"))).text == "echo: two"
        assert len(server.requests) == 2


@pytest.mark.parametrize("model", PROVIDERS)
async def test_an_unknown_price_is_none_and_not_0(model):
    with ScriptedServer() as server:
        async with client_of(server, model) as client:
            assert (await client.ask(request())).cost is None


async def test_a_known_price_is_charged():
    script = Text("x", prompt_tokens=1000, completion_tokens=100)
    with ScriptedServer(lambda body: script) as server:
        async with client_of(server, "openai/gpt-4o-mini") as client:
            answer = await client.ask(request())
    assert answer.cost == pytest.approx(1000 * 0.15e-6 + 100 * 0.6e-6)


def free_endpoint(server):
    return Endpoint("openai/x", server.api_base, KEY, free=True)


async def test_a_free_model_costs_nothing():
    with ScriptedServer() as server:
        async with client_of(server, endpoints={"openai/x": free_endpoint(server)}) as client:
            assert (await client.ask(request())).cost == 0.0


async def test_a_fallback_of_a_free_model_has_its_own_price():
    with ScriptedServer(faults=[When(lambda seen: seen.body["model"] == "x", Status(503))]) as server:
        endpoints = {"openai/x": free_endpoint(server)}
        async with client_of(server, endpoints=endpoints, fallback_models=["openai/y"], max_retries=0) as client:
            assert (await client.ask(request())).cost is None


async def test_a_late_answer_within_the_timeout_is_accepted():
    with ScriptedServer(lambda body: Delay(0.3, "late")) as server:
        async with client_of(server) as client:
            assert (await client.ask(request())).text == "late"


async def test_closing_a_client_leaves_the_connections_of_another_open():
    with ScriptedServer() as server:
        async with client_of(server) as first:
            async with client_of(server) as second:
                await second.ask(request("one"))
            assert (await first.ask(request("two"))).text == "echo: two"


async def test_clients_can_follow_each_other():
    with ScriptedServer() as server:
        for text in "abc":
            async with client_of(server) as client:
                assert (await client.ask(request(text))).text == f"echo: {text}"


def test_clients_can_follow_each_other_in_event_loops_of_their_own():
    async def once(server, text):
        async with client_of(server) as client:
            return (await client.ask(request(text))).text

    with ScriptedServer() as server:
        for model, text in itertools.product(["openai/x"], "abc"):
            assert asyncio.run(once(server, text)) == f"echo: {text}", model


async def test_json_schema_support_is_what_litellm_says_unless_it_is_given():
    client = ModelClient(ConfigSection(model="openai/gpt-4o-mini"))
    await client.prepare()
    assert client.supports_json_schema()
    assert not client.supports_json_schema("openai/x")
    assert not ModelClient(
        ConfigSection(model="openai/gpt-4o-mini", fallback_models=["openai/x"])
    ).supports_json_schema()
    endpoint = Endpoint("openai/x", supports_json_schema=True)
    assert ModelClient(ConfigSection(model="openai/x"), endpoints={"openai/x": endpoint}).supports_json_schema()


def test_errors_that_the_user_can_correct_are_user_errors():
    assert issubclass(AuthenticationFailed, UserError)
    assert issubclass(UnknownModel, UserError)
    assert not issubclass(ProviderUnavailable, UserError)
    assert issubclass(ProviderUnavailable, ModelError)


@pytest.mark.parametrize("model", PROVIDERS)
async def test_each_provider_finds_its_route(model):
    with ScriptedServer(api_key="sk-a-key-nobody-may-see") as server:
        async with client_of(server, model, api_base=base_of(server, model)) as client:
            assert (await client.ask(request())).model == model
        assert server.requests[0].body["model"] == "x"
        assert server.other_paths == []
