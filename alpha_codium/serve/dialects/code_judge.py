"""The API of code-judge, which rStar2 uses: `/run` executes a program on an input, `/judge` also compares its output.

1. `run_success` is whether the program ended with 0, `success` whether it also printed the expected output, if there is
   one, without regard to white space around it. `cost` is wall time in seconds.
2. `reason` is empty for programs that ran, also if they failed; `worker_timeout` after a limit of time, `invalid_input`
   in a language that the server doesn't run, and `internal_error` where the server couldn't run a program.
"""

import asyncio
import uuid
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from alpha_codium.errors import SandboxError
from alpha_codium.limits import Limits
from alpha_codium.program import PYTHON, Job, Program
from alpha_codium.serve.answers import AsciiResponse, client_of, unless_gone
from alpha_codium.serve.dialects.asking import Server
from alpha_codium.serve.hiding import without_paths
from alpha_codium.serve.requests import MOST_PROGRAMS
from alpha_codium.verdict import Status

# Our names of the dialect's languages.
LANGUAGES = {"python": PYTHON, "cpp": "cpp"}
# As in the original, where programs can't have limits of their own. CPU time and wall time.
SECONDS = 10.0
SHOWN_CHARACTERS = 1000
Reason = Literal["", "internal_error", "worker_timeout", "queue_timeout", "invalid_input"]
REASONS: dict[Status, Reason] = {
    Status.TIME_LIMIT_EXCEEDED: "worker_timeout",
    Status.INTERNAL_ERROR: "internal_error",
}


class Submission(BaseModel):
    """A program, what it reads, and what it should print."""

    sub_id: str | None = None
    type: Literal["python", "cpp", "math"]
    solution: str
    input: str | None = None
    expected_output: str | None = None
    options: dict[str, str] | None = None


class Batch(BaseModel):
    """Many submissions."""

    sub_id: str | None = None
    type: Literal["batch"] = "batch"
    submissions: Annotated[list[Submission], Field(min_length=1, max_length=MOST_PROGRAMS)]


class JudgeResult(BaseModel):
    """Whether a program ran, and printed what was expected."""

    sub_id: str
    success: bool = False
    run_success: bool = False
    cost: float = 0
    reason: Reason = ""


class RunResult(JudgeResult):
    """The same, with the outputs of the program."""

    stdout: str | None = None
    stderr: str | None = None


class BatchJudgeResult(BaseModel):
    """The results of many submissions, in their order."""

    sub_id: str
    results: list[JudgeResult]


class BatchRunResult(BaseModel):
    """The same, with outputs."""

    sub_id: str
    results: list[RunResult]


def router(server: Server) -> APIRouter:
    """Return the addresses of the dialect."""
    routes = APIRouter(tags=["code-judge"])

    async def results(request: Request, items: list[Submission]) -> list[RunResult]:
        with server.executor.load.accepted(len(items)):
            return await unless_gone(request, all_of(client_of(request), items))

    async def all_of(client: str, items: list[Submission]) -> list[RunResult]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(result_of(server, client, item)) for item in items]
        return [task.result() for task in tasks]

    @routes.get("/ping")
    async def ping() -> str:
        """Whether the process answers."""
        return "pong"

    @routes.get("/status")
    async def status() -> dict[str, int]:
        """How many programs wait, and how many run at a time."""
        return {"queue": server.executor.load.waiting, "num_workers": server.workers}

    @routes.post("/run", response_model=RunResult)
    async def run(request: Request, item: Submission) -> AsciiResponse:
        """Execute a program."""
        (result,) = await results(request, [item])
        return AsciiResponse(result)

    @routes.post("/judge")
    async def judge(request: Request, item: Submission) -> JudgeResult:
        """Execute a program and compare its output."""
        (result,) = await results(request, [item])
        return result

    @routes.post("/run/batch", response_model=BatchRunResult)
    @routes.post("/run/long-batch", response_model=BatchRunResult)
    async def run_batch(request: Request, batch: Batch) -> AsciiResponse:
        """Execute many programs."""
        found = await results(request, batch.submissions)
        return AsciiResponse(BatchRunResult(sub_id=id_of(batch), results=found))

    @routes.post("/judge/batch")
    @routes.post("/judge/long-batch")
    async def judge_batch(request: Request, batch: Batch) -> BatchJudgeResult:
        """Execute many programs and compare their outputs."""
        return BatchJudgeResult(sub_id=id_of(batch), results=[*await results(request, batch.submissions)])

    return routes


def id_of(item: Submission | Batch) -> str:
    """Return the identifier of a request, a new one if it has none."""
    return item.sub_id or str(uuid.uuid4())


async def result_of(server: Server, client: str, item: Submission) -> RunResult:
    """Execute a program that the load has accepted, when it is the client's turn."""
    result, language = RunResult(sub_id=id_of(item)), LANGUAGES.get(item.type)
    if language not in server.languages:
        result.reason, result.stderr = "invalid_input", f"this server runs no programs of the type {item.type}"
        return result
    limits = Limits(cpu_seconds=SECONDS, wall_seconds=SECONDS)
    job = Job(Program.from_source(language, item.solution), (item.input or "",), limits)
    try:
        execution = (await server.executor.run(client, job)).last
    except SandboxError as error:
        result.reason, result.stderr = "internal_error", without_paths(error)
        return result
    expected = item.expected_output
    result.run_success = execution.finished
    result.success = execution.finished and (expected is None or execution.stdout.strip() == expected.strip())
    result.cost, result.reason = execution.wall_seconds, REASONS.get(execution.status, "")
    result.stdout, result.stderr = shown(execution.stdout), shown(execution.stderr)
    return result


def shown(text: str) -> str:
    """Return the beginning of an output, as the original does, but say what is missing."""
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[:SHOWN_CHARACTERS]}... ({len(text) - SHOWN_CHARACTERS} more characters)"
