"""What the journal of a run lacks of a sample: its first failing public test, the source of a human solution."""

from collections.abc import Sequence
from dataclasses import replace

from alpha_codium.eval.failures import Failure, around_difference, shortened, shortened_end
from alpha_codium.problem import Problem
from alpha_codium.program import Program
from alpha_codium.report.problems import RunProblems
from alpha_codium.report.samples import StoredSample
from alpha_codium.runs.events import Event, ModelAnswer, ProgramTested, StepResult, TestOutcome, Transcript
from alpha_codium.verdict import Verdict


def with_public_tests(sample: StoredSample, transcript: Transcript | None, problems: RunProblems) -> StoredSample:
    """Return the sample with its first failing public test, or the last answer, as its transcript has them."""
    if sample.result.failure is not None or not sample.failed or transcript is None:
        return sample
    events = transcript.events
    if not sample.source:
        answers = [event.text for event in events if isinstance(event, ModelAnswer) and isinstance(event.text, str)]
        return replace(sample, answer=shortened_end(answers[-1])) if answers else sample
    runs = [event for event in events if isinstance(event, ProgramTested) and event.program == sample.source]
    for place, test in enumerate(runs[-1].tests if runs else ()):
        if test.verdict is not Verdict.ACCEPTED:
            failure = _failure(place, test, events, problems.get(sample.problem))
            return replace(sample, result=replace(sample.result, verdict=test.verdict, failure=failure))
    return sample


def _failure(place: int, test: TestOutcome, events: Sequence[Event], problem: Problem | None) -> Failure:
    """Return the failure of a public test, or of an example that was used as one: an assertion."""
    stderr = shortened_end(test.stderr)
    steps = (event for event in events if isinstance(event, StepResult) and event.step == "read_examples")
    if examples := next((step.values["tests"] for step in steps), ()):
        shown = {"assertion": shortened(examples[place]), "actual": shortened(test.stdout)}
        return Failure(place, test.verdict, **shown, stderr=stderr)
    cases = problem.public_tests if problem else ()
    given, wanted = (cases[place].input, cases[place].output) if place < len(cases) else ("", "")
    return Failure(place, test.verdict, shortened(given), *around_difference(wanted, test.stdout), stderr=stderr)


def with_source(sample: StoredSample, problems: RunProblems) -> StoredSample:
    """Return the sample of a human solution with its source, which only the dataset has."""
    problem = problems.get(sample.problem)
    groups = {"correct": problem.solutions, "incorrect": problem.incorrect_solutions} if problem else {}
    for solution in groups.get(sample.result.group, ()):
        if Program.from_source(solution.language, solution.code).digest == sample.result.program:
            return replace(sample, source=solution.code, language=solution.language)
    return sample
