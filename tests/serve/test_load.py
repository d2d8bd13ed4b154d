"""The load of a server: what is accepted, and whose turn it is."""

import asyncio
import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.errors import SandboxError
from alpha_codium.hosting import Stopping
from alpha_codium.judge.executors import LocalPool, Task
from alpha_codium.judge.many import judge_all
from alpha_codium.problem import Problem, TestCase
from alpha_codium.program import as_program
from alpha_codium.serve.judging import ClientTurns
from alpha_codium.serve.load import Load, Overloaded
from alpha_codium.serve.measuring import ServiceMetrics
from alpha_codium.verdict import Judgement, Verdict
from tests.eval.splits import RIGHT, Arithmetic


def test_work_beyond_the_limit_is_refused_with_a_time_to_wait() -> None:
    load = Load(1, 10)
    with load.accepted(8):
        with pytest.raises(Overloaded) as refused, load.accepted(3):
            pass
        assert refused.value.retry_after >= 1
        with load.accepted(2):
            assert load.cost == 10
    assert load.cost == 0


def test_a_request_that_alone_exceeds_the_limit_is_accepted_when_nothing_else_is() -> None:
    with Load(1, 10).accepted(1000):
        pass


def test_a_server_that_stops_accepts_nothing() -> None:
    load = Load(1, 10)
    load.draining = True
    with pytest.raises(Stopping), load.accepted(1):
        pass
    with pytest.raises(Stopping):
        load.check_open()


def test_a_full_server_refuses_any_request_before_its_cost_is_known() -> None:
    load = Load(1, 10)
    load.check_open()
    with load.accepted(10), pytest.raises(Overloaded):
        load.check_open()
    assert "\ngencode_refused_total 1.0\n" in ServiceMetrics(load).text().decode()


async def test_clients_take_turns() -> None:
    load, order = Load(1, 100), []
    gate = asyncio.Event()

    async def work(client: str) -> None:
        async with load.turn(client, 1):
            await gate.wait()
            order.append(client)

    tasks = []
    for client in ("big", "big", "big", "big", "small", "small"):
        tasks.append(asyncio.create_task(work(client)))
        await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(*tasks)
    assert order == ["big", "small", "big", "small", "big", "big"]


async def test_a_client_with_large_programs_gets_no_more_tests_than_one_with_small_ones() -> None:
    load, order = Load(1, 10_000), []

    async def work(client: str, cost: int) -> None:
        async with load.turn(client, cost):
            order.append(client)
            await asyncio.sleep(0)

    programs = [("first", 1)] + [("large", 100)] * 3 + [("small", 10)] * 30
    await asyncio.gather(*(work(*program) for program in programs))
    before_third = order[: len(order) - order[::-1].index("large") - 1]
    # Half of the first program of each counts as had already.
    assert (before_third.count("large"), before_third.count("small")) == (2, 25)


@pytest.mark.parametrize("cost", [1, 100])
async def test_a_name_that_is_new_with_each_request_starves_nobody(cost: int) -> None:
    load, order, names = Load(2, 10**9), [], itertools.count()

    async def client(name: str | None, cost: int) -> None:
        while len(order) < 3000:
            async with load.turn(name or f"new {next(names)}", cost):
                order.append(name)
                await asyncio.sleep(0)

    await asyncio.gather(client("honest", 1), *(client(None, cost) for _ in range(30)))
    # A fair share would be one of 31.
    assert order.count("honest") >= 3000 / 31 / 3


async def test_a_client_that_had_the_server_alone_is_not_held_up_for_it() -> None:
    load, order = Load(1, 10_000), []

    async def work(client: str) -> None:
        async with load.turn(client, 10):
            order.append(client)
            await asyncio.sleep(0)

    for _ in range(50):
        await work("old")
    await asyncio.gather(*(work(client) for client in ("old", "old", "old", "new", "new", "new")))
    assert order[50:] == ["old", "new", "old", "new", "old", "new"]


async def test_clients_that_left_are_forgotten() -> None:
    load = Load(1, 10_000)

    async def work(client: str) -> None:
        async with load.turn(client, 1):
            await asyncio.sleep(0)

    await asyncio.gather(*(work(f"client {number}") for number in range(10_100)))
    assert len(load._had) == 10_000


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.integers(0, 3)), max_size=12), st.integers(1, 3))
def test_each_turn_is_given_back_even_if_its_client_leaves(requests, at_once) -> None:
    async def scenario() -> None:
        load, running, most = Load(at_once, 100), 0, 0

        async def work(client: str, steps: int) -> None:
            nonlocal running, most
            async with load.turn(client, 1):
                running += 1
                most = max(most, running)
                try:
                    for _ in range(steps):
                        await asyncio.sleep(0)
                finally:
                    running -= 1

        tasks = [(asyncio.create_task(work(client, steps)), leaves) for client, leaves, steps in requests]
        await asyncio.sleep(0)
        for task, leaves in tasks:
            if leaves:
                task.cancel()
            await asyncio.sleep(0)
        await asyncio.gather(*(task for task, _ in tasks), return_exceptions=True)
        assert most <= at_once
        assert load.waiting == 0
        async with asyncio.timeout(5):
            for _ in range(at_once):
                await load._wait("next", 1)  # all places are free again

    asyncio.run(scenario())


@pytest.mark.parametrize(("at_once", "seconds"), [(1, 25), (5, 5)])
async def test_the_time_to_wait_follows_the_speed(at_once: int, seconds: int) -> None:
    now = [0.0]
    load = Load(at_once, 1000, lambda: now[0])
    with load.accepted(100):
        for _ in range(40):
            async with load.turn("a", 10):
                now[0] += 5.0
        assert load.retry_after == seconds


async def test_a_program_that_the_sandbox_failed_to_run_is_judged_again_at_its_next_turn() -> None:
    class FailsOnce(LocalPool):
        async def judge(self, tasks: Sequence[Task]) -> Sequence[Judgement]:
            failures.append(1)
            if len(failures) == 1:
                raise SandboxError("no worker started")
            return await super().judge(tasks)

    failures: list[int] = []
    problem = Problem("double", private_tests=(TestCase("2\n", "4\n"),))
    tasks = [Task(as_program(RIGHT), problem, problem.private_tests)]
    turns = ClientTurns(FailsOnce(Arithmetic()), Load(1, 10), "client")
    (judgement,) = await judge_all(tasks, turns, retries=1)
    assert (judgement.verdict, len(failures)) == (Verdict.ACCEPTED, 2)
