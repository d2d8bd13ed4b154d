"""The native API: judging programs, one or many, and executing jobs.

A fault of the server is a status of 500 or above, or the verdict `internal_error` with `judged: false`; it is never
another verdict.
"""

import asyncio
from collections.abc import Sequence

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse, Response

from alpha_codium import __version__
from alpha_codium.eval.judging import OpenJudge
from alpha_codium.serve.answers import AsciiResponse, add_errors
from alpha_codium.serve.dialects import DIALECTS
from alpha_codium.serve.dialects.asking import Server, Versions
from alpha_codium.serve.executing import JobRunner, add_execution
from alpha_codium.serve.hiding import NOTHING, Hiding
from alpha_codium.serve.judging import Judging, add_judging
from alpha_codium.serve.load import Load
from alpha_codium.serve.measuring import ServiceMetrics
from alpha_codium.serve.problems import Problems, add_problems
from alpha_codium.serve.repository import ItemRunner, add_repository
from alpha_codium.serve.requests import MOST_MEMORY, MOST_SECONDS, MOST_TESTS, Fault, InfoAnswer
from alpha_codium.serve.rewarding import add_rewards

# Open to clients without a token, for probes of containers.
PUBLIC = ("/healthz", "/readyz")


def application(
    opened: OpenJudge,
    load: Load,
    dialects: Sequence[str] = (),
    problems: Problems | None = None,
    runner: ItemRunner | None = None,
    hiding: Hiding = NOTHING,
) -> FastAPI:
    """Return the application, which also speaks the dialects; judge and runner must be open while it runs."""
    app = FastAPI(
        title="alpha_codium",
        version=__version__,
        default_response_class=AsciiResponse,
        openapi_url="/openapi.json",
        responses={status: {"model": Fault} for status in (400, 401, 404, 413, 422, 429, 500, 503)},
    )
    measures, problems = ServiceMetrics(load), problems or Problems()
    judging = Judging(opened.executor, opened.judge.sandbox, opened.judge.rules, load, measures, problems, hiding)
    add_errors(app)
    _add_state(app, opened, load, measures)
    add_problems(app, problems)
    add_judging(app, judging)
    add_rewards(app, judging)
    jobs = JobRunner(opened.judge.sandbox, load, hiding)
    add_execution(app, opened, jobs, problems)
    if runner is not None:
        add_repository(app, runner, jobs)
    server = Server(judging.judge, judging.judgements, jobs, Versions(opened), opened.workers)
    for name in dialects:
        app.include_router(DIALECTS[name](server))
    return app


def _add_state(app: FastAPI, opened: OpenJudge, load: Load, measures: ServiceMetrics) -> None:
    """Add the addresses that say what the server is and how it is doing."""

    @app.get("/v1/info", response_model=InfoAnswer)
    async def info() -> Response:
        """What the server runs programs with, and what it accepts."""
        limits = {"tests": MOST_TESTS, "time_limit_seconds": MOST_SECONDS, "memory_limit_bytes": MOST_MEMORY}
        capacity = {"workers": opened.workers, "max_queue": load.most_cost, "queued": load.cost}
        tools = await asyncio.to_thread(opened.tools)
        return AsciiResponse(
            {
                "version": __version__,
                "sandbox": opened.identity.to_json(),
                "languages": list(tools),
                "tools": tools,
                "turns": opened.judge.sandbox.has_turns,
                "limits": limits,
                **capacity,
            }
        )

    @app.get("/healthz", response_class=PlainTextResponse)
    async def healthz() -> str:
        """Whether the process answers."""
        return "ok"

    @app.get("/readyz", response_class=PlainTextResponse)
    async def readyz() -> Response:
        """Whether the server accepts work: 503 while it stops, or its queue is full."""
        ready = not load.draining and load.cost < load.most_cost
        return PlainTextResponse("ok" if ready else "not ready", 200 if ready else 503)

    @app.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Counts of verdicts and the load, in the text format of Prometheus."""
        return Response(measures.text(), media_type=measures.media_type)
