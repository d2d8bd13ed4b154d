"""How the tests of a problem run a program: one class for each kind of tests, all behind `Kind`."""

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from alpha_codium.checkers import Checker
from alpha_codium.judge.codec import Unencodable, encode
from alpha_codium.judge.drivers import driver
from alpha_codium.judge.runner import Runner
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec, TestCase
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Execution, Status, TestResult, Verdict

# Told a test's index and its result: whether to leave out the tests after it.
OnResult = Callable[[int, TestResult], bool]
INVALID = object()
# Characters from which on arguments are read faster as JSON.
LARGE_ARGUMENTS = 10_000


class Kind(Protocol):
    """Runs programs on tests of one kind and tells each result."""

    def fault_of(self, test: TestCase) -> str:
        """Why `test` is none of this kind, in one line; nothing where it is one. Tests at fault aren't run."""
        ...

    async def judge_each(self, program: str, tests: Sequence[TestCase], told: OnResult) -> Execution:
        """Judge `program` by each test, in order, until `told` says so; gives the compilation."""
        ...

    async def execute(self, program: str, input: str) -> Execution:
        """One run of `program` on a test's input, not compared with anything."""
        ...


@dataclass(frozen=True, slots=True)
class StdinKind:
    """The test's input is what the program reads; the checker compares what it prints."""

    runner: Runner
    checker: Checker

    def fault_of(self, test: TestCase) -> str:
        """See `Kind`; any text may be read and printed, if it fits where a file has to hold it."""
        return self.runner.fault_of(test)

    async def judge_each(self, program: str, tests: Sequence[TestCase], told: OnResult) -> Execution:
        """See `Kind`."""

        def judged(index: int, execution: Execution) -> bool:
            return told(index, TestResult(verdict_of(self.checker, tests[index], execution), execution.shortened()))

        return (await self.runner.run(program, [test.input for test in tests], judged)).compilation

    async def execute(self, program: str, input: str) -> Execution:
        """See `Kind`."""
        return await self.runner.execute(program, input)


@dataclass(frozen=True, slots=True)
class CallKind:
    """The test's input is a JSON list of arguments; the checker compares what the entry point returns.

    The driver `call` writes that as `codec` spells it, and `call_result` compares it out here.
    """

    sandbox: Sandbox
    limits: Limits
    checker: Checker
    spec: ExecutionSpec

    def fault_of(self, test: TestCase) -> str:
        """See `Kind`; the input must be a JSON list, the output JSON."""
        return _fault_of_call(test)

    async def judge_each(self, program: str, tests: Sequence[TestCase], told: OnResult) -> Execution:
        """See `Kind`."""

        def judged(index: int, execution: Execution) -> bool:
            return told(index, TestResult(verdict_of(self.checker, tests[index], execution), execution.shortened()))

        program = _loading_early(program, self.spec.setup_code)
        inputs = [self._input(test.input) for test in tests]
        report = await self.sandbox.run(program, inputs, limits=self.limits, stop=judged, driver=driver("call"))
        return report.compilation

    async def execute(self, program: str, input: str) -> Execution:
        """See `Kind`; what was returned is on stdout, as `codec` spells it."""
        report = await self.sandbox.run(program, [self._input(input)], limits=self.limits, driver=driver("call"))
        return report.executions[0] if report.executions else report.compilation

    def _input(self, arguments: str) -> str:
        return encode((self.spec.entry_point, self.spec.setup_code)) + "\n" + _spelt(arguments)


@functools.lru_cache(maxsize=256)
def _fault_of_call(test: TestCase) -> str:
    if not isinstance(_json_of(test.input), list):
        return f"the input of a call must be a JSON list of arguments, not {test.input[:80]!r}"
    if _json_of(test.output) is INVALID:
        return f"the output of a call must be JSON, not {test.output[:80]!r}"
    return ""


@functools.lru_cache(maxsize=256)
def _spelt(arguments: str) -> str:
    """The arguments as the driver reads them fastest."""
    if len(arguments) >= LARGE_ARGUMENTS:
        return arguments
    try:
        return encode(json.loads(arguments))
    except Unencodable:  # they are nested very deep
        return arguments


def _loading_early(program: str, setup_code: str) -> str:
    """The program with a comment that has a sandbox load the setup code's modules once, not in each test.

    The empty line is for a program that ends in a backslash.
    """
    imports = [line for line in setup_code.splitlines() if "import" in line]
    return "\n# ".join([f"{program}\n", *imports]) if imports else program


def _json_of(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return INVALID


def verdict_of(checker: Checker, test: TestCase, execution: Execution) -> Verdict:
    """The verdict on one execution: what finished is compared, all else speaks for itself."""
    if execution.status is not Status.FINISHED:
        return Verdict(execution.status.value)
    right = checker(test.input, test.output, execution.stdout)
    return Verdict.ACCEPTED if right else Verdict.WRONG_ANSWER
