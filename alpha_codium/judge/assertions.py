"""Tests that are code with assertions, which run in a separate process, out of the program's reach.

1. The left side of a pair runs the assertions against proxies, the right side the program (`drivers/asserting.py`,
   `drivers/serving.py`). Only the left side gets a token, new for each run; to pass, it exits with 0 and writes it.
2. In a sandbox without pairs the assertions run in the program's process, after it; so do assertions that replace what
   the program uses, subclass its classes, or pass objects that can't be lent; and those that import a package such as
   pandas, if the program fails them outside. Such a verdict is `in_process`, and so is one for which the program
   compared its own objects. The test's code alone decides whether this may happen.
3. Many programs under the same assertions: see `assertion_batches`.
"""

import ast
import dataclasses
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge.assertion_needs import Needs, needs_of
from alpha_codium.judge.behaviour import ENDED, Behaviour, error_shown, key_of, returned, spelt
from alpha_codium.judge.codec import decode, encode
from alpha_codium.judge.drivers import driver
from alpha_codium.judge.kinds import NotCompiled, TestKind, goes_on
from alpha_codium.languages.python.syntax import UNPARSABLE, lines_of, parse
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec, TestCase
from alpha_codium.program import PYTHON, PairJob, Program, Side
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.protocol import PairUnsupported
from alpha_codium.verdict import IN_PROCESS, OUTSIDE, Execution, PairReport, Report, Status, TestResult, Verdict

