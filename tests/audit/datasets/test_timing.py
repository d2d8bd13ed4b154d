"""Whether limits fit the machine."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.audit.datasets.observation import Wider
from alpha_codium.audit.datasets.timing import Timing, calibration
from alpha_codium.verdict import Verdict
from tests.audit.datasets.cases import assessed, reasons

LATE = Verdict.TIME_LIMIT_EXCEEDED


def timing(share: float | None) -> Timing:
    return Timing(4.0, None if share is None else 4.0 * share, None, None, ())


def test_a_known_correct_program_that_runs_out_of_time_shows_a_tight_limit() -> None:
    found = assessed(
        ["1", "2"], {"a": ["1", "2"], "b": ["1", LATE]},
        cpu_seconds={"b": [0.1, 4.0]}, wider={"b": {1: Wider(Verdict.ACCEPTED, 5.2)}},
    )  # fmt: skip
    assert (reasons(found), found.is_valid_problem) == (["tight_limit"], False)
    assert found.findings[0].evidence == (
        {
            "column": "solutions", "solution": 1, "test_type": "private_tests", "test": 1,
            "verdict": "time_limit_exceeded", "ran_out_of": "CPU time", "cpu_seconds": 4.0, "limit_seconds": 4.0,
            "verdict_of_wider": "accepted", "cpu_seconds_of_wider": 5.2,
        },
    )  # fmt: skip
    assert found.timing.suggested_cpu_seconds == 10.5
    assert found.timing is not None and found.timing.share == pytest.approx(1.3)


def test_a_program_that_never_ends_leaves_nothing_to_suggest() -> None:
    found = assessed(["1"], {"a": ["1"], "b": [LATE]}, cpu_seconds={"b": [4.0]}, wider={"b": {0: Wider(LATE, 16.0)}})
    assert found.timing.suggested_cpu_seconds is None
    assert found.timing is not None and found.timing.share == 4.0
    assert reasons(found) == ["tight_limit"]


def test_time_that_ran_out_by_the_wall_clock_is_no_fault_of_the_limit() -> None:
    found = assessed(["1"], {"b": [LATE]}, cpu_seconds={"b": [1.2]}, wider={"b": {0: Wider(LATE, 5.0)}})
    assert reasons(found) == ["tight_limit"]
    assert "wall time" in found.findings[0].text
    assert (found.is_valid_problem, found.timing.suggested_cpu_seconds) == (None, None)
    assert found.timing is not None and found.timing.share is None


def test_a_program_near_to_its_limit_is_worth_knowing_and_no_fault() -> None:
    found = assessed(["1", "2"], {"a": ["1", "2"]}, cpu_seconds={"a": [2.1, 3.0]})
    assert (reasons(found), found.is_valid_problem) == (["near_limit"], True)
    assert found.findings[0].evidence[0]["test"] == 1
    assert found.timing.suggested_cpu_seconds == 6.0


def test_limits_suggested_leave_room_and_are_never_tiny() -> None:
    found = assessed(["1"], {"a": ["1"]}, cpu_seconds={"a": [0.01]})
    assert (found.timing.suggested_cpu_seconds, found.timing.suggested_memory_bytes) == (1.0, 256 * 2**20)


def test_a_program_that_runs_out_of_memory_shows_a_tight_limit_and_no_suggestion() -> None:
    found = assessed(["1"], {"a": ["1"], "b": [Verdict.MEMORY_LIMIT_EXCEEDED]})
    assert "tight_limit" in reasons(found)
    assert "out of memory" in next(f.text for f in found.findings if f.reason == "tight_limit")
    assert found.timing.suggested_memory_bytes is None


def test_known_incorrect_programs_say_nothing_of_limits() -> None:
    found = assessed(["1"], {"a": ["1"]}, {"x": [LATE]})
    assert found.findings == ()


def test_the_calibration_factor_forgives_one_problem_of_twenty() -> None:
    values = calibration([timing(0.1)] * 19 + [timing(3.0)] + [timing(None)])
    assert (values["problems"], values["factor"], values["largest_share"]) == (20, 0.2, 3.0)
    assert calibration([timing(0.75)] * 3, time_limit_factor=3.0)["time_limit_factor"] == 4.5


def test_without_known_correct_programs_there_is_no_factor() -> None:
    values = calibration([timing(None)])
    assert values == {"problems": 0, "factor": None, "reason": "no known-correct program finished a test"}


def test_programs_too_quick_to_measure_give_no_factor_rather_than_none_at_all_of_the_limit() -> None:
    values = calibration([timing(0.0)] * 3, time_limit_factor=3.0)
    assert (values["problems"], values["factor"], values["largest_share"]) == (3, None, 0.0)
    assert "too small to measure" in values["reason"]
    assert "time_limit_factor" not in values


@given(st.floats(1e-7, 10))
def test_no_factor_is_rounded_to_0_or_by_more_than_half_a_percent(share: float) -> None:
    values = calibration([timing(share)], time_limit_factor=3.0)
    assert values["factor"] == pytest.approx(2 * share, rel=0.006)
    assert values["time_limit_factor"] == pytest.approx(6 * share, rel=0.006)


@given(st.lists(st.floats(0.001, 10), min_size=1, max_size=60))
def test_with_limits_times_the_factor_at_most_one_problem_of_twenty_is_near_its_limit(shares: list[float]) -> None:
    factor = calibration([timing(share) for share in shares])["factor"]
    near = [share for share in shares if share / factor > 0.5 * 1.01 + 0.001 / factor]
    assert len(near) <= 0.05 * len(shares)
