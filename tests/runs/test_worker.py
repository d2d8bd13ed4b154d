import asyncio
import threading

import pytest

from alpha_codium.runs.worker import Worker


@pytest.fixture
def worker():
    made = Worker("test")
    yield made
    made.close()


async def test_jobs_are_done_in_their_order_in_one_thread_that_is_not_the_loop_s(worker):
    done = []

    def job(number):
        done.append((number, threading.get_ident()))
        return number

    given = await asyncio.gather(*(worker.do(lambda number=number: job(number)) for number in range(500)))
    assert given == [number for number, _ in done] == list(range(500))
    assert len({thread for _, thread in done} | {threading.get_ident()}) == 2


async def test_a_job_that_fails_fails_for_its_caller_alone(worker):
    results = await asyncio.gather(
        worker.do(lambda: 1), worker.do(lambda: 1 // 0), worker.do(lambda: 2), return_exceptions=True
    )
    assert (results[0], results[2]) == (1, 2)
    assert isinstance(results[1], ZeroDivisionError)


async def test_jobs_go_on_while_the_worker_is_busy_and_the_loop_is_not_blocked(worker):
    busy, going = threading.Event(), threading.Event()

    def slow():
        going.set()
        return busy.wait(30)

    first = asyncio.create_task(worker.do(slow))
    await asyncio.to_thread(going.wait)
    others = [asyncio.create_task(worker.do(lambda n=n: n)) for n in range(20)]
    await asyncio.sleep(0)
    assert not any(task.done() for task in (first, *others))
    busy.set()
    assert await first
    assert await asyncio.gather(*others) == list(range(20))
    assert await worker.do(lambda: "again") == "again"


async def test_a_job_whose_caller_was_cancelled_is_done_all_the_same():
    worker, busy, done = Worker("test"), threading.Event(), []
    first = asyncio.create_task(worker.do(lambda: busy.wait(30)))
    second = asyncio.create_task(worker.do(lambda: done.append(2)))
    await asyncio.sleep(0)
    for task in (first, second):
        task.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    busy.set()
    worker.close()
    assert done == [2]


def test_a_loop_that_ended_leaves_no_job_behind():
    worker, done = Worker("test"), []

    async def leave():
        asyncio.create_task(worker.do(lambda: done.append(1)))  # noqa: RUF006 - nobody waits, that is the case
        await asyncio.sleep(0)

    asyncio.run(leave())
    worker.close()
    assert done == [1]
