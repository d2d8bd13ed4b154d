"""The judge that open-r1 runs on Piston: `cf_python3` and `c++17` with the test among the files.

The files are the program, first, `input.txt`, and maybe `correct_output.txt`, `checker.py` and `grader_config` with
lines `TIME_LIMIT=2` (seconds), `MEMORY_LIMIT=256` (MB) and `INPUT_MODE=stdio` or `file`. The answer's stdout is 1 or 0;
without `correct_output.txt` it is what the program printed. Outputs are compared by words, those with yes and no
without regard to case, or by the checker, which gets the names of three files and prints 1 or 100 for a right output.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from fastapi import Request

from alpha_codium.checkers import PROGRAM, tokens
from alpha_codium.errors import SandboxError
from alpha_codium.judge import Rules
from alpha_codium.judge.checker_programs import without_empty_lines
from alpha_codium.judge.executors import Task
from alpha_codium.judge.stdin import StdinKind, fault_of_size
from alpha_codium.limits import Limits, least_memory
from alpha_codium.problem import CheckerSpec, ExecutionSpec, Problem, TestCase
from alpha_codium.program import Program
from alpha_codium.serve.dialects.asking import Server
from alpha_codium.serve.dialects.jobs import INTERPRETED, CannotRun
from alpha_codium.serve.dialects.piston.running import Execute, Stage, stage
from alpha_codium.serve.dialects.piston.runtimes import Runtime
from alpha_codium.serve.requests import MOST_MEMORY, MOST_SECONDS
from alpha_codium.verdict import Execution, Status, Verdict

INPUT, ANSWER, OUTPUT, CHECKER = "input.txt", "correct_output.txt", "output.txt", "checker.py"
COMPILED = Execution(Status.FINISHED, exit_code=0)
MEGABYTE = 1 << 20
# Exit statuses of the original's script after a limit.
TIMED_OUT, ABORTED, BY_SIGNAL = 124, 134, 128


@dataclass(frozen=True, slots=True)
class GraderFiles:
    """What a program reads, what it should print, the checker, and the lines of `grader_config`."""

    input: str
    answer: str | None
    checker: str
    config: Mapping[str, str]

    @classmethod
    def of(cls, item: Execute) -> Self:
        """Find them among the files of a request; raises CannotRun."""
        texts = {name: data.decode("utf-8", "replace").replace("\r\n", "\n") for name, data in item.files.items()}
        lines = (line.partition("=") for line in texts.get("grader_config", "").splitlines())
        config = {name.strip(): value.strip() for name, _, value in lines}
        files = cls(texts.get(INPUT, item.stdin), texts.get(ANSWER), texts.get(CHECKER, ""), config)
        if fault := fault_of_size(files.input, files.answer or ""):
            raise CannotRun(fault)
        return files

    @property
    def names(self) -> tuple[str, str]:
        """The files that the program reads and writes, empty for its streams."""
        return (INPUT, OUTPUT) if self.config.get("INPUT_MODE") == "file" else ("", "")

    def limits(self, default: Limits, language: str) -> Limits:
        """Return the limits of the program, at least the memory that its `language` needs; raises CannotRun."""
        seconds = self._number("TIME_LIMIT", default.cpu_seconds, MOST_SECONDS)
        memory = self._number("MEMORY_LIMIT", default.memory_bytes / MEGABYTE, MOST_MEMORY / MEGABYTE)
        memory_bytes = max(int(memory * MEGABYTE), least_memory(language))
        return Limits(cpu_seconds=seconds, wall_seconds=seconds, memory_bytes=memory_bytes)

    def task(self, program: Program, limits: Limits) -> Task:
        """Return what the judge is asked for."""
        by_program = CheckerSpec(PROGRAM, {"protocol": "open_r1", "files": {CHECKER: self.checker}})
        test = TestCase(self.input, self.answer or "")
        problem = Problem(
            "request",
            private_tests=(test,),
            checker=by_program if self.checker else CheckerSpec("yes_no"),
            input_file=self.names[0],
            output_file=self.names[1],
        )
        rules = Rules(limits.cpu_seconds, limits.memory_bytes, wall_seconds=limits.wall_seconds)
        return Task(program, problem, (test,), rules)

    def _number(self, name: str, default: float, most: float) -> float:
        text = self.config.get(name, "").strip("\"'")
        try:
            value = float(text) if text else default
        except ValueError:
            value = 0
        if not 0 < value <= most:
            raise CannotRun(f"grader_config: {name} must be above 0 and at most {most:g}, not {text!r}")
        return value


async def run(server: Server, request: Request, item: Execute, runtime: Runtime) -> dict[str, Stage]:
    """Judge a program; raises CannotRun, and SandboxError if the server couldn't run it or its checker."""
    files = GraderFiles.of(item)
    limits, program = files.limits(item.run_limits(), runtime.ours), Program.from_source(runtime.ours, item.source)
    kind = StdinKind(server.jobs.sandbox, limits, tokens(), ExecutionSpec(), *files.names)
    if reason := kind.why_not(runtime.ours):
        raise CannotRun(f"INPUT_MODE=file isn't supported for {runtime.language}: {reason}")
    if files.answer is None:
        report = await server.jobs.execute(request, kind.job(program, [files.input]))
        printed = replace(report.last, stdout=without_empty_lines(report.last.stdout))
        return _stages(runtime, report.compilation, printed, files.config)
    (judgement,) = await server.judgements(request, [files.task(program, limits)])
    if not judgement.judged:
        raise SandboxError(judgement.message or "the server couldn't run the program")
    (result,) = judgement.tests
    if judgement.verdict is Verdict.COMPILATION_ERROR:
        return _stages(runtime, result.execution, result.execution, files.config)
    said = f"Output {'is' if judgement.accepted else 'is not'} correct ({'checker' if files.checker else 'diff'})\n"
    marked = replace(result.execution, stdout=f"{int(judgement.accepted)}\n", stderr=result.execution.stderr + said)
    return _stages(runtime, COMPILED, marked if result.execution.finished else result.execution, files.config)


def _stages(runtime: Runtime, compilation: Execution, ran: Execution, config: Mapping[str, str]) -> dict[str, Stage]:
    """Return the stages of the compiler, which the original has for all languages, and of the program."""
    if runtime.ours in INTERPRETED:
        # The original doesn't compile it, either: a program that can't be compiled fails when it runs.
        compilation = replace(COMPILED, stdout="no compilation\n")
    compiled = stage(compilation)
    if not compilation.finished:
        return {"compile": compiled, "run": compiled}
    return {"compile": compiled, "run": stage(ran) if ran.finished else _failed(ran, config)}


def _failed(execution: Execution, config: Mapping[str, str]) -> Stage:
    """Return the stage of a program that failed, with the exit status of the original's script."""
    failed = stage(execution)
    if execution.status is Status.TIME_LIMIT_EXCEEDED:
        code, message = TIMED_OUT, f"Time limit exceeded ({config.get('TIME_LIMIT', '')}s)"
    elif execution.status is Status.MEMORY_LIMIT_EXCEEDED:
        code, message = ABORTED, f"Memory limit exceeded ({config.get('MEMORY_LIMIT', '')}MB)"
    else:
        code = execution.exit_code or (BY_SIGNAL + execution.signal if execution.signal else 1)
        message = f"Runtime error with exit code {code}"
    stderr = f"{execution.stderr}{message}\n"
    end = {"code": code, "signal": None, "status": "RE", "message": f"Exited with error status {code}"}
    return failed | end | {"stdout": "0\n", "stderr": stderr, "output": "0\n" + stderr}
