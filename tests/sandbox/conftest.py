"""An open sandbox of each backend, the same for all tests of a module: what one program does is nothing to the next."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio

from alpha_codium.sandbox import Sandbox
from tests.sandbox.backends import BACKENDS, ISOLATED, Backend
from tests.support import share_a_loop


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what a backend is known to fail; see `backends`."""
    share_a_loop(items, Path(__file__).parent, {"sandbox", "jailed"})
    for item in items:
        callspec = getattr(item, "callspec", None)
        if callspec is None:
            continue
        for name in {callspec.params.get("backend"), callspec.params.get("jail")} & set(BACKENDS):
            reason = reason_in(BACKENDS[name].differs, item.originalname, callspec.id, name)
            if reason:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
            reason = reason_in(BACKENDS[name].left_out, item.originalname, callspec.id, name)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))
            if BACKENDS[name].slow:
                item.add_marker(pytest.mark.slow)


def reason_in(reasons: Mapping[str, str], test: str, identifier: str, name: str) -> str:
    """What is said there of that test with the backend `name`, or nothing; `identifier` is that of its parameters."""
    others = identifier.replace(name, "", 1).strip("-")
    return reasons.get(f"{test}[{others}]") or reasons.get(test, "")


@pytest.fixture(scope="module", params=list(BACKENDS))
def backend(request: pytest.FixtureRequest) -> Backend:
    """Every backend: for programs that do no harm."""
    return BACKENDS[request.param]


@pytest.fixture(params=["portable", "local-unsafe"])
def portable(request: pytest.FixtureRequest) -> Backend:
    """The backends that start an interpreter for each test, with a folder of the host's."""
    return BACKENDS[request.param]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(backend: Backend) -> AsyncIterator[Sandbox]:
    async with backend.open() as opened:
        yield opened


@pytest.fixture(scope="module", params=ISOLATED)
def jail(request: pytest.FixtureRequest) -> Backend:
    """The backends that keep a program from the machine: hostile programs run in these only."""
    return BACKENDS[request.param]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def jailed(jail: Backend) -> AsyncIterator[Sandbox]:
    async with jail.open() as opened:
        yield opened
