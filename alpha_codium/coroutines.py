"""Blocking versions of coroutines, which run in one background event loop, blocking calls from one, and many at once.

All blocking functions share the background loop, so that a sandbox that one of them opened can be used by the others,
and work where another loop is running, such as in a notebook. A process that was forked starts a loop of its own.
"""

import asyncio
import atexit
import functools
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import Future, wait
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
# Seconds that work which is still going on when the interpreter exits may take to clean up.
EXIT_SECONDS = 5
# How often a waiting main thread looks for Ctrl-C. The kernel may deliver the signal to another thread, and then Python
# doesn't wake the main thread, which alone can handle it.
SIGNAL_SECONDS = 0.2


class BackgroundLoop:
    """An event loop in a daemon thread, started when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def get(self) -> asyncio.AbstractEventLoop:
        """Return the running loop."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_run_forever, args=(self._loop,), daemon=True, name="gencode-loop").start()
            return self._loop

    def forget(self) -> None:
        """Start a new loop at the next use: after a fork, the thread of the old one is missing."""
        self._lock, self._loop = threading.Lock(), None

    def end(self) -> None:
        """Cancel what is still running, and wait for its clean-up."""
        if self._loop is not None:
            wait([asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop)], EXIT_SECONDS)


def _run_forever(loop: asyncio.AbstractEventLoop) -> None:
    while True:
        try:
            loop.run_forever()
        except (KeyboardInterrupt, SystemExit):
            continue  # raised by a task, whose caller gets it


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


# The one loop of all blocking functions.
BACKGROUND = BackgroundLoop()
os.register_at_fork(after_in_child=BACKGROUND.forget)
atexit.register(BACKGROUND.end)


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in the background loop and return its result; if interrupted, cancel it and wait for its end.

    Raises RuntimeError in the background loop itself, which is where events are reported.
    """
    loop, outcome = BACKGROUND.get(), Future[T]()
    if _running_loop() is loop:
        work.close()
        raise RuntimeError("a blocking function can't be called from a callback of another one, such as on_event")
    tasks: list[asyncio.Task[T]] = []

    def start() -> None:
        tasks.append(loop.create_task(work))
        tasks[0].add_done_callback(lambda task: _pass_on(task, outcome))

    def cancel() -> None:
        tasks[0].cancel()

    loop.call_soon_threadsafe(start)
    try:
        while not outcome.done():
            wait([outcome], SIGNAL_SECONDS)
        return outcome.result()
    finally:
        if not outcome.done():
            loop.call_soon_threadsafe(cancel)
            wait([outcome])


def _pass_on(task: asyncio.Task[T], outcome: Future[T]) -> None:
    if task.cancelled():
        outcome.set_exception(asyncio.CancelledError())
    elif (error := task.exception()) is not None:
        outcome.set_exception(error)
    else:
        outcome.set_result(task.result())


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Return a blocking version of a coroutine `NAME_async`, which also works where an event loop is running."""
    name = function.__name__.removesuffix("_async")

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return run_blocking(function(*args, **kwargs))

    run.__name__ = run.__qualname__ = name
    return run


async def concurrently(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines and return their results; if one raises, cancel the others before raising its exception."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking call in a thread; unlike with `asyncio.to_thread`, an interrupted process doesn't wait for it."""
    answer: Future[T] = Future()

    def work() -> None:
        answer.set_running_or_notify_cancel()
        try:
            answer.set_result(function(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - raised where the answer is awaited, which else never comes
            answer.set_exception(error)

    threading.Thread(target=work, daemon=True, name=f"gencode-{function.__name__}").start()
    return await asyncio.wrap_future(answer)


async def gather_all(calls: Iterable[Awaitable[T]]) -> list[T]:
    """Return all results. If a call fails, wait for the others, whose answers are paid for; raise the first error."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    await asyncio.gather(*tasks, return_exceptions=True)
    return [task.result() for task in tasks]  # a result may itself be an exception
