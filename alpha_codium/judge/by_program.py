"""Tests whose outputs a checker program judges, in the same sandbox as the candidate.

1. The candidate runs on a few tests, and what it printed is kept whole; then the checker runs on each output, in a
   process of its own that knows nothing of the others. More tests follow, four times as many each time, as long as
   nobody stops it: a program that fails at once isn't run on all of them.
2. A slice ends early where its outputs fill memory.
3. A checker that gives no verdict is our fault: `internal_error`, with its last words.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge.checker_program import CHECKER_LIMITS, CheckerProgram
from alpha_codium.judge.drivers import driver
from alpha_codium.judge.kinds import OnResult
from alpha_codium.judge.runner import Runner, fault_of_size
from alpha_codium.problem import TestCase
from alpha_codium.verdict import Execution, Status, TestResult, Verdict

FIRST_TESTS, GROWTH = 4, 4
# Characters of outputs beyond which a slice ends.
SLICE = 32 << 20


@dataclass(frozen=True, slots=True)
class ProgramKind:
    """The test's input is what the program reads; a checker program looks at what it prints."""

    runner: Runner
    checker: CheckerProgram

    def fault_of(self, test: TestCase) -> str:
        """See `Kind`; the checker finds the test in files, and a program may, too."""
        return fault_of_size(test.input, test.output)

    async def judge_each(self, program: str, tests: Sequence[TestCase], told: OnResult) -> Execution:
        """See `Kind`; raises Unjudgeable where the checker doesn't compile."""
        checker = await asyncio.to_thread(self.checker.program)
        done, size = 0, FIRST_TESTS
        while True:
            compilation, executions = await self._run(program, [test.input for test in tests[done : done + size]])
            telling = _Telling(tests[done:], executions, done, told)
            await self._check(checker, telling)
            done, size = done + len(executions), size * GROWTH
            if telling.stopped or not executions or done == len(tests):
                return compilation

    async def execute(self, program: str, input: str) -> Execution:
        """See `Kind`."""
        return await self.runner.execute(program, input)

    async def _run(self, program: str, inputs: Sequence[str]) -> tuple[Execution, list[Execution]]:
        """The compilation, and executions with whole outputs, until those fill a slice."""
        executions: list[Execution] = []
        printed = 0

        def collect(_index: int, execution: Execution) -> bool:
            nonlocal printed
            executions.append(execution)
            printed += len(execution.stdout)
            return printed >= SLICE

        return (await self.runner.run(program, inputs, collect)).compilation, executions

    async def _check(self, checker: str, telling: "_Telling") -> None:
        """Run the checker on the outputs of what finished, and tell all results in order."""
        if telling.tell() or not telling.unknown:
            return
        places = list(telling.unknown)

        def checked(index: int, checking: Execution) -> bool:
            telling.know(places[index], self.checker.verdict_of(checking))
            return telling.tell()

        packed = [self.checker.packed(telling.tests[at], telling.executions[at].stdout) for at in places]
        report = await self.runner.sandbox.run(
            checker, packed, limits=CHECKER_LIMITS, stop=checked, driver=driver("checking")
        )
        if not report.compiled:
            lines = report.compilation.stderr.strip().splitlines() or [report.compilation.status.value]
            raise Unjudgeable(f"its checker doesn't compile: {lines[-1].strip()[:300]}")


class _Telling:
    """The results of some tests, told in order as soon as they are known."""

    def __init__(self, tests: Sequence[TestCase], executions: Sequence[Execution], first: int, told: OnResult) -> None:
        self.tests, self.executions = tests, executions
        self.stopped = False
        self._first, self._told, self._next = first, told, 0
        self._results = {
            at: TestResult(Verdict(execution.status.value), execution.shortened())
            for at, execution in enumerate(executions)
            if execution.status is not Status.FINISHED
        }

    @property
    def unknown(self) -> list[int]:
        """The places of those that only the checker can tell of."""
        return [at for at in range(len(self.executions)) if at not in self._results]

    def know(self, at: int, accepted: bool | str) -> None:
        """Take the checker's verdict on one, or the reason why it gave none."""
        execution = self.executions[at].shortened()
        if isinstance(accepted, str):
            execution = replace(execution, status=Status.INTERNAL_ERROR, stderr=accepted)
            self._results[at] = TestResult(Verdict.INTERNAL_ERROR, execution)
        else:
            self._results[at] = TestResult(Verdict.ACCEPTED if accepted else Verdict.WRONG_ANSWER, execution)

    def tell(self) -> bool:
        """Tell what is known, up to the first that isn't, until told to stop; whether it was."""
        while not self.stopped and self._next in self._results:
            self.stopped = self._told(self._first + self._next, self._results[self._next])
            self._next += 1
        return self.stopped
