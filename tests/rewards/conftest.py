from collections.abc import Iterator

import pytest

import alpha_codium as ac
from alpha_codium.rewards import scores
from alpha_codium.sandbox.blocking import BlockingSandbox


@pytest.fixture(autouse=True)
def nothing_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind of reason is logged once in a process."""
    monkeypatch.setattr(scores, "_logged", set())


@pytest.fixture(scope="module")
def sandbox() -> Iterator[BlockingSandbox]:
    with ac.open_sandbox(workers=2) as opened:
        yield opened
