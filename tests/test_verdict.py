"""Verdicts, and what a judgement says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.limits import Limits
from alpha_codium.solution import Candidate, ErrorKind, SampleError
from alpha_codium.verdict import Execution, Judgement, Report, Status, TestResult, Verdict, first_failure

VERDICTS = st.sampled_from([verdict for verdict in Verdict if verdict is not Verdict.NO_TESTS])


@given(st.lists(VERDICTS))
def test_a_candidates_verdict_is_its_first_tests_that_is_not_accepted(verdicts: list[Verdict]) -> None:
    failures = [verdict for verdict in verdicts if verdict is not Verdict.ACCEPTED]
    expected = failures[0] if failures else Verdict.ACCEPTED if verdicts else Verdict.NO_TESTS
    assert first_failure(verdicts) is expected


def test_no_tests_is_no_pass() -> None:
    assert first_failure([]) is Verdict.NO_TESTS
    assert not Judgement(Verdict.NO_TESTS).accepted


@pytest.mark.parametrize(
    ("verdicts", "judged"),
    [
        ([Verdict.ACCEPTED, Verdict.ACCEPTED], True),
        ([Verdict.COMPILATION_ERROR], True),
        ([Verdict.WRONG_ANSWER, Verdict.INTERNAL_ERROR, Verdict.ACCEPTED], False),
        ([], False),
    ],
)
def test_a_program_is_judged_if_all_its_tests_are(verdicts: list[Verdict], judged: bool) -> None:
    tests = tuple(TestResult(verdict, Execution(Status.FINISHED)) for verdict in verdicts)
    assert Judgement(first_failure(verdicts), tests, len(verdicts)).judged is judged
    assert not Judgement(Verdict.INTERNAL_ERROR, tests_total=1).judged


def test_every_status_but_finished_is_a_verdict() -> None:
    assert {status.value for status in Status} - {"finished"} <= {verdict.value for verdict in Verdict}


def test_a_judgement_counts_what_passed() -> None:
    execution = Execution(Status.FINISHED)
    tests = tuple(TestResult(v, execution) for v in (Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.ACCEPTED))
    assert Judgement(Verdict.WRONG_ANSWER, tests, 5).tests_passed == 2


def test_a_report_says_whether_the_program_compiled() -> None:
    assert Report(Execution(Status.FINISHED)).compiled
    assert not Report(Execution(Status.COMPILATION_ERROR)).compiled
    assert not Report(Execution(Status.INTERNAL_ERROR)).compiled


def test_the_wall_limit_follows_the_cpu_limit_unless_it_is_given() -> None:
    assert Limits().wall_seconds == 14
    assert Limits(cpu_seconds=10).wall_seconds == 32
    assert Limits(cpu_seconds=10, wall_seconds=1).wall_seconds == 1


@pytest.mark.parametrize("name", ["cpu_seconds", "wall_seconds", "memory_bytes", "output_bytes", "open_files"])
def test_limits_under_which_nothing_runs_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be above 0"):
        Limits(**{name: -1})


@given(st.sampled_from(list(ErrorKind)), st.text(min_size=1))
def test_a_sample_error_is_read_back_as_it_was_written(kind: ErrorKind, message: str) -> None:
    error = SampleError(kind, message)
    assert SampleError.parse(str(error)) == error


def test_no_text_is_no_error_and_other_text_is_the_models_fault() -> None:
    assert SampleError.parse("") is None
    assert SampleError.parse("truncated") == SampleError(ErrorKind.MODEL, "truncated")
    assert SampleError.parse("HTTP 500: no") == SampleError(ErrorKind.MODEL, "HTTP 500: no")


def candidate(**values: object) -> Candidate:
    return Candidate(**{"task_name": "a", "sample_index": 0, "program": "", "model": "m", "flow": "f"} | values)  # type: ignore[arg-type]


def test_a_candidate_without_public_tests_has_solved_none() -> None:
    assert not candidate().solved_public
    assert not candidate(public_tests_passed=1, public_tests_total=2).solved_public
    assert candidate(public_tests_passed=2, public_tests_total=2).solved_public


def test_only_a_fault_of_ours_or_the_providers_leaves_a_sample_open() -> None:
    finals = {kind: candidate(error=SampleError(kind, "x")).is_final for kind in ErrorKind}
    assert finals == {ErrorKind.MODEL: True, ErrorKind.PROVIDER: False, ErrorKind.INTERNAL: False}
    assert candidate(program="print(1)").is_final
