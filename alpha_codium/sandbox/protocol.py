"""The contract of sandboxes: what every backend does, whatever it is made of."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Literal, Protocol, Self

from alpha_codium.errors import SandboxError
from alpha_codium.limits import Limits
from alpha_codium.program import PYTHON, Job, PairJob, Program
from alpha_codium.verdict import Execution, Identity, PairReport, Report

# True: the strongest that the machine gives; "strict": all of it or an error; False: none.
Isolation = bool | Literal["strict"]
# Where each side of a pair finds its end of the channel between them: a connected AF_UNIX stream socket.
CHANNEL = 3


class PairUnsupported(SandboxError):
    """This backend can't run two programs with a channel between them."""


class Sandbox(Protocol):
    """Runs untrusted programs. Each input gets a process that shares nothing with the one before."""

    async def __aenter__(self) -> Self:
        """Get ready to run; raises SandboxError if the machine can't give what was asked for."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End what still runs; leave nothing behind."""
        ...

    async def identity(self) -> Identity:
        """What the verdicts of this sandbox depend on; it must be open."""
        return Identity(type(self).__name__, "", "")

    def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        """Compile a program and run it on each input, in order.

        The first execution is that of the compiler; the others are those of the inputs, if it is `finished`. The next
        input starts only when the caller asks for its execution. Closing the generator (`contextlib.aclosing`) ends the
        job. A fault of the program is data in the executions; a fault of the sandbox is the status `internal_error`.
        """
        ...

    async def consume(self, job: Job, look: Callable[[Execution], bool]) -> Execution:
        """Give each execution of an input to `look`, in a thread, as long as that returns True.

        Returns the compiler's execution. `look` runs on this side of whatever the job crosses; a backend whose jobs run
        in threads of this process may call it there, which saves two switches between threads an input.
        """
        async with aclosing(self.execute(job)) as executions:
            compilation = await anext(executions)
            if compilation.finished:
                async for execution in executions:
                    if not await asyncio.to_thread(look, execution):
                        break
        return compilation

    async def execute_pair(self, job: PairJob) -> PairReport:
        """Run two programs at once; raises PairUnsupported if the backend can't."""
        raise PairUnsupported(f"{type(self).__name__} can't run two programs with a channel between them")

    async def run(
        self, program: str | Program, inputs: Sequence[str], *, limits: Limits | None = None, driver: str = ""
    ) -> Report:
        """Run a program on all inputs; a text is a Python program. See `Job`."""
        return await report_of(self, job_of(program, inputs, limits, driver))


def job_of(program: str | Program, inputs: Sequence[str], limits: Limits | None = None, driver: str = "") -> Job:
    """A job; a text is a Python program. Raises TypeError if `inputs` is not a list of texts."""
    if isinstance(program, str):
        program = Program.from_source(PYTHON, program)
    return Job(program, tuple(inputs) if not isinstance(inputs, str) else inputs, limits or Limits(), driver)  # type: ignore[arg-type]


async def report_of(sandbox: Sandbox, job: Job) -> Report:
    """All executions of a job."""
    async with aclosing(sandbox.execute(job)) as executions:
        compilation, *others = [execution async for execution in executions]
    return Report(compilation, tuple(others))


def require_language(program: Program, *languages: str) -> None:
    """Raise SandboxError if a backend that runs `languages` can't run `program`."""
    if program.language not in languages:
        raise SandboxError(f"this backend runs {', '.join(languages)}, not {program.language}")
