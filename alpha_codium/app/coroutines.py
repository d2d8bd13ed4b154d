"""Blocking versions of coroutines, and blocking calls from an event loop."""

import asyncio
import functools
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Return a blocking version of a coroutine `NAME_async`, which raises RuntimeError in a running event loop."""
    name = function.__name__.removesuffix("_async")

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        if _is_loop_running():
            raise RuntimeError(f"{name} cannot be called from a running event loop: await {name}_async instead")
        return asyncio.run(function(*args, **kwargs))

    run.__name__ = run.__qualname__ = name
    return run


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking call in a thread; unlike with `asyncio.to_thread`, an interrupted process doesn't wait for it."""
    answer: Future[T] = Future()

    def work() -> None:
        answer.set_running_or_notify_cancel()
        try:
            answer.set_result(function(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
            answer.set_exception(error)

    threading.Thread(target=work, daemon=True, name=f"gencode-{function.__name__}").start()
    return await asyncio.wrap_future(answer)
