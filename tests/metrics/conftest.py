"""What tests of metrics share: the permission to run programs, and open sandboxes; opening takes most of the time."""

import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from alpha_codium.coroutines import run_blocking
from alpha_codium.metrics import apps_metric, assertion_runs
from alpha_codium.metrics.shared import backend_of
from alpha_codium.sandbox import Sandbox

Opening = Callable[..., AbstractAsyncContextManager[Sandbox]]


@pytest.fixture(autouse=True)
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ALLOW_CODE_EVAL", "1")


@pytest.fixture(scope="module")
def opening() -> Iterator[Opening]:
    """`backend_of`, whose sandboxes serve all calls of a test module that ask for the same, and are closed after it."""
    sandboxes: dict[tuple[Any, ...], Sandbox] = {}
    stack = AsyncExitStack()

    @asynccontextmanager
    async def shared(tester_type: str | None, workers: int, **options: Any) -> AsyncIterator[Sandbox]:
        key = (tester_type or os.getenv("GENCODE_CODE_TESTER__TESTER_TYPE"), workers, repr(options))
        if key not in sandboxes:
            sandboxes[key] = await stack.enter_async_context(backend_of(tester_type, workers, **options))
        yield sandboxes[key]

    yield shared
    run_blocking(stack.aclose())


@pytest.fixture
def shared_sandbox(opening: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    """The metrics judge in sandboxes that are open already."""
    for metric in (assertion_runs, apps_metric):
        monkeypatch.setattr(metric, "backend_of", opening)
