"""SandboxFusion's `/submit` for the dataset type `CommonOJDataset`: programs in answers of models, judged by stdin.

1. The program is the first fenced block in the language of the request, else the first fenced block. A block that isn't
   closed counts only if there is no other. Code in the request that is to extract the program isn't run.
2. An output is right if it has the same lines, without regard to case and to white space around them. Lines that are
   numbers may differ by a relative error of 1e-5.
"""

import re
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Request
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from alpha_codium.errors import SandboxError
from alpha_codium.program import Job
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
from alpha_codium.verdict import Execution, Status

DATASET_TYPE = "CommonOJDataset"
COMPILED = Execution(Status.FINISHED, exit_code=0)
TOLERANCE, SMALLEST = 1e-5, 1e-10
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
        marking = Marking(tests, item.config.extra)
        job = Job(program, [test.input.stdin for test in tests], limits_of(item.config.run_timeout or 20, -1))

        def take(execution: Execution) -> bool:
            return marking.take(answer_of(program, COMPILED, execution))

        compilation = await server.executor.consume(request, job, take)
        while not compilation.finished and marking.take(answer_of(program, compilation, None)):
            pass
        return SubmitAnswer(
            id=item.id,
            accepted=marking.accepted,
            extracted_code=code,
            tests=marking.outcomes,
        )


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


class Marking:
    """The outcomes of the tests so far. The options are those of `config.extra`."""

    def __init__(self, tests: list[StdioTest], options: dict[str, Any]) -> None:
        self.outcomes: list[TestOutcome] = []
        self._tests = tests
        self._all, self._whole = bool(options.get("run_all_cases")), bool(options.get("return_full_case"))
        self._shown = 0

    def take(self, answer: RunAnswer) -> bool:
        """Add the next test; returns whether to go on. Raises SandboxError if the server couldn't run it."""
        if answer.status == "SandboxError":
            raise SandboxError(answer.message or "the server couldn't run a test")
        test = self._tests[len(self.outcomes)]
        run = answer.run_result
        passed = answer.status == "Success" and run is not None and same_output(test.output.stdout, run.stdout or "")
        info = test.model_dump()
        if passed and not self._whole:
            info = {part: {name: shortened(text) for name, text in texts.items()} for part, texts in info.items()}
        self._shorten(answer)
        self.outcomes.append(TestOutcome(passed=passed, exec_info=answer, test_info=info))
        return (passed or self._all) and len(self.outcomes) < len(self._tests)

    @property
    def accepted(self) -> bool:
        """Whether all tests were passed."""
        return len(self.outcomes) == len(self._tests) and all(each.passed for each in self.outcomes)

    def _shorten(self, answer: RunAnswer) -> None:
        """Shorten the outputs if the answer already holds many."""
        for result in (answer.compile_result, answer.run_result):
            if result is not None:
                if self._shown > MOST_SHOWN:
                    result.stdout, result.stderr = shortened(result.stdout or ""), shortened(result.stderr or "")
                self._shown += len(result.stdout or "") + len(result.stderr or "")


def shortened(text: str) -> str:
    """Return a text with its middle left out, and said so, if it is long."""
    if len(text) <= SHORT:
        return text
    return f"{text[: SHORT // 2]}...({len(text) - SHORT} characters)...{text[-SHORT // 2 :]}"


def same_output(expected: str, actual: str) -> bool:
    """Whether an output is right; see the module."""
    wanted, got = expected.strip().split("\n"), actual.strip().split("\n")
    return len(wanted) == len(got) and all(map(_same_line, wanted, got))


def _same_line(wanted: str, got: str) -> bool:
    wanted, got = wanted.strip().lower(), got.strip().lower()
    if wanted == got:
        return True
    try:
        expected, actual = float(wanted), float(got)
    except ValueError:
        return False
    return abs(actual - expected) / max(abs(expected), SMALLEST) < TOLERANCE
