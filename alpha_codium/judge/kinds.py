"""Kinds of tests: one class for each way in which the tests of a problem run a program, all derived from `TestKind`."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from alpha_codium.checkers import Checker
from alpha_codium.judge.behaviour import Behaviour
from alpha_codium.language_table import LANGUAGES
from alpha_codium.languages import language_named
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec, TestCase
from alpha_codium.program import PYTHON, Job, Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.values import surrogate_in
from alpha_codium.verdict import Execution, Status, TestResult, Verdict


class NotCompiled(Exception):
    """The program doesn't compile, or the sandbox failed to compile it; `execution` is that of the compiler."""

    def __init__(self, execution: Execution) -> None:
        super().__init__(execution.stderr)
        self.execution = execution


class CheckerFailed(Exception):
    """A checker raised an exception, or reached a limit; `broken` if it did so on the expected output, too.

    The text names the checker.
    """

    def __init__(self, reason: str, *, broken: bool) -> None:
        super().__init__(reason)
        self.broken = broken


class TestKind(ABC):
    """Runs programs on tests of one kind, and shows what they do on inputs without an expected output."""

    __slots__ = ()
    name: ClassVar[str]
    # What messages call the tests.
    title: ClassVar[str] = "such tests"

    if TYPE_CHECKING:

        @property
        def limits(self) -> Limits:
            """The limits of a test; a field of each kind."""

    def with_limits(self, limits: Limits) -> Self:
        """Return the same tests with other limits."""
        return replace(cast(Any, self), limits=limits)

    def why_not(self, language: str) -> str:
        """Return why programs in a language can't be run on such tests, empty if they can."""
        return "" if is_driven(language, self.name) else f"{title_of(language)} programs can't be run by {self.title}"

    def fault_of(self, test: TestCase) -> str:
        """Return why `test` is malformed, in one line, empty if it isn't. Malformed tests aren't run."""
        reason = surrogate_in(test.input, test.output)
        return f"the test is {reason}" if reason else self.own_fault_of(test)

    @abstractmethod
    def own_fault_of(self, test: TestCase) -> str:
        """Return why `test`, which is valid Unicode, is malformed for this kind."""

    def input_fault(self, text: str) -> str:
        """Return why `text` is not an input for `behaviour`, empty if it is one."""
        return self.fault_of(TestCase(text, "null"))

    @abstractmethod
    async def results(self, program: Program, tests: Sequence[TestCase], *, stop_early: bool) -> list[TestResult]:
        """Return the results of the tests, in order; with `stop_early` none after the first that isn't accepted.

        Raises NotCompiled, and Unjudgeable if the checker doesn't compile.
        """

    @abstractmethod
    async def execute(self, program: Program, input: str) -> Execution:
        """Run `program` once on a test's input, without comparing its output."""

    @abstractmethod
    async def behaviour(self, program: Program, input: str) -> Behaviour:
        """Run `program` on an input without an expected output."""

    async def actual_output(self, program: Program, test: TestCase, execution: Execution) -> Behaviour:
        """Return what a program that failed `test` by this execution gave instead: an output, a value or an error."""
        return Behaviour(execution.status, shown=self.shown(execution))

    def given(self, result: TestResult) -> str:
        """Return the actual output, or value, of a program in a test that it failed; empty if there is none."""
        return result.execution.stdout

    def printed(self, result: TestResult) -> str:
        """Return what a program printed in a test, or the value that it returned if the test calls a function."""
        return result.execution.stdout

    def failed_assertion(self, test: TestCase, execution: Execution) -> str:
        """Return the assertion of the test that failed; empty if there is none."""
        return ""

    @abstractmethod
    def shown(self, execution: Execution) -> str:
        """Return an execution as text for a reader: the program's output, or the reason why it ended."""


@dataclass(frozen=True, slots=True)
class ComparedKind(TestKind):
    """Tests with outputs that a checker compares, one execution each."""

    sandbox: Sandbox
    limits: Limits
    checker: Checker

    @abstractmethod
    def job(self, program: Program, inputs: Sequence[str]) -> Job:
        """Return a job that runs `program` on each input, with its output on stdout."""

    async def results(self, program: Program, tests: Sequence[TestCase], *, stop_early: bool) -> list[TestResult]:
        """See `TestKind`; outputs are compared in a thread."""
        results: list[TestResult] = []

        def compare(execution: Execution) -> bool:
            results.append(self._result(tests[len(results)], execution))
            return goes_on(results[-1], stop_early=stop_early)

        require_compiled(await self.sandbox.consume(self.job(program, [test.input for test in tests]), compare))
        return results

    def _result(self, test: TestCase, execution: Execution) -> TestResult:
        """The result of one test; a checker that fails on this output only makes it wrong."""
        if not execution.finished:
            return TestResult(Verdict(execution.status.value), execution.shortened())
        try:
            accepted = self.checker(test.input, test.output, execution.stdout)
        except CheckerFailed as error:
            if error.broken:
                return no_verdict(execution, str(error))
            return TestResult(Verdict.WRONG_ANSWER, replace(execution.shortened(), stderr=str(error)))
        return TestResult(Verdict.ACCEPTED if accepted else Verdict.WRONG_ANSWER, execution.shortened())

    async def execute(self, program: Program, input: str) -> Execution:
        """See `TestKind`; returns the compiler's execution if the compilation failed."""
        return (await report_of(self.sandbox, self.job(program, [input]))).last


def no_verdict(execution: Execution, why: str) -> TestResult:
    """Return `internal_error` for a test whose checker failed."""
    execution = replace(execution.shortened(), status=Status.INTERNAL_ERROR, stderr=why)
    return TestResult(Verdict.INTERNAL_ERROR, execution)


def goes_on(result: TestResult, *, stop_early: bool) -> bool:
    """Whether more tests run after this result."""
    return not stop_early or result.verdict is Verdict.ACCEPTED


def require_compiled(compilation: Execution) -> None:
    """Raise NotCompiled unless the compiler's execution is `finished`."""
    if not compilation.finished:
        raise NotCompiled(compilation)


def is_batched(spec: ExecutionSpec, language: str) -> bool:
    """Whether programs in a language can be judged together by the tests of a problem, if they have the same limits."""
    return not spec.has_outputs and spec.language == language == PYTHON


def title_of(language: str) -> str:
    """Return a language's name for people."""
    return language_named(language).title if language in LANGUAGES else language


def is_driven(language: str, by: str) -> bool:
    """Whether programs in a language can be run by this kind of driver; see `Language.driven_by`."""
    return language in LANGUAGES and by in language_named(language).driven_by
