import asyncio
from dataclasses import replace

import pytest

from alpha_codium.gen import sample_model
from alpha_codium.gen.sample_model import SampleModel
from alpha_codium.llm.errors import ContentFiltered, ContextOverflow
from alpha_codium.llm.messages import ChatRequest, Message
from alpha_codium.runs import AnswerCache, AnswerStore
from tests.flows.test_asking import OVERFLOW
from tests.gen.asking import HELLO, FakeModel, asked
from tests.llm.asking import client_of
from tests.servers.scripted import Always, Filtered, ScriptedServer, Status, When
from tests.support import NOWHERE


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
        {"requests": (replace(HELLO, model="n"),)},
    ],
    ids=["sample", "model", "temperature", "seed", "extra", "the request's model"],
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


def test_stored_answers_are_counted_like_those_that_were_asked_for(store):
    async def usage():
        recorded = SampleModel(FakeModel(), "m", "p#0", store)
        await recorded.ask(HELLO)
        return recorded.usage

    first, second = asyncio.run(usage()), asyncio.run(usage())
    for name in ("models", "llm_calls", "prompt_tokens", "completion_tokens", "cost"):
        assert getattr(first, name) == getattr(second, name)


async def test_a_refusal_counts_as_a_call_and_is_not_asked_for_again(store):
    refusing = FakeModel(lambda _number: ContentFiltered("not this"))
    for _ in range(2):
        model = SampleModel(refusing, "m", "p#0", store)
        with pytest.raises(ContentFiltered, match="not this"):
            await model.ask(HELLO)
        assert model.usage.llm_calls == 1
    assert len(refusing.requests) == 1


async def test_an_answer_of_a_fallback_model_bears_the_fallbacks_name(store):
    class Falling(FakeModel):
        async def ask(self, request):
            return replace(await super().ask(request), model="other/model")

    model = SampleModel(Falling(), "m", "p#0", store)
    await model.ask(HELLO)
    assert model.usage.models == ["other/model"]
    model = SampleModel(FakeModel(), "m", "p#1", store)
    assert (await model.ask(HELLO)).model == "m"


def test_a_request_that_names_the_runs_model_equals_one_that_names_none(store):
    asked(store)
    assert asked(store, requests=(replace(HELLO, model="m"),))[1] == 0
    assert asked(store, requests=(replace(HELLO, model="n"),), name="m")[1] == 1
    assert asked(store, name="n")[1] == 0


async def test_an_answer_of_a_model_named_by_the_request_bears_its_name(store):
    class Routing(FakeModel):
        async def ask(self, request):
            return replace(await super().ask(request), model=request.model or self.name)

    model = SampleModel(Routing(), "m", "p#0", store)
    await model.ask(replace(HELLO, model="n"))
    await model.ask(HELLO)
    assert model.usage.models == ["n", "m"]


def test_the_sums_do_not_depend_on_which_answer_comes_first():
    class Waiting(FakeModel):
        """Answers later calls first, at prices whose sum depends on the order; each from a model of its own."""

        async def ask(self, request):
            place = int(request.messages[0].content)
            for _ in range(3 * (self.slowest - place) if self.slowest else 3 * place):
                await asyncio.sleep(0)
            return replace(await super().ask(request), cost=(0.1, 1e16, -1e16)[place], model=f"m{place}")

    async def usage(slowest):
        inner = Waiting()
        inner.slowest = slowest
        model = SampleModel(inner, "m", "p#0")
        requests = [ChatRequest((Message("user", str(place)),)) for place in range(3)]
        await asyncio.gather(*(model.ask(request) for request in requests))
        return model.usage

    one, other = asyncio.run(usage(0)), asyncio.run(usage(2))
    assert one == other
    assert one.models == ["m0", "m1", "m2"]


def test_the_store_knows_whether_the_model_could_be_held_to_a_schema(store):
    able = FakeModel()
    able.by_schema = True
    asked(store, model=able)
    assert SampleModel(FakeModel(), "m", "p#1", store).supports_json_schema()
    assert not SampleModel(FakeModel(), "another", "p#1", store).supports_json_schema()
    assert SampleModel(able, "m", "p#1").supports_json_schema()


@pytest.fixture
def with_cache(tmp_path):
    """Asks in a run of its own, over one cache; gives the texts and how many requests were made."""

    def ask(*requests, model=None, scope="", name="m", sample="p#0"):
        with AnswerCache(tmp_path / "cache.sqlite", scope, {}) as cache, AnswerStore(NOWHERE, cache) as store:
            return asked(store, sample, requests or (HELLO,), model, name)

    return ask


def test_another_run_asks_nothing_that_was_asked_before_and_its_samples_stay_different(with_cache):
    assert with_cache(HELLO, HELLO) == (["answer 1", "answer 2"], 2)
    assert with_cache(HELLO, HELLO, HELLO) == (["answer 1", "answer 2", "answer 1"], 1)
    assert with_cache(sample="p#1")[1] == 1
    assert with_cache(scope="another address")[1] == 1


def test_a_refusal_is_taken_from_the_cache_too(with_cache):
    refusing = FakeModel(lambda _number: ContentFiltered("not this"))
    for _ in range(2):
        with pytest.raises(ContentFiltered, match="not this"):
            with_cache(model=refusing)
    assert len(refusing.requests) == 1


def test_an_answer_of_a_fallback_stays_out_of_the_cache(with_cache):
    class Falling(FakeModel):
        async def ask(self, request):
            return replace(await super().ask(request), model="other/model")

    assert with_cache(model=Falling(lambda _: "of the fallback")) == (["of the fallback"], 1)
    assert with_cache() == (["answer 1"], 1)


@pytest.mark.parametrize("reply", [Filtered("I"), OVERFLOW], ids=["filtered", "overflow"])
@pytest.mark.parametrize("n", [1, 2])
def test_a_refusal_of_a_fallback_stays_out_of_the_cache(with_cache, reply, n):
    async def refused():
        down = When(lambda seen: seen.body["model"] == "x", Status(503))
        with ScriptedServer(faults=[down, Always(reply)]) as server:
            async with client_of(server, fallback_models=["openai/y"], max_retries=0) as client:
                await (client.ask(HELLO) if n == 1 else client.ask_many(HELLO, n))

    with pytest.raises((ContentFiltered, ContextOverflow)) as caught:
        asyncio.run(refused())
    for _ in range(2):
        with pytest.raises(type(caught.value)):
            with_cache(model=FakeModel(lambda _number: caught.value))
    assert with_cache() == (["answer 1"], 1)


def test_counting_a_call_costs_the_same_after_many_as_after_few(monkeypatch):
    read = []
    monkeypatch.setattr(sample_model, "_answer", lambda outcome, of=sample_model._answer: read.append(1) or of(outcome))

    async def ask(count):
        model = SampleModel(FakeModel(), "m", "p#0")
        for _ in range(count):
            await model.ask(HELLO)
        return model.usage.llm_calls

    assert asyncio.run(ask(100)) == 100
    assert len(read) <= 2 * 100
