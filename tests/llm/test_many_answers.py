"""Several answers to one request: in one HTTP request where the model can, else in several at once."""

import pytest

from alpha_codium.llm.errors import ContentFiltered, ProviderUnavailable
from tests.llm.asking import PROVIDERS, client_of, request
from tests.servers.scripted import (
    Always,
    FaultOnce,
    Filtered,
    OnNumbers,
    ScriptedServer,
    Status,
    Text,
    When,
)

TAKE_N = ("openai/x", "hosted_vllm/x", "text-completion-openai/x")


def numbered(body):
    return Text(f"answer {body.get('choice', 0)}", prompt_tokens=100, completion_tokens=7)


@pytest.mark.parametrize("model", TAKE_N)
async def test_one_request_returns_all_answers_if_the_model_can(model):
    with ScriptedServer(numbered) as server:
        async with client_of(server, model) as client:
            answers = await client.ask_many(request(), 3)
        assert [seen.body["n"] for seen in server.requests] == [3]
    assert [answer.text for answer in answers] == ["answer 0", "answer 1", "answer 2"]
    assert [answer.prompt_tokens for answer in answers] == [100, 0, 0]
    assert [answer.completion_tokens for answer in answers] == [7, 7, 7]
    assert [answer.attempts for answer in answers] == [1, 0, 0]


@pytest.mark.parametrize("model", ["anthropic/x", "ollama_chat/x"])
async def test_a_model_without_n_gets_several_requests_at_once(model):
    with ScriptedServer(numbered, together=3) as server:
        async with client_of(server, model) as client:
            answers = await client.ask_many(request(), 3)
        assert (len(server.requests), server.max_in_flight) == (3, 3)
        assert all("n" not in seen.body for seen in server.requests)
    assert [answer.prompt_tokens for answer in answers] == [100] * 3


async def test_a_request_for_one_answer_has_no_n():
    with ScriptedServer(numbered) as server:
        async with client_of(server) as client:
            assert len(await client.ask_many(request(), 1)) == 1
        assert "n" not in server.requests[0].body


async def test_a_server_that_ignores_n_is_asked_for_the_rest_without_n():
    with ScriptedServer(numbered, takes_n=False) as server:
        async with client_of(server) as client:
            assert len(await client.ask_many(request("one"), 4)) == 4
            assert len(await client.ask_many(request("two"), 2)) == 2
        assert [seen.body.get("n") for seen in server.requests] == [4, None, None, None, None, None]


async def test_a_server_that_refuses_n_is_asked_without_it():
    refused = When(lambda seen: "n" in seen.body, Status(400, "Unsupported parameter: 'n' is not supported"))
    with ScriptedServer(numbered, faults=[refused]) as server:
        async with client_of(server) as client:
            assert len(await client.ask_many(request(), 3)) == 3
        assert [seen.body.get("n") for seen in server.requests] == [3, None, None, None]


async def test_each_of_several_requests_has_a_seed_of_its_own():
    with ScriptedServer() as server:
        async with client_of(server, "ollama_chat/x") as client:
            await client.ask_many(request(seed=5), 3)
        seeds = [seen.body["options"]["seed"] for seen in server.requests]
        # Those between are other samples'.
        assert sorted(seeds) == [5, 1_000_005, 2_000_005]


async def test_a_transient_error_does_not_change_the_number_of_answers():
    with ScriptedServer(numbered, faults=[FaultOnce(Status(500))]) as server:
        async with client_of(server) as client:
            answers = await client.ask_many(request(), 3)
        assert (len(answers), len(server.requests), answers[0].attempts) == (3, 2, 2)


async def test_the_cost_of_a_request_is_divided_among_its_answers():
    with ScriptedServer(numbered) as server:
        async with client_of(server, "openai/gpt-4o-mini") as client:
            answers = await client.ask_many(request(), 2)
    assert sum(answer.cost or 0 for answer in answers) == pytest.approx(100 * 0.15e-6 + 14 * 0.6e-6)
    assert answers[0].cost == answers[1].cost


async def test_tokens_that_cannot_be_divided_evenly_are_all_counted():
    with ScriptedServer(lambda body: Text("x", completion_tokens=1 + body.get("choice", 0))) as server:
        async with client_of(server) as client:
            answers = await client.ask_many(request(), 4)
    assert [answer.completion_tokens for answer in answers] == [3, 3, 2, 2]


async def test_a_filtered_answer_is_returned_with_the_others():
    def script(body):
        return Filtered("I can") if body["choice"] == 1 else Text("fine")

    with ScriptedServer(script) as server:
        async with client_of(server) as client:
            answers = await client.ask_many(request(), 3)
    assert [answer.filtered for answer in answers] == [False, True, False]


@pytest.mark.parametrize("model", PROVIDERS)
async def test_only_filtered_answers_are_an_error(model):
    with ScriptedServer(lambda body: Filtered("I can")) as server:
        async with client_of(server, model) as client:
            with pytest.raises(ContentFiltered, match=model):
                await client.ask_many(request(), 2)


async def test_a_permanent_error_of_one_of_several_requests_ends_the_call():
    with ScriptedServer(faults=[OnNumbers({2: Status(500)})], latency=0.05) as server:
        async with client_of(server, "anthropic/x", max_retries=0) as client:
            with pytest.raises(ProviderUnavailable):
                await client.ask_many(request(), 3)
        server.wait_for_answers(2)
        assert server.answered == 2


@pytest.mark.thorough
async def test_a_fallback_that_gives_one_answer_is_asked_for_the_rest_at_once():
    down = When(lambda seen: seen.body["model"] == "x", Status(503))
    with ScriptedServer(numbered, faults=[down], takes_n=False, latency=0.5) as server:
        async with client_of(server, fallback_models=["openai/y"], max_retries=0) as client:
            answers = await client.ask_many(request(), 4)
    assert [answer.model for answer in answers] == ["openai/y"] * 4
    assert server.max_in_flight == 3  # those that the first left missing


async def test_zero_answers_can_be_requested():
    with ScriptedServer(faults=[Always(Status(500))]) as server:
        async with client_of(server) as client:
            assert await client.ask_many(request(), 0) == []
        assert server.requests == []
