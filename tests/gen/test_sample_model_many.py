"""Several answers to one request, each kept as an answer of its own."""

import asyncio
import threading
from dataclasses import replace

import pytest

from alpha_codium.gen.sample_model import SampleModel
from alpha_codium.llm.errors import ContentFiltered, ContextOverflow, ProviderUnavailable
from alpha_codium.llm.messages import with_seed_of
from alpha_codium.runs import AnswerCache, AnswerStore
from tests.gen.asking import HELLO, FakeModel, asked
from tests.support import NOWHERE


def many(store, n, model=None, before=()):
    """The texts of `n` answers to one request after those `before`, and the size of each request that was made."""
    sizes = []

    class Counting(FakeModel):
        async def ask_many(self, request, n):
            sizes.append(n)
            return await super().ask_many(request, n)

    model = model or Counting(lambda number: f"answer {number}")

    async def ask_all():
        recorded = SampleModel(model, "m", "p#0", store)
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
        model = SampleModel(refusing, "m", "p#0", store)
        with pytest.raises(ContextOverflow, match="too long"):
            await model.ask_many(HELLO, 4)
        return model.usage.llm_calls, model.usage.completion_tokens

    assert asyncio.run(calls()) == asyncio.run(calls()) == (4, 0)
    assert len(refusing.requests) == 1


def test_refusals_among_many_answers_are_filtered_ones_and_are_not_asked_for_again(store):
    asked(store)
    refusing = FakeModel(lambda _number: ContentFiltered("not this"))

    async def answers():
        model = SampleModel(refusing, "m", "p#0", store)
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

    def supports_n(self, _model=""):
        return False

    async def ask(self, request):
        answer = await super().ask(request)
        if answer.text == "answer 2":
            await self.second()
        return answer


def test_if_one_of_many_calls_fails_the_other_answers_are_kept_and_counted(store):
    async def down():
        raise ProviderUnavailable("down")

    async def fail():
        model = SampleModel(OneAtATime(down), "m", "p#0", store)
        with pytest.raises(ProviderUnavailable, match="down"):
            await model.ask_many(HELLO, 4)
        assert model.usage.llm_calls == 3

    asyncio.run(fail())
    assert len(store) == 3
    assert many(store, 4) == (["answer 1", "answer 1", "answer 3", "answer 4"], [])


def test_an_interrupt_loses_none_of_many_answers_that_came(store):
    async def interrupt():
        never = asyncio.Event()
        model = SampleModel(OneAtATime(never.wait), "m", "p#0", store)
        task = asyncio.create_task(model.ask_many(HELLO, 4))
        while len(store) < 3:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupt())
    assert many(store, 4)[0] == ["answer 1", "answer 1", "answer 3", "answer 4"]


def test_an_answer_is_counted_and_kept_if_the_call_is_cancelled_while_it_is_stored(tmp_path):
    busy, at_work = threading.Event(), threading.Event()

    class Last(FakeModel):
        async def ask(self, request):
            answer = await super().ask(request)
            store._thread.submit(lambda: at_work.set() or busy.wait(60))
            await asyncio.to_thread(at_work.wait)
            return answer

    async def interrupt():
        model = SampleModel(Last(), "m", "p#0", store)
        task = asyncio.create_task(model.ask(HELLO))
        await asyncio.to_thread(at_work.wait)
        while store._thread._work_queue.empty():
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


class Seeded(FakeModel):
    """Answers with the seed, as a model does that is asked for each answer alone."""

    async def ask(self, request):
        return replace(await super().ask(request), text=str(request.seed))

    async def ask_many(self, request, n):
        return [await self.ask(with_seed_of(request, number)) for number in range(n)]


@pytest.mark.parametrize("there", [(), (0, 1), (1,), (0, 2), (3,), (0, 1, 2, 3)])
def test_each_of_many_answers_has_the_seed_of_its_place_whichever_are_stored(there):
    request = replace(HELLO, seed=7)

    async def texts(store):
        return [answer.text for answer in await SampleModel(Seeded(), "m", "p#0", store).ask_many(request, 4)]

    async def gone_on_with():
        with AnswerStore(NOWHERE) as whole, AnswerStore(NOWHERE) as store:
            at_once = await texts(whole)
            keys = SampleModel(Seeded(), "m", "p#0", store)
            for place in range(4):
                key = keys._next_key(request)
                if place in there:
                    store.put(key.run, whole.get(key.run))
            return at_once, await texts(store)

    at_once, later = asyncio.run(gone_on_with())
    assert len(set(at_once)) == 4
    assert later == at_once
