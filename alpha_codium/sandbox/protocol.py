"""What every sandbox does, whatever it is made of."""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol, Self

from alpha_codium.limits import Limits
from alpha_codium.verdict import Execution, Report

# Told an input's index and its execution: whether to leave out the inputs after it.
StopTest = Callable[[int, Execution], bool]


class Sandbox(Protocol):
    """Runs programs of others. Each input gets a process that shares nothing with the one before."""

    async def __aenter__(self) -> Self:
        """Get ready to run; raises SandboxError where the machine can't give what was asked for."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End what still runs; leave nothing behind."""
        ...

    async def run(
        self, program: str, inputs: Sequence[str], *, limits: Limits | None = None, stop: StopTest | None = None
    ) -> Report:
        """Compile `program` and run it once on each input, in order, until `stop` says so.

        A fault of the program is data in the report. A fault of the sandbox is the status `internal_error`.
        """
        ...
