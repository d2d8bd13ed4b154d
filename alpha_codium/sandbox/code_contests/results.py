"""Conversion of the C++ sandbox's results to executions.

1. Its status of a test is `Success`, `Failed` or `Timeout`. `Timeout` can mean any signal, so the text of the result,
   `said`, decides.
2. The only sign of the memory limit is a `MemoryError` of the interpreter. The sandbox has no output limit.
3. Its time limit is CPU time in whole seconds. If a control group counts CPU time, the exact limit is applied;
   otherwise CPU time is unknown, and reported as 0. Memory is always reported as 0.
4. The sandbox's folder is removed from tracebacks in stderr.
"""

import math
import re
import signal

from alpha_codium.limits import Limits
from alpha_codium.sandbox.code_contests.child_process import SandboxResult
from alpha_codium.sandbox.engine.outcome import ran_out_of_memory, status_of
from alpha_codium.verdict import Execution, Status

EXITED = re.compile(r"OK - Exit code: (\d+)")
SIGNALLED = re.compile(r"Process terminated with a SIGNAL - Signal: \w+ \[(\d+)\]")
VIOLATED = re.compile(r"(?:SYSCALL|NETWORK) VIOLATION(?: - Violating Syscall \[[^\]]*\]\[[^\]]*\])?")
TOO_LONG = "Process TIMEOUT"
# No program can send itself these; the kernel does at the CPU limit, or when the machine is out of memory.
AT_THE_LIMIT = (signal.SIGKILL, signal.SIGXCPU)
FOLDER = re.compile(rb"/tmp/\d{13}-\d+-\d+/code\.pyc?\b")
PROGRAM = b"program.py"
# The compiler's whole output if the program can't be written or read, for example on a full disk.
REFUSED = re.compile(rb"\[Errno \d+\] [^\n]*")


def execution_of(tested: SandboxResult, limits: Limits) -> Execution:
    """Return the execution of a test."""
    exited, signalled = EXITED.match(tested.said), SIGNALLED.match(tested.said)
    status = status_of_test(tested, limits)
    # The setup of the test is counted, too; one process without threads can't use more CPU time than wall time.
    cpu_seconds = min(tested.cpu_seconds, tested.wall_seconds)
    return Execution(
        status=status,
        stdout=tested.stdout[: limits.output_bytes].decode("utf-8", "replace"),
        stderr=stderr_of(tested, status),
        exit_code=int(exited[1]) if exited else None,
        signal=int(signalled[1]) if signalled else None,
        cpu_seconds=cpu_seconds,
        wall_seconds=tested.wall_seconds,
    )


def status_of_test(tested: SandboxResult, limits: Limits) -> Status:
    """Return which limit was reached first, or how the program ended."""
    exited, signalled = EXITED.match(tested.said), SIGNALLED.match(tested.said)
    violated = VIOLATED.match(tested.said) is not None
    killed = signalled is not None and int(signalled[1]) in AT_THE_LIMIT
    crashed = signalled is not None and not killed
    too_slow = min(tested.cpu_seconds, tested.wall_seconds) >= limits.cpu_seconds
    at_the_limit = tested.said.startswith(TOO_LONG) or (killed and tested.wall_seconds >= whole_seconds(limits))
    too_long = too_slow or at_the_limit or tested.wall_seconds >= limits.wall_seconds
    return status_of(
        int(exited[1]) if exited else None,
        int(signalled[1]) if signalled and crashed else None,
        output_exceeded=len(tested.stdout) > limits.output_bytes,
        # After a violation or a crash, the sandbox walks the program's stack, and counts that time as well.
        time_exceeded=too_long and not violated and not crashed,
        violated=violated,
        out_of_memory=exited is not None and ran_out_of_memory(tested.stderr, 0, limits),
    )


def whole_seconds(limits: Limits) -> int:
    """Return the limit of CPU time for the sandbox: the next whole second."""
    return max(math.ceil(limits.cpu_seconds), 1)


def compilation_of(tested: SandboxResult) -> Execution:
    """Return the compiler's execution; `internal_error` if it never started, or couldn't read or write files."""
    exited = EXITED.match(tested.said)
    if exited and exited[1] == "0" and tested.status == "Success":
        return Execution(Status.FINISHED)
    if REFUSED.fullmatch(tested.stderr.strip()):
        return Execution(Status.INTERNAL_ERROR, stderr=f"sandbox: {tested.stderr.decode('utf-8', 'replace').strip()}")
    began = exited or SIGNALLED.match(tested.said) or VIOLATED.match(tested.said) or tested.said.startswith(TOO_LONG)
    status = Status.COMPILATION_ERROR if began else Status.INTERNAL_ERROR
    return Execution(status, stderr=stderr_of(tested, status), exit_code=int(exited[1]) if exited else None)


def stderr_of(tested: SandboxResult, status: Status) -> str:
    """Return the program's stderr, followed by the violation that ended it, if any."""
    text = FOLDER.sub(PROGRAM, tested.stderr).decode("utf-8", "replace")
    if status is Status.INTERNAL_ERROR:
        return f"{text}sandbox: {tested.said.partition(' Stack:')[0]}"
    violated = VIOLATED.match(tested.said)
    return f"{text}sandbox: {violated[0]}\n" if violated else text
