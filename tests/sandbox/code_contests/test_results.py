"""What the C++ sandbox says, as ours; and the messages between us and its child. Nothing is run here."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.limits import Limits
from alpha_codium.sandbox.code_contests.batches import MOST, OUTPUTS_BYTES, batch_limit
from alpha_codium.sandbox.code_contests.child_process import SandboxResult
from alpha_codium.sandbox.code_contests.inside import wire
from alpha_codium.sandbox.code_contests.results import compilation_of, execution_of, whole_seconds
from alpha_codium.verdict import Status

LIMITS = Limits(cpu_seconds=2, wall_seconds=5, output_bytes=100)
OK, EXITED = "OK - Exit code: 0", "OK - Exit code: 1"
SIGNAL = "Process terminated with a SIGNAL - Signal: {} [{}] Stack: map:/lib/libc.so.6+0x26000+0x16267(0x7f6640c5a267)"
VIOLATION = "SYSCALL VIOLATION - Violating Syscall [X86-64][62/kill] Stack: map:/lib/libc.so.6+0x26000(0x7f66)"


def said(
    words: str, status: str = "Failed", stdout: bytes = b"", stderr: bytes = b"", wall=0.1, cpu=0.1
) -> SandboxResult:
    return SandboxResult(status, words, stdout, stderr, wall, cpu)


@pytest.mark.parametrize(
    ("result", "status"),
    [
        (said(OK, "Success"), Status.FINISHED),
        (said(EXITED), Status.RUNTIME_ERROR),
        (said(EXITED, stderr=b"Traceback ...\nMemoryError\n"), Status.MEMORY_LIMIT_EXCEEDED),
        (said(EXITED, stderr=b"numpy.core._exceptions._ArrayMemoryError: x\n"), Status.MEMORY_LIMIT_EXCEEDED),
        (said(EXITED, stderr=b"MemoryError was here\nValueError: MemoryError\n"), Status.RUNTIME_ERROR),
        (said(SIGNAL.format("SIGSEGV", 11), "Timeout"), Status.RUNTIME_ERROR),
        (said(SIGNAL.format("SIGKILL", 9), "Timeout", wall=2.0), Status.TIME_LIMIT_EXCEEDED),
        (said(SIGNAL.format("SIGKILL", 9), "Timeout", wall=0.5), Status.INTERNAL_ERROR),
        (said("Process TIMEOUT - Code: 0", "Timeout", wall=4), Status.TIME_LIMIT_EXCEEDED),
        (said(OK, "Success", wall=3, cpu=2.0), Status.TIME_LIMIT_EXCEEDED),
        (said(OK, "Success", wall=1.5, cpu=2.5), Status.FINISHED),
        (said(OK, "Success", wall=5.0), Status.TIME_LIMIT_EXCEEDED),
        (said(OK, "Success", stdout=b"x" * 101), Status.OUTPUT_LIMIT_EXCEEDED),
        (said(OK, "Success", stdout=b"x" * 100), Status.FINISHED),
        (said(VIOLATION), Status.SANDBOX_VIOLATION),
        (said("SETUP_ERROR - Code: 3", "Unknown"), Status.INTERNAL_ERROR),
        (said("", "Unknown"), Status.INTERNAL_ERROR),
    ],
)
def test_what_the_sandbox_says_has_one_status_of_ours(result: SandboxResult, status: Status) -> None:
    assert execution_of(result, LIMITS).status is status


def test_exit_status_signal_and_times_are_read_from_it() -> None:
    exited = execution_of(said("OK - Exit code: 3", cpu=0.5, wall=0.2), LIMITS)
    assert (exited.exit_code, exited.signal, exited.cpu_seconds, exited.wall_seconds) == (3, None, 0.2, 0.2)
    killed = execution_of(said(SIGNAL.format("SIGSEGV", 11)), LIMITS)
    assert (killed.exit_code, killed.signal) == (None, 11)


def test_its_folder_is_left_out_of_a_traceback_and_a_violation_is_named_without_addresses() -> None:
    trace = b'File "/tmp/1795326604615-2-227988/code.py", line 1\nFile "/tmp/1795326604615-2-227988/code.pyc"\n'
    assert execution_of(said(EXITED, stderr=trace), LIMITS).stderr == 'File "program.py", line 1\nFile "program.py"\n'
    assert execution_of(said(VIOLATION), LIMITS).stderr.endswith("[62/kill]\n")


@pytest.mark.parametrize(
    ("result", "status"),
    [
        (said(OK, "Success"), Status.FINISHED),
        (said(EXITED, stderr=b"SyntaxError"), Status.COMPILATION_ERROR),
        (said(SIGNAL.format("SIGSEGV", 11), "Timeout"), Status.COMPILATION_ERROR),
        (said("SETUP_ERROR - Code: 3", "Unknown"), Status.INTERNAL_ERROR),
        (said(EXITED, stderr=b"[Errno 28] No space left on device"), Status.INTERNAL_ERROR),
        (said(EXITED, stderr=b"SyntaxError: [Errno 28] No space left"), Status.COMPILATION_ERROR),
    ],
)
def test_only_what_began_to_compile_can_fail_to(result: SandboxResult, status: Status) -> None:
    assert compilation_of(result).status is status


@given(cpu=st.floats(0.01, 1000), output=st.integers(1, 2**33))
def test_limits_are_whole_seconds_above_and_batches_whose_outputs_fit(cpu: float, output: int) -> None:
    limits = Limits(cpu_seconds=cpu, output_bytes=output)
    assert cpu <= whole_seconds(limits) < cpu + 1 or whole_seconds(limits) == 1
    assert 1 <= batch_limit(limits) <= MOST
    assert batch_limit(limits) == 1 or batch_limit(limits) * output <= OUTPUTS_BYTES


headers = st.dictionaries(st.text().filter(lambda key: key != "sizes"), st.one_of(st.integers(), st.text(), st.none()))


@given(header=headers, parts=st.lists(st.binary()))
def test_a_message_comes_back_as_it_went_and_the_next_one_begins_behind_it(header: dict, parts: list[bytes]) -> None:
    stream = io.BytesIO(wire.pack(header, parts) + wire.pack({}))
    assert wire.read(stream) == (header, parts)
    assert wire.read(stream) == ({}, [])
    assert wire.read(stream) is None
