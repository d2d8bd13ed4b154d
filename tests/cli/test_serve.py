"""The commands that serve: what a signal does to them."""

import asyncio
import signal

import pytest

from alpha_codium.cli.main import Terminated
from alpha_codium.cli.serve import run_until_signal


@pytest.mark.parametrize(("number", "raised"), [(signal.SIGTERM, Terminated), (signal.SIGINT, KeyboardInterrupt)])
def test_a_signal_in_a_task_of_a_starting_server_cancels_the_server(number, raised):
    cleaned_up = []

    async def helper():
        signal.raise_signal(number)

    async def serve():
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(helper())
                await asyncio.sleep(60)
        finally:
            cleaned_up.append("server")

    with pytest.raises(KeyboardInterrupt) as error:
        run_until_signal(serve())
    assert (error.type, cleaned_up) == (raised, ["server"])
