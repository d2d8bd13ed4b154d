"""SandboxFusion's `/submit` for the dataset type `CommonOJDataset`: programs in answers of models, judged by stdin.

1. The program is the first fenced block in the language of the request, else the first fenced block. A block that isn't
   closed counts only if there is no other. Code in the request that is to extract the program isn't run.
2. The checker is `sandbox_fusion`: lines without regard to case, numbers within a relative error of 1e-5. The answer
   has the beginning of each output.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Request
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from alpha_codium.app.tests_of import why_not
from alpha_codium.errors import SandboxError
from alpha_codium.judge import Rules
from alpha_codium.judge.executors import Task
from alpha_codium.problem import CheckerSpec, Problem, TestCase
from alpha_codium.program import Program
from alpha_codium.serve.dialects.asking import Server
from alpha_codium.serve.dialects.sandbox_fusion.running import (
    KnownLanguage,
    RunAnswer,
    answer_of,
    limits_of,
    program_of,
)
from alpha_codium.serve.requests import MOST_TESTS
from alpha_codium.values import parse_json
from alpha_codium.verdict import Execution, Judgement, Status, Verdict

DATASET_TYPE = "CommonOJDataset"
COMPILED = Execution(Status.FINISHED, exit_code=0)
DEFAULT_SECONDS = 20.0
# Characters of the outputs of all tests that an answer holds; the rest of the tests have shortened ones.
MOST_SHOWN, SHORT = 64 << 20, 1000
NAMES = {
    "python": ("python", "py", "python3"),
    "cpp": ("cpp", "c++"),
    "nodejs": ("javascript", "js"),
    "csharp": ("csharp", "c#"),
    "rust": ("rust", "rs"),
}
FENCE, CLOSING = "```", re.compile(r"\n[^\S\n]*```")


class Stdin(BaseModel):
    """What a program reads."""

    stdin: str


class Stdout(BaseModel):
    """What it should print."""

    stdout: str


class StdioTest(BaseModel):
    """One test."""

    input: Stdin
    output: Stdout


Tests = TypeAdapter(Annotated[list[StdioTest], Field(min_length=1, max_length=MOST_TESTS)])


class SubmitConfig(BaseModel):
    """How the answer is judged; `provided_data` is the row of the problem, with its tests in `test`."""

    dataset_type: str | None = None
    language: KnownLanguage | None = None
    compile_timeout: float | None = None
    run_timeout: float | None = Field(None, gt=0)
    custom_extract_logic: str | None = None
    provided_data: dict[str, Any] | list[dict[str, Any]] | None = None
    extra: dict[str, Any] = {}


class SubmitRequest(BaseModel):
    """An answer of a model to a problem."""

    dataset: str
    id: int | str
    completion: str
    config: SubmitConfig


class TestOutcome(BaseModel):
    """One test: whether it was passed, and what the program did."""

    __test__ = False  # for pytest, which collects classes called Test...

    passed: bool
    exec_info: RunAnswer
    test_info: dict[str, Any]


class SubmitAnswer(BaseModel):
    """Whether all tests were passed, and the tests up to the first that wasn't."""

    id: int | str
    accepted: bool
    extracted_code: str
    full_code: str | None = None
    test_code: str | None = None
    tests: list[TestOutcome]
    extracted_type: str | None = None
    extra: dict[str, Any] | None = None


def add_routes(routes: APIRouter, server: Server) -> None:
    """Add the addresses of datasets."""

    @routes.get("/list_datasets")
    async def list_datasets() -> list[str]:
        """Return the datasets of the server: none, since requests bring their own."""
        return []

    @routes.post("/submit")
    async def submit(request: Request, item: SubmitRequest) -> SubmitAnswer:
        """Judge the program in an answer by the tests of its problem."""
        tests = tests_of(item)
        language = item.config.language or ""
        code = extracted(item.completion, language)
        program = program_of(server, language, code)
        if isinstance(program, RunAnswer):
            raise HTTPException(400, program.message)
        task = task_of(item, program, tests)
        if fault := why_not(task.problem, task.rules, program.language):
            raise HTTPException(400, f"a test can't be run: {fault}")
        (judgement,) = await server.judgements(request, [task])
        if not judgement.judged:
            raise SandboxError(judgement.message or "the server couldn't run a test")
        outcomes = list(outcomes_of(program, tests, judgement, item.config.extra))
        return SubmitAnswer(id=item.id, accepted=judgement.accepted, extracted_code=code, tests=outcomes)


