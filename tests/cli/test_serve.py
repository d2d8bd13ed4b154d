"""`gencode serve` and its relatives, at a signal."""

import asyncio
import signal

import pytest

from alpha_codium.cli.main import Terminated
from alpha_codium.cli.serve import run_until_signal


@pytest.mark.parametrize(("number", "raised"), [(signal.SIGTERM, Terminated), (signal.SIGINT, KeyboardInterrupt)])
def test_a_signal_in_a_task_of_a_starting_server_cancels_the_server(number, raised):
    cleaned = []

    async def helper():
        signal.raise_signal(number)
        await asyncio.sleep(0)
        cleaned.append("helper")

    async def serve():
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(helper())
                await asyncio.sleep(60)
        finally:
            cleaned.append("server")

    with pytest.raises(KeyboardInterrupt) as error:
        run_until_signal(serve())
    assert error.type is raised
    assert cleaned[-1] == "server"
