import asyncio
import threading
from dataclasses import replace

import pytest

from alpha_codium.gen import recorded
from alpha_codium.gen.recorded import RecordedModel
from alpha_codium.llm.errors import ContentFiltered, ContextOverflow, ProviderUnavailable
from alpha_codium.llm.messages import ChatRequest, Message, with_seed_of
from alpha_codium.runs import AnswerCache, AnswerStore
from alpha_codium.runs.answers import NOWHERE
from tests.flows.test_asking import OVERFLOW
from tests.gen.asking import FakeModel
from tests.llm.asking import client_of
from tests.servers.scripted import Always, Filtered, ScriptedServer, Status, When

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


def test_a_request_that_names_the_own_model_is_the_one_that_names_none(store):
    asked(store)
    assert asked(store, requests=(replace(HELLO, model="m"),))[1] == 0
    assert asked(store, requests=(replace(HELLO, model="n"),), name="m")[1] == 1
    assert asked(store, name="n")[1] == 0


async def test_an_answer_of_a_model_that_the_request_named_is_told_as_its_own(store):
    class Routing(FakeModel):
        async def ask(self, request):
            return replace(await super().ask(request), model=request.model or self.name)

    model = RecordedModel(Routing(), "m", "p#0", store)
    await model.ask(replace(HELLO, model="n"))
    await model.ask(HELLO)
    assert model.usage.models == ["n", "m"]


def many(store, n, model=None, before=()):
    """The texts of `n` answers to one request after those `before`, and the size of each request that was made."""
    sizes = []

    class Counting(FakeModel):
        async def ask_many(self, request, n):
            sizes.append(n)
            return await super().ask_many(request, n)

    model = model or Counting(lambda number: f"answer {number}")

    async def ask_all():
        recorded = RecordedModel(model, "m", "p#0", store)
        first = [(await recorded.ask(request)).text for request in before]
        texts = first + [answer.text for answer in await recorded.ask_many(HELLO, n)]
        assert recorded.usage.llm_calls == len(texts)
        return texts

    return asyncio.run(ask_all()), sizes


def test_many_answers_are_each_the_answer_of_its_own_call(store):
    texts = [f"answer {number}" for number in range(1, 5)]
    assert many(store, 4) == (texts, [4])
    assert many(store, 4) == (texts, [])
    assert asked(store, requests=(HELLO,) * 4) == (texts, 0)
    assert many(store, 3, before=(HELLO,)) == (texts, [])


def test_of_many_answers_only_the_missing_ones_are_asked_for_and_in_one_go(store):
    assert asked(store, requests=(HELLO, HELLO)) == (["answer 1", "answer 2"], 2)
    assert many(store, 5) == (["answer 1", "answer 2", "answer 1", "answer 2", "answer 3"], [3])
    assert len(store) == 5


def test_a_refusal_of_many_answers_counts_for_each_and_is_not_asked_for_again(store):
    refusing = FakeModel(lambda _number: ContextOverflow("too long"))

    async def calls():
        model = RecordedModel(refusing, "m", "p#0", store)
        with pytest.raises(ContextOverflow, match="too long"):
            await model.ask_many(HELLO, 4)
        return model.usage.llm_calls, model.usage.completion_tokens

    assert asyncio.run(calls()) == asyncio.run(calls()) == (4, 0)
    assert len(refusing.requests) == 1


def test_refusals_among_many_answers_are_filtered_ones_and_are_not_asked_for_again(store):
    asked(store)
    refusing = FakeModel(lambda _number: ContentFiltered("not this"))

    async def answers():
        model = RecordedModel(refusing, "m", "p#0", store)
        said = await model.ask_many(HELLO, 3)
        assert (model.usage.llm_calls, model.usage.completion_tokens) == (3, 2)
        return [(answer.text, answer.filtered) for answer in said]

    assert asyncio.run(answers()) == asyncio.run(answers()) == [("answer 1", False), ("", True), ("", True)]
    assert len(refusing.requests) == 1


class OneAtATime(FakeModel):
    """Gives one answer a request; the second waits for `second`, an exception or none."""

    def __init__(self, second):
        super().__init__(lambda number: f"answer {number}")
        self.second = second

    def takes_n(self, _model):
        return False

    async def ask(self, request):
        answer = await super().ask(request)
        if answer.text == "answer 2":
            await self.second()
        return answer


def test_where_one_of_many_calls_fails_the_answers_of_the_others_are_kept_and_counted(store):
    async def down():
        raise ProviderUnavailable("down")

    async def fail():
        model = RecordedModel(OneAtATime(down), "m", "p#0", store)
        with pytest.raises(ProviderUnavailable, match="down"):
            await model.ask_many(HELLO, 4)
        assert model.usage.llm_calls == 3

    asyncio.run(fail())
    assert len(store) == 3
    assert many(store, 4) == (["answer 1", "answer 1", "answer 3", "answer 4"], [])


