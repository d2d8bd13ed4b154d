"""Executing jobs without judging them, as the backend `remote` has it done."""

import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import ValidationError

from alpha_codium.eval.judging import OpenJudge
from alpha_codium.program import Job, PairJob
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.sandbox.remote import IDENTITY_HEADER
from alpha_codium.serve.answers import AsciiResponse, client_of, unless_gone
from alpha_codium.serve.hiding import NOTHING, Hiding
from alpha_codium.serve.load import Load
from alpha_codium.serve.problems import Problems
from alpha_codium.serve.requests import MOST_MEMORY, MOST_SECONDS, MOST_TESTS, PartOfProblem
from alpha_codium.verdict import Execution, Report

AnyJob = TypeVar("AnyJob", Job, PairJob)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Executor:
    """Executes jobs within the limits and the load of the server, as judging does."""

    sandbox: Sandbox
    load: Load
    hiding: Hiding = NOTHING

    async def execute(self, request: Request, job: Job) -> Report:
        """Execute a job for the client of a request, which waits; the work is cancelled if the client leaves.

        Raises HTTPException 422 if the job asks for too much, Overloaded, Draining, and SandboxError.
        """
        cost = cost_of(checked(job))
        return self.hiding.report(await self.within(request, cost, lambda: report_of(self.sandbox, job)))

    async def consume(self, request: Request, job: Job, on_execution: Callable[[Execution], bool]) -> Execution:
        """Execute a job, see `execute` and `Sandbox.consume`; returns the compiler's execution."""
        cost = cost_of(checked(job))

        def take(execution: Execution) -> bool:
            return on_execution(self.hiding.execution(execution))

        return self.hiding.execution(await self.within(request, cost, lambda: self.sandbox.consume(job, take)))

    async def run(self, client: str, job: Job) -> Report:
        """Execute a job that the load has accepted, when it is the client's turn."""
        async with self.load.turn(client, cost_of(job)):
            return self.hiding.report(await report_of(self.sandbox, job))

    async def within(self, request: Request, cost: int, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Do work for the client of a request, when it is accepted and the client's turn."""

        async def in_turn() -> Result:
            async with self.load.turn(client_of(request), cost):
                return await work()

        with self.load.accepted(cost):
            return await unless_gone(request, in_turn())


def add_execution(app: FastAPI, opened: OpenJudge, executor: Executor, problems: Problems) -> None:
    """Add the addresses that execute jobs and pairs."""
    header = {IDENTITY_HEADER: opened.identity.digest}

    @app.post("/v1/execute")
    async def execute(request: Request) -> Response:
        """Execute a job, the JSON of `alpha_codium.program.Job`; returns the JSON of a `Report`.

        In place of its inputs, a job may have `{"problem": DIGEST, "first": 0, "count": 4}`: those of tests that
        `/v1/problems` stored.
        """
        values = await _values(request)
        if isinstance(values.get("inputs"), dict):
            values["inputs"] = await _inputs(problems, values["inputs"])
        report = await executor.execute(request, _read(values, Job))
        return AsciiResponse(report.to_json(), headers=header)

    @app.post("/v1/execute_pair")
    async def execute_pair(request: Request) -> Response:
        """Execute two programs with a channel between them, a `PairJob`; returns the JSON of a `PairReport`."""
        job = checked(_read(await _values(request), PairJob))
        report = await executor.within(request, 1, lambda: executor.sandbox.execute_pair(job))
        return AsciiResponse(executor.hiding.pair(report).to_json(), headers=header)


def cost_of(job: Job) -> int:
    """Return the number of a job's inputs, at least 1."""
    return max(1, len(job.inputs))


async def _values(request: Request) -> dict[str, Any]:
    """Return the JSON of a request; raises HTTPException 422 unless it is an object."""
    try:
        values = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise HTTPException(422, str(error)) from error
    if not isinstance(values, dict):
        raise HTTPException(422, "not an object")
    return values


async def _inputs(problems: Problems, values: dict[str, Any]) -> list[str]:
    """Return the inputs that a job names; raises HTTPException 404 if their problem isn't here, and 422."""
    try:
        part = PartOfProblem.model_validate(values)
    except ValidationError as error:
        raise RequestValidationError(
            [each | {"loc": ("body", "inputs", *each["loc"])} for each in error.errors()]
        ) from error
    tests = (await problems.get(part.problem)).tests[part.first : part.first + part.count]
    return [test.input for test in tests]


def _read(values: dict[str, Any], kind: type[AnyJob]) -> AnyJob:
    """Return a job; raises HTTPException 422."""
    try:
        return kind.from_json(values)
    except (ValueError, RecursionError) as error:
        raise HTTPException(422, str(error)) from error


def checked(job: AnyJob) -> AnyJob:
    """Return the job; raises HTTPException 422 if it asks for more than the server gives."""
    limits, inputs = job.limits, job.inputs if isinstance(job, Job) else ()
    if len(inputs) > MOST_TESTS or limits.cpu_seconds > MOST_SECONDS or limits.memory_bytes > MOST_MEMORY:
        raise HTTPException(422, f"more than {MOST_TESTS} inputs, {MOST_SECONDS:g} s or {MOST_MEMORY} bytes of memory")
    return job
