"""Batches of inputs for one program on a child, with retries when the child is lost.

1. Each batch compiles the program anew. If the caller waits for each execution and may stop, batches grow: one input,
   two, four and so on, so that few inputs run needlessly. Otherwise they are as large as memory allows.
2. If the child is lost in a batch of several, the same inputs are run one at a time on a new child.
3. If it is lost with a single input, that input is run once more; if it is lost again, the result is `internal_error`.
   An input that reached the wall limit, or printed more than fits in memory, isn't run again.
"""

from collections.abc import Sequence

from alpha_codium.limits import Limits
from alpha_codium.sandbox.code_contests.child_process import (
    ChildProcess,
    SandboxResult,
    TooMuchOutput,
    WallLimitReached,
)
from alpha_codium.sandbox.code_contests.results import compilation_of, execution_of, whole_seconds
from alpha_codium.sandbox.engine.cancellation import WorkerLost
from alpha_codium.sandbox.engine.outcome import lost
from alpha_codium.verdict import Execution, Status

# Memory of the child: for the outputs of a batch (kept both as bytes and as text), and for everything else.
OUTPUTS_BYTES, SPARE_BYTES = 1 << 28, 1 << 28
MOST = 32
DRIVE = """import sys
sys.argv[:] = ['driver.py']
program = compile({program!r}, 'program.py', 'exec', dont_inherit=True)
exec(compile({driver!r}, 'driver.py', 'exec'), {{'__name__': '__main__', '__file__': 'driver.py', 'program': program}})
"""


def batch_limit(limits: Limits) -> int:
    """Return how many inputs a batch may have, so that all outputs together fit in the child."""
    return max(1, min(MOST, OUTPUTS_BYTES // limits.output_bytes))


class Batches:
    """One program on one child; `text` is the source that runs: the program, or a driver that contains it."""

    def __init__(self, child: ChildProcess, program: bytes, driver: str, limits: Limits) -> None:
        self.child, self.program, self.limits = child, program, limits
        self.text = DRIVE.format(program=program, driver=driver).encode() if driver else program

    async def compile(self) -> Execution:
        """Return whether the program compiles, without a driver."""
        reason: WorkerLost | None = None
        for _ in range(2):
            try:
                return compilation_of((await self._ask(self.program, ()))[0])
            except WallLimitReached:
                return Execution(Status.COMPILATION_ERROR, stderr="sandbox: compiling took too long\n")
            except WorkerLost as error:
                reason = error
        return lost(reason)

    async def execute(self, inputs: Sequence[bytes]) -> tuple[Execution, list[Execution]]:
        """Return whether it compiled, and, if so, an execution for each input."""
        try:
            compilation, *tests = await self._ask(self.text, inputs)
        except WorkerLost as reason:
            if len(inputs) == 1:
                return Execution(Status.FINISHED), [await self._again(inputs[0], reason)]
            executions: list[Execution] = []
            compiled = Execution(Status.FINISHED)
            for data in inputs:
                compiled, one = await self.execute([data])
                if not compiled.finished:
                    return compiled, []
                executions += one
            return compiled, executions
        compiled = compilation_of(compilation)
        return compiled, [execution_of(test, self.limits) for test in tests] if compiled.finished else []

    async def _again(self, data: bytes, reason: WorkerLost) -> Execution:
        """Return the execution of an input that lost its child once, for this reason."""
        if not isinstance(reason, WallLimitReached | TooMuchOutput):
            try:
                _, test = await self._ask(self.text, [data])
                return execution_of(test, self.limits)
            except WorkerLost as error:
                reason = error
        if isinstance(reason, WallLimitReached):
            return Execution(Status.TIME_LIMIT_EXCEEDED, wall_seconds=reason.seconds)
        if isinstance(reason, TooMuchOutput):
            return Execution(Status.OUTPUT_LIMIT_EXCEEDED, stderr=f"sandbox: {reason}\n")
        return lost(reason)

    async def _ask(self, text: bytes, inputs: Sequence[bytes]) -> list[SandboxResult]:
        request = {
            "cpu_seconds": whole_seconds(self.limits),
            "memory_bytes": self.limits.memory_bytes,
            "output_bytes": self.limits.output_bytes,
            "own_bytes": SPARE_BYTES + 2 * min(self.limits.output_bytes * len(inputs), OUTPUTS_BYTES),
        }
        return await self.child.run(request, [text, *inputs], self.limits.wall_seconds)
