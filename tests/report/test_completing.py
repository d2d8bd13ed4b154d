"""What the journal of a run lacks of a sample is read from its transcript."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from alpha_codium.eval.results import CandidateResult
from alpha_codium.problem import Problem, TestCase
from alpha_codium.report.completing import with_public_tests
from alpha_codium.report.samples import StoredSample
from alpha_codium.runs.events import Event, ProgramTested, StepResult, TestOutcome, Transcript, transcript_name
from alpha_codium.solution import Candidate
from alpha_codium.verdict import Verdict

PROGRAM = "def f(x):\n    return x\n"
ASSERTION = "assert f(1) == 2"


def completed(folder: Path, problem: Problem, *before: Event) -> StoredSample:
    """A sample whose program printed 1 in its only public test, read from the transcript."""
    outcome = TestOutcome(Verdict.WRONG_ANSWER, "1", "AssertionError", 0.1)
    events = (*before, ProgramTested(PROGRAM, Verdict.WRONG_ANSWER, (outcome,)))
    path = folder / transcript_name(problem.name, 0)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(Transcript(Candidate(problem.name, 0, PROGRAM, "m", "f"), events).to_json()))
    result = CandidateResult(0, "generated", Verdict.WRONG_ANSWER, 0, 1)
    run: Any = SimpleNamespace(path=folder)
    problems: Any = SimpleNamespace(get=lambda _name: problem)
    return with_public_tests(StoredSample(problem.name, result, PROGRAM), run, problems)


def test_the_first_failing_public_test_has_its_input_and_both_outputs(tmp_path: Path) -> None:
    failure = completed(tmp_path, Problem("p", public_tests=(TestCase("1", "2"),))).result.failure
    assert failure is not None
    assert (failure.input, failure.expected, failure.actual) == ("1", "2", "1")


def test_an_example_that_was_used_as_a_test_is_shown_as_an_assertion(tmp_path: Path) -> None:
    sample = completed(tmp_path, Problem("p"), StepResult("read_examples", {"tests": [ASSERTION]}))
    failure = sample.result.failure
    assert failure is not None
    assert (failure.assertion, failure.actual, failure.expected) == (ASSERTION, "1", "")
    assert sample.reason == f"{ASSERTION} (value: 1)"
