"""What answers cost: by the settings, by litellm's table, or unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.config.sections import Price, PricesSection
from alpha_codium.llm.litellm_loading import load
from alpha_codium.llm.prices import cost_of, price_in_table, price_of
from tests.llm.asking import client_of, request
from tests.servers.scripted import ScriptedServer, Text

NONE_GIVEN = PricesSection()
GIVEN = PricesSection(models={"openai/x": Price(input=2, output=10, cached=0.5)})
SAID = Text("x", prompt_tokens=1000, completion_tokens=100, cached_tokens=400)
counts = st.integers(0, 10**9)


def test_a_price_in_the_settings_takes_precedence():
    prices = PricesSection(models={"openai/gpt-4o-mini": Price(input=1, output=2)})
    assert price_of("openai/gpt-4o-mini", prices) == Price(input=1, output=2)


@pytest.mark.parametrize("model", ["openai/gpt-4o-mini", "gpt-4o-mini"])
def test_prices_of_litellm_are_per_million_tokens(model):
    price = price_of(model, NONE_GIVEN)
    assert price is not None
    assert (price.input, price.output) == (pytest.approx(0.15), pytest.approx(0.6))
    assert price.cached == pytest.approx(0.075)


def test_every_price_is_the_one_of_litellms_own_table():
    table = load().model_cost
    assert {model: price_of(model, NONE_GIVEN) for model in table} == {
        model: price_in_table(model, table) for model in table
    }


def test_a_base_model_has_its_price():
    assert price_of("text-completion-openai/gpt-3.5-turbo-instruct", NONE_GIVEN) is not None


@pytest.mark.parametrize("model", ["openai/x", "hosted_vllm/gpt-4o-mini", "no-such-model", "ollama_chat/x", ""])
def test_any_other_price_is_unknown(model):
    assert price_of(model, NONE_GIVEN) is None


def test_a_local_model_costs_nothing():
    assert price_of("local/any", NONE_GIVEN) == Price(input=0, output=0)


def test_a_partial_price_in_the_table_is_unknown():
    assert price_in_table("a", {"a": {"input_cost_per_token": 1e-6}}) is None
    free = {"a": {"input_cost_per_token": 0, "output_cost_per_token": 0.0}}
    assert price_in_table("a", free) == Price(input=0, output=0)


@given(counts, counts, counts)
def test_cached_tokens_have_their_own_price(prompt, completion, cached):
    plain, cheaper = Price(input=2, output=10), Price(input=2, output=10, cached=0.5)
    assert cost_of(plain, prompt, completion, cached) == pytest.approx((2 * prompt + 10 * completion) / 1e6)
    saved = cost_of(plain, prompt, completion) - cost_of(cheaper, prompt, completion, cached)
    assert saved == pytest.approx(1.5 * min(cached, prompt) / 1e6, abs=1e-6)


@pytest.mark.parametrize("n", [1, 3])
async def test_answers_are_charged_by_the_settings(n):
    with ScriptedServer(lambda body: SAID) as server:
        async with client_of(server, prices=GIVEN) as client:
            answers = await client.ask_many(request(), n)
    expected = (600 * 2 + 400 * 0.5 + n * 100 * 10) / 1e6
    assert sum(answer.cost or 0 for answer in answers) == pytest.approx(expected)


async def test_a_model_without_a_price_there_is_charged_by_the_table_or_unknown():
    with ScriptedServer(lambda body: SAID) as server:
        async with client_of(server, prices=GIVEN) as client:
            known = await client.ask(request(model="openai/gpt-4o-mini"))
            unknown = await client.ask(request(model="openai/y"))
    assert known.cost == pytest.approx((600 * 0.15 + 400 * 0.075 + 100 * 0.6) / 1e6)
    assert unknown.cost is None


@pytest.mark.parametrize(
    ("model", "cost"), [("openai/x", None), ("openai/gpt-4o-mini", None), ("openai/y", None), ("openai/free", 0)]
)
async def test_an_answer_without_token_counts_has_an_unknown_cost(model, cost):
    prices = PricesSection(models=GIVEN.models | {"openai/free": Price(input=0, output=0)})
    with ScriptedServer(lambda body: Text("x", prompt_tokens=0, completion_tokens=0)) as server:
        async with client_of(server, prices=prices) as client:
            assert (await client.ask(request(model=model))).cost == cost
