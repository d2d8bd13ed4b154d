"""Every setting changes what happens: here how the client sends requests and what it says they cost."""

import asyncio

import pytest

from alpha_codium.llm.opening import open_model
from tests.flows.scripted_flow import settings_of
from tests.flows.switches import changes
from tests.flows.test_model_settings import QUESTION, client_of
from tests.servers.scripted import Always, Hang, ScriptedServer, Text

MANY = 40


@changes("config.adaptive_concurrency")
@pytest.mark.parametrize(("adaptive", "sent"), [(True, 16), (False, MANY)])
async def test_adaptive_concurrency_begins_with_few_requests_in_flight(adaptive, sent):
    with ScriptedServer(faults=[Always(Hang())]) as server:
        async with client_of(server, adaptive_concurrency=adaptive) as client:
            calls = [asyncio.create_task(client.ask(QUESTION)) for _ in range(MANY)]
            await asyncio.to_thread(server.wait_for_requests, sent)
            assert len(server.requests) == sent
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)


@changes("prices.models")
async def test_a_price_in_the_settings_is_what_an_answer_costs(tmp_path):
    price = {"openai/one": {"input": 2.0, "output": 10.0}}
    said = Text("hi", prompt_tokens=1000, completion_tokens=100)
    with ScriptedServer(lambda body: said) as server:
        given = {"config.model": "openai/one", "config.api_base": server.api_base}
        for prices, cost in (({}, None), ({"prices.models": price}, 0.003)):
            settings = settings_of(given | prices)
            async with open_model(settings.config, tmp_path, settings.prices) as client:
                assert (await client.ask(QUESTION)).cost == (None if cost is None else pytest.approx(cost))
