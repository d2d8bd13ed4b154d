"""What became of a test, from what the runner and the kernel say of it."""

import signal
from dataclasses import dataclass

from alpha_codium.limits import Limits
from alpha_codium.sandbox.engine.wait_status import HasWaitStatus
from alpha_codium.verdict import Execution, Status

# Close to the memory limit a kill or a failed allocation is the limit's doing.
NEAR_LIMIT = 0.95
STDERR_KEPT = 1 << 20
# CPU time of a worker's group beyond what its tests told: that of processes that hid from their parent.
HIDDEN_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Outcome(HasWaitStatus):
    """How the processes of one test ended; seconds and bytes are of all of them together, `peak` of the largest.

    `killed_for_memory`: the kernel ended one since the group had no more memory. `touched`: it wrote in its folder.
    `waited_seconds`: what of its wall time doesn't count, since it waited for a processor.
    """

    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int
    stdout_bytes: int
    stderr_bytes: int
    killed_for_memory: bool = False
    touched: bool = False
    waited_seconds: float = 0.0


def largest_file(limits: Limits) -> int:
    """The limit of any file's size under which both outputs and files are whole up to theirs."""
    return max(limits.output_bytes + 1, limits.file_bytes, STDERR_KEPT)


def execution_of(outcome: Outcome, stdout: bytes, stderr: bytes, limits: Limits, folder: bytes) -> Execution:
    """An execution; the program's folder, as it stands in tracebacks, is left out of stderr."""
    return Execution(
        status=status_of(outcome, stderr, limits),
        stdout=stdout.decode("utf-8", "replace"),
        stderr=stderr.replace(folder, b"").decode("utf-8", "replace") if stderr else "",
        exit_code=outcome.exit_code,
        signal=outcome.signal,
        cpu_seconds=outcome.cpu_seconds,
        wall_seconds=outcome.wall_seconds,
        max_rss_bytes=outcome.peak_bytes,
    )


def status_of(outcome: Outcome, stderr: bytes, limits: Limits) -> Status:
    """Which limit was reached first, or how the program ended."""
    if outcome.stdout_bytes > limits.output_bytes or outcome.stderr_bytes >= largest_file(limits):
        return Status.OUTPUT_LIMIT_EXCEEDED
    too_long = outcome.wall_seconds - outcome.waited_seconds >= limits.wall_seconds
    if outcome.cpu_seconds >= limits.cpu_seconds or too_long:
        return Status.TIME_LIMIT_EXCEEDED
    if outcome.exit_code == 0:
        return Status.FINISHED
    if outcome.signal == signal.SIGSYS:
        return Status.SANDBOX_VIOLATION
    if outcome.killed_for_memory or outcome.peak_bytes >= NEAR_LIMIT * limits.memory_bytes or _says_memory(stderr):
        return Status.MEMORY_LIMIT_EXCEEDED
    return Status.RUNTIME_ERROR


def _says_memory(stderr: bytes) -> bool:
    before, _, last_line = stderr.rstrip().rpartition(b"\n")
    # Where there is no memory to tell of it, CPython 3.14 ends its traceback so.
    untold = last_line == b"lost sys.stderr" and b"\nobject type name: MemoryError\n" in before + b"\n"
    return untold or last_line.partition(b":")[0].endswith(b"MemoryError")
