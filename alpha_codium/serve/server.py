"""The server of `gencode serve`."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from alpha_codium.config import Settings
from alpha_codium.errors import UserError
from alpha_codium.eval.judging import OpenJudge, open_judge
from alpha_codium.hosting import NEEDS, WORKING, Guarded, host_app, require_token
from alpha_codium.judge.executors import IN_FLIGHT_PER_WORKER
from alpha_codium.serve.load import Load

if TYPE_CHECKING:
    from alpha_codium.data.load import ProblemSet
    from alpha_codium.repository.checkout import Checkout
    from alpha_codium.serve.repository import ItemRunner

# Tests that are accepted at a time, for each worker.
QUEUE_PER_WORKER = 10_000
# Bytes of one request, and of all requests in progress.
LARGEST_REQUEST, MOST_HELD = 512 << 20, 1 << 30


async def serve(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    max_queue: int = 0,
    token: str = "",
    dialects: str = "all",
    dataset: "ProblemSet | None" = None,
    checkout: "Checkout | None" = None,
    max_problem_bytes: int = 1 << 30,
    largest_request: int = LARGEST_REQUEST,
    on_start: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve the judge of the settings until SIGTERM or SIGINT; `on_start` gets the address.

    `max_queue` is the number of tests that are accepted at a time, by default `QUEUE_PER_WORKER` for each worker.
    `dialects` names them as `alpha_codium.serve.dialects.named` takes them. Requests may name the problems of
    `dataset`, and those that were stored; both need at most `max_problem_bytes` of memory. Tests are run
    on edited files of `checkout`, if it is given.
    Raises UserError if the sandbox doesn't isolate programs, or the address can't be used, or is open to others
    without a token.
    """
    require_token(host, token, "set GENCODE_SERVE_TOKEN, or give a `token`")
    try:
        from alpha_codium.serve.api import PUBLIC, application
        from alpha_codium.serve.dialects import named
        from alpha_codium.serve.hiding import Hiding
        from alpha_codium.serve.problems import Problems
    except ImportError as error:
        raise UserError(NEEDS) from error
    spoken = named(dialects)
    async with isolated_judge(settings, max_queue) as (opened, load):

        def stop() -> None:
            load.draining = True

        def admit(method: str) -> None:
            """Refuse what may bring work before it is read, if there is no room for any."""
            if method in WORKING:
                load.check_open()

        hiding = await Hiding.of(opened.judge.sandbox)
        async with opened_runner(checkout, workers_of(opened)) as runner:
            app = Guarded(
                application(opened, load, spoken, Problems(max_problem_bytes, dataset), runner, hiding),
                token=token,
                largest=largest_request,
                most_held=MOST_HELD,
                public=PUBLIC,
                admit=admit,
            )
            await host_app(app, host, port, on_start=on_start, on_stop=stop, is_busy=lambda: load.cost > 0)


@asynccontextmanager
async def isolated_judge(settings: Settings, max_queue: int = 0) -> AsyncIterator[tuple[OpenJudge, Load]]:
    """Open the judge of the settings for the programs of others, with its load.

    Raises UserError if the settings, or this machine, run programs without a sandbox.
    """
    if settings.code_tester.sandbox is False:
        raise UserError("a server runs programs only in a sandbox: remove code_tester.sandbox = false")
    async with open_judge(settings) as opened:
        workers = workers_of(opened)
        yield opened, Load(IN_FLIGHT_PER_WORKER * workers, max_queue or QUEUE_PER_WORKER * workers)


def workers_of(opened: OpenJudge) -> int:
    """Return how many programs a judge runs at a time."""
    return opened.workers or os.cpu_count() or 1


@asynccontextmanager
async def opened_runner(checkout: "Checkout | None", workers: int) -> "AsyncIterator[ItemRunner | None]":
    """Open what runs the tests of a repository, None without one."""
    if checkout is None:
        yield None
        return
    from alpha_codium.repository.providers import LocalProvider
    from alpha_codium.serve.repository import ItemRunner

    async with LocalProvider(lambda _: checkout, workers=workers) as provider:
        yield ItemRunner(provider, checkout)
