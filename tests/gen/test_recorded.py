import asyncio
from dataclasses import replace

import pytest

from alpha_codium.flows import BudgetExhausted
from alpha_codium.gen.recorded import Budget, RecordedModel
from alpha_codium.llm.errors import ContentFiltered
from alpha_codium.llm.messages import ChatRequest, Message
from alpha_codium.runs import AnswerStore
from tests.gen.asking import FakeModel

HELLO = ChatRequest((Message("user", "hello"),), temperature=0.2)


@pytest.fixture
def store(tmp_path):
    with AnswerStore(tmp_path / "answers.sqlite") as opened:
        yield opened


def asked(store, sample="p#0", requests=(HELLO,), model=None, name="m"):
    """The texts of the answers to the requests of one sample, and how many of them were asked for."""
    model = model or FakeModel(lambda number: f"answer {number}")
    before = len(model.requests)

    async def ask_all():
        recorded = RecordedModel(model, name, sample, store)
        return [(await recorded.ask(request)).text for request in requests]

    return asyncio.run(ask_all()), len(model.requests) - before


def test_the_first_answer_of_a_run_is_stored_too(store):
    assert asked(store) == (["answer 1"], 1)
    assert len(store) == 1
    assert asked(store) == (["answer 1"], 0)


def test_a_sample_that_asks_the_same_twice_gets_two_answers_and_the_same_two_again(store):
    assert asked(store, requests=(HELLO, HELLO)) == (["answer 1", "answer 2"], 2)
    assert asked(store, requests=(HELLO, HELLO)) == (["answer 1", "answer 2"], 0)


@pytest.mark.parametrize(
    "other",
    [
        {"sample": "p#1"},
        {"name": "n"},
        {"requests": (ChatRequest(HELLO.messages, temperature=0.3),)},
        {"requests": (ChatRequest(HELLO.messages, temperature=0.2, seed=1),)},
        {"requests": (ChatRequest(HELLO.messages, temperature=0.2, extra={"effort": "low"}),)},
    ],
    ids=["sample", "model", "temperature", "seed", "extra"],
)
def test_another_question_is_asked(store, other):
    asked(store)
    assert asked(store, **other)[1] == 1


def test_another_key_of_the_provider_is_no_other_question(store):
    def with_key(key):
        return ChatRequest(HELLO.messages, extra={"api_key": key, "extra_headers": {"x-api-key": key}})

    asked(store, requests=(with_key("sk-old"),))
    assert asked(store, requests=(with_key("sk-new"),))[1] == 0


def test_a_fault_is_not_stored(store):
    with pytest.raises(OSError, match="down"):
        asked(store, model=FakeModel(lambda _: OSError("down")))
    assert len(store) == 0
    assert asked(store) == (["answer 1"], 1)


def test_the_budget_counts_stored_answers_too(store):
    asked(store, requests=(HELLO, HELLO))
    model = FakeModel()

    async def three_with_two_allowed():
        recorded = RecordedModel(model, "m", "p#0", store, Budget(calls=2))
        for _ in range(3):
            await recorded.ask(HELLO)

    with pytest.raises(BudgetExhausted, match="its 2 calls"):
        asyncio.run(three_with_two_allowed())
    assert model.requests == []


def test_stored_answers_are_counted_like_those_that_were_asked_for(store):
    async def usage():
        recorded = RecordedModel(FakeModel(), "m", "p#0", store)
        await recorded.ask(HELLO)
        return recorded.usage

    first, second = asyncio.run(usage()), asyncio.run(usage())
    for name in ("models", "llm_calls", "prompt_tokens", "completion_tokens", "cost"):
        assert getattr(first, name) == getattr(second, name)


async def test_a_refusal_counts_as_a_call_and_is_not_asked_for_again(store):
    refusing = FakeModel(lambda _number: ContentFiltered("not this"))
    for _ in range(2):
        model = RecordedModel(refusing, "m", "p#0", store)
        with pytest.raises(ContentFiltered, match="not this"):
            await model.ask(HELLO)
        assert model.usage.llm_calls == 1
    assert len(refusing.requests) == 1


async def test_an_answer_of_a_fallback_model_is_told_as_the_fallback_s(store):
    class Falling(FakeModel):
        async def ask(self, request):
            return replace(await super().ask(request), model="other/model")

    model = RecordedModel(Falling(), "m", "p#0", store)
    await model.ask(HELLO)
    assert model.usage.models == ["other/model"]
    model = RecordedModel(FakeModel(), "m", "p#1", store)
    assert (await model.ask(HELLO)).model == "m"


@pytest.mark.parametrize("budget", [Budget(calls=2), Budget(tokens=13), Budget(tokens=24), Budget(cost=0.5)], ids=str)
async def test_a_budget_lets_calls_through_until_it_is_used(budget):
    model = RecordedModel(FakeModel(), "m", "p#0", budget=budget)
    for _ in range(2):
        await model.ask(HELLO)
    with pytest.raises(BudgetExhausted):
        await model.ask(HELLO)
    assert model.usage.llm_calls == 2
