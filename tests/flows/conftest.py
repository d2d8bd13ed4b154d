"""Fixtures of the tests of flows."""

from collections.abc import Iterator

import pytest

from tests.flows.scripted_flow import Bench


@pytest.fixture(scope="session")
def bench() -> Iterator[Bench]:
    """One server and one sandbox for all tests."""
    with Bench() as opened:
        yield opened