def test_an_interrupt_loses_none_of_many_answers_that_came(store):
    async def interrupt():
        never = asyncio.Event()
        model = RecordedModel(OneAtATime(never.wait), "m", "p#0", store)
        task = asyncio.create_task(model.ask_many(HELLO, 4))
        while len(store) < 3:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupt())
    assert many(store, 4)[0] == ["answer 1", "answer 1", "answer 3", "answer 4"]


def test_an_answer_is_counted_and_kept_though_the_call_is_cut_off_while_it_is_stored(tmp_path):
    busy, at_work = threading.Event(), threading.Event()

    class Last(FakeModel):
        async def ask(self, request):
            answer = await super().ask(request)
            store._open_worker.later(lambda: at_work.set() or busy.wait(60))
            await asyncio.to_thread(at_work.wait)
            return answer

    async def interrupt():
        model = RecordedModel(Last(), "m", "p#0", store)
        task = asyncio.create_task(model.ask(HELLO))
        await asyncio.to_thread(at_work.wait)
        while not store._open_worker._jobs:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        busy.set()
        assert model.usage.llm_calls == 1

    with AnswerCache(tmp_path / "cache.sqlite", "", {}) as cache:
        with AnswerStore(NOWHERE, cache) as store:
            asyncio.run(interrupt())
        with AnswerStore(NOWHERE, cache) as store:
            assert asked(store)[1] == 0


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
        model = RecordedModel(inner, "m", "p#0")
        requests = [ChatRequest((Message("user", str(place)),)) for place in range(3)]
        await asyncio.gather(*(model.ask(request) for request in requests))
        return model.usage

    one, other = asyncio.run(usage(0)), asyncio.run(usage(2))
    assert one == other
    assert one.models == ["m0", "m1", "m2"]


def test_the_store_knows_whether_the_model_could_be_held_to_a_schema(store):
    able = FakeModel()
    able.supports_json_schema = True
    asked(store, model=able)
    assert RecordedModel(FakeModel(), "m", "p#1", store).supports_json_schema
    assert not RecordedModel(FakeModel(), "another", "p#1", store).supports_json_schema
    assert RecordedModel(able, "m", "p#1").supports_json_schema


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


def test_an_answer_of_a_fallback_is_no_other_run_s(with_cache):
    class Falling(FakeModel):
        async def ask(self, request):
            return replace(await super().ask(request), model="other/model")

    assert with_cache(model=Falling(lambda _: "of the fallback")) == (["of the fallback"], 1)
    assert with_cache() == (["answer 1"], 1)


@pytest.mark.parametrize("reply", [Filtered("I"), OVERFLOW], ids=["filtered", "overflow"])
@pytest.mark.parametrize("n", [1, 2])
def test_a_refusal_of_a_fallback_is_no_other_run_s(with_cache, reply, n):
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


class Seeded(FakeModel):
    """Answers with the seed, as a model does that is asked for each answer alone."""

    async def ask(self, request):
        return replace(await super().ask(request), text=str(request.seed))

    async def ask_many(self, request, n):
        return [await self.ask(with_seed_of(request, number)) for number in range(n)]


@pytest.mark.parametrize("there", [(), (0, 1), (1,), (0, 2), (3,), (0, 1, 2, 3)])
def test_each_of_many_answers_has_the_seed_of_its_place_whichever_were_there_before(there):
    request = replace(HELLO, seed=7)

    async def texts(store):
        return [answer.text for answer in await RecordedModel(Seeded(), "m", "p#0", store).ask_many(request, 4)]

    async def gone_on_with():
        with AnswerStore(NOWHERE) as whole, AnswerStore(NOWHERE) as store:
            at_once = await texts(whole)
            keys = RecordedModel(Seeded(), "m", "p#0", store)
            for place in range(4):
                key = keys._next_key(request)
                if place in there:
                    store.put(key.run, whole.get(key.run))
            return at_once, await texts(store)

    at_once, later = asyncio.run(gone_on_with())
    assert len(set(at_once)) == 4
    assert later == at_once


def test_counting_a_call_costs_the_same_after_many_as_after_few(monkeypatch):
    read = []
    monkeypatch.setattr(recorded, "_answer", lambda outcome, of=recorded._answer: read.append(1) or of(outcome))

    async def ask(count):
        model = RecordedModel(FakeModel(), "m", "p#0")
        for _ in range(count):
            await model.ask(HELLO)
        return model.usage.llm_calls

    assert asyncio.run(ask(100)) == 100
    assert len(read) <= 2 * 100
