"""The status of an ended test, derived from the facts that each backend knows."""

import os
import re
import signal
from dataclasses import dataclass

from alpha_codium.limits import Limits
from alpha_codium.verdict import Execution, Status
from alpha_codium.wording import without_paths

# Above this share of the memory limit, a kill or a failed allocation is attributed to the limit.
NEAR_LIMIT = 0.95
STDERR_KEPT = 1 << 20
# CPU time of a worker's group beyond what its tests reported: that of processes that hid from their parent.
HIDDEN_SECONDS = 0.1
# What runtimes print when a stack is full.
STACK_OVERFLOW = re.compile(
    rb"^(?:Exception in thread .*|Caused by: )?java\.lang\.StackOverflowError\b|^RangeError: Maximum call stack size"
    rb"|\(SystemStackError\)$|^runtime: goroutine stack exceeds|\bhas overflowed its stack$|^Stack overflow\b"
    rb"|^RecursionError: |^RuntimeError: maximum recursion depth",
    re.MULTILINE,
)
# What other runtimes than CPython print when they end for lack of memory.
OUT_OF_MEMORY = re.compile(
    rb"^(?:Exception in thread .*)?java\.lang\.OutOfMemoryError\b|^FATAL ERROR: .*heap out of memory"
    rb"|^fatal error: (?:runtime: )?(?:cannot allocate|out of) memory|^memory allocation of \d+ bytes failed"
    rb"|\(NoMemoryError\)$|^System\.OutOfMemoryException\b|^terminate called .*'std::bad_alloc'$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Outputs:
    """The beginning of what a test wrote to stdout, the end of stderr, and the sizes of both."""

    stdout: bytes = b""
    stderr: bytes = b""
    stdout_bytes: int = 0
    stderr_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the processes of a test ended in a jail: the first by its `wait_status` of `os.wait4`, and what they used.

    `cpu_seconds` is the total of all, `peak_bytes` the memory of the largest. `killed_for_memory`: the kernel killed
    one because the group ran out of memory. `touched`: it wrote in its folder. `waited_seconds`: the part of the wall
    time in which it waited for a processor or for memory, which doesn't count.
    """

    wait_status: int
    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int
    outputs: Outputs
    killed_for_memory: bool = False
    touched: bool = False
    waited_seconds: float = 0.0

    @property
    def exit_code(self) -> int | None:
        """The exit status, or None if a signal ended the process."""
        return os.WEXITSTATUS(self.wait_status) if os.WIFEXITED(self.wait_status) else None

    @property
    def signal(self) -> int | None:
        """The signal that ended the process, or None."""
        return os.WTERMSIG(self.wait_status) if os.WIFSIGNALED(self.wait_status) else None

    def status(self, limits: Limits) -> Status:
        """Return which limit was reached first, or how the program ended."""
        outputs = self.outputs
        too_long = self.wall_seconds - self.waited_seconds >= limits.wall_seconds
        return status_of(
            self.exit_code,
            self.signal,
            output_exceeded=outputs.stdout_bytes > limits.output_bytes or outputs.stderr_bytes >= largest_file(limits),
            time_exceeded=self.cpu_seconds >= limits.cpu_seconds or too_long,
            violated=self.signal == signal.SIGSYS,
            out_of_memory=self.killed_for_memory
            or ran_out_of_memory(outputs.stderr, self.peak_bytes, limits, self.signal),
        )

    def execution(self, limits: Limits, folder: bytes, errors: str) -> Execution:
        """Return the execution, without the program's folder in its stderr. `errors`: see `bytes.decode`.

        So the same program and input always give the same text, and prompts with tracebacks can be replayed.
        """
        return Execution(
            status=self.status(limits),
            stdout=self.outputs.stdout.decode("utf-8", errors),
            stderr=self.outputs.stderr.replace(folder, b"").decode("utf-8", errors),
            exit_code=self.exit_code,
            signal=self.signal,
            cpu_seconds=self.cpu_seconds,
            wall_seconds=self.wall_seconds,
            max_rss_bytes=self.peak_bytes,
        )


def status_of(
    exit_code: int | None,
    signal_number: int | None,
    *,
    output_exceeded: bool,
    time_exceeded: bool,
    out_of_memory: bool,
    violated: bool = False,
) -> Status:
    """Return the status of a test: the first of these facts that holds decides.

    A violation is a system call that isn't allowed. The end of a program is unknown if it has neither an exit code nor
    a signal.
    """
    if output_exceeded:
        return Status.OUTPUT_LIMIT_EXCEEDED
    # For its own limit, the kernel counts CPU time in ticks: it may send SIGXCPU before the sum that it reports reaches
    # the limit, above all in a virtual machine that waits for its host.
    if time_exceeded or signal_number == signal.SIGXCPU:
        return Status.TIME_LIMIT_EXCEEDED
    if exit_code == 0:
        return Status.FINISHED
    if violated:
        return Status.SANDBOX_VIOLATION
    if exit_code is None and signal_number is None:
        return Status.INTERNAL_ERROR
    return Status.MEMORY_LIMIT_EXCEEDED if out_of_memory else Status.RUNTIME_ERROR


def ran_out_of_memory(stderr: bytes, peak_bytes: int, limits: Limits, signal_number: int | None = None) -> bool:
    """Whether a failed program ran out of memory, by its peak or by what it printed at its end.

    The peak says nothing if endless recursion has filled its stack, which may be as large as its memory.
    """
    before, _, last_line = stderr.rstrip().rpartition(b"\n")
    # CPython 3.14 ends the traceback like this if it has no memory to print it.
    unprinted = last_line == b"lost sys.stderr" and b"\nobject type name: MemoryError\n" in before + b"\n"
    raised = last_line.partition(b":")[0].endswith(b"MemoryError")
    near = peak_bytes >= NEAR_LIMIT * limits.memory_bytes
    near = near and signal_number != signal.SIGSEGV and STACK_OVERFLOW.search(stderr) is None
    return near or raised or unprinted or OUT_OF_MEMORY.search(stderr) is not None


def largest_file(limits: Limits) -> int:
    """Return a limit of the size of any file, large enough for the output and for a program's own files."""
    return max(limits.output_bytes + 1, limits.file_bytes, STDERR_KEPT)


def lost(reason: object) -> Execution:
    """Return the execution of what the sandbox couldn't run, with a reason that shows no paths of this machine."""
    return Execution(Status.INTERNAL_ERROR, stderr=f"sandbox: {without_paths(reason)}")
