"""What is expected of known programs: those of a dataset, and submissions to contests with known verdicts."""

from collections.abc import Iterator, Mapping
from typing import Any

from alpha_codium.audit.judge.known_verdicts import CLASSES, GROUP
from alpha_codium.eval.known import KNOWN_CORRECT, KNOWN_INCORRECT
from alpha_codium.eval.prepare import CORRECT, INCORRECT
from alpha_codium.report.reading import ReadRun
from alpha_codium.report.samples import StoredSample
from alpha_codium.verdict import Verdict

NONE = (Verdict.INTERNAL_ERROR, Verdict.NO_TESTS)


class Labels:
    """The labels of a run's programs; a model's samples have none."""

    def __init__(self, run: ReadRun) -> None:
        self._files: dict[str, list[Mapping[str, Any]]] = {}
        for submission in run.results.get("submissions", ()):
            self._files.setdefault(submission["problem"], []).append(submission)

    def of(self, sample: StoredSample) -> str:
        """Return what is expected of a sample, "" if nothing is."""
        group = sample.result.group
        if group in (CORRECT, KNOWN_CORRECT):
            return "known correct"
        if group in (INCORRECT, KNOWN_INCORRECT):
            return "known incorrect"
        submission = self._submission(sample)
        return f"{submission['expected_verdict']} ({submission['file']})" if submission else ""

    def differs(self, sample: StoredSample) -> bool:
        """Return whether the verdict on a sample isn't the expected one; false if there is none of either."""
        verdict, label = sample.result.verdict, self.of(sample)
        if not label or verdict in NONE:
            return False
        submission = self._submission(sample)
        if submission:
            expected = CLASSES.get(submission["expected_verdict"])
            return expected is not None and verdict not in expected
        return (verdict is Verdict.ACCEPTED) != (label == "known correct")

    def _submission(self, sample: StoredSample) -> Mapping[str, Any] | None:
        files = self._files.get(sample.problem, ())
        index = sample.result.index
        return files[index] if sample.result.group == GROUP and index < len(files) else None


def findings_of(run: ReadRun) -> dict[str, list[str]]:
    """Return what a validation found about each problem."""
    problems = run.results.get("problems", ())
    found = problems if isinstance(problems, list) else []
    return {
        problem["name"]: [f"{finding['reason']}: {finding['text']}" for finding in problem["findings"]]
        for problem in found
        if problem.get("findings")
    }


def rates_of_validation(run: ReadRun) -> Iterator[tuple[str, str]]:
    """Yield the rates of a validation that aren't 0, each with its name."""
    for name, rate in run.results.get("rates", {}).items():
        if isinstance(rate, dict) and rate.get("total") and rate.get("count"):
            yield name.replace("_", " "), f"{rate['count']} of {rate['total']}"
