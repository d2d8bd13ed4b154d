"""Requests and answers of the native API, as pydantic models."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, TypeAdapter, ValidationError, model_validator

from alpha_codium.judge import Rules
from alpha_codium.judge.kinds import TestKind
from alpha_codium.language_table import LANGUAGES
from alpha_codium.limits import WALL_EXTRA_SECONDS, WALL_FACTOR
from alpha_codium.problem import CheckerSpec, ExecutionSpec, Problem, TestCase, TestType
from alpha_codium.program import Program
from alpha_codium.serve.answers import reasons_in
from alpha_codium.verdict import Judgement, TestResult

MOST_TESTS = 10_000
MOST_PROGRAMS = 10_000
MOST_SECONDS = 600.0
MOST_MEMORY = 64 << 30
SHOWN_CHARACTERS = 1000
# Characters that an answer shows of all tests, of stdout and of stderr.
MOST_SHOWN = 16 << 20


class StrictModel(BaseModel):
    """A model that refuses unknown fields."""

    model_config = ConfigDict(extra="forbid")


class Fault(BaseModel):
    """Why a request wasn't answered."""

    detail: str


class Test(StrictModel):
    """One test; of assertions, only `input`, the code, is used."""

    __test__ = False  # for pytest, which collects classes called Test...

    input: str
    output: str = ""


class Checker(StrictModel):
    """What compares outputs, by its name, such as `tokens` or `float`, and its arguments."""

    name: str
    arguments: dict[str, Any] = {}


class ProblemRequest(StrictModel):
    """A problem to be stored for requests that name it; `tests` and the fields after it are a short form of one."""

    problem: dict[str, Any] | None = Field(None, description="The JSON of `alpha_codium.problem.Problem`.")
    tests: Annotated[list[Test], Field(max_length=MOST_TESTS)] = []
    kind: Literal["stdin", "call", "assertions"] = Field(
        "stdin",
        description="How a test runs the program: its input is what the program reads, a JSON list of arguments for "
        "`entry_point`, or code with assertions.",
    )
    entry_point: str = ""
    setup_code: str = Field("", description="Code that runs before the program.")
    checker: Checker | None = Field(None, description="By default, the checker that the server's settings choose.")
    time_limit_seconds: float = Field(0, ge=0, le=MOST_SECONDS, description="CPU time for a test; 0 for the default.")
    memory_limit_bytes: int = Field(0, ge=0, le=MOST_MEMORY, description="Memory for a test; 0 for the default.")

    @model_validator(mode="after")
    def has_tests_or_a_problem(self) -> Self:
        """Refuse requests with neither, and with both."""
        both = self.model_fields_set & {"tests", "kind", "entry_point", "setup_code", "checker"}
        if self.problem and both:
            raise ValueError(f"a request with a problem has no {', '.join(sorted(both))}")
        if not self.problem and "tests" not in self.model_fields_set:
            raise ValueError("either tests or a problem is required")
        return self

    def judged_by(self, name: str = "request") -> "JudgedBy":
        """Return the tests and limits; a problem without a name gets this one. Raises ValueError."""
        problem = _problem_of({"name": name} | self.problem) if isinstance(self.problem, dict) else self._of_tests(name)
        tests = problem.tests(tuple(TestType))
        return JudgedBy(problem, tests, self.time_limit_seconds, self.memory_limit_bytes)

    def _of_tests(self, name: str) -> Problem:
        return Problem(
            name,
            private_tests=tuple(TestCase(test.input, test.output) for test in self.tests),
            checker=CheckerSpec(self.checker.name, self.checker.arguments) if self.checker else None,
            execution=ExecutionSpec(self.kind, self.entry_point, setup_code=self.setup_code),
        )


def _problem_of(values: dict[str, Any]) -> Problem:
    """Return a problem; raises ValueError if a field is unknown or invalid, or there are too many tests."""
    memory = Problem.from_json(values).memory_limit_bytes  # refuses unknown fields
    problem = TypeAdapter(Problem).validate_python(values | {"memory_limit_bytes": memory})
    if len(problem.tests(tuple(TestType))) > MOST_TESTS:
        raise ValueError(f"a problem has at most {MOST_TESTS} tests")
    for name, most in (("time_limit_seconds", MOST_SECONDS), ("memory_limit_bytes", MOST_MEMORY)):
        if not 0 <= (getattr(problem, name) or 0) <= most:
            raise ValueError(f"{name} must be above 0 and at most {most}")
    return problem


class JudgeRequest(ProblemRequest):
    """A program, and all its tests or the `problem` that has them."""

    id: str = Field("", description="Repeated in the answer.")
    program: str = Field(description="The source of the program.")
    language: str = Field("python3", description=f"One of {', '.join(LANGUAGES)}.")
    problem: str | dict[str, Any] = Field(  # type: ignore[assignment]
        "",
        description="In place of `tests`, `kind`, `entry_point`, `setup_code` and `checker`: the JSON of "
        "`alpha_codium.problem.Problem`, what `/v1/problems` returned for one, or the name of a problem of the "
        "server's dataset.",
    )
    wall_limit_seconds: float = Field(
        0,
        ge=0,
        le=WALL_FACTOR * MOST_SECONDS + WALL_EXTRA_SECONDS,
        description="Wall time for a test, without the time that it waits for a processor; 0 for three times the CPU "
        "time plus 2 s.",
    )
    stop_on_first_failure: bool = False
    shown_characters: int = Field(
        SHOWN_CHARACTERS,
        ge=0,
        le=100_000,
        description="How much of stdout and stderr of each test is in the answer: less where there are many tests.",
    )

    def source(self) -> Program:
        """Return the program."""
        return Program.from_source(self.language, self.program)


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """The tests that programs are judged by, all of one problem; a limit of 0 is that of the problem or the server."""

    problem: Problem
    tests: tuple[TestCase, ...]
    cpu_seconds: float = 0
    memory_bytes: int = 0

    def rules(self, base: Rules, request: JudgeRequest) -> Rules:
        """Return the rules of the server, with the limits of the request or, if it has none, of the tests."""
        return replace(
            base,
            cpu_seconds=request.time_limit_seconds or self.cpu_seconds or base.cpu_seconds,
            memory_bytes=request.memory_limit_bytes or self.memory_bytes or base.memory_bytes,
            wall_seconds=request.wall_limit_seconds,
            stop_on_first_failure=request.stop_on_first_failure,
        )


