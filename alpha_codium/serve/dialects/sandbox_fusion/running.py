"""SandboxFusion's `/run_code`, which executes a program.

`status` is `Success` if the program ended with 0, `Failed` if it ended otherwise or doesn't compile, and `SandboxError`
if the server couldn't run it. The run's `return_code` is null after a time limit, and -N if signal N ended it.
"""

import base64
import binascii
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field

from alpha_codium.limits import DEFAULT_MEMORY_BYTES, Limits
from alpha_codium.program import PYTHON, Program
from alpha_codium.serve.answers import AsciiResponse
from alpha_codium.serve.dialects.asking import Server
from alpha_codium.serve.dialects.jobs import INTERPRETED, CannotRun, job_of
from alpha_codium.serve.requests import MOST_MEMORY, MOST_SECONDS
from alpha_codium.verdict import Execution, Status

# Our names of the dialect's languages.
LANGUAGES = {
    "python": PYTHON,
    "cpp": "cpp",
    "java": "java",
    "nodejs": "javascript",
    "typescript": "typescript",
    "go": "go",
    "rust": "rust",
    "csharp": "csharp",
    "ruby": "ruby",
}
# The original runs `java -ea`, and TypeScript with `tsx`, which doesn't check types.
VARIANTS = {"java": "assertions", "typescript": "unchecked"}
KnownLanguage = Literal[
    "python", "cpp", "nodejs", "go", "go_test", "java", "php", "csharp", "bash", "typescript", "sql", "rust", "cuda",
    "lua", "R", "perl", "D_ut", "ruby", "scala", "julia", "pytest", "junit", "kotlin_script", "jest", "verilog",
    "python_gpu", "lean", "swift", "racket",
]  # fmt: skip
IGNORED_FILE = "IGNORE_THIS_FILE"
XFSZ = 25


class RunRequest(BaseModel):
    """A program to execute; `files` are in base64, by relative paths."""

    code: str
    language: KnownLanguage
    compile_timeout: float = Field(10, gt=0, description="Ignored: the server has a limit of its own.")
    run_timeout: float = Field(10, gt=0, description="CPU time and wall time in seconds.")
    memory_limit_MB: int = -1  # noqa: N815 - the dialect's name
    stdin: str | None = None
    files: dict[str, str | None] = {}
    fetch_files: list[str] = Field([], description="Not supported: any path is answered with a SandboxError.")


class JupyterRequest(BaseModel):
    """Cells of a notebook, which this server doesn't run."""

    cells: list[str]


class CommandResult(BaseModel):
    """How the compiler or the program ended."""

    status: Literal["Finished", "Error", "TimeLimitExceeded"]
    execution_time: float | None = None
    return_code: int | None = None
    stdout: str | None = None
    stderr: str | None = None


class RunAnswer(BaseModel):
    """What a program did."""

    status: Literal["Success", "Failed", "SandboxError"]
    message: str = ""
    compile_result: CommandResult | None = None
    run_result: CommandResult | None = None
    executor_pod_name: str | None = None
    files: dict[str, str] = {}


class JupyterAnswer(BaseModel):
    """The refusal of a notebook."""

    status: Literal["SandboxError"] = "SandboxError"
    message: str = "this server runs no notebooks"
    driver: None = None
    cells: list[Any] = []
    executor_pod_name: None = None
    files: dict[str, str] = {}


class DetailedRoute(APIRoute):
    """Answers invalid requests as the original does, with a list of what is wrong where."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler."""
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                detail = [{key: each[key] for key in ("type", "loc", "msg")} for each in error.errors()[:10]]
                return AsciiResponse({"detail": detail}, 422)

        return handler


