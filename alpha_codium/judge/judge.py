"""The judge: runs a program on tests in a sandbox and compares what it printed.

1. The sandbox says how each run ended; only what finished is compared, by the problem's checker.
2. A candidate's verdict is that of its first test, in the dataset's order, that isn't accepted.
3. No test, no program, or no execution is never a pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from alpha_codium.checkers import Checker, make_checker
from alpha_codium.errors import Unjudgeable, UserError
from alpha_codium.judge.rules import Rules
from alpha_codium.limits import Limits
from alpha_codium.problem import Problem, TestCase
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Execution, Judgement, Status, TestResult, Verdict, first_failure

# What a record may call its files where it means the streams.
STREAMS = ("", "stdin", "stdout", "standard input", "standard output")
NO_PROGRAM = Execution(Status.COMPILATION_ERROR, stderr="there is no program")
NOT_RUN = Execution(Status.INTERNAL_ERROR, stderr="the sandbox didn't run this test")


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges programs by `rules` in `sandbox`."""

    sandbox: Sandbox
    rules: Rules = field(default_factory=Rules)

    def for_problem(self, problem: Problem) -> "ProblemJudge":
        """The judge of one problem; raises Unjudgeable where its checker or its kind of tests isn't supported."""
        if problem.execution_kind != "stdin":
            kind = problem.execution_kind
            raise Unjudgeable(f"problem {problem.name!r} has tests of the kind {kind!r}: only stdin can be judged yet")
        if problem.input_file not in STREAMS or problem.output_file not in STREAMS:
            files = f"{problem.input_file or 'stdin'} and {problem.output_file or 'stdout'}"
            raise Unjudgeable(f"problem {problem.name!r} uses {files}: only stdin and stdout can be judged yet")
        try:
            checker = make_checker(self.rules.checker_for(problem))
        except UserError as error:
            raise Unjudgeable(f"problem {problem.name!r}: {error}") from error
        return ProblemJudge(self.sandbox, self.rules.limits_for(problem), checker, self.rules.stop_on_first_failure)


@dataclass(frozen=True, slots=True)
class ProblemJudge:
    """Judges programs by one problem's limits and checker; knows none of its tests."""

    sandbox: Sandbox
    limits: Limits
    checker: Checker
    stop_on_first_failure: bool = False

    async def judge(self, program: str, tests: Sequence[TestCase], *, stop_early: bool | None = None) -> Judgement:
        """The verdicts of `program` on `tests`; with `stop_early`, tests after the first failure are left out."""
        if not tests:
            return Judgement(Verdict.NO_TESTS, message="there are no tests")
        if not program.strip():
            return self._uncompiled(NO_PROGRAM, tests)
        stop_early = self.stop_on_first_failure if stop_early is None else stop_early
        results: list[TestResult] = []

        def judge_one(index: int, execution: Execution) -> bool:
            results.append(TestResult(self._verdict(tests[index], execution), execution))
            return stop_early and results[-1].verdict is not Verdict.ACCEPTED

        inputs = [test.input for test in tests]
        report = await self.sandbox.run(program, inputs, limits=self.limits, stop=judge_one)
        if not report.compiled:
            return self._uncompiled(report.compilation, tests)
        stopped = stop_early and results and results[-1].verdict is not Verdict.ACCEPTED
        if not stopped:
            results += [TestResult(Verdict.INTERNAL_ERROR, NOT_RUN)] * (len(tests) - len(results))
        return Judgement(first_failure(result.verdict for result in results), tuple(results), len(tests))

    async def execute(self, program: str, input: str) -> Execution:
        """One run of `program` under the problem's limits, not compared with anything."""
        report = await self.sandbox.run(program, [input], limits=self.limits)
        return report.executions[0] if report.executions else report.compilation

    def _verdict(self, test: TestCase, execution: Execution) -> Verdict:
        if execution.status is not Status.FINISHED:
            return Verdict(execution.status.value)
        right = self.checker(test.input, test.output, execution.stdout)
        return Verdict.ACCEPTED if right else Verdict.WRONG_ANSWER

    def _uncompiled(self, compilation: Execution, tests: Sequence[TestCase]) -> Judgement:
        verdict = Verdict(compilation.status.value)
        result = TestResult(verdict, compilation)
        return Judgement(verdict, (result,) * len(tests), len(tests), message=compilation.stderr)
