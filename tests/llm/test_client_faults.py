"""What a client makes of faults: what it tries again, how long it waits, and who is asked instead."""

import asyncio

import pytest

from alpha_codium.config.sections import ConfigSection
from alpha_codium.llm.client import ModelClient
from alpha_codium.llm.errors import (
    AuthenticationFailed,
    ProviderUnavailable,
    RequestRefused,
    UnknownModel,
)
from tests.llm.asking import PROVIDERS, client_of, request
from tests.servers.scripted import (
    Always,
    Cut,
    FaultOnce,
    Hang,
    Malformed,
    ScriptedServer,
    Status,
    When,
    WithProbability,
)

ALL = (*PROVIDERS, "text-completion-openai/x")
FAULTS_THAT_PASS = {
    "status 429": Status(429),
    "status 500": Status(500),
    "status 503": Status(503),
    "status 529": Status(529, error_type="overloaded_error", message="Overloaded"),
    "status 408": Status(408),
    "a connection cut in the body": Cut(after_bytes=20),
    "a connection cut before the head": Cut(after_bytes=None),
    "half a JSON text": Malformed(),
    "a page of HTML": Malformed("<html>busy</html>", "text/html"),
    "no choices": Malformed('{"id": "x", "choices": []}'),
    "an error in an answer's clothes": Malformed('{"error": {"message": "upstream broke", "code": 502}}'),
}


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize("fault", FAULTS_THAT_PASS.values(), ids=FAULTS_THAT_PASS.keys())
async def test_a_transient_error_is_retried(fault, model):
    with ScriptedServer(faults=[FaultOnce(fault)]) as server:
        async with client_of(server, model) as client:
            answer = await client.ask(request())
        assert (answer.text.split()[-1], answer.attempts, len(server.requests)) == ("hi", 2, 2)


@pytest.mark.thorough
async def test_a_request_without_an_answer_is_retried_after_the_timeout():
    with ScriptedServer(faults=[FaultOnce(Hang())]) as server:
        async with client_of(server, ai_timeout=2.0) as client:
            answer = await client.ask(request())
        assert (answer.text, answer.attempts) == ("echo: hi", 2)


@pytest.mark.parametrize("model", ALL)
async def test_retries_do_not_multiply(model):
    """litellm and the clients below it retry nothing: the server sees max_retries + 1 requests."""
    with ScriptedServer(faults=[Always(Status(500))]) as server:
        async with client_of(server, model, max_retries=3) as client:
            with pytest.raises(ProviderUnavailable, match=r"4 requests.*status 500"):
                await client.ask(request())
        assert len(server.requests) == 4


@pytest.mark.thorough
@pytest.mark.parametrize("model", ALL)
async def test_timeouts_do_not_multiply_either(model):
    with ScriptedServer(faults=[Always(Hang())]) as server:
        async with client_of(server, model, max_retries=1, ai_timeout=2.0) as client:
            with pytest.raises(ProviderUnavailable, match=r"2 requests.*no answer in"):
                await client.ask(request())
        assert len(server.requests) == 2


@pytest.mark.parametrize("model", ALL)
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, RequestRefused),
        (401, AuthenticationFailed),
        (403, AuthenticationFailed),
        (404, UnknownModel),
        (422, RequestRefused),
    ],
)
async def test_a_permanent_error_is_not_retried(model, status, error):
    with ScriptedServer(faults=[Always(Status(status, "says the provider"))]) as server:
        async with client_of(server, model, fallback_models=["openai/y"]) as client:
            with pytest.raises(error, match=f"{model}: .*says the provider"):
                await client.ask(request())
        assert len(server.requests) == 1


async def test_a_retry_waits_at_least_as_long_as_the_provider_asks():
    with ScriptedServer(faults=[FaultOnce(Status(429, retry_after=0.6))]) as server:
        async with client_of(server) as client:
            await client.ask(request())
        first, second = server.requests
    assert second.arrived - first.arrived >= 0.6


async def test_a_provider_that_asks_for_an_hour_gets_the_longest_wait():
    with ScriptedServer(faults=[FaultOnce(Status(429, retry_after=3600))]) as server:
        async with client_of(server, longest_wait=0.05) as client:
            assert (await client.ask(request())).attempts == 2


async def test_a_fallback_is_asked_when_the_model_is_unavailable():
    down = When(lambda seen: seen.body["model"] == "x", Status(503))
    with ScriptedServer(faults=[down]) as server:
        async with client_of(server, fallback_models=["openai/y", "openai/z"], max_retries=1) as client:
            answer = await client.ask(request())
        assert [seen.body["model"] for seen in server.requests] == ["x", "x", "y"]
    assert (answer.model, answer.attempts) == ("openai/y", 3)


async def test_when_all_fallbacks_fail_the_last_error_is_raised():
    with ScriptedServer(faults=[Always(Status(503, "down for today"))]) as server:
        async with client_of(server, fallback_models=["openai/y"], max_retries=0) as client:
            with pytest.raises(ProviderUnavailable, match=r"openai/y gave no answer in 1 request;.*down for today"):
                await client.ask(request())
        assert len(server.requests) == 2


async def test_a_fallback_without_a_key_is_unavailable_and_no_user_error(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with ScriptedServer(faults=[Always(Status(503))]) as down:
        async with client_of(down, fallback_models=["anthropic/y"], max_retries=0) as client:
            with pytest.raises(ProviderUnavailable, match="ANTHROPIC_API_KEY"):
                await client.ask(request())


async def test_a_fallback_of_another_provider_goes_to_its_own_address(monkeypatch):
    with ScriptedServer(faults=[Always(Status(503))]) as down, ScriptedServer() as other:
        monkeypatch.setenv("ANTHROPIC_API_BASE", other.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "the-key-of-the-other")
        async with client_of(down, fallback_models=["anthropic/y"], max_retries=0) as client:
            assert (await client.ask(request())).model == "anthropic/y"
        assert [seen.headers["x-api-key"] for seen in other.requests] == ["the-key-of-the-other"]


async def test_an_unreachable_server_is_unavailable():
    config = ConfigSection(model="openai/x", api_base="http://127.0.0.1:9/v1", max_retries=1)
    async with ModelClient(config, first_wait=0.01) as client:
        with pytest.raises(ProviderUnavailable, match=r"2 requests.*the connection failed"):
            await client.ask(request())


async def test_many_calls_through_many_errors_are_each_answered_once():
    faults = [WithProbability(0.3, Status(500), Status(429, retry_after=0.01), Cut(), Malformed(), seed=7)]
    with ScriptedServer(faults=faults) as server:
        async with client_of(server, max_retries=12, max_concurrent_requests=8) as client:
            texts = [str(number) for number in range(60)]
            answers = await asyncio.gather(*(client.ask(request(text)) for text in texts))
        assert [answer.text for answer in answers] == [f"echo: {text}" for text in texts]
        assert sum(answer.attempts for answer in answers) == len(server.requests)
        server.wait_for_answers(60)  # the client may have the last one before the server knows
        assert server.answered == 60
        assert server.max_in_flight <= 8
