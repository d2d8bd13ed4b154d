"""Piston's requests to execute a program, and its answers.

`status` of a stage: null if the program ended with 0, `RE` if it ended with another status, `SG` after a signal, `TO`
after a time limit, `OL` if it printed too much. `output` is stdout followed by stderr.
"""

import base64
import binascii
import signal
from dataclasses import dataclass, field
from typing import Any, Self

from fastapi import Request

from alpha_codium.errors import SandboxError
from alpha_codium.limits import DEFAULT_MEMORY_BYTES, Limits
from alpha_codium.program import Program
from alpha_codium.serve.dialects.asking import Server
from alpha_codium.serve.dialects.jobs import CannotRun, job_of
from alpha_codium.serve.dialects.piston.runtimes import Runtime
from alpha_codium.serve.requests import MOST_MEMORY, MOST_SECONDS
from alpha_codium.verdict import Execution, Status

DEFAULT_RUN_MILLISECONDS = 3000
# The highest values of the limits in a request.
HIGHEST = {"memory_limit": MOST_MEMORY, "timeout": int(MOST_SECONDS * 1000), "cpu_time": int(MOST_SECONDS * 1000)}
# The original starts Java from the source, which runs the first class.
VARIANTS = {"java": "first_class"}
DECODERS = {"base64": base64.b64decode, "hex": bytes.fromhex}
Stage = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Execute:
    """A request: `files` by their names, the first of which in UTF-8 is the program, `main`."""

    language: str
    version: str
    main: str
    files: dict[str, bytes]
    stdin: str = ""
    arguments: tuple[str, ...] = ()
    limits: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, body: dict[str, Any]) -> Self:
        """Return the request; raises CannotRun."""
        for name in ("language", "version"):
            if not body.get(name) or not isinstance(body[name], str):
                raise CannotRun(f"{name} is required as a string")
        main, files = _files_of(body.get("files"))
        stdin, arguments = body.get("stdin") or "", body.get("args") or []
        if not isinstance(stdin, str):
            raise CannotRun("If specified, stdin must be a string")
        if not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
            raise CannotRun("If specified, args must be an array of strings")
        return cls(body["language"], body["version"], main, files, stdin, tuple(arguments), _limits_of(body))

    @property
    def source(self) -> str:
        """The program's text."""
        return self.files[self.main].decode("utf-8", "replace")

    def run_limits(self) -> Limits:
        """Return the limits of the program; without one for CPU time, that for wall time is it."""
        wall = max(self.limits.get("run_timeout", 0), DEFAULT_RUN_MILLISECONDS) / 1000
        cpu = self.limits.get("run_cpu_time", 0) / 1000
        if "run_timeout" in self.limits:
            wall = self.limits["run_timeout"] / 1000
        memory = int(self.limits.get("run_memory_limit", DEFAULT_MEMORY_BYTES))
        return Limits(cpu_seconds=cpu or wall, wall_seconds=max(wall, cpu), memory_bytes=memory)


def _files_of(given: Any) -> tuple[str, dict[str, bytes]]:
    """Return the name of the program, and all files; raises CannotRun."""
    if not isinstance(given, list):
        raise CannotRun("files is required as an array")
    main, files = "", dict[str, bytes]()
    for place, file in enumerate(given):
        if not isinstance(file, dict) or not isinstance(file.get("content"), str):
            raise CannotRun(f"files[{place}].content is required as a string")
        name = file.get("name") or f"file{place}.code"
        if not isinstance(name, str) or name in files:
            raise CannotRun(f"files[{place}].name must be a string, and that of no other file")
        encoding = file.get("encoding")
        decode = DECODERS.get(encoding) if isinstance(encoding, str) else None
        try:
            files[name] = decode(file["content"]) if decode else file["content"].encode("utf-8", "replace")
        except (binascii.Error, ValueError) as error:
            raise CannotRun(f"files[{place}].content isn't {encoding}: {error}") from error
        main = main or ("" if decode else name)
    if not main:
        raise CannotRun("files must include at least one utf8 encoded file")
    return main, files


def _limits_of(body: dict[str, Any]) -> dict[str, float]:
    """Return the limits that a request gives, in milliseconds and bytes; raises CannotRun."""
    limits: dict[str, float] = {}
    for name in (f"{stage}_{what}" for what in HIGHEST for stage in ("compile", "run")):
        value, highest = body.get(name), HIGHEST[name.partition("_")[2]]
        if not value:
            continue
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise CannotRun(f"If specified, {name} must be a number")
        if value < 0 and name.endswith("memory_limit"):
            continue  # no limit: the server's own
        if value > highest:
            raise CannotRun(f"{name} cannot exceed the configured limit of {highest}")
        if not value >= 1:
            raise CannotRun(f"{name} must be non-negative, and at least 1")
        limits[name] = value
    return limits


async def run(server: Server, request: Request, item: Execute, runtime: Runtime) -> dict[str, Stage]:
    """Run a program; raises CannotRun, and SandboxError if the server couldn't."""
    stdin = item.stdin if item.stdin.endswith("\n") else item.stdin + "\n"
    beside = {name: data for name, data in item.files.items() if name != item.main}
    program = Program.from_source(runtime.ours, item.source, VARIANTS.get(runtime.ours, ""))
    report = await server.jobs.execute(request, job_of(program, stdin, item.run_limits(), beside, item.arguments))
    last = stage(report.last)
    if not runtime.compiled:
        return {"run": last}
    return {"compile": stage(report.compilation), "run": last}


def stage(execution: Execution) -> Stage:
    """Return what the compiler or the program did; raises SandboxError if the server couldn't run it."""
    if execution.status is Status.INTERNAL_ERROR:
        raise SandboxError(execution.stderr or "the server couldn't run the program")
    code, name, status, message = _end_of(execution)
    return {
        "stdout": execution.stdout,
        "stderr": execution.stderr,
        "output": execution.stdout + execution.stderr,
        "code": code,
        "signal": name,
        "message": message,
        "status": status,
        "cpu_time": round(execution.cpu_seconds * 1000),
        "wall_time": round(execution.wall_seconds * 1000),
        "memory": execution.max_rss_bytes,
    }


def _end_of(execution: Execution) -> tuple[int | None, str | None, str | None, str | None]:
    """Return the exit status, the signal's name, the status and the message."""
    if execution.status is Status.TIME_LIMIT_EXCEEDED:
        return None, "SIGKILL", "TO", "Time limit exceeded"
    if execution.status is Status.OUTPUT_LIMIT_EXCEEDED:
        return None, "SIGKILL", "OL", "stdout length exceeded"
    if execution.signal is not None:
        return None, signal_name(execution.signal), "SG", f"Caught fatal signal {execution.signal}"
    if execution.finished:
        return 0, None, None, None
    code = execution.exit_code or 1
    return code, None, "RE", f"Exited with error status {code}"


def signal_name(number: int) -> str:
    """Return the name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
