"""Executing jobs without judging them, as the backend `remote` has it done."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import TypeAdapter, ValidationError

from alpha_codium.eval.judging import OpenJudge
from alpha_codium.language_table import LANGUAGES
from alpha_codium.limits import CHECKER_LIMITS, WALL_EXTRA_SECONDS, WALL_FACTOR
from alpha_codium.program import Job, PairJob, fault_of_paths
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.remote import IDENTITY_HEADER
from alpha_codium.serve.answers import AsciiResponse, client_of, unless_gone
from alpha_codium.serve.hiding import NOTHING, Hiding
from alpha_codium.serve.load import Load
from alpha_codium.serve.problems import Problems
from alpha_codium.serve.requests import MOST_MEMORY, MOST_SECONDS, MOST_TESTS, PartOfProblem
from alpha_codium.values import surrogate_in
from alpha_codium.verdict import Execution, Report

AnyJob = TypeVar("AnyJob", Job, PairJob)
Result = TypeVar("Result")
# The highest limits that a job may have.
MOST = {
    "cpu_seconds": MOST_SECONDS,
    # A candidate waits while its interactor works, and the interactor has more time still.
    "wall_seconds": WALL_FACTOR * MOST_SECONDS + WALL_EXTRA_SECONDS + 2 * CHECKER_LIMITS.cpu_seconds,
    "memory_bytes": MOST_MEMORY,
    "output_bytes": 64 << 20,
    "file_bytes": 1 << 30,
    "open_files": 4096,
    "processes": 4096,
}
# What starts a program needs more descriptors than these.
LEAST = {"open_files": 5}
# Characters of outputs after which a report ends, so that it fits into memory.
MOST_OUTPUT = 64 << 20


@dataclass(frozen=True, slots=True)
class JobRunner:
    """Executes jobs within the limits and the load of the server, as judging does."""

    sandbox: Sandbox
    load: Load
    hiding: Hiding = NOTHING

    async def execute(self, request: Request, job: Job) -> Report:
        """Execute a job for the client of a request, which waits; the work is cancelled if the client leaves.

        Raises HTTPException 422 if the job asks for too much, Overloaded, Stopping, and SandboxError.
        """
        cost = cost_of(checked(job))
        return await self.within(request, cost, lambda: self._report(job))

    async def run(self, client: str, job: Job) -> Report:
        """Execute a job that the load has accepted, when it is the client's turn."""
        async with self.load.turn(client, cost_of(job)):
            return await self._report(job)

    async def _report(self, job: Job) -> Report:
        """Execute a job; the report ends with the execution with which its outputs exceed `MOST_OUTPUT` characters."""
        executions, size = list[Execution](), 0

        def keep(execution: Execution) -> bool:
            nonlocal size
            executions.append(execution)
            size += len(execution.stdout) + len(execution.stderr)
            return size <= MOST_OUTPUT

        compilation = await self.sandbox.consume(job, keep)
        return self.hiding.report(Report(compilation, tuple(executions)))

    async def within(self, request: Request, cost: int, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Do work for the client of a request, when it is accepted and the client's turn."""

        async def in_turn() -> Result:
            async with self.load.turn(client_of(request), cost):
                return await work()

        with self.load.accepted(cost):
            return await unless_gone(request, in_turn())


def add_execution(app: FastAPI, opened: OpenJudge, jobs: JobRunner, problems: Problems) -> None:
    """Add the addresses that execute jobs and pairs."""
    header = {IDENTITY_HEADER: opened.identity.digest}

    @app.post("/v1/execute")
    async def execute(request: Request, job: dict[str, Any]) -> Response:
        """Execute a job, the JSON of `alpha_codium.program.Job`; returns the JSON of a `Report`.

        In place of its inputs, a job may have `{"problem": DIGEST, "first": 0, "count": 4}`: those of tests that
        `/v1/problems` stored. A report with 64 MiB of outputs ends there; the rest of the inputs may be asked for.
        """
        if isinstance(job.get("inputs"), dict):
            job["inputs"] = await _inputs(problems, job["inputs"])
        report = await jobs.execute(request, _read(job, Job))
        return AsciiResponse(report.to_json(), headers=header)

    @app.post("/v1/execute_pair")
    async def execute_pair(request: Request, pair: dict[str, Any]) -> Response:
        """Execute two programs with a channel between them, a `PairJob`; returns the JSON of a `PairReport`."""
        job = checked(_read(pair, PairJob))
        report = await jobs.within(request, 1, lambda: jobs.sandbox.execute_pair(job))
        return AsciiResponse(jobs.hiding.pair(report).to_json(), headers=header)


def cost_of(job: Job) -> int:
    """Return the number of a job's inputs, at least 1."""
    return max(1, len(job.inputs))


async def _inputs(problems: Problems, values: dict[str, Any]) -> list[str]:
    """Return the inputs that a job names; raises HTTPException 404 if their problem isn't here, and 422."""
    try:
        part = PartOfProblem.model_validate(values)
    except ValidationError as error:
        raise _invalid(error, "inputs") from error
    tests = (await problems.get(part.problem)).tests[part.first : part.first + part.count]
    return [test.input for test in tests]


def _read(values: dict[str, Any], kind: type[AnyJob]) -> AnyJob:
    """Return a job; raises HTTPException 422."""
    try:
        kind.from_json(values)  # refuses unknown fields
        return TypeAdapter(kind).validate_python(values)
    except ValidationError as error:
        raise _invalid(error) from error
    except (ValueError, RecursionError) as error:
        raise HTTPException(422, str(error)) from error


def _invalid(error: ValidationError, *place: str) -> RequestValidationError:
    return RequestValidationError([each | {"loc": ("body", *place, *each["loc"])} for each in error.errors()])


def checked(job: AnyJob) -> AnyJob:
    """Return the job; raises HTTPException 422 if it asks for more than the server gives."""
    if isinstance(job, Job) and len(job.inputs) > MOST_TESTS:
        raise HTTPException(422, f"inputs: at most {MOST_TESTS}")
    for each in job.sides if isinstance(job, PairJob) else [job]:
        language = each.program.language
        if language not in LANGUAGES:
            raise HTTPException(422, f"language: there is no {language!r}, but {', '.join(LANGUAGES)}")
        if reason := surrogate_in(each.driver):
            raise HTTPException(422, f"driver: {reason}")
        if fault := fault_of_paths(each.program.files):
            raise HTTPException(422, f"files: {fault}")
    own = [side.limits for side in job.sides if side.limits] if isinstance(job, PairJob) else []
    for limits in (job.limits, *own):
        for name, most in MOST.items():
            least = LEAST.get(name, 0)
            if not least < getattr(limits, name) <= most:
                raise HTTPException(422, f"limits.{name}: must be above {least} and at most {most:g}")
    return job
