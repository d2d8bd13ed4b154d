import asyncio
import itertools

import pytest

from alpha_codium.config import ConfigSection
from alpha_codium.errors import SettingsError, UserError
from alpha_codium.llm.client import Attempt, ModelClient
from alpha_codium.llm.errors import (
    AuthenticationFailed,
    ContentFiltered,
    ModelError,
    ProviderUnavailable,
    RequestRefused,
    UnknownModel,
)
from tests.llm.asking import PROVIDERS, base_of, client_of, request
from tests.servers.scripted import (
    Always,
    Cut,
    Delay,
    FaultOnce,
    Filtered,
    Hang,
    Malformed,
    OnNumbers,
    ScriptedServer,
    Status,
    Text,
    Truncated,
    When,
    WithProbability,
    last_user,
)


async def test_an_answer_brings_its_text_and_what_it_took():
    with ScriptedServer(lambda body: Text("four", prompt_tokens=12, completion_tokens=3)) as server:
        async with client_of(server) as client:
            answer = await client.ask(request("2 + 2?"))
    assert (answer.text, answer.model, answer.finish_reason) == ("four", "openai/x", "stop")
    assert (answer.prompt_tokens, answer.completion_tokens, answer.attempts) == (12, 3, 1)
    assert answer.latency_seconds > 0
    assert client.name == "openai/x"


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


@pytest.mark.parametrize("model", PROVIDERS)
@pytest.mark.parametrize("fault", FAULTS_THAT_PASS.values(), ids=FAULTS_THAT_PASS.keys())
async def test_a_fault_that_passes_is_tried_again(fault, model):
    with ScriptedServer(faults=[FaultOnce(fault)]) as server:
        async with client_of(server, model) as client:
            answer = await client.ask(request())
        assert (answer.text, answer.attempts, len(server.requests)) == ("echo: hi", 2, 2)


async def test_a_server_that_never_answers_is_asked_again_after_the_timeout():
    with ScriptedServer(faults=[FaultOnce(Hang())]) as server:
        async with client_of(server, timeout=2.0) as client:
            answer = await client.ask(request())
        assert (answer.text, answer.attempts) == ("echo: hi", 2)
        assert client.totals.retries == {"timeout": 1}


@pytest.mark.parametrize("model", PROVIDERS)
async def test_retries_do_not_multiply(model):
    """litellm and the clients below it retry nothing: the server sees max_retries + 1 requests."""
    with ScriptedServer(faults=[Always(Status(500))]) as server:
        async with client_of(server, model, max_retries=3) as client:
            with pytest.raises(ProviderUnavailable, match=r"4 requests.*status 500"):
                await client.ask(request())
        assert len(server.requests) == 4


@pytest.mark.parametrize("model", PROVIDERS)
async def test_timeouts_do_not_multiply_either(model):
    with ScriptedServer(faults=[Always(Hang())]) as server:
        async with client_of(server, model, max_retries=1, timeout=0.5) as client:
            with pytest.raises(ProviderUnavailable, match=r"2 requests.*no answer in"):
                await client.ask(request())
        assert len(server.requests) == 2


@pytest.mark.parametrize("model", PROVIDERS)
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
async def test_an_error_that_lasts_is_not_tried_again(model, status, error):
    with ScriptedServer(faults=[Always(Status(status, "says the provider"))]) as server:
        async with client_of(server, model, fallback_models=["openai/y"]) as client:
            with pytest.raises(error, match=f"{model}: .*says the provider"):
                await client.ask(request())
        assert len(server.requests) == 1


async def test_the_wait_that_a_provider_asks_for_is_the_least_that_is_waited():
    with ScriptedServer(faults=[FaultOnce(Status(429, retry_after=0.6))]) as server:
        async with client_of(server) as client:
            await client.ask(request())
        first, second = server.requests
    assert second.arrived - first.arrived >= 0.6


