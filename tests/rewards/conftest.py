from collections.abc import Iterator

import pytest

import alpha_codium as ac
from alpha_codium.sandbox.blocking import BlockingSandbox


@pytest.fixture(scope="module")
def sandbox() -> Iterator[BlockingSandbox]:
    with ac.open_sandbox(workers=2) as opened:
        yield opened
