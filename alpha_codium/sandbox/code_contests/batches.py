"""One program through a child, batch after batch: what is tried again, and what is our fault.

1. Each batch compiles the program anew. Where somebody waits for each execution and may stop there, batches grow: one
   input, two, four and so on, so that few are run in vain. Else they are as large as memory allows.
2. A child that is lost in a batch of several: the same inputs one at a time, on a new child.
3. Lost with a single input: once more. An input that loses it twice is an `internal_error`, but where it reached the
   wall limit or printed more than there is memory for, what it did is plain at the first time.
"""

from collections.abc import Sequence

from alpha_codium.limits import Limits
from alpha_codium.sandbox.code_contests.child_process import ChildProcess, SandboxResult, TooMuchOutput, TooSlow
from alpha_codium.sandbox.code_contests.results import compilation_of, execution_of, whole_seconds
from alpha_codium.sandbox.engine.cancellation import WorkerLost
from alpha_codium.verdict import Execution, Status

# The child keeps the outputs of a batch, as bytes and as text, and what it needs besides.
OUTPUTS_BYTES, SPARE_BYTES = 1 << 28, 1 << 28
MOST = 32
TRIES = 2
DRIVE = """import sys
sys.argv[:] = ['driver.py']
program = compile({program!r}, 'program.py', 'exec', dont_inherit=True)
exec(compile({driver!r}, 'driver.py', 'exec'), {{'__name__': '__main__', '__file__': 'driver.py', 'program': program}})
"""


def batch_limit(limits: Limits) -> int:
    """How many inputs a batch may have, so that all outputs together fit in the child."""
    return max(1, min(MOST, OUTPUTS_BYTES // limits.output_bytes))


class Batches:
    """One program on one child; `text` is what is run: the program, or a driver with the program in it."""

    def __init__(self, worker: ChildProcess, program: bytes, driver: str, limits: Limits) -> None:
        self.worker, self.limits = worker, limits
        self.program = program
        self.text = DRIVE.format(program=program, driver=driver).encode() if driver else program

    async def compile(self) -> Execution:
        """Whether the program compiles, without a driver."""
        lost: WorkerLost | None = None
        for _ in range(TRIES):
            try:
                return compilation_of((await self._ask(self.program, ()))[0])
            except TooSlow:
                return Execution(Status.COMPILATION_ERROR, stderr="sandbox: compiling took too long\n")
            except WorkerLost as error:
                lost = error
        return Execution(Status.INTERNAL_ERROR, stderr=f"sandbox: {lost}")

    async def execute(self, inputs: Sequence[bytes]) -> tuple[Execution, list[Execution]]:
        """Whether it compiled, and an execution for each input if so."""
        try:
            compilation, *tests = await self._ask(self.text, inputs)
        except WorkerLost as lost:
            if len(inputs) == 1:
                return Execution(Status.FINISHED), [await self._again(inputs[0], lost)]
            return await self._one_by_one(inputs)
        compiled = compilation_of(compilation)
        ended = compiled.status is Status.FINISHED
        return compiled, [execution_of(test, self.limits) for test in tests] if ended else []

    async def _one_by_one(self, inputs: Sequence[bytes]) -> tuple[Execution, list[Execution]]:
        executions: list[Execution] = []
        compiled = Execution(Status.FINISHED)
        for data in inputs:
            compiled, one = await self.execute([data])
            if compiled.status is not Status.FINISHED:
                return compiled, []
            executions += one
        return compiled, executions

    async def _again(self, data: bytes, lost: WorkerLost) -> Execution:
        """The execution of an input that lost its child once."""
        if not isinstance(lost, TooSlow | TooMuchOutput):
            try:
                _, test = await self._ask(self.text, [data])
            except WorkerLost as error:
                lost = error
            else:
                return execution_of(test, self.limits)
        return self._explained(lost)

    def _explained(self, lost: WorkerLost) -> Execution:
        match lost:
            case TooSlow():
                return Execution(Status.TIME_LIMIT_EXCEEDED, wall_seconds=lost.seconds)
            case TooMuchOutput():
                return Execution(Status.OUTPUT_LIMIT_EXCEEDED, stderr=f"sandbox: {lost}\n")
            case _:
                return Execution(Status.INTERNAL_ERROR, stderr=f"sandbox: {lost}")

    async def _ask(self, text: bytes, inputs: Sequence[bytes]) -> list[SandboxResult]:
        request = {
            "cpu_seconds": whole_seconds(self.limits),
            "memory_bytes": self.limits.memory_bytes,
            "output_bytes": self.limits.output_bytes,
            "own_bytes": SPARE_BYTES + 2 * min(self.limits.output_bytes * len(inputs), OUTPUTS_BYTES),
        }
        return await self.worker.run(request, [text, *inputs], self.limits.wall_seconds)
