"""Building programs that the interpreter of a jail doesn't run: by their language's compiler, in a jail, and only once.

1. The compiler runs in a jail without a network, which shows it the program's files, its toolchain, and nothing else of
   the machine, under `COMPILER_LIMITS`. When it ends, everything that it started is killed.
2. What it made comes back through its standard output, so that nothing is read from a folder that it wrote to.
3. It is kept, see `program_cache`.
4. A compiler that something else killed, such as the machine's OOM killer, is started again.
"""

import marshal
import re
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha_codium.errors import SandboxError
from alpha_codium.languages.tools import ARTIFACT, PREPARED, Build, Start
from alpha_codium.limits import COMPILER_LIMITS
from alpha_codium.sandbox.engine.cancellation import Cancellation, WorkerLost
from alpha_codium.sandbox.engine.channel import RunnerLost
from alpha_codium.sandbox.engine.executables import Executable, executable_at
from alpha_codium.sandbox.engine.inside.native import FOLDER
from alpha_codium.sandbox.engine.jail import RunnerProgram
from alpha_codium.sandbox.engine.outcome import Outcome, lost
from alpha_codium.sandbox.engine.program_cache import ProgramCache
from alpha_codium.sandbox.engine.runner_client import RunnerClient
from alpha_codium.sandbox.engine.worker import Worker
from alpha_codium.verdict import Execution, Status

# Prints a file that a command makes: the file, then the command.
PRINT = 'made=$1; shift; "$@" >&2 && exec cat "$made"'
TRIES, COMPILER_TRIES = 2, 3
ERRORS_KEPT = 1 << 16
# What compilers print, and the exit status of a shell, when a part of them was killed.
KILLED = re.compile(r"terminated with signal 9|[Kk]illed signal terminated program|signal: (?:9|killed)\b")
SHELL_KILLED = 128 + signal.SIGKILL
# Asks a resident compiler: takes the request, the command that starts it, and its tools. Returns the artifact, or None.
Ask = Callable[[bytes, list[str], tuple[str, ...], Cancellation], bytes | None]


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds programs; methods raise Cancelled.

    `compiler` returns a worker whose jail has these tools, `ask` asks a resident compiler, `load` reads an executable.
    """

    cache: ProgramCache
    compiler: Callable[[tuple[str, ...]], Worker]
    cancellation: Cancellation
    ask: Ask | None = None
    load: Callable[[Path], Executable] = executable_at

    def built(self, build: Build) -> RunnerProgram | Execution:
        """Return the program to run, compiled if it isn't kept; or why it doesn't compile, or can't be compiled.

        Raises SandboxError if nothing can be stored.
        """
        for _ in range(TRIES):
            try:
                made = self._made(build)
                return made if isinstance(made, Execution) else program_of(build, made, self.load)
            except FileNotFoundError:
                # Another process has removed it to make room.
                continue
            except OSError as error:
                message = f"cannot store a compiled program in {self.cache.folder}: {error.strerror}"
                raise SandboxError(message) from error
        return lost("a compiled program was removed before it could be run")

    def _made(self, build: Build) -> Path | Execution:
        """Return the file that `build` makes, from the cache or from its compiler; see `built`."""
        found = self.cache.find(build)
        if found is not None:
            return found
        folder = self._prepared_folder(build)
        if isinstance(folder, Execution):
            return folder
        tools = (*build.readable, *filter(None, [folder]))
        resident = self._made(build.resident.build) if build.resident and self.ask else None
        with self.cache.building(build):
            found = self.cache.find(build)
            if found is not None:
                return found
            made = None
            if build.resident and self.ask and isinstance(resident, Path):
                staying = [argument.replace(ARTIFACT, str(resident)) for argument in build.resident.command]
                given = (*tools, str(resident.parent))
                made = self.ask(build.resident.request, filled(staying, folder), given, self.cancellation)
            command = filled(build.command, folder)
            result = made or compiled(build, command, self.compiler(tools), self.cancellation)
            if not isinstance(result, Execution):
                return self.cache.keep(build, result)
        # The compiler itself must have rejected it, and not have taken so long that others would take too long.
        rejected = result.exit_code and result.cpu_seconds < COMPILER_LIMITS.cpu_seconds / 4
        if build.otherwise is None or not rejected:
            return result
        other = self._made(build.otherwise)
        if isinstance(other, Path):
            return self.cache.keep(build, other.read_bytes())
        return other if other.status is Status.INTERNAL_ERROR else result

    def _prepared_folder(self, build: Build) -> str | Execution:
        """Return the folder of what `build` has prepared, empty without it; or why the sandbox can't prepare it."""
        if build.prepared is None:
            return ""
        prepared = self._made(build.prepared)
        if isinstance(prepared, Path):
            return str(prepared)[: -len(build.prepared.artifact) - 1]
        return prepared if prepared.status is Status.INTERNAL_ERROR else ""