DONE = Execution(Status.FINISHED)
# Statuses of either side that override the left side's report: limits, violations, internal errors.
LIMITS_REACHED = set(Status) - {Status.FINISHED, Status.RUNTIME_ERROR, Status.COMPILATION_ERROR}
# Verdicts that a program may get outside of its process for no fault of its own, if its test is `doubtful`.
DOUBTED = (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT_EXCEEDED)
ENDED_LATE = (Status.TIME_LIMIT_EXCEEDED, Status.INTERNAL_ERROR)
# The tests' file in tracebacks: both sides of a pair have a `program.py`.
TESTS = 'File "tests.py"'
ASSERTION = re.compile(r"^[ \t]+(assert .*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class AssertionResult(TestResult):
    """The result of one run of assertions on a program.

    `failure` is the text of the exception that ended them, None if there was none. `returned` is what the program
    returned last before a failed assertion, encoded by `codec`. `output` is the value of the output variable.
    """

    failure: str | None = None
    output: Any = None
    returned: str = ""


@dataclass(frozen=True, slots=True)
class AssertionsKind(TestKind):
    """The test's input is code with assertions on what the program defines."""

    name: ClassVar[str] = "assertions"
    title: ClassVar[str] = "assertions in Python"

    sandbox: Sandbox
    limits: Limits
    spec: ExecutionSpec

    def own_fault_of(self, test: TestCase) -> str:
        """See `TestKind`; the input must be Python, and must assert something."""
        try:
            needs_of(test.input, self.spec)
        except Unjudgeable as error:
            return str(error)
        return ""

    def input_fault(self, text: str) -> str:
        """See `TestKind`; the input must be an expression."""
        return self.fault_of(TestCase(_assigning(text), ""))

    async def results(self, program: Program, tests: Sequence[TestCase], *, stop_early: bool) -> list[TestResult]:
        """See `TestKind`."""
        results: list[TestResult] = []
        for test in tests:
            result = await self.judge(program, test.input)
            if result.execution.status is Status.COMPILATION_ERROR:
                raise NotCompiled(result.execution)
            results.append(result)
            if not goes_on(result, stop_early=stop_early):
                break
        return results

    async def execute(self, program: Program, input: str) -> Execution:
        """See `TestKind`; the program and the assertions run in one process."""
        return (await self._judge_in_process(program, needs_of(input, self.spec))).execution

    async def behaviour(self, program: Program, input: str) -> Behaviour:
        """See `TestKind`; the value of an expression."""
        result = await self.judge(program, _assigning(input), output_variable="value")
        execution = result.execution
        if not execution.finished:
            return Behaviour(execution.status, shown=self.shown(execution))
        if result.verdict is not Verdict.ACCEPTED:
            return Behaviour(Status.RUNTIME_ERROR, shown=ENDED)
        return Behaviour(Status.FINISHED, key_of(spelt(result.output, exact=False)), spelt(result.output))

    async def actual_output(self, program: Program, test: TestCase, execution: Execution) -> Behaviour:
        """See `TestKind`; the compared value is found in another run, which may fail with an internal error."""
        compared = _compared(test.input)
        if execution.finished and compared:
            return await self.behaviour(program, compared)
        return Behaviour(execution.status, shown=self.shown(execution))

    def given(self, result: TestResult) -> str:
        """See `TestKind`; empty if the program returned an object of its own, or the test ran in its process."""
        return (returned(result.returned, tuples=True) if isinstance(result, AssertionResult) else None) or ""

    def failed_assertion(self, test: TestCase, execution: Execution) -> str:
        """See `TestKind`; the one in the last traceback, in the tests' code."""
        _, _, trace = execution.stderr.rpartition("Traceback (most recent call last):")
        first = next((line for frame in trace.split(TESTS)[1:] for line in ASSERTION.findall(frame)[:1]), "")
        return _whole_assertion(test.input, first) if first else ""

    def shown(self, execution: Execution) -> str:
        """See `TestKind`; without the frames of the assertions."""
        shown = error_shown(execution)
        failed = execution.status in (Status.FINISHED, Status.RUNTIME_ERROR, Status.COMPILATION_ERROR)
        return shown.strip().rpartition("\n")[2] if failed else shown

    async def judge(self, program: Program, test_code: str, output_variable: str = "") -> AssertionResult:
        """Judge `program` by code with assertions; raises Unjudgeable if it has none.

        `output_variable` names a variable, of the assertions or else of the program, whose value is returned.
        """
        needs = needs_of(test_code, self.spec)
        if needs.in_process:
            return await self._judge_in_process(program, needs, output_variable)
        token = secrets.token_hex(16)
        tests = Program.from_source(PYTHON, needs.code)
        left = Side(tests, driver("asserting"), encode((token, self.task(needs, output_variable))))
        right = Side(program, driver("serving"), encode(self.spec.setup_code))
        try:
            report = await self.sandbox.execute_pair(PairJob(left, right, self.limits))
        except PairUnsupported:
            return await self._judge_in_process(program, needs, output_variable)
        reported = AssertionReport.of(report.left, token)
        if reported.outcome == "unsupported":
            return await self._judge_in_process(program, needs, output_variable)
        result = result_of_pair(report, reported, self.limits)
        if needs.doubtful and result.verdict in DOUBTED:
            return await self._judge_in_process(program, needs, output_variable)
        return result

    def task(self, needs: Needs, output_variable: str = "", **more: Any) -> dict[str, Any]:
        """Return the assertions' needs in the form that the drivers read."""
        task = {"entry_point": self.spec.entry_point, "has_class": needs.has_class, "seed": ""}
        own = dataclasses.asdict(dataclasses.replace(needs, code=""))
        return {**own, **task, "output_variable": output_variable, **more}

    async def _judge_in_process(self, program: Program, needs: Needs, output_variable: str = "") -> AssertionResult:
        token = secrets.token_hex(16)
        more = {"test_code": needs.code, "setup_code": self.spec.setup_code}
        task = encode((token, self.task(needs, output_variable, **more)))
        report = await self.sandbox.run(program, [task], limits=self.limits, driver=driver("in_process"))
        execution = report.last.shortened()
        reported = AssertionReport.of(report, token)
        if reported.outcome == "wrong" and execution.status is Status.RUNTIME_ERROR:
            verdict = Verdict.WRONG_ANSWER
        elif execution.status is not Status.FINISHED:
            verdict = Verdict(execution.status.value)
        else:
            verdict = _verdict(passed=reported.outcome == "passed")
        return AssertionResult(verdict, execution, IN_PROCESS, failure=reported.failure, output=reported.output)


@dataclass(frozen=True, slots=True)
class AssertionReport:
    """The final report of the assertions' side; `outcome` is empty if there is no valid one."""

    outcome: str = ""
    failure: str | None = None
    believed: bool = False
    returned: str = ""
    output: Any = None

    @classmethod
    def of(cls, report: Report, token: str) -> "AssertionReport":
        """Parse the report after the token at the end of stdout; empty if it is missing, truncated or invalid."""
        words = report.executions[0].stdout.removesuffix("\n").rsplit(" ", 2) if report.executions else []
        if len(words) != 3 or words[0] != token:
            return cls()
        try:
            failure, believed, returned, output = decode(words[2])
        except (TypeError, ValueError):
            return cls()
        readable = isinstance(failure, str | None) and isinstance(believed, bool) and isinstance(returned, str)
        return cls(words[1], failure, believed, returned, output) if readable else cls()


def _assigning(expression: str) -> str:
    """Return code that stores an expression's value, with an assertion, which tests must have."""
    return f"value = ({expression}\n)\nassert True"


def _compared(test_code: str) -> str:
    """Return LEFT if the code is a single `assert LEFT == RIGHT`, else an empty string."""
    try:
        body = parse(test_code.strip()).body
    except UNPARSABLE:
        return ""
    match body:
        case [ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq() | ast.Is()]) | ast.UnaryOp(ast.Not(), left) | left)]:
            return ast.unparse(left)
    return ""


