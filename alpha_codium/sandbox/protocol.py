"""The base class of sandboxes, from which every backend is derived."""

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

from loguru import logger

from alpha_codium.coroutines import BACKGROUND, run_blocking
from alpha_codium.errors import JobUnsupported
from alpha_codium.languages import language_named
from alpha_codium.limits import Limits
from alpha_codium.program import PYTHON, Job, PairJob, Program, Side, as_program
from alpha_codium.verdict import Execution, Identity, PairReport, Report
from alpha_codium.wording import counted

if TYPE_CHECKING:
    from alpha_codium.sandbox.blocking import BlockingSandbox

# True: the strongest that this machine has; "strict": complete isolation or an error; False: none.
Isolation = bool | Literal["strict"]
# Programs that wait need no core, but each worker has an interpreter of its own.
WORKERS_PER_CORE, FEW_WORKERS = 8, 32


def worker_count(asked: int) -> int:
    """Return how many programs run at a time: as many as asked for, within reason, or one per core for 0."""
    cores = os.cpu_count() or 1
    most = max(FEW_WORKERS, WORKERS_PER_CORE * cores)
    if asked > most:
        logger.warning(f"workers = {asked} is too many for {counted(cores, 'core')}: {most} programs run at a time")
    return min(asked or cores, most)


class PairUnsupported(JobUnsupported):
    """This backend can't run two programs with a channel between them."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One part of the isolation: whether it is `used`, its purpose `for_`, and `how` to get it.

    `needed` by sandbox=strict.
    """

    name: str
    used: bool
    for_: str
    how: str
    needed: bool = True


class Sandbox(ABC):
    """Runs untrusted programs. Each input gets a process that shares nothing with the one before.

    `async with` opens it; `with` opens it in the background loop of the blocking functions. It can be opened again.
    `loop` is the event loop in which it is open, or None. A backend that overrides `__aenter__` or `__aexit__` calls
    that of this class, too, which sets `loop`: otherwise a function that gets an open sandbox would open it again.
    `workers`: how many programs it runs at a time, 0 if it doesn't say. `preload`: modules that it keeps loaded for
    programs that import them. `has_files`: whether programs, and so checkers in Python, can write files in their
    folder. `has_turns`: whether it runs jobs that are `by_turns`.
    """

    loop: asyncio.AbstractEventLoop | None = None
    workers: int = 0
    preload: Sequence[str] = ()
    has_files: bool = True
    has_turns: bool = False

    @property
    def layers(self) -> list[Layer]:
        """The layers of its isolation on this machine, for `gencode sandbox check`; it must be open."""
        return []

    def __enter__(self) -> "BlockingSandbox":
        """Open the sandbox for blocking code."""
        from alpha_codium.sandbox.blocking import BlockingSandbox

        run_blocking(self.__aenter__())
        self.loop = BACKGROUND.get()
        return BlockingSandbox(self)

    def __exit__(self, *exc: object) -> None:
        """Close it; in a forked process, the sandbox stays that of its parent."""
        if self.loop is BACKGROUND.get():
            self.loop = None
            run_blocking(self.__aexit__(*exc))

    async def __aenter__(self) -> Self:
        """Open the sandbox; raises SandboxError if this machine can't provide what was asked for."""
        self.loop = asyncio.get_running_loop()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        """End what still runs, and clean up."""
        self.loop = None

    async def identity(self) -> Identity:
        """Return what the verdicts of this sandbox depend on; it must be open."""
        raise NotImplementedError(f"{type(self).__name__} must implement identity(), or verdicts could be mixed")

    def tool_version(self, language: str) -> str:
        """Return the version of what builds or runs programs in `language`, on which their verdicts depend, too.

        It is empty if the interpreter in the identity runs them. Raises SandboxError, with what to install, if they
        can't be run. The first call for a language may take a tenth of a second.
        """
        tool = language_named(language).tool()
        return "" if tool is None else tool.version

    @abstractmethod
    def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        """Compile a program and run it on each input, in order.

        The first execution is the compiler's. If it is `finished`, an execution of each input follows. An input is run
        only when the caller asks for its execution. Closing the generator (`contextlib.aclosing`) ends the job.

        Failures of the program are reported in executions; failures of the sandbox have the status `internal_error`.
        """
        ...

    async def consume(self, job: Job, on_execution: Callable[[Execution], bool]) -> Execution:
        """Call `on_execution` with the execution of each input, in a thread, until it returns False.

        Returns the compiler's execution. `on_execution` always runs in this process, wherever the job runs. A backend
        that runs jobs in threads can override this to call it in the same thread, which saves two switches an input.
        """
        return await consumed(self.execute(job), on_execution)

    async def execute_pair(self, job: PairJob) -> PairReport:
        """Run two programs at once; raises PairUnsupported if the backend can't."""
        raise PairUnsupported(f"{type(self).__name__} can't run two programs with a channel between them")

    async def run(
        self, program: str | Program, inputs: Sequence[str], *, limits: Limits | None = None, driver: str = ""
    ) -> Report:
        """Run a program on all inputs. A string is the source of a Python program. See `Job`."""
        return await report_of(self, job_of(program, inputs, limits, driver))


async def consumed(executions: AsyncGenerator[Execution, None], on_execution: Callable[[Execution], bool]) -> Execution:
    """Call `on_execution` with each execution after the compiler's, see `Sandbox.consume`, and close `executions`."""
    async with aclosing(executions):
        compilation = await anext(executions)
        if compilation.finished:
            async for execution in executions:
                if not await asyncio.to_thread(on_execution, execution):
                    break
    return compilation


def job_of(program: str | Program, inputs: Sequence[str], limits: Limits | None = None, driver: str = "") -> Job:
    """Return a job. A string is a program in Python. Raises TypeError if `inputs` isn't a list of strings."""
    return Job(as_program(program), inputs, limits or Limits(), driver)


async def report_of(sandbox: Sandbox, job: Job) -> Report:
    """Return all executions of a job."""
    executions: list[Execution] = []

    def keep(execution: Execution) -> bool:
        executions.append(execution)
        return True

    compilation = await sandbox.consume(job, keep)
    return Report(compilation, tuple(executions))


def require_language(program: Program, *languages: str) -> None:
    """Raise JobUnsupported if a backend that runs programs in `languages` can't run `program`."""
    if program.language not in languages:
        raise JobUnsupported(f"this backend runs {', '.join(languages)}, not {program.language}")


def refuse_turns(job: Job) -> None:
    """Raise JobUnsupported for a job `by_turns`, in a backend that hands over the whole input at once."""
    if job.by_turns:
        raise JobUnsupported("this backend can't give a program its input by turns")


def require_one_file(what: Job | Side) -> None:
    """Raise JobUnsupported if a backend that runs programs of one file can't run this.

    A program that a compiler links with its driver may have several files.
    """
    if len(what.program.files) > 1 and (what.program.language == PYTHON or not what.driver):
        raise JobUnsupported(f"this backend runs programs of one file, not of {len(what.program.files)}")
