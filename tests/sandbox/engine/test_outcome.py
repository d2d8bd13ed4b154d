"""What a test's end is called."""

import signal

import pytest

from alpha_codium.limits import Limits
from alpha_codium.sandbox.engine.outcome import Outcome, Outputs
from alpha_codium.verdict import Status

LIMITS = Limits(memory_bytes=1 << 27)
FAILED = 1 << 8
UNTOLD = b"""Traceback (most recent call last):
  File "program.py", line 2, in <module>
    while True: x.append(bytearray(1 << 20))
object address  : 0x145668cf9f00
object refcount : 4
object type     : 0xb63fa0
object type name: MemoryError
object repr     : MemoryError()
lost sys.stderr
"""


def outcome(wall_seconds: float = 0.1, waited_seconds: float = 0.0, stderr: bytes = b"") -> Outcome:
    return Outcome(FAILED, 0.1, wall_seconds, 1 << 20, Outputs(stderr=stderr), waited_seconds=waited_seconds)


@pytest.mark.parametrize("stderr", [b"MemoryError\n", b"Traceback\nnumpy.MemoryError: no\n", UNTOLD])
def test_a_program_that_says_it_had_no_memory_exceeded_its_limit(stderr: bytes) -> None:
    assert outcome(stderr=stderr).status(LIMITS) is Status.MEMORY_LIMIT_EXCEEDED


@pytest.mark.parametrize(
    "stderr", [b"", b"MemoryError\nValueError\n", b"lost sys.stderr\n", UNTOLD.replace(b"MemoryError", b"ValueError")]
)
def test_a_program_that_fails_otherwise_did_not(stderr: bytes) -> None:
    assert outcome(stderr=stderr).status(LIMITS) is Status.RUNTIME_ERROR


def test_what_was_waited_for_a_processor_is_no_part_of_the_wall_time() -> None:
    limit = LIMITS.wall_seconds
    assert outcome(limit).status(LIMITS) is Status.TIME_LIMIT_EXCEEDED
    assert outcome(limit + 1, waited_seconds=2).status(LIMITS) is Status.RUNTIME_ERROR
    assert outcome(limit + 3, waited_seconds=2).status(LIMITS) is Status.TIME_LIMIT_EXCEEDED


def test_the_kernels_signal_for_cpu_time_is_a_time_limit_whatever_sum_it_reports() -> None:
    ended = Outcome(signal.SIGXCPU, LIMITS.cpu_seconds / 2, LIMITS.cpu_seconds, 1 << 20, Outputs())
    assert ended.status(LIMITS) is Status.TIME_LIMIT_EXCEEDED
