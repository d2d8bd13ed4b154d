"""The tool's interface to alpha_codium; the only file to change when internals of the package are renamed."""

from collections.abc import Callable, Sequence
from typing import Any, Self

from benchmarks.verdicts.rows import Row


class Package:
    """An adapter to alpha_codium, with plain values as arguments and results.

    Only this class and `CountingSandbox` use internals of the package.
    """

    def __init__(self, backend: str, workers: int) -> None:
        from alpha_codium.config import load_settings
        from alpha_codium.judge import Rules
        from alpha_codium.sandbox import sandbox_of

        settings = load_settings(overrides=[f"code_tester.tester_type={backend}", f"code_tester.workers={workers}"])
        self.sandbox, self.rules = sandbox_of(settings), Rules.of(settings.code_tester)

    async def __aenter__(self) -> Self:
        self.sandbox = await self.sandbox.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.sandbox.__aexit__(*error)

    async def judge(self, record: Row, setup: str, program: str, *, stop_early: bool) -> Row:
        """Judge one program by all tests of the raw record `record`.

        `setup` selects the part of a prompt's code that the program may use, as in `gencode eval score --setup`.
        """
        from alpha_codium.errors import Unjudgeable
        from alpha_codium.judge import Judge
        from alpha_codium.problem import TestType
        from alpha_codium.verdict import Judgement, Verdict

        problem = self._problem(record, setup)
        tests = problem.tests(tuple(TestType))
        sandbox = CountingSandbox(self.sandbox)
        try:
            judge = Judge(sandbox, self.rules).for_problem(problem)
            judgement = await judge.judge(program, tests, stop_early=stop_early)
        except Unjudgeable as reason:
            judgement = Judgement(Verdict.INTERNAL_ERROR, tests_total=len(tests), message=str(reason))
        return {
            "verdict": judgement.verdict.value,
            "message": judgement.message,
            "compilation": sandbox.compilation,
            "executions_run": sandbox.executions,
            "cpu_limit": self.rules.limits_for(problem).cpu_seconds,
            "tests": [self._outcome_of(result) for result in judgement.tests],
        }

    async def judge_batch(self, record: Row, setup: str, programs: Sequence[str]) -> list[Row]:
        """Judge programs as a batch, by the assertions of the raw record `record`."""
        from alpha_codium.judge import assertion_batches as batches
        from alpha_codium.judge.assertions import AssertionsKind
        from alpha_codium.problem import TestCase
        from alpha_codium.program import as_program

        problem = self._problem(record, setup)
        limits, code = self.rules.limits_for(problem), problem.execution.test_code
        kind = AssertionsKind(self.sandbox, limits, problem.execution)
        if hasattr(batches, "judge_batch"):  # earlier states of the package
            results = await batches.judge_batch(kind, [batches.AssertionJob(program, code) for program in programs])
        else:
            runs = [batches.AssertionRun(kind, as_program(program), [TestCase(code, "")]) for program in programs]
            results = [each[0] for each in await batches.judge_batch(runs)]
        return [
            {
                "verdict": result.verdict.value,
                "message": result.failure or "",
                "compilation": None,
                "executions_run": None,
                "cpu_limit": limits.cpu_seconds,
                "tests": [self._outcome_of(result)],
            }
            for result in results
        ]

    @staticmethod
    def _problem(record: Row, setup: str) -> Any:
        from alpha_codium.data.samples.setup import with_setup
        from alpha_codium.data.schema import problem_from_record

        return with_setup(problem_from_record(record), setup)

    @staticmethod
    def _outcome_of(result: Any) -> Row:
        return {
            "verdict": result.verdict.value,
            "status": result.execution.status.value,
            "trust": result.trust,
            "stdout": result.execution.stdout,
            "stderr": result.execution.stderr,
            "cpu_seconds": result.execution.cpu_seconds,
        }


class CountingSandbox:
    """A sandbox that counts executions, and keeps the compilation of the first program."""

    def __init__(self, sandbox: Any) -> None:
        self.sandbox = sandbox
        self.executions = 0
        self.compilation = "not_compiled"

    def __getattr__(self, name: str) -> Any:
        """Return what the judge asks of the sandbox itself."""
        return getattr(self.sandbox, name)

    async def consume(self, job: Any, on_execution: Callable[[Any], bool]) -> Any:
        """See `Sandbox.consume`."""

        def count(execution: Any) -> bool:
            self.executions += 1
            return on_execution(execution)

        compilation = await self.sandbox.consume(job, count)
        self._compiled(compilation)
        return compilation

    async def run(self, *arguments: Any, **options: Any) -> Any:
        """See `Sandbox.run`."""
        report = await self.sandbox.run(*arguments, **options)
        self._count(report)
        return report

    async def execute_pair(self, job: Any) -> Any:
        """See `Sandbox.execute_pair`; the program is on the right side."""
        report = await self.sandbox.execute_pair(job)
        self._count(report.right)
        self._count(report.left)
        return report

    def _count(self, report: Any) -> None:
        self.executions += len(report.executions)
        self._compiled(report.compilation)

    def _compiled(self, compilation: Any) -> None:
        if self.compilation == "not_compiled":
            self.compilation = compilation.status.value