def task_of(item: SubmitRequest, program: Program, tests: list[StdioTest]) -> Task:
    """Return what the judge is asked for."""
    limits = limits_of(item.config.run_timeout or DEFAULT_SECONDS, -1)
    rules = Rules(
        limits.cpu_seconds,
        limits.memory_bytes,
        wall_seconds=limits.wall_seconds,
        stop_on_first_failure=not item.config.extra.get("run_all_cases"),
    )
    cases = tuple(TestCase(test.input.stdin, test.output.stdout) for test in tests)
    problem = Problem(str(item.id), private_tests=cases, checker=CheckerSpec("sandbox_fusion"))
    return Task(program, problem, cases, rules)


def tests_of(item: SubmitRequest) -> list[StdioTest]:
    """Return the tests of a request; raises HTTPException 400 if it can't be judged."""
    config = item.config
    if config.dataset_type != DATASET_TYPE:
        raise HTTPException(400, f"this server judges config.dataset_type {DATASET_TYPE}, not {config.dataset_type}")
    if not config.language:
        raise HTTPException(400, "config.language is needed")
    if config.custom_extract_logic:
        raise HTTPException(400, "config.custom_extract_logic is refused: the server runs no code of requests")
    if not isinstance(config.provided_data, dict) or "test" not in config.provided_data:
        raise HTTPException(400, "config.provided_data must be the row of the problem, with a list of tests in `test`")
    given = config.provided_data["test"]
    try:
        return Tests.validate_python(parse_json(given) if isinstance(given, str) else given)
    except (ValidationError, ValueError, RecursionError) as error:
        where = f"{error.errors()[0]['loc']}: {error.errors()[0]['msg']}" if isinstance(error, ValidationError) else ""
        raise HTTPException(400, f"config.provided_data.test is no list of stdin tests {where}".strip()) from error


def extracted(completion: str, language: str) -> str:
    """Return the program in an answer, empty if there is none; see the module."""
    blocks: list[tuple[str, str]] = []
    unclosed, at = "", completion.find(FENCE)
    while at >= 0 and (line_end := completion.find("\n", at)) >= 0:
        name, start = completion[at + len(FENCE) : line_end].strip().lower(), line_end + 1
        closing = CLOSING.search(completion, line_end)
        if closing is None:
            unclosed = completion[start:]
            break
        blocks.append((name, completion[start : closing.start()]))
        at = completion.find(FENCE, closing.end())
    names = NAMES.get(language, (language.lower(),))
    return next((code for name, code in blocks if name in names), blocks[0][1] if blocks else unclosed)


def outcomes_of(
    program: Program, tests: list[StdioTest], judgement: Judgement, options: dict[str, Any]
) -> Iterator[TestOutcome]:
    """Yield the outcomes of the tests that ran; `options` are those of `config.extra`."""
    uncompiled = judgement.verdict is Verdict.COMPILATION_ERROR
    # One for all tests, unless the first failure ends it.
    results = judgement.tests if options.get("run_all_cases") or not uncompiled else judgement.tests[:1]
    size = 0
    for test, result in zip(tests, results, strict=False):
        parts = (result.execution, None) if uncompiled else (COMPILED, result.execution)
        answer, passed = answer_of(program, *parts), result.verdict is Verdict.ACCEPTED
        info = test.model_dump()
        if passed and not options.get("return_full_case"):
            info = {part: {name: shortened(text) for name, text in texts.items()} for part, texts in info.items()}
        for each in filter(None, (answer.compile_result, answer.run_result)):
            if size > MOST_SHOWN:
                each.stdout, each.stderr = shortened(each.stdout or ""), shortened(each.stderr or "")
            size += len(each.stdout or "") + len(each.stderr or "")
        yield TestOutcome(passed=passed, exec_info=answer, test_info=info)


def shortened(text: str) -> str:
    """Return a text with its middle left out, and said so, if it is long."""
    if len(text) <= SHORT:
        return text
    return f"{text[: SHORT // 2]}...({len(text) - SHORT} characters)...{text[-SHORT // 2 :]}"