def add_routes(routes: APIRouter, server: Server) -> None:
    """Add the addresses that run programs."""

    @routes.post("/run_code")
    async def run_code(request: Request, item: RunRequest) -> RunAnswer:
        """Execute a program."""
        program = program_of(server, item.language, item.code)
        if isinstance(program, RunAnswer):
            return program
        if item.fetch_files:
            return refused("this server returns no files: fetch_files must be empty")
        limits = limits_of(item.run_timeout, item.memory_limit_MB)
        try:
            job = job_of(program, item.stdin or "", limits, _decoded(item.files))
        except CannotRun as error:
            raise HTTPException(422, f"files: {error}") from error
        report = await server.jobs.execute(request, job)
        return answer_of(program, report.compilation, report.executions[0] if report.executions else None)

    @routes.post("/run_jupyter")
    async def run_jupyter(_: JupyterRequest) -> JupyterAnswer:
        """Refuse to run a notebook."""
        return JupyterAnswer()


def program_of(server: Server, language: str, code: str) -> Program | RunAnswer:
    """Return the program, or the answer if the server doesn't run its language."""
    ours = {theirs for theirs, name in LANGUAGES.items() if name in server.languages}
    if language not in ours:
        return refused(f"this server runs {', '.join(sorted(ours))}, not {language}")
    return Program.from_source(LANGUAGES[language], code, VARIANTS.get(language, ""))


def limits_of(seconds: float, mebibytes: int) -> Limits:
    """Return the limits of a run, at most the server's; the memory is the default unless it is above 0."""
    seconds = min(seconds, MOST_SECONDS)
    memory = min(mebibytes << 20, MOST_MEMORY) if mebibytes > 0 else DEFAULT_MEMORY_BYTES
    return Limits(cpu_seconds=seconds, wall_seconds=seconds, memory_bytes=memory)


def _decoded(files: dict[str, str | None]) -> dict[str, bytes]:
    try:
        return {
            path: base64.b64decode(text)
            for path, text in files.items()
            if text is not None and IGNORED_FILE not in path
        }
    except (binascii.Error, ValueError) as error:
        raise CannotRun(f"not base64: {error}") from error


def answer_of(program: Program, compilation: Execution, execution: Execution | None) -> RunAnswer:
    """Return the answer for the compiler's execution and the program's, if it compiled.

    Programs in interpreted languages have no `compile_result`: one that can't be compiled has failed to run.
    """
    if program.language in INTERPRETED:
        return _with_status(None, result_of(execution or compilation))
    return _with_status(result_of(compilation), result_of(execution) if execution else None)


def result_of(execution: Execution) -> CommandResult:
    """Return how an execution ended."""
    if execution.status is Status.INTERNAL_ERROR:
        return CommandResult(status="Error", stderr=execution.stderr)
    too_long = execution.status is Status.TIME_LIMIT_EXCEEDED
    return CommandResult(
        status="TimeLimitExceeded" if too_long else "Finished",
        execution_time=execution.wall_seconds,
        return_code=None if too_long else return_code_of(execution),
        stdout=execution.stdout,
        stderr=execution.stderr,
    )


def return_code_of(execution: Execution) -> int:
    """Return the exit status, -N if signal N ended it; never 0 if the program failed."""
    if execution.signal is not None:
        return -execution.signal
    if execution.status is Status.OUTPUT_LIMIT_EXCEEDED:
        return execution.exit_code or -XFSZ
    return execution.exit_code or (0 if execution.finished else 1)


def _with_status(compiled: CommandResult | None, run: CommandResult | None) -> RunAnswer:
    parts = [part for part in (compiled, run) if part is not None]
    for part in parts:
        if part.status == "Error":
            return RunAnswer(status="SandboxError", message=part.stderr or "", compile_result=compiled, run_result=run)
    succeeded = all(part.status == "Finished" and part.return_code == 0 for part in parts)
    return RunAnswer(status="Success" if succeeded else "Failed", compile_result=compiled, run_result=run)


def refused(message: str) -> RunAnswer:
    """Return the answer to a request that the server can't serve."""
    return RunAnswer(status="SandboxError", message=message)
