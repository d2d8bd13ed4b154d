"""An open sandbox of each backend."""

from collections.abc import AsyncIterator

import pytest

from alpha_codium.sandbox import Sandbox
from tests.sandbox.backends import BACKENDS, ISOLATED, Backend


@pytest.fixture(params=list(BACKENDS))
def backend(request: pytest.FixtureRequest) -> Backend:
    """Every backend: for programs that do no harm."""
    return BACKENDS[request.param]


@pytest.fixture(params=["portable", "local-unsafe"])
def portable(request: pytest.FixtureRequest) -> Backend:
    """The backends that start an interpreter for each test, with a folder of the host's."""
    return BACKENDS[request.param]


@pytest.fixture
async def sandbox(backend: Backend) -> AsyncIterator[Sandbox]:
    async with backend.open() as opened:
        yield opened


@pytest.fixture(params=ISOLATED)
def jail(request: pytest.FixtureRequest) -> Backend:
    """The backends that keep a program from the machine: hostile programs run in these only."""
    return BACKENDS[request.param]


@pytest.fixture
async def jailed(jail: Backend) -> AsyncIterator[Sandbox]:
    async with jail.open() as opened:
        yield opened
