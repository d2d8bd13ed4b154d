"""The native API: judging programs, one or many, and executing jobs.

A fault of the server is a status of 500 or above, or the verdict `internal_error` with `judged: false`; it is never
another verdict.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse, Response, StreamingResponse

from alpha_codium import __version__
from alpha_codium.errors import SandboxError, Unjudgeable
from alpha_codium.eval.judging import OpenJudge
from alpha_codium.judge import Judge
from alpha_codium.judge.judge import ProblemJudge
from alpha_codium.languages import LANGUAGES
from alpha_codium.serve.answers import AsciiResponse, client_of, json_line, unless_gone
from alpha_codium.serve.dialects import DIALECTS
from alpha_codium.serve.executing import add_execution
from alpha_codium.serve.load import Draining, Load, Overloaded
from alpha_codium.serve.measuring import Measures
from alpha_codium.serve.requests import (
    MOST_MEMORY,
    MOST_SECONDS,
    MOST_TESTS,
    BatchLine,
    BatchRequest,
    JudgeAnswer,
    JudgeRequest,
)

# Open to clients without a token, for probes of containers.
PUBLIC = ("/healthz", "/readyz")


def application(opened: OpenJudge, load: Load, dialects: Sequence[str] = ()) -> FastAPI:
    """Return the application, which also speaks the dialects; the judge must be open while it runs."""
    app = FastAPI(
        title="alpha_codium", version=__version__, default_response_class=AsciiResponse, openapi_url="/openapi.json"
    )
    measures = Measures(load)
    _add_errors(app)
    _add_state(app, opened, load, measures)
    add_execution(app, opened, load)

    @app.post("/v1/judge", response_model=JudgeAnswer)
    async def judge(request: Request, item: JudgeRequest) -> Response:
        """Judge a program by all its tests."""
        return AsciiResponse((await ask(request, item)).model_dump())

    async def ask(request: Request, item: JudgeRequest) -> JudgeAnswer:
        problem_judge = prepared(opened.judge, item)
        with load.accepted(item.cost):
            return await unless_gone(request, _judged(problem_judge, item, client_of(request)))

    for name in dialects:
        app.include_router(DIALECTS[name](ask))

    @app.post("/v1/judge/batch", response_model=BatchLine)
    async def judge_batch(request: Request, batch: BatchRequest) -> Response:
        """Judge many programs; the answer is a `BatchLine` for each, in NDJSON, in the order in which they finish."""
        judges = [prepared(opened.judge, item) for item in batch.programs]
        accepted = load.accepted(sum(item.cost for item in batch.programs))
        accepted.__enter__()

        async def one(index: int) -> bytes:
            item = batch.programs[index]
            try:
                return json_line(BatchLine(index=index, answer=await _judged(judges[index], item, client_of(request))))
            except SandboxError as error:
                return json_line(BatchLine(index=index, error=str(error)))

        async def lines() -> AsyncIterator[bytes]:
            tasks = [asyncio.create_task(one(index)) for index in range(len(judges))]
            try:
                for done in asyncio.as_completed(tasks):
                    yield await done + b"\n"
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                accepted.__exit__(None, None, None)

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def _judged(problem_judge: ProblemJudge, item: JudgeRequest, client: str) -> JudgeAnswer:
        async with load.turn(client, item.cost):
            judgement = await problem_judge.judge(item.source(), item.problem().private_tests)
        measures.judged(judgement)
        return JudgeAnswer.of(item, judgement)

    return app


def _add_state(app: FastAPI, opened: OpenJudge, load: Load, measures: Measures) -> None:
    """Add the addresses that say what the server is and how it is doing."""

    @app.get("/v1/info")
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


def prepared(judge: Judge, item: JudgeRequest) -> ProblemJudge:
    """Return the judge of a request; raises HTTPException 422 for unknown languages and checkers."""
    if item.language not in LANGUAGES:
        raise HTTPException(422, f"language: there is no {item.language!r}, but {', '.join(LANGUAGES)}")
    try:
        judge.sandbox.tool_version(item.language)
    except SandboxError as error:
        raise HTTPException(422, f"language: {error}") from error
    try:
        return replace(judge, rules=item.rules(judge.rules)).for_problem(item.problem())
    except Unjudgeable as error:
        raise HTTPException(422, str(error)) from error


def _add_errors(app: FastAPI) -> None:
    """Answer exceptions with a status and one line."""

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        places = ((".".join(map(str, each["loc"][1:])), each["msg"]) for each in error.errors()[:10])
        return AsciiResponse({"detail": "; ".join(f"{place}: {message}" for place, message in places)}, 422)

    @app.exception_handler(Overloaded)
    async def overloaded(_: Request, error: Overloaded) -> Response:
        return AsciiResponse({"detail": str(error)}, 429, {"Retry-After": str(error.retry_after)})

    @app.exception_handler(Draining)
    async def draining(_: Request, error: Draining) -> Response:
        return AsciiResponse({"detail": str(error)}, 503, {"Retry-After": "1"})

    @app.exception_handler(SandboxError)
    async def fault(_: Request, error: SandboxError) -> Response:
        return AsciiResponse({"detail": str(error)}, 500)
