import asyncio

import pytest

from alpha_codium.llm.errors import ContentFiltered
from alpha_codium.llm.gathering import gather_all


async def given(value):
    await asyncio.sleep(0)
    return value


async def failing(fault):
    raise fault


async def test_results_are_in_the_order_of_the_calls_and_may_be_exceptions():
    refusal = ContentFiltered("no")
    assert await gather_all([given(1), given(refusal), given(2)]) == [1, refusal, 2]


async def test_the_first_error_is_raised_when_all_other_calls_have_ended():
    ended = []

    async def slow():
        await asyncio.sleep(0.01)
        ended.append(1)

    with pytest.raises(OSError, match="down"):
        await gather_all([slow(), failing(OSError("down")), slow(), failing(ValueError("later"))])
    assert ended == [1, 1]


async def test_cancellation_cancels_all_calls_and_waits_for_their_end():
    ended = []

    async def waiting():
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(1)

    task = asyncio.create_task(gather_all([waiting(), waiting()]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [1, 1]