class TestAnswer(BaseModel):
    """The verdict of one test, and what the program did."""

    __test__ = False

    verdict: str
    stdout: str = Field(description="What the program printed or, where tests call a function, what it returned.")
    stderr: str
    exit_code: int | None
    signal: int | None
    cpu_seconds: float
    wall_seconds: float
    max_rss_bytes: int
    trust: str = Field(
        description="Where the verdict was decided: `outside` of the program's process, or `in_process`."
    )
    near_limit: list[str] = Field(
        [],
        description="The limits, of `cpu`, `wall` and `memory`, of which the test used between 80 % and 120 %: the "
        "load of the server may change the verdict.",
    )

    @classmethod
    def of(cls, result: TestResult, printed: str, characters: int) -> "TestAnswer":
        """Return the answer for a test, with the beginning of what was printed and the end of stderr."""
        execution = result.execution
        return cls(
            verdict=result.verdict.value,
            stdout=printed[:characters],
            stderr=execution.stderr[-characters:] if characters else "",
            exit_code=execution.exit_code,
            signal=execution.signal,
            cpu_seconds=execution.cpu_seconds,
            wall_seconds=execution.wall_seconds,
            max_rss_bytes=execution.max_rss_bytes,
            trust=result.trust,
            near_limit=list(result.near_limit),
        )


class JudgeAnswer(BaseModel):
    """A verdict, and those of the tests.

    With `stop_on_first_failure`, tests after the first failure are missing.
    """

    id: str
    verdict: str
    accepted: bool = Field(description="Whether there are tests and all were passed.")
    judged: bool = Field(description="False if a test got `internal_error`, which isn't the program's fault.")
    tests_passed: int
    tests_total: int
    failed: int | None = Field(description="The index of the first test that wasn't passed.")
    message: str = Field(description="Why the program doesn't compile, or a test couldn't be judged.")
    tests: list[TestAnswer]
    fault: str = Field(
        "",
        description="Whose fault it is that a test couldn't be judged: of what was sent (`data`), which asking again "
        "doesn't change, or of the server (`infra`).",
    )

    @classmethod
    def of(cls, request: JudgeRequest, judgement: Judgement, kind: TestKind, fault: str = "") -> "JudgeAnswer":
        """Return the answer to a request, whose tests are of this kind."""
        shown = min(request.shown_characters, MOST_SHOWN // max(1, len(judgement.tests)))
        return cls(
            id=request.id,
            verdict=judgement.verdict.value,
            accepted=judgement.accepted,
            judged=judgement.judged,
            tests_passed=judgement.tests_passed,
            tests_total=judgement.tests_total,
            failed=judgement.failed,
            message=judgement.message,
            tests=[TestAnswer.of(result, kind.printed(result), shown) for result in judgement.tests],
            fault=fault,
        )


class InfoAnswer(BaseModel):
    """What a server runs programs with, what it accepts, and how busy it is."""

    version: str
    sandbox: dict[str, Any]
    languages: list[str]
    tools: dict[str, str]
    turns: bool
    limits: dict[str, float]
    workers: int
    max_queue: int
    queued: int


class ProblemAnswer(BaseModel):
    """A problem that requests may name, and the number of its tests."""

    problem: str
    tests: int


class PartOfProblem(StrictModel):
    """Inputs of a stored problem: `count` of them, from the one with the index `first` on."""

    problem: str
    first: int = Field(0, ge=0)
    count: int = Field(ge=1, le=MOST_TESTS)


@dataclass(frozen=True, slots=True)
class RefusedProgram:
    """Why a program of a batch can't be judged, and whose fault that is."""

    reason: str
    fault: str = "data"


def _of_batch(value: Any) -> JudgeRequest | RefusedProgram:
    """Return a program of a batch: an invalid one doesn't end the others."""
    try:
        return JudgeRequest.model_validate(value)
    except ValidationError as error:
        return RefusedProgram(reasons_in(error.errors()))


class BatchRequest(StrictModel):
    """Many programs, each with its own tests."""

    # Any, since FastAPI would make a schema of RefusedProgram.
    programs: Annotated[
        list[Annotated[Any, PlainValidator(_of_batch, json_schema_input_type=JudgeRequest)]],
        Field(min_length=1, max_length=MOST_PROGRAMS),
    ]


class BatchLine(BaseModel):
    """A line of the answer to a batch: the index of the program in the request, and its answer or an error.

    `fault` says whose the error is, as in `JudgeAnswer`.
    """

    index: int
    answer: JudgeAnswer | None = None
    error: str = ""
    fault: str = ""
