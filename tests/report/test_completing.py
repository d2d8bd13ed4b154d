"""What the journal of a run lacks of a sample is read from its transcript."""

from types import SimpleNamespace
from typing import Any

from alpha_codium.eval.results import CandidateResult
from alpha_codium.problem import Problem, TestCase
from alpha_codium.report.completing import with_public_tests
from alpha_codium.report.samples import StoredSample
from alpha_codium.runs.events import Event, ProgramTested, StepResult, TestOutcome, Transcript
from alpha_codium.solution import Candidate
from alpha_codium.verdict import Verdict

PROGRAM = "def f(x):\n    return x\n"
ASSERTION = "assert f(1) == 2"


def completed(problem: Problem, *before: Event) -> StoredSample:
    """A sample whose program printed 1 in its only public test, read from the transcript."""
    outcome = TestOutcome(Verdict.WRONG_ANSWER, "1", "AssertionError", 0.1)
    events = (*before, ProgramTested(PROGRAM, Verdict.WRONG_ANSWER, (outcome,)))
    transcript = Transcript(Candidate(problem.name, 0, PROGRAM, "m", "f"), events)
    result = CandidateResult(0, "generated", Verdict.WRONG_ANSWER, 0, 1)
    problems: Any = SimpleNamespace(get=lambda _name: problem)
    return with_public_tests(StoredSample(problem.name, result, PROGRAM), transcript, problems)


def test_the_first_failing_public_test_has_its_input_and_both_outputs() -> None:
    failure = completed(Problem("p", public_tests=(TestCase("1", "2"),))).result.failure
    assert failure is not None
    assert (failure.input, failure.expected, failure.actual) == ("1", "2", "1")


def test_an_example_that_was_used_as_a_test_is_shown_as_an_assertion() -> None:
    sample = completed(Problem("p"), StepResult("read_examples", {"tests": [ASSERTION]}))
    failure = sample.result.failure
    assert failure is not None
    assert (failure.assertion, failure.actual, failure.expected) == (ASSERTION, "1", "")
    assert sample.reason == f"{ASSERTION} (value: 1)"
