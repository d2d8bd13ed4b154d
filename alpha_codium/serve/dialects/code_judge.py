"""The API of code-judge, which rStar2 uses: `/run` executes a program on an input, `/judge` also compares its output.

1. `run_success` is whether the program ended with 0, `success` whether it also printed the expected output, if there is
   one, without regard to white space around it. `cost` is wall time in seconds; outputs are cut at 1,000 characters.
2. `reason` is empty for programs that ran, also if they failed; `worker_timeout` after a limit of time, `invalid_input`
   in a language that the server doesn't run, and `internal_error` where the server couldn't run a program.
"""

import uuid
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from alpha_codium.errors import SandboxError
from alpha_codium.judge import Rules
from alpha_codium.judge.executors import Task
from alpha_codium.problem import CheckerSpec, Problem, TestCase
from alpha_codium.program import PYTHON, Program
from alpha_codium.serve.answers import AsciiResponse
from alpha_codium.serve.dialects.asking import Server
from alpha_codium.serve.hiding import without_paths
from alpha_codium.serve.requests import MOST_PROGRAMS
from alpha_codium.verdict import KEPT, Judgement, Status

# Our names of the dialect's languages.
LANGUAGES = {"python": PYTHON, "cpp": "cpp"}
# As in the original, where programs can't have limits of their own.
RULES = Rules(cpu_seconds=10, wall_seconds=10)
SHOWN_CHARACTERS = 1000
Reason = Literal["", "internal_error", "worker_timeout", "queue_timeout", "invalid_input"]
REASONS: dict[Status, Reason] = {Status.TIME_LIMIT_EXCEEDED: "worker_timeout"}


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
        runs = [LANGUAGES.get(item.type) in server.languages for item in items]
        tasks = [task_of(item) for item, known in zip(items, runs, strict=True) if known]
        try:
            judgements = iter(await server.judgements(request, tasks) if tasks else ())
        except SandboxError as error:
            return [failed(item, "internal_error", without_paths(error)) for item in items]
        unknown = "this server runs no programs of the type"
        return [
            result_of(item, next(judgements)) if known else failed(item, "invalid_input", f"{unknown} {item.type}")
            for item, known in zip(items, runs, strict=True)
        ]

    @routes.get("/ping")
    async def ping() -> str:
        """Whether the process answers."""
        return "pong"

    @routes.get("/status")
    async def status() -> dict[str, int]:
        """How many programs wait, and how many run at a time."""
        return {"queue": server.jobs.load.waiting, "num_workers": server.workers}

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


def task_of(item: Submission) -> Task:
    """Return what the judge is asked for; without an expected output, it only matters how the program ends."""
    # An empty program has nothing to compile, but runs in the original.
    source = item.solution if item.solution.strip() or item.type != "python" else "pass"
    test = TestCase(item.input or "", item.expected_output or "")
    problem = Problem(id_of(item), private_tests=(test,), checker=CheckerSpec("exact", {"leading": False}))
    return Task(Program.from_source(LANGUAGES[item.type], source), problem, problem.private_tests, RULES)


def failed(item: Submission, reason: Reason, why: str) -> RunResult:
    """Return the result of a program that didn't run."""
    return RunResult(sub_id=id_of(item), reason=reason, stderr=why)


def result_of(item: Submission, judgement: Judgement) -> RunResult:
    """Return the result of a program that was judged."""
    if not judgement.judged:
        return failed(item, "internal_error", judgement.message)
    execution = judgement.tests[0].execution
    return RunResult(
        sub_id=id_of(item),
        success=judgement.accepted or (item.expected_output is None and execution.finished),
        run_success=execution.finished,
        cost=execution.wall_seconds,
        reason=REASONS.get(execution.status, ""),
        stdout=shown(execution.stdout),
        stderr=shown(execution.stderr),
    )


def shown(text: str) -> str:
    """Return the beginning of an output, as the original does, but say what is missing."""
    if len(text) <= SHOWN_CHARACTERS:
        return text
    at_least = "at least " if len(text) == KEPT else ""
    return f"{text[:SHOWN_CHARACTERS]}... ({at_least}{len(text) - SHOWN_CHARACTERS} more characters)"
