"""A server that the tests of a process share, where it doesn't matter what others have asked it."""

from collections.abc import Iterator

import httpx
import pytest

from tests.serve.serving import started


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of `gencode serve` with its usual options."""
    with started() as (address, _):
        yield address


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    """A client of it."""
    with httpx.Client(base_url=address, timeout=60) as client:
        yield client