def filled(command: Sequence[str], folder: str) -> list[str]:
    """Return a command with the folder of what was prepared in it."""
    return [argument.replace(PREPARED, folder or ".") for argument in command]


def compiled(build: Build, command: list[str], worker: Worker, cancellation: Cancellation) -> bytes | Execution:
    """Run the compiler, at most three times; return what it made, or how it ended. Raises Cancelled."""
    failed = Execution(Status.INTERNAL_ERROR)
    for _ in range(COMPILER_TRIES):
        with cancellation.calling(worker.interrupt):
            try:
                made = run_compiler(build, command, worker)
                if isinstance(made, bytes) or not KILLED.search(made.stderr):
                    return made
                failed = made  # not an internal error: the messages may be the program's own
            except (RunnerLost, WorkerLost, OSError) as error:
                cancellation.check()
                failed = lost(error)
                worker.discard()
    return failed


def run_compiler(build: Build, command: list[str], worker: Worker) -> bytes | Execution:
    """Run the compiler; return what it made, or a compilation error. Raises RunnerLost, WorkerLost, OSError."""
    files = {path: text.encode("utf-8", "replace") for path, text in build.files.items()}
    printing = ["/bin/sh", "-c", PRINT, "sh", build.artifact, *command]
    memory = ("RLIMIT_DATA", build.start.reserved_bytes or 0)
    native = native_of(printing, build.environment, writable=True, memory=memory)
    client = RunnerClient(worker, RunnerProgram(marshal.dumps(files, 2), native=native), COMPILER_LIMITS)
    try:
        client.compile()
        outcome = client.run(b"")
    finally:
        client.close()
    errors = outcome.outputs.stderr.replace(f"{client.channel.folder}/".encode(), b"")
    status = outcome.status(COMPILER_LIMITS)
    if status is Status.FINISHED:
        return outcome.outputs.stdout
    if status is Status.INTERNAL_ERROR:
        raise RunnerLost("the compiler was lost")
    if status is Status.RUNTIME_ERROR and outcome.exit_code == SHELL_KILLED:
        raise RunnerLost("the compiler was killed")
    return Execution(
        Status.COMPILATION_ERROR,
        stderr=reason_of(status, outcome, errors),
        exit_code=outcome.exit_code,
        cpu_seconds=outcome.cpu_seconds,
        wall_seconds=outcome.wall_seconds,
    )


def reason_of(status: Status, outcome: Outcome, errors: bytes) -> str:
    """Return the compiler's messages, or the limit that it exceeded."""
    text = errors[:ERRORS_KEPT].decode("utf-8", "replace")
    used = {
        Status.TIME_LIMIT_EXCEEDED: f"compiling takes more than {COMPILER_LIMITS.cpu_seconds:g} s",
        Status.MEMORY_LIMIT_EXCEEDED: "compiling takes too much memory",
        Status.OUTPUT_LIMIT_EXCEEDED: "compiling makes too large a program, or too many messages",
    }.get(status, f"the compiler was ended by signal {outcome.signal}" if outcome.signal else "")
    return "\n".join(filter(None, (used, text)))


def program_of(build: Build, made: Path, load: Callable[[Path], Executable]) -> RunnerProgram:
    """Return what runs the file that `build` made; raises OSError."""
    start = build.start
    if not start.command:
        image = native_of(["./program"], start.environment, image=True, memory=memory_limit(start))
        return RunnerProgram(load(made), native=image)
    name = build.artifact.rpartition("/")[2]
    command = [argument.replace(ARTIFACT, f"{FOLDER}/{name}") for argument in start.command]
    native = native_of(command, start.environment, memory=memory_limit(start))
    return RunnerProgram(marshal.dumps({name: made.read_bytes()}, 2), native=native)


def memory_limit(start: Start) -> tuple[str, int]:
    """Return the resource to limit if no control group counts the memory, and the bytes beyond the program's limit."""
    return ("RLIMIT_AS", 0) if start.reserved_bytes is None else ("RLIMIT_DATA", start.reserved_bytes)


def native_of(
    command: list[str],
    environment: Mapping[str, str],
    *,
    image: bool = False,
    writable: bool = False,
    memory: tuple[str, int] | None = None,
) -> dict[str, Any]:
    """Return the description of a program for `inside/native`; `memory` as `memory_limit` returns it."""
    return {
        "command": command,
        "environment": dict(environment),
        "image": image,
        "writable": writable,
        "memory": memory,
    }
