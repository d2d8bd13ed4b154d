"""The judge that open-r1 runs on Piston: `cf_python3` and `c++17` with the test among the files.

The files are the program, first, `input.txt`, and maybe `correct_output.txt`, `checker.py` and `grader_config` with
lines `TIME_LIMIT=2` (seconds), `MEMORY_LIMIT=256` (MB) and `INPUT_MODE=stdio` or `file`. The answer's stdout is 1 or 0;
without `correct_output.txt` it is what the program printed. Outputs are compared by words, those with yes and no
without regard to case, or by the checker, which gets the names of three files and prints 1 or 100 for a right output.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from fastapi import Request

from alpha_codium.checkers import tokens
from alpha_codium.errors import SandboxError
from alpha_codium.judge.stdin import StdinKind, fault_of_size
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec
from alpha_codium.program import PYTHON, Program
from alpha_codium.serve.dialects.asking import Server
from alpha_codium.serve.dialects.jobs import INTERPRETED, Refused, job_of
from alpha_codium.serve.dialects.piston.running import Execute, Stage, stage
from alpha_codium.serve.dialects.piston.runtimes import Runtime
from alpha_codium.serve.requests import MOST_MEMORY, MOST_SECONDS
from alpha_codium.verdict import Execution, Status

INPUT, ANSWER, OUTPUT, CHECKER = "input.txt", "correct_output.txt", "output.txt", "checker.py"
YES_OR_NO = re.compile(r"\b(?:yes|no)\b", re.IGNORECASE | re.ASCII)
CHECKER_LIMITS = Limits(cpu_seconds=10)
RIGHT = ("1", "100")
MEGABYTE = 1 << 20
# Exit statuses of the original's script after a limit.
TIMED_OUT, ABORTED, BY_SIGNAL = 124, 134, 128


@dataclass(frozen=True, slots=True)
class Test:
    """What a program reads, what it should print, the checker, and the lines of `grader_config`."""

    __test__ = False  # for pytest, which collects classes called Test...

    input: str
    answer: str | None
    checker: str
    config: Mapping[str, str]

    @classmethod
    def of(cls, item: Execute) -> Self:
        """Return the test among the files of a request; raises Refused."""
        texts = {name: data.decode("utf-8", "replace").replace("\r\n", "\n") for name, data in item.files.items()}
        lines = (line.partition("=") for line in texts.get("grader_config", "").splitlines())
        answer = _without_empty_lines(texts[ANSWER]) if ANSWER in texts else None
        config = {name.strip(): value.strip() for name, _, value in lines}
        test = cls(texts.get(INPUT, item.stdin), answer, texts.get(CHECKER, ""), config)
        if fault := fault_of_size(test.input, answer or ""):
            raise Refused(fault)
        return test

    @property
    def in_files(self) -> bool:
        """Whether the program reads a file and writes one, instead of its streams."""
        return self.config.get("INPUT_MODE") == "file"

    def limits(self, default: Limits) -> Limits:
        """Return the limits of the program; raises Refused."""
        seconds = self._number("TIME_LIMIT", default.cpu_seconds, MOST_SECONDS)
        memory = self._number("MEMORY_LIMIT", default.memory_bytes / MEGABYTE, MOST_MEMORY / MEGABYTE)
        return Limits(cpu_seconds=seconds, wall_seconds=seconds, memory_bytes=int(memory * MEGABYTE))

    def _number(self, name: str, default: float, most: float) -> float:
        text = self.config.get(name, "").strip("\"'")
        try:
            value = float(text) if text else default
        except ValueError:
            value = 0
        if not 0 < value <= most:
            raise Refused(f"grader_config: {name} must be above 0 and at most {most:g}, not {text!r}")
        return value


async def run(server: Server, request: Request, item: Execute, runtime: Runtime) -> dict[str, Stage]:
    """Judge a program; raises Refused, and SandboxError if the server couldn't run it or its checker."""
    test = Test.of(item)
    names = (INPUT, OUTPUT) if test.in_files else ("", "")
    # It only makes the job: the output is compared here.
    kind = StdinKind(server.executor.sandbox, test.limits(item.run_limits()), tokens(), ExecutionSpec(), *names)
    if reason := kind.why_not(runtime.ours):
        raise Refused(f"INPUT_MODE=file isn't supported for {runtime.language}: {reason}")
    program = Program.from_source(runtime.ours, item.source)
    report = await server.executor.execute(request, kind.job(program, [test.input]))
    if runtime.ours in INTERPRETED:
        # The original doesn't compile it, either: a program that can't be compiled fails when it runs.
        compiled = stage(Execution(Status.FINISHED, "no compilation\n", exit_code=0))
    else:
        compiled = stage(report.compilation)
        if not report.compiled:
            return {"compile": compiled, "run": compiled}
    if not report.last.finished:
        return {"compile": compiled, "run": _failed(report.last, test.config)}
    return {"compile": compiled, "run": stage(await _marked(server, request, test, report.last))}


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


async def _marked(server: Server, request: Request, test: Test, ended: Execution) -> Execution:
    """Return what the judge prints after a program that finished."""
    output = _without_empty_lines(ended.stdout)
    if test.answer is None:
        return replace(ended, stdout=output)
    if test.checker:
        right, by = await _accepts(server, request, test, output), "checker"
    else:
        right, by = _words(test.answer) == _words(output), "diff"
    said = f"Output {'is' if right else 'is not'} correct ({by})\n"
    return replace(ended, stdout=f"{int(right)}\n", stderr=ended.stderr + said)


async def _accepts(server: Server, request: Request, test: Test, output: str) -> bool:
    """Whether the checker accepts an output.

    An output on which the checker fails is wrong, unless the checker fails on the expected output, too: then
    SandboxError is raised.
    """
    checked = await _check(server, request, test, output)
    if checked.finished:
        return checked.stdout.strip() in RIGHT
    on_answer = await _check(server, request, test, test.answer or "")
    if not on_answer.finished:
        last = on_answer.stderr.strip().splitlines()[-1:]
        raise SandboxError(f"the checker fails on the expected output, too: {' '.join(last)[:300]}")
    return False


async def _check(server: Server, request: Request, test: Test, output: str) -> Execution:
    files = {INPUT: test.input, ANSWER: test.answer or "", OUTPUT: output}
    encoded = {name: text.encode("utf-8", "replace") for name, text in files.items()}
    job = job_of(Program.from_source(PYTHON, test.checker), "", CHECKER_LIMITS, encoded, tuple(files))
    execution = (await server.executor.execute(request, job)).last
    if execution.status is Status.INTERNAL_ERROR:
        raise SandboxError(execution.stderr or "the server couldn't run the checker")
    return execution


def _without_empty_lines(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if line.strip("\n"))


def _words(text: str) -> list[str]:
    return YES_OR_NO.sub(lambda found: found[0].upper(), text).split()