def _whole_assertion(test_code: str, first: str) -> str:
    """Return the assertion of the code that begins with this line, which is all that a traceback shows of it."""
    try:
        parse(first)
    except UNPARSABLE:
        return _assertion_from(test_code, first.strip())
    return first


def _assertion_from(test_code: str, first: str) -> str:
    try:
        tree = parse(test_code)
    except UNPARSABLE:
        return first
    lines = lines_of(test_code)
    begun = (node for node in ast.walk(tree) if isinstance(node, ast.Assert))
    found = next((node for node in begun if lines[node.lineno - 1].strip() == first), None)
    return first if found is None else ast.get_source_segment(test_code, found) or first


def _verdict(*, passed: bool) -> Verdict:
    return Verdict.ACCEPTED if passed else Verdict.WRONG_ANSWER


def result_of_pair(report: PairReport, reported: AssertionReport, limits: Limits) -> AssertionResult:
    """Return the result of a pair, given the report of the side with the assertions."""
    if not report.right.compiled:
        return AssertionResult(Verdict(report.right.compilation.status.value), report.right.compilation)
    if not report.left.compiled:
        fault = dataclasses.replace(report.left.compilation, status=Status.INTERNAL_ERROR)
        return AssertionResult(Verdict.INTERNAL_ERROR, fault)
    left, right = report.left.executions[0], report.right.executions[0]
    verdict, status = _judged(left, right, reported.outcome, limits)
    trust = IN_PROCESS if reported.believed else OUTSIDE
    failure = reported.failure if verdict in (Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR) else None
    said = {"failure": failure, "output": reported.output, "returned": reported.returned}
    return AssertionResult(verdict, _both(left, right, status), trust, **said)


def _judged(left: Execution, right: Execution, outcome: str, limits: Limits) -> tuple[Verdict, Status]:
    passed = outcome == "passed" and left.status is Status.FINISHED and left.exit_code == 0
    # How the program ends after the assertions have passed doesn't count.
    unasked = passed and right.cpu_seconds < limits.cpu_seconds
    for side in (right, left):
        if side.status in LIMITS_REACHED and not (unasked and side.status in ENDED_LATE):
            return Verdict(side.status.value), side.status
    if outcome == "raised" or (outcome == "ended" and right.status is Status.RUNTIME_ERROR):
        return Verdict.RUNTIME_ERROR, Status.RUNTIME_ERROR
    return _verdict(passed=passed), Status.FINISHED


def _both(left: Execution, right: Execution, status: Status) -> Execution:
    """Return the program's execution with the stderr and times of both sides."""
    return dataclasses.replace(
        right,
        status=status,
        stderr=right.stderr + left.stderr.replace('File "program.py"', TESTS),
        cpu_seconds=right.cpu_seconds + left.cpu_seconds,
        wall_seconds=max(right.wall_seconds, left.wall_seconds),
    ).shortened()
