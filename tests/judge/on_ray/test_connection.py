"""Connections that can't be made end with one line, and soon."""

import asyncio
import socket
import sys
from types import SimpleNamespace

import pytest

from alpha_codium.errors import UserError
from alpha_codium.judge.on_ray.connection import Connection


@pytest.mark.parametrize("address", ["ray://127.0.0.1:10001", "http://127.0.0.1:8265", "somewhere", "host:port"])
async def test_an_address_of_another_form_is_refused(address: str) -> None:
    with pytest.raises(UserError, match="must be HOST:PORT of a head node"):
        await asyncio.wrap_future(Connection(address).opened)


async def test_a_cluster_that_is_not_there_is_refused_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    with pytest.raises(UserError, match=f"the Ray cluster at {address} can't be reached: Connection refused"):
        await asyncio.wrap_future(Connection(address).opened)


async def test_a_cluster_that_does_not_start_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(*_: object, **__: object) -> None:
        raise Exception("The current node timed out during startup.")  # the class that Ray raises

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=lambda: False, init=init))
    with pytest.raises(UserError, match=r"timed out during startup.; start one yourself, and name it as `code_tester."):
        await asyncio.wrap_future(Connection("local").opened)
