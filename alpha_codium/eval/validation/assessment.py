"""One problem's validation: its findings put together, and what they amount to.

1. A problem is invalid where a finding is a fault, valid where there is none and a known-correct program was accepted
   on all its tests, and undecided (None) where no known-correct program could be judged.
2. A test is invalid where it is malformed or found wrong, valid where a known-correct program gave the expected output,
   and undecided otherwise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from alpha_codium.data.schema import TEST_CODE
from alpha_codium.eval.validation.answers import Answers, comparable_tests, examine_answers
from alpha_codium.eval.validation.checking import examine_checking
from alpha_codium.eval.validation.findings import Finding, Reason, plural
from alpha_codium.eval.validation.observed import ObservedProblem, rejections
from alpha_codium.eval.validation.timing import NEAR, Timing, examine_limits
from alpha_codium.problem import CheckerSpec, TestType


@dataclass(frozen=True, slots=True)
class AssessmentCounts:
    """What was there to judge by, and how it went; `comparable_tests` could have been shown to be wrong."""

    tests: int
    comparable_tests: int
    wrong_tests: int
    malformed_tests: int
    correct_run: int
    correct_accepted: int
    incorrect_run: int
    incorrect_rejected: int
    not_run: int


@dataclass(frozen=True, slots=True)
class Assessment:
    """What validation says of one problem; None stands for what nothing known decides.

    `is_valid_test` holds one entry a test, by type (`test_code`, the one test of assertions more, too). Limits
    suggested are CPU seconds and bytes of one test of a Python program on this machine.
    """

    name: str
    is_valid_problem: bool | None
    is_valid_test: dict[str, list[bool | None]]
    multiple_answers: bool | None
    suggested_checker: CheckerSpec | None
    suggested_time_limit: float | None
    suggested_memory_limit_bytes: int | None
    undetected_incorrect: int | None
    counts: AssessmentCounts
    findings: tuple[Finding, ...] = ()
    wording: str = ""
    checker: CheckerSpec | None = None
    checker_evidence: dict[str, Any] | None = None
    timing: Timing | None = None

    def has(self, reason: Reason) -> bool:
        """Whether there is a finding for that reason."""
        return any(finding.reason is reason for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """The assessment as `--json` writes it."""
        timing = self.timing
        return {
            "name": self.name,
            "is_valid_problem": self.is_valid_problem,
            "is_valid_test": self.is_valid_test,
            "multiple_answers": self.multiple_answers,
            "checker": _shown(self.checker),
            "suggested_checker": _shown(self.suggested_checker),
            "checker_evidence": self.checker_evidence or {},
            "limit_cpu_seconds": timing.limit_cpu_seconds if timing else None,
            "slowest_cpu_seconds": timing.slowest_cpu_seconds if timing else None,
            "suggested_time_limit": self.suggested_time_limit,
            "suggested_memory_limit_bytes": self.suggested_memory_limit_bytes,
            "undetected_incorrect": self.undetected_incorrect,
            "wording": self.wording,
            "counts": {name: getattr(self.counts, name) for name in AssessmentCounts.__slots__},
            "findings": [finding.to_json() for finding in self.findings],
        }


def assess(observed: ObservedProblem, not_judged: str = "", near: float = NEAR) -> Assessment:
    """What the known programs of a problem say of it; `not_judged` says why it can't be judged, if it can't."""
    answers = examine_answers(observed)
    checking = examine_checking(observed, answers)
    timing = examine_limits(observed, near)
    findings = (
        *_nothing_to_judge(observed, not_judged),
        *_malformed(observed),
        *answers.findings,
        *checking.findings,
        *timing.findings,
    )
    counts = _counts(observed, answers)
    return Assessment(
        name=observed.problem.name,
        is_valid_problem=_is_valid(findings, counts),
        is_valid_test=_valid_tests(observed, answers),
        multiple_answers=answers.several,
        suggested_checker=checking.suggested,
        suggested_time_limit=timing.suggested_cpu_seconds,
        suggested_memory_limit_bytes=timing.suggested_memory_bytes,
        undetected_incorrect=checking.undetected,
        counts=counts,
        findings=findings,
        wording=observed.wording,
        checker=observed.checker,
        checker_evidence=checking.evidence,
        timing=timing,
    )


def _is_valid(findings: Sequence[Finding], counts: AssessmentCounts) -> bool | None:
    if any(finding.fault for finding in findings):
        return False
    return True if counts.correct_accepted else None


def _nothing_to_judge(observed: ObservedProblem, not_judged: str) -> list[Finding]:
    if not_judged:
        return [Finding(Reason.NOT_JUDGED, not_judged, fault=False)]
    return [] if observed.tests else [Finding(Reason.NO_TESTS, "there are no tests of the types asked for")]


def _malformed(observed: ObservedProblem) -> list[Finding]:
    malformed = observed.malformed or {}
    if not malformed:
        return []
    evidence = tuple(observed.places[place].evidence() | {"says": why} for place, why in malformed.items())
    text = f"{plural(len(malformed), 'test')} can't be run: {next(iter(malformed.values()))}"
    return [Finding(Reason.MALFORMED_TEST, text, evidence)]


def _valid_tests(observed: ObservedProblem, answers: Answers) -> dict[str, list[bool | None]]:
    valid: dict[str, list[bool | None]] = {kind.value: [] for kind in TestType}
    if any(place.column == TEST_CODE for place in observed.places):
        valid[TEST_CODE] = []
    for kind in TestType:
        if not any(place.column == kind.value for place in observed.places):
            valid[kind.value] = [None] * len(getattr(observed.problem, kind.value))
    for number, place in enumerate(observed.places):
        is_wrong = number in answers.wrong or number in (observed.malformed or {})
        valid[place.column].append(False if is_wrong else True if number in answers.right else None)
    return valid


def _counts(observed: ObservedProblem, answers: Answers) -> AssessmentCounts:
    return AssessmentCounts(
        tests=len(observed.tests),
        comparable_tests=comparable_tests(observed),
        wrong_tests=len(answers.wrong),
        malformed_tests=len(observed.malformed or {}),
        correct_run=len(observed.correct),
        correct_accepted=sum(not rejections(known, observed.usable) for known in observed.correct),
        incorrect_run=len(observed.incorrect),
        incorrect_rejected=sum(bool(rejections(known, observed.usable)) for known in observed.incorrect),
        not_run=observed.not_run,
    )


def _shown(checker: CheckerSpec | None) -> dict[str, Any] | None:
    """A checker without the programs among its arguments: they may be long."""
    if checker is None:
        return None
    arguments = {key: value for key, value in checker.arguments.items() if key != "files"}
    return {"name": checker.name, "arguments": arguments}
