"""Tests that are code in another language than Python: it is appended to the program, which passes if it exits with 0.

1. Both are compiled together and run in one process, so that a program can pretend to have passed: verdicts are
   `in_process`. A test that ends with a failed assertion is a wrong answer.
2. In some benchmarks (MultiPL-E) the test's code begins with the brackets that close the function, or its class, since
   completions end before these. A program that has them loses them before the test is appended.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge.behaviour import Behaviour, error_shown
from alpha_codium.judge.kinds import TestKind, goes_on, require_compiled, title_of
from alpha_codium.languages import language_named
from alpha_codium.languages.compiled import OPENING, QUIET
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec, TestCase
from alpha_codium.program import Job, Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.verdict import IN_PROCESS, Execution, Status, TestResult, Verdict

FAILED = re.compile(r"^.*\bassert(?:ion)?\w*\b.*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class AppendedKind(TestKind):
    """The test's input is code in the language of `spec`, which is appended to the program."""

    name: ClassVar[str] = "assertions"

    sandbox: Sandbox
    limits: Limits
    spec: ExecutionSpec

    def why_not(self, language: str) -> str:
        """See `TestKind`; program and test must be in one language."""
        if language == self.spec.language:
            return ""
        return f"{title_of(language)} programs can't be run by assertions in {title_of(self.spec.language)}"

    def own_fault_of(self, test: TestCase) -> str:
        """See `TestKind`; the compiler reports other faults."""
        return "" if test.input.strip() else "it has no code"

    def input_fault(self, text: str) -> str:
        """See `TestKind`: there are no inputs without an expected result."""
        return f"tests in {title_of(self.spec.language)} have no inputs"

    async def results(self, program: Program, tests: Sequence[TestCase], *, stop_early: bool) -> list[TestResult]:
        """See `TestKind`."""
        results: list[TestResult] = []
        for test in tests:
            report = await report_of(self.sandbox, self.job(program, test.input))
            require_compiled(report.compilation)
            results.append(TestResult(_verdict(report.last), report.last.shortened(), IN_PROCESS))
            if not goes_on(results[-1], stop_early=stop_early):
                break
        return results

    async def execute(self, program: Program, input: str) -> Execution:
        """See `TestKind`."""
        return (await report_of(self.sandbox, self.job(program, input))).last

    async def behaviour(self, program: Program, input: str) -> Behaviour:
        """See `TestKind`; raises Unjudgeable."""
        raise Unjudgeable(self.input_fault(input))

    def failed_assertion(self, test: TestCase, execution: Execution) -> str:
        """See `TestKind`; the line of stderr that says so."""
        found = FAILED.search(execution.stderr)
        return found[0].strip() if found else ""

    def shown(self, execution: Execution) -> str:
        """See `TestKind`."""
        return error_shown(execution).strip()

    def job(self, program: Program, test_code: str) -> Job:
        """Return a job that runs the program with a test, and the setup code before both."""
        whole = replace(program, files={**program.files, program.main: joined(program.source, test_code)})
        whole = language_named(program.language).with_setup(whole, self.spec.setup_code)
        return Job(whole, ("",), self.limits)


def joined(program: str, test_code: str) -> str:
    """Return a program followed by a test, without the program's last brackets if the test closes them."""
    missing = _unmatched(test_code)[0] - _unmatched(program)[1]
    for _ in range(missing):
        program = _without_last_bracket(program)
    return f"{program}\n{test_code}"


def _without_last_bracket(program: str) -> str:
    """Return the program without a closing bracket at its end, which may be followed by a semicolon."""
    text = program.rstrip().removesuffix(";").rstrip(" \t")
    return text[:-1] if text.endswith("}") else program


def _unmatched(code: str) -> tuple[int, int]:
    """Return how many closing and how many opening brackets, outside of comments and strings, have no partner."""
    closing = opening = 0
    for character in QUIET.sub(" ", code):
        if character in OPENING:
            opening += 1
        elif character in ")]}":
            closing, opening = (closing, opening - 1) if opening else (closing + 1, opening)
    return closing, opening


def _verdict(execution: Execution) -> Verdict:
    if execution.finished:
        return Verdict.ACCEPTED
    if execution.status is Status.RUNTIME_ERROR and FAILED.search(execution.stderr):
        return Verdict.WRONG_ANSWER
    return Verdict(execution.status.value)
