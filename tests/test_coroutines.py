import asyncio
import contextvars
import inspect
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import alpha_codium as ac
from alpha_codium.coroutines import blocking, gather_all, in_thread

TWINS = [name for name in ac.__all__ if f"{name}_async" in ac.__all__]


async def double_async(number: int) -> int:
    """Twice a number."""
    await asyncio.sleep(0)
    return 2 * number


double = blocking(double_async)


def test_a_blocking_function_gives_what_its_coroutine_gives():
    assert (double(21), double.__name__, double.__doc__) == (42, "double", "Twice a number.")


async def test_a_blocking_function_works_where_a_loop_is_running():
    assert double(21) == 42


def test_blocking_functions_share_one_loop_and_keep_context_variables():
    variable = contextvars.ContextVar("variable", default="")

    async def seen_async():
        return asyncio.get_running_loop(), variable.get()

    seen = blocking(seen_async)
    variable.set("kept")
    with ThreadPoolExecutor(2) as threads:
        loops = {seen()[0], *threads.map(lambda _: seen()[0], range(8))}
    assert len(loops) == 1
    assert seen()[1] == "kept"


def test_a_blocking_function_refuses_to_wait_for_itself():
    async def outer_async():
        return double(21)

    with pytest.raises(RuntimeError, match="from a callback of another one, such as on_event"):
        blocking(outer_async)()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_whatever_a_coroutine_raises_reaches_the_caller_and_the_loop_goes_on(error):
    async def fail_async():
        raise error("why")

    with pytest.raises(error, match="why"):
        blocking(fail_async)()
    assert double(4) == 8


def test_a_forked_process_has_a_loop_of_its_own():
    assert double(1) == 2
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, str(double(21)).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        assert answer.read() == "42"
    assert os.waitpid(child, 0)[1] == 0


INTERRUPTED = """\
import asyncio, os, signal, threading
from alpha_codium.coroutines import blocking

async def work_async():
    threading.Timer(0.2, {send}).start()
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.1)
        print("cleaned up")

try:
    blocking(work_async)()
except KeyboardInterrupt:
    print("interrupted")
"""


TO_THE_PROCESS = "os.kill, (os.getpid(), signal.SIGINT)"
TO_ANOTHER_THREAD = "lambda: signal.pthread_kill(threading.get_ident(), signal.SIGINT)"


@pytest.mark.parametrize("send", [TO_THE_PROCESS, TO_ANOTHER_THREAD])
def test_an_interrupted_call_is_cancelled_and_cleans_up_before_it_ends(send):
    program = INTERRUPTED.format(send=send)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.split("\n") == ["cleaned up", "interrupted", ""]
    assert done.stderr == ""


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
    assert set(TWINS) == {
        "audit_grader",
        "compare",
        "evaluate",
        "judge_program",
        "judge_programs",
        "rejudge",
        "replay",
        "score",
        "solve",
        "solve_set",
        "validate",
    }


async def given(value):
    await asyncio.sleep(0)
    return value


async def failing(fault):
    raise fault


async def test_results_are_in_the_order_of_the_calls_and_may_be_exceptions():
    refusal = ValueError("no")
    assert await gather_all([given(1), given(refusal), given(2)]) == [1, refusal, 2]


async def test_the_first_error_is_raised_when_all_other_calls_have_ended():
    ended = []

    async def slow():
        await asyncio.sleep(0.01)
        ended.append(1)

    with pytest.raises(OSError, match="down"):
        await gather_all([slow(), failing(OSError("down")), slow(), failing(ValueError("later"))])
    assert ended == [1, 1]


async def test_cancellation_cancels_all_calls_and_waits_for_their_end():
    ended = []

    async def waiting():
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(1)

    task = asyncio.create_task(gather_all([waiting(), waiting()]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [1, 1]
