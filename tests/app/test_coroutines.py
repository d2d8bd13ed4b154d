import asyncio
import inspect
import threading
import time

import pytest

import alpha_codium as ac
from alpha_codium.app.coroutines import blocking, in_thread

TWINS = [name for name in ac.__all__ if f"{name}_async" in ac.__all__]


async def double_async(number: int) -> int:
    """Twice a number."""
    await asyncio.sleep(0)
    return 2 * number


double = blocking(double_async)


def test_a_blocking_function_gives_what_its_coroutine_gives():
    assert (double(21), double.__name__, double.__doc__) == (42, "double", "Twice a number.")


async def test_a_blocking_function_names_its_coroutine_where_a_loop_is_running():
    with pytest.raises(RuntimeError, match=r"double cannot be called .* await double_async instead"):
        double(21)


async def test_a_call_in_a_thread_gives_its_result_or_raises_its_error():
    assert await in_thread(max, 1, 2) == 2
    with pytest.raises(ZeroDivisionError):
        await in_thread(divmod, 1, 0)


def test_an_interrupted_loop_does_not_wait_for_a_thread():
    released = threading.Event()

    async def cancelled():
        task = asyncio.create_task(in_thread(released.wait, 30))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    started = time.monotonic()
    asyncio.run(cancelled())
    assert time.monotonic() - started < 20
    released.set()


@pytest.mark.parametrize("name", sorted(TWINS))
def test_a_function_and_its_coroutine_are_documented_alike(name):
    function, coroutine = getattr(ac, name), getattr(ac, f"{name}_async")
    assert inspect.iscoroutinefunction(coroutine)
    assert not inspect.iscoroutinefunction(function)
    assert inspect.signature(function) == inspect.signature(coroutine)
    assert function.__doc__ == coroutine.__doc__
    assert function.__name__ == name


def test_the_use_cases_of_the_command_line_are_public():
    assert set(TWINS) == {"compare", "evaluate", "replay", "score", "solve", "solve_set", "validate"}
