"""What every sandbox does, whatever it is made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Protocol, Self

from alpha_codium.errors import SandboxError
from alpha_codium.limits import Limits
from alpha_codium.verdict import Execution, Report

# True: the strongest that the machine gives; "strict": all of it or an error; False: none.
Isolation = bool | Literal["strict"]
# Told an input's index and its execution: whether to leave out the inputs after it.
StopTest = Callable[[int, Execution], bool]


# Where each side of a pair finds its end of the channel between them: a connected AF_UNIX stream socket.
CHANNEL = 3


class PairUnsupported(SandboxError):
    """This backend can't run two programs with a channel between them."""


@dataclass(frozen=True, slots=True)
class Script:
    """One side of a pair: a program, the trusted driver in its place (or none), and what stands on its stdin."""

    program: str
    driver: str = ""
    input: str = ""


@dataclass(frozen=True, slots=True)
class PairReport:
    """What a sandbox says of the two sides of a pair; each has one execution, if both compiled."""

    left: Report
    right: Report


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
        self,
        program: str,
        inputs: Sequence[str],
        *,
        limits: Limits | None = None,
        stop: StopTest | None = None,
        driver: str = "",
    ) -> Report:
        """Compile `program` and run it once on each input, in order, until `stop` says so.

        `stop` is told each execution whole; the report then keeps the beginning of large outputs.

        `driver`, if given, is the source of a trusted script that runs in the program's place and process, as
        `driver.py`: its global `program` is the code object of the program, which it runs itself. A fault of the
        program is data in the report. A fault of the sandbox is the status `internal_error`.
        """
        ...

    async def run_pair(self, left: Script, right: Script, *, limits: Limits | None = None) -> PairReport:
        """Run two programs at once, isolated from each other but for a channel between them (`CHANNEL`).

        `limits` are those of each. Raises PairUnsupported where the backend can't.
        """
        ...