async def test_a_provider_that_asks_for_an_hour_is_waited_for_as_long_as_is_sane():
    with ScriptedServer(faults=[FaultOnce(Status(429, retry_after=3600))]) as server:
        async with client_of(server, longest_wait=0.05) as client:
            assert (await client.ask(request())).attempts == 2


async def test_a_truncated_answer_is_an_answer_and_counted():
    with ScriptedServer(lambda body: Truncated("def f(")) as server:
        async with client_of(server) as client:
            answer = await client.ask(request())
    assert answer.truncated
    assert answer.text == "def f("
    assert client.totals.truncated == 1


@pytest.mark.parametrize("model", PROVIDERS)
async def test_a_filtered_answer_is_no_answer_but_its_tokens_count(model):
    with ScriptedServer(lambda body: Filtered("I can")) as server:
        async with client_of(server, model, fallback_models=["openai/y"]) as client:
            with pytest.raises(ContentFiltered, match=model):
                await client.ask(request())
        assert len(server.requests) == 1
    assert client.totals.filtered == 1
    assert client.totals.completion_tokens == 2


async def test_a_fallback_has_its_turn_when_the_model_is_unavailable():
    down = When(lambda seen: seen.body["model"] == "x", Status(503))
    with ScriptedServer(faults=[down]) as server:
        async with client_of(server, fallback_models=["openai/y", "openai/z"], max_retries=1) as client:
            answer = await client.ask(request())
        assert [seen.body["model"] for seen in server.requests] == ["x", "x", "y"]
    assert (answer.model, answer.attempts, client.totals.fallbacks) == ("openai/y", 3, 1)


async def test_when_all_fallbacks_fail_the_last_fault_is_told():
    with ScriptedServer(faults=[Always(Status(503, "down for today"))]) as server:
        async with client_of(server, fallback_models=["openai/y"], max_retries=0) as client:
            with pytest.raises(ProviderUnavailable, match=r"openai/y gave no answer in 1 requests.*down for today"):
                await client.ask(request())
        assert len(server.requests) == 2


async def test_a_fallback_without_a_key_is_an_unavailable_one_and_not_the_users_mistake(monkeypatch):
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
    client = ModelClient("openai/x", api_base="http://127.0.0.1:9/v1", max_retries=1, first_wait=0.01)
    async with client:
        with pytest.raises(ProviderUnavailable, match="the connection failed"):
            await client.ask(request())
    assert client.totals.retries == {"connection": 1}


async def test_requests_a_minute_are_spread_evenly_and_retries_count():
    with ScriptedServer(faults=[FaultOnce(Status(500))]) as server:
        async with client_of(server, max_requests_per_minute=600) as client:
            await client.prepare()
            await asyncio.gather(*(client.ask(request(str(number))) for number in range(4)))
        times = [seen.arrived for seen in server.requests]
    assert len(times) == 8
    assert times[-1] - times[0] >= 0.5  # seven gaps of 0.1 s, less what the network adds to the first
    assert all(late - early >= 0.05 for early, late in zip(times, times[3:], strict=False))


async def test_no_more_requests_are_in_flight_than_allowed():
    with ScriptedServer(latency=0.05) as server:
        async with client_of(server, max_concurrent_requests=3) as client:
            await asyncio.gather(*(client.ask(request(str(number))) for number in range(12)))
        assert server.max_in_flight == 3


async def test_a_call_that_waits_to_try_again_holds_no_slot():
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


async def test_totals_tell_what_all_calls_took():
    def script(body):
        return Text("a b", prompt_tokens=10, completion_tokens=2)

    with ScriptedServer(script, faults=[OnNumbers({1: Status(500), 2: Status(429), 3: Malformed()})]) as server:
        async with client_of(server, max_retries=3) as client:
            await client.ask(request("one"))
            await client.ask(request("two"))
    totals = client.totals
    assert (totals.calls, totals.answers, totals.attempts) == (2, 2, 5)
    assert totals.retries == {"server_error": 1, "rate_limited": 1, "malformed": 1}
    assert (totals.prompt_tokens, totals.completion_tokens) == (20, 4)
    assert (totals.unpriced, totals.cost, totals.known_cost) == (2, 0.0, None)
    assert totals.latency_seconds > 0


