"""The queue of requests: over HTTP, with a server of limited capacity, and with cancelled calls."""

import asyncio
import contextlib

import pytest

from alpha_codium.llm.adaptive_limit import FIRST_LIMIT, AdaptiveLimit
from alpha_codium.llm.errors import TransientError
from alpha_codium.llm.request_queue import RequestQueue
from tests.llm.asking import client_of, request
from tests.servers.scripted import Always, FaultOnce, Hang, OnNumbers, ScriptedServer, Seen, Status, When, last_user


@pytest.mark.thorough
@pytest.mark.parametrize("capacity", [3, 10])
async def test_a_server_of_limited_capacity_answers_all_calls_with_the_default_retries(capacity):
    def full(seen: Seen) -> Status | None:
        return Status(429) if server.in_flight > capacity else None

    with ScriptedServer(faults=[full], latency=0.02) as server:
        async with client_of(server, max_concurrent_requests=100, max_retries=5) as client:
            answers = await asyncio.gather(*(client.ask(request(str(number))) for number in range(150)))
    assert [answer.text for answer in answers] == [f"echo: {number}" for number in range(150)]
    assert server.max_in_flight <= 32
    assert len(server.requests) == sum(answer.attempts for answer in answers)


@pytest.mark.parametrize(("adaptive", "expected"), [(True, FIRST_LIMIT), (False, 40)])
async def test_the_limit_starts_low_unless_it_is_fixed(adaptive, expected):
    with ScriptedServer(faults=[Always(Hang())]) as server:
        async with client_of(server, max_concurrent_requests=40, adaptive_concurrency=adaptive) as client:
            calls = [asyncio.create_task(client.ask(request(str(number)))) for number in range(40)]
            await asyncio.to_thread(server.wait_for_requests, expected)
            assert len(server.requests) == expected
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)


async def test_a_slow_request_never_idles_the_others():
    with ScriptedServer(faults=[OnNumbers({1: Hang()})]) as server:
        async with client_of(server, max_concurrent_requests=2) as client:
            slow = asyncio.create_task(client.ask(request("slow")))
            await asyncio.to_thread(server.wait_for_requests, 1)
            await asyncio.gather(*(client.ask(request(str(number))) for number in range(20)))
            assert not slow.done()
            slow.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await slow


@pytest.mark.parametrize("adaptive", [True, False])
async def test_all_requests_wait_if_a_full_provider_asks_one_to_wait(adaptive):
    with ScriptedServer(faults=[OnNumbers({1: Status(429, retry_after=0.6)})]) as server:
        async with client_of(server, max_concurrent_requests=1, adaptive_concurrency=adaptive) as client:
            await asyncio.gather(*(client.ask(request(str(number))) for number in range(5)))
        first, *others = server.requests
    assert len(others) == 5
    assert all(seen.arrived - first.arrived >= 0.6 for seen in others)


async def test_one_refused_request_among_many_waits_alone():
    queue, refusal = RequestQueue(AdaptiveLimit(8)), TransientError("", retry_after=3600, cause="rate_limited")
    for _ in range(8):
        await queue.acquire()
    queue.failed(queue.sent(), refusal, 120)
    queue.release()
    await asyncio.wait_for(queue.acquire(), 5)
    queue.failed(queue.sent(), refusal, 120)
    queue.release()
    waiting = asyncio.create_task(queue.acquire())
    await asyncio.sleep(0.01)
    assert not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)


async def test_no_wait_is_longer_than_the_longest_wait():
    with ScriptedServer(faults=[OnNumbers({1: Status(503, retry_after=3600)})]) as server:
        async with client_of(server, max_concurrent_requests=1, longest_wait=0.05) as client:
            await asyncio.gather(*(client.ask(request(str(number))) for number in range(3)))
        assert len(server.requests) == 4


@pytest.mark.thorough
async def test_another_model_is_not_held_back():
    held = When(lambda seen: seen.body["model"] == "x" and not seen.times_before, Status(429, retry_after=1))
    with ScriptedServer(faults=[held]) as server:
        async with client_of(server) as client:
            await asyncio.gather(client.ask(request("a")), _after(server, client.ask(request("b", model="openai/y"))))
        assert [last_user(seen.body) for seen in server.requests] == ["a", "b", "a"]


async def _after(server, call):
    await asyncio.to_thread(server.wait_for_requests, 1)
    return await call


async def test_a_cancelled_wait_passes_its_place_on():
    queue = RequestQueue(AdaptiveLimit(1))
    await queue.acquire()
    waiting = [asyncio.create_task(queue.acquire()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    queue.release()  # the place is given to the second, which is cancelled before taking it
    await asyncio.sleep(0)
    await asyncio.gather(waiting[0], return_exceptions=True)
    assert [task.done() for task in waiting] == [True, True, False]
    queue.release()
    await waiting[2]


async def test_a_place_given_at_the_moment_of_a_cancellation_is_given_back():
    queue = RequestQueue(AdaptiveLimit(1))
    await queue.acquire()
    first, second = (asyncio.create_task(queue.acquire()) for _ in range(2))
    await asyncio.sleep(0)
    queue.release()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    await second


async def test_places_are_given_in_the_order_of_arrival():
    queue, order = RequestQueue(AdaptiveLimit(1)), []

    async def go(number: int) -> None:
        await queue.acquire()
        order.append(number)
        await asyncio.sleep(0)
        queue.release()

    await asyncio.gather(*(go(number) for number in range(10)))
    assert order == list(range(10))


async def test_a_longer_wait_replaces_a_shorter_one():
    queue, clock = RequestQueue(AdaptiveLimit(1)), asyncio.get_running_loop()
    begun = clock.time()
    for seconds in (0.05, 0.3, 0.1):
        queue.failed(queue.sent(), TransientError("busy", seconds, "rate_limited"), 60)
        waiting = asyncio.create_task(queue.acquire())
        await asyncio.sleep(0)
        if seconds < 0.1:
            first = waiting
    await first
    assert clock.time() - begun >= 0.3
    waiting.cancel()


async def test_an_error_without_a_wait_holds_no_request_back():
    with ScriptedServer(faults=[FaultOnce(Status(500))]) as server:
        async with client_of(server, max_concurrent_requests=2) as client:
            await asyncio.gather(*(client.ask(request(str(number))) for number in range(6)))
        assert len(server.requests) == 12
