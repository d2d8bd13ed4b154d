"""The assessment of one problem: its findings, and the conclusions from them.

1. A problem is invalid if a finding is a fault, valid if there is none and a known-correct program was accepted on all
   its tests, and undecided (None) if no known-correct program could be judged.
2. A test is invalid if it is malformed or found wrong, valid if a known-correct program gave the expected output, and
   undecided otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from alpha_codium.audit.datasets.answers import Answers, comparable_tests, examine_answers
from alpha_codium.audit.datasets.checking import examine_checking
from alpha_codium.audit.datasets.findings import Finding, Reason
from alpha_codium.audit.datasets.observation import ObservedProblem, rejections
from alpha_codium.audit.datasets.timing import NEAR, Timing, examine_limits
from alpha_codium.data.schema import TEST_CODE
from alpha_codium.problem import CheckerSpec, TestType
from alpha_codium.values import JsonValue, named
from alpha_codium.wording import counted


@dataclass(frozen=True, slots=True)
class AssessmentCounts(JsonValue):
    """Numbers of tests and known programs; `comparable_tests` are those that could have been shown to be wrong."""

    tests: int
    comparable_tests: int
    wrong_tests: int
    malformed_tests: int
    correct_run: int
    correct_accepted: int
    incorrect_run: int
    incorrect_rejected: int
    not_run: int


# The columns of an assessment as a row of a table.
ROW = (
    *("name", "is_valid_problem", "findings", "multiple_answers", "checker", "suggested_checker"),
    *("limit_cpu_seconds", "slowest_cpu_seconds", "suggested_time_limit", "suggested_memory_limit_bytes"),
    *("undetected_incorrect", *(each.name for each in fields(AssessmentCounts)), "unjudged"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment(JsonValue):
    """The conclusions about one problem; None stands for undecided.

    `is_valid_test` has one entry a test, by type (and `test_code`, the additional test of assertions). The suggested
    limits are CPU seconds and bytes of one test of a Python program on this machine. `unjudged` known programs got no
    verdict through no fault of theirs.
    """

    in_json: ClassVar[Mapping[str, str]] = {
        **named("name", "is_valid_problem", "is_valid_test", "multiple_answers", "checker_evidence"),
        **named(checker="checker.shown", suggested_checker="suggested_checker.shown"),
        **named(limit_cpu_seconds="timing.limit_cpu_seconds"),
        **named(slowest_cpu_seconds="timing.slowest_cpu_seconds", suggested_time_limit="timing.suggested_cpu_seconds"),
        **named(suggested_memory_limit_bytes="timing.suggested_memory_bytes"),
        **named("undetected_incorrect", "wording", "counts", "findings"),
    }

    name: str
    is_valid_problem: bool | None
    is_valid_test: dict[str, list[bool | None]]
    multiple_answers: bool | None
    checker: CheckerSpec | None
    suggested_checker: CheckerSpec | None
    checker_evidence: dict[str, Any]
    undetected_incorrect: int | None
    timing: Timing
    counts: AssessmentCounts
    findings: tuple[Finding, ...]
    wording: str
    unjudged: int = 0

    def has(self, reason: Reason) -> bool:
        """Whether there is a finding for that reason."""
        return any(finding.reason is reason for finding in self.findings)

    def to_row(self) -> dict[str, Any]:
        """Return the assessment as a row of a table, with the columns `ROW`; checkers are given by their names."""
        values = self.to_json() | self.counts.to_json() | {"unjudged": self.unjudged}
        values |= {name: values[name] and values[name]["name"] for name in ("checker", "suggested_checker")}
        values["findings"] = ", ".join(dict.fromkeys(finding.reason.value for finding in self.findings))
        return {name: values[name] for name in ROW}


def assess(observed: ObservedProblem, near: float = NEAR) -> Assessment:
    """Assess a problem by the observations of its known programs."""
    answers = examine_answers(observed)
    checking = examine_checking(observed, answers)
    timing = examine_limits(observed, near)
    findings = (*_untested(observed), *answers.findings, *checking.findings, *timing.findings)
    correct, incorrect = (
        [not rejections(known, observed.usable) for known in programs]
        for programs in (observed.correct, observed.incorrect)
    )
    faulty = any(finding.fault for finding in findings)
    return Assessment(
        name=observed.problem.name,
        is_valid_problem=False if faulty else True if any(correct) else None,
        is_valid_test=_valid_tests(observed, answers),
        multiple_answers=answers.several,
        checker=observed.checker,
        suggested_checker=checking.suggested,
        checker_evidence=checking.evidence,
        undetected_incorrect=checking.undetected,
        timing=timing,
        counts=AssessmentCounts(
            tests=len(observed.tests),
            comparable_tests=comparable_tests(observed),
            wrong_tests=len(answers.wrong),
            malformed_tests=len(observed.malformed),
            correct_run=len(correct),
            correct_accepted=sum(correct),
            incorrect_run=len(incorrect),
            incorrect_rejected=incorrect.count(False),
            not_run=observed.not_run,
        ),
        findings=findings,
        wording=observed.wording,
        unjudged=observed.unjudged,
    )


def _untested(observed: ObservedProblem) -> list[Finding]:
    """Return the findings on a problem that can't be judged, has no tests, or has malformed ones."""
    findings = []
    if observed.not_judged:
        findings.append(Finding(Reason.NOT_JUDGED, observed.not_judged, fault=False))
    elif not observed.tests:
        findings.append(Finding(Reason.NO_TESTS, "there are no tests of the types asked for"))
    if malformed := observed.malformed:
        evidence = tuple(observed.places[place].evidence() | {"says": why} for place, why in malformed.items())
        text = f"{counted(len(malformed), 'test')} can't be run: {next(iter(malformed.values()))}"
        findings.append(Finding(Reason.MALFORMED_TEST, text, evidence))
    return findings


def _valid_tests(observed: ObservedProblem, answers: Answers) -> dict[str, list[bool | None]]:
    columns = {place.column for place in observed.places}
    valid: dict[str, list[bool | None]] = {
        kind.value: [] if kind.value in columns else [None] * len(getattr(observed.problem, kind.value))
        for kind in TestType
    }
    if TEST_CODE in columns:
        valid[TEST_CODE] = []
    for number, place in enumerate(observed.places):
        is_wrong = number in answers.wrong or number in observed.malformed
        valid[place.column].append(False if is_wrong else True if number in answers.right else None)
    return valid
