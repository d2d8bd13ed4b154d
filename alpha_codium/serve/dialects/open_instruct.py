"""The API of open-instruct's code judge: `/test_program` with assertions, `/test_program_stdio` with outputs.

The requests have no language: programs are in Python 3. Pickled tests are refused, for unpickling runs code.
"""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Request
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from alpha_codium.judge import kind_of
from alpha_codium.problem import ExecutionSpec, Problem, TestCase
from alpha_codium.serve.dialects.asking import Server
from alpha_codium.serve.requests import MOST_SECONDS, MOST_TESTS, JudgeRequest, Test

FAILED_RUNTIME = -1.0


class StdioTest(BaseModel):
    """What a program reads, and what it should print."""

    input: str
    output: str


StdioTests = Annotated[list[StdioTest], Field(max_length=MOST_TESTS)]


class Timed(BaseModel):
    """A program, and the seconds that each test may take."""

    program: str
    max_execution_time: float = Field(1.0, gt=0, le=MOST_SECONDS)


class AssertionRequest(Timed):
    """A program with assertions."""

    tests: Annotated[list[str], Field(max_length=MOST_TESTS)]


class StdioRequest(Timed):
    """A program with inputs and outputs, which may be JSON in a string."""

    tests: StdioTests | str


class Answer(BaseModel):
    """For each test, 1 if it was passed and its seconds, or 0 and -1."""

    results: list[int]
    runtimes: list[float]


def router(server: Server) -> APIRouter:
    """Return the addresses of the dialect."""
    routes = APIRouter(tags=["open-instruct"])

    async def answer(request: Request, item: Timed, tests: list[Test], kind: str) -> Answer:
        tests, places = _runnable(tests, kind)
        if not places:
            return Answer(results=[0] * len(tests), runtimes=[FAILED_RUNTIME] * len(tests))
        limits = dict.fromkeys(("time_limit_seconds", "wall_limit_seconds"), item.max_execution_time)
        fields = {"program": item.program, "tests": [tests[place] for place in places], "kind": kind, **limits}
        judged = await server.judge(request, JudgeRequest.model_validate(fields))
        if not judged.judged:
            raise HTTPException(500, "the server couldn't run a test: try again")
        # A program that doesn't compile runs no test.
        ran = zip(places, judged.tests, strict=False)
        passed = {place: each.wall_seconds for place, each in ran if each.verdict == "accepted"}
        runtimes = [passed.get(place, FAILED_RUNTIME) for place in range(len(tests))]
        return Answer(results=[int(each != FAILED_RUNTIME) for each in runtimes], runtimes=runtimes)

    @routes.get("/health")
    async def health() -> dict[str, str]:
        """Whether the process answers."""
        return {"status": "healthy"}

    @routes.post("/test_program")
    async def test_program(request: Request, item: AssertionRequest) -> Answer:
        """Judge a program by assertions."""
        return await answer(request, item, [Test(input=code) for code in item.tests], "assertions")

    @routes.post("/test_program_stdio")
    async def test_program_stdio(request: Request, item: StdioRequest) -> Answer:
        """Judge a program by what it prints."""
        tests = [Test(input=test.input, output=test.output) for test in _decoded(item.tests)]
        return await answer(request, item, tests, "stdin")

    return routes


def _runnable(tests: list[Test], kind: str) -> tuple[list[Test], list[int]]:
    """Return the tests, and the places of those that can be run; a program fails the others.

    As in the original, a test that asserts nothing, such as an import, is passed if it raises nothing.
    """
    problem = Problem("tests", execution=ExecutionSpec(kind))
    of_kind = kind_of(problem)

    def fault(test: Test) -> str:
        return of_kind.fault_of(TestCase(test.input, test.output))

    if not problem.execution.has_outputs:
        asserting = [Test(input=f"{test.input}\nassert True", output=test.output) for test in tests]
        tests = [more if fault(test) and not fault(more) else test for test, more in zip(tests, asserting, strict=True)]
    return tests, [place for place, test in enumerate(tests) if not fault(test)]


def _decoded(tests: list[StdioTest] | str) -> list[StdioTest]:
    if not isinstance(tests, str):
        return tests
    try:
        return TypeAdapter(StdioTests).validate_json(tests)
    except ValidationError as error:
        raise HTTPException(422, "tests: neither a list nor JSON of a list; pickled tests are refused") from error
