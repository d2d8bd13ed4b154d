"""Programs with assertions: the code of the test decides, in a process that the program can't reach.

1. Left runs the assertions against proxies, right the program (see `drivers/asserting.py` and `drivers/serving.py`). A
   token, new for each run, is given to the left side only; a pass is that side ending with 0 and with the token.
2. A sandbox without pairs, and assertions that hand over what can't cross or compare objects of a class of the
   program's that they themselves name, run in the program's process, after it. Such a verdict says `in_process`. A
   program can't bring that about: what decides is in the assertions.
3. What a call does to its arguments isn't seen by the assertions.
"""

import dataclasses
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge.codec import encode
from alpha_codium.judge.drivers import driver
from alpha_codium.judge.kinds import OnResult
from alpha_codium.judge.names import Needs, needs_of
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec, TestCase
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.protocol import PairReport, PairUnsupported, Script
from alpha_codium.verdict import IN_PROCESS, Execution, Report, Status, TestResult, Verdict

DONE = Execution(Status.FINISHED)
# What ends the right side whatever the left side says of it.
LIMITS_REACHED = (
    Status.TIME_LIMIT_EXCEEDED,
    Status.MEMORY_LIMIT_EXCEEDED,
    Status.OUTPUT_LIMIT_EXCEEDED,
    Status.SANDBOX_VIOLATION,
    Status.INTERNAL_ERROR,
)
ENDED_LATE = (Status.TIME_LIMIT_EXCEEDED, Status.INTERNAL_ERROR)


@dataclass(frozen=True, slots=True)
class AssertionsKind:
    """The test's input is code with assertions on what the program defines."""

    sandbox: Sandbox
    limits: Limits
    spec: ExecutionSpec

    def fault_of(self, test: TestCase) -> str:
        """See `Kind`; the input must be Python, and must assert something."""
        try:
            needs_of(test.input, self.spec)
        except Unjudgeable as error:
            return str(error)
        return ""

    async def judge_each(self, program: str, tests: Sequence[TestCase], told: OnResult) -> Execution:
        """See `Kind`."""
        for index, test in enumerate(tests):
            result = await self._judge(program, test.input, needs_of(test.input, self.spec))
            if result.execution.status is Status.COMPILATION_ERROR:
                return result.execution
            if told(index, result):
                break
        return DONE

    async def execute(self, program: str, input: str) -> Execution:
        """See `Kind`; the program and the assertions run in one process."""
        return (await self._judge_together(program, input, needs_of(input, self.spec))).execution

    async def _judge(self, program: str, test_code: str, needs: Needs) -> TestResult:
        token = secrets.token_hex(16)
        task = (token, needs.setup_code, self.spec.entry_point, list(needs.names), list(needs.modules))
        left = Script(test_code, driver("asserting"), encode((*task, needs.calls_check)))
        right = Script(program, driver("serving"), encode(self.spec.setup_code))
        try:
            report = await self.sandbox.run_pair(left, right, limits=self.limits)
        except PairUnsupported:
            return await self._judge_together(program, test_code, needs)
        outcome = _outcome(report.left, token)
        if outcome == "unsupported" or (outcome == "foreign" and needs.has_class):
            return await self._judge_together(program, test_code, needs)
        return _result_of_pair(report, outcome, self.limits)

    async def _judge_together(self, program: str, test_code: str, needs: Needs) -> TestResult:
        token = secrets.token_hex(16)
        task = encode((token, self.spec.setup_code, self.spec.entry_point, test_code, needs.calls_check))
        report = await self.sandbox.run(program, [task], limits=self.limits, driver=driver("together"))
        execution = report.executions[0] if report.executions else report.compilation
        outcome = _outcome(report, token)
        if outcome == "wrong" and execution.status is Status.RUNTIME_ERROR:
            return TestResult(Verdict.WRONG_ANSWER, execution, IN_PROCESS)
        if execution.status is not Status.FINISHED:
            return TestResult(Verdict(execution.status.value), execution, IN_PROCESS)
        return TestResult(_verdict(passed=outcome == "passed"), execution, IN_PROCESS)


def _outcome(report: Report, token: str) -> str:
    """The outcome that follows the token at the end of stdout; nothing where there is none."""
    if not report.executions:
        return ""
    given, _, outcome = report.executions[0].stdout.removesuffix("\n").rpartition(" ")
    return outcome if given == token else ""


def _verdict(*, passed: bool) -> Verdict:
    return Verdict.ACCEPTED if passed else Verdict.WRONG_ANSWER


def _result_of_pair(report: PairReport, outcome: str, limits: Limits) -> TestResult:
    if not report.right.compiled:
        return TestResult(Verdict(report.right.compilation.status.value), report.right.compilation)
    if not report.left.compiled:
        fault = dataclasses.replace(report.left.compilation, status=Status.INTERNAL_ERROR)
        return TestResult(Verdict.INTERNAL_ERROR, fault)
    left, right = report.left.executions[0], report.right.executions[0]
    passed = outcome == "passed" and left.status is Status.FINISHED and left.exit_code == 0
    # Once the assertions have passed, the program isn't waited for: how it ended then is nothing against it.
    unasked = passed and right.cpu_seconds < limits.cpu_seconds
    for side in (right, left):
        if side.status in LIMITS_REACHED and not (unasked and side.status in ENDED_LATE):
            return TestResult(Verdict(side.status.value), _both(left, right, side.status))
    if outcome == "raised" or (outcome == "ended" and right.status is Status.RUNTIME_ERROR):
        return TestResult(Verdict.RUNTIME_ERROR, _both(left, right, Status.RUNTIME_ERROR))
    return TestResult(_verdict(passed=passed), _both(left, right, Status.FINISHED))


def _both(left: Execution, right: Execution, status: Status) -> Execution:
    """The program's execution, with what the assertions said of it."""
    return dataclasses.replace(
        right,
        status=status,
        stderr=right.stderr + left.stderr,
        cpu_seconds=right.cpu_seconds + left.cpu_seconds,
        wall_seconds=max(right.wall_seconds, left.wall_seconds),
    )
