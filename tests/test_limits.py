"""What a test used of its limits, in words."""

from alpha_codium.limits import Limits

LIMITS = Limits(4, wall_seconds=14, memory_bytes=2**30)


def test_what_a_test_used_stands_beside_each_limit() -> None:
    assert LIMITS.use(4.1, 4.3, 2**20) == "CPU time 4.1 s of 4 s, wall time 4.3 s of 14 s, memory 1 MiB of 1.0 GiB"


def test_a_program_that_was_stopped_in_a_batch_isnt_said_to_have_used_nothing() -> None:
    assert LIMITS.use(0.0, 0.0, 0) == "more than 4 s of CPU time, or 14 s of wall time"