async def test_totals_that_were_taken_do_not_change():
    with ScriptedServer() as server:
        async with client_of(server) as client:
            before = client.totals
            await client.ask(request())
    assert (before.calls, client.totals.calls) == (0, 1)


@pytest.mark.parametrize("model", PROVIDERS)
async def test_a_price_that_is_not_known_is_unknown_and_not_0(model):
    with ScriptedServer() as server:
        async with client_of(server, model) as client:
            assert (await client.ask(request())).cost is None


async def test_a_known_price_is_charged():
    script = Text("x", prompt_tokens=1000, completion_tokens=100)
    with ScriptedServer(lambda body: script) as server:
        async with client_of(server, "openai/gpt-4o-mini") as client:
            answer = await client.ask(request())
    assert answer.cost == pytest.approx(1000 * 0.15e-6 + 100 * 0.6e-6)
    assert client.totals.known_cost == answer.cost


async def test_a_free_model_costs_nothing():
    with ScriptedServer() as server:
        async with client_of(server, free=True) as client:
            assert (await client.ask(request())).cost == 0.0
    assert client.totals.known_cost == 0.0


async def test_a_fallback_of_a_free_model_has_its_own_price():
    with ScriptedServer(faults=[When(lambda seen: seen.body["model"] == "x", Status(503))]) as server:
        async with client_of(server, free=True, fallback_models=["openai/y"], max_retries=0) as client:
            assert (await client.ask(request())).cost is None


async def test_an_observer_sees_every_request():
    seen: list[Attempt] = []
    with ScriptedServer(faults=[FaultOnce(Status(500))]) as server:
        async with client_of(server, on_attempt=seen.append) as client:
            await client.ask(request())
    assert [(attempt.number, type(attempt.error).__name__) for attempt in seen] == [
        (1, "TransientError"),
        (2, "NoneType"),
    ]


async def test_a_late_answer_is_waited_for_within_the_timeout():
    with ScriptedServer(lambda body: Delay(0.3, "late")) as server:
        async with client_of(server) as client:
            assert (await client.ask(request())).text == "late"


async def test_many_calls_through_many_faults_are_each_answered_once():
    faults = [WithProbability(0.3, Status(500), Status(429, retry_after=0.01), Cut(), Malformed(), seed=7)]
    with ScriptedServer(faults=faults) as server:
        async with client_of(server, max_retries=12, max_concurrent_requests=8) as client:
            texts = [str(number) for number in range(60)]
            answers = await asyncio.gather(*(client.ask(request(text)) for text in texts))
        assert [answer.text for answer in answers] == [f"echo: {text}" for text in texts]
        assert sum(answer.attempts for answer in answers) == len(server.requests) == client.totals.attempts
        assert server.answered == 60
        assert server.max_in_flight <= 8


async def test_one_client_closing_leaves_another_its_connections():
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


def test_a_client_is_made_as_the_settings_say():
    config = ConfigSection(model="openai/x", fallback_models=("openai/y",), max_retries=7, ai_timeout=3)
    client = ModelClient.from_config(config, free=True)
    assert client.name == "openai/x"


def test_an_address_without_a_scheme_is_refused():
    with pytest.raises(SettingsError, match=r"config.api_base: 'localhost:8000' is no address"):
        ModelClient("openai/x", api_base="localhost:8000")


async def test_json_schema_support_is_what_litellm_says_unless_it_is_given():
    async with ModelClient("openai/gpt-4o-mini") as known, ModelClient("openai/x") as unknown:
        await known.prepare()
        assert known.supports_json_schema
        assert not unknown.supports_json_schema
        assert ModelClient("openai/x", supports_json_schema=True).supports_json_schema
        assert not ModelClient("openai/gpt-4o-mini", fallback_models=["openai/x"]).supports_json_schema


def test_errors_that_the_user_can_mend_are_known_as_such():
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
