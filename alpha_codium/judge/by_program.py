"""Tests whose outputs a checker program judges, in the same sandbox as the candidate.

1. The candidate runs on a few tests, and what it printed is kept whole; then the checker runs on each output, in a
   process of its own that knows nothing of the others. More tests follow, four times as many each time, as long as
   nobody stops it: a program that fails at once isn't run on all of them.
2. A slice ends early where its outputs fill memory.
3. A checker that gives no verdict is our fault: `internal_error`, with its last words.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge.checker_program import CheckerProgram
from alpha_codium.judge.drivers import driver
from alpha_codium.judge.kinds import StdinKind, goes_on, require_compiled
from alpha_codium.judge.runner import fault_of_size
from alpha_codium.limits import CHECKER_LIMITS
from alpha_codium.problem import TestCase
from alpha_codium.program import PYTHON, Job, Program
from alpha_codium.verdict import Execution, Status, TestResult, Verdict

FIRST_TESTS, GROWTH = 4, 4
# Characters of outputs beyond which a slice ends.
SLICE = 32 << 20


@dataclass(frozen=True, slots=True)
class CheckerProgramKind(StdinKind):
    """The test's input is what the program reads; a checker program looks at what it prints."""

    checker: CheckerProgram  # pyrefly: ignore[bad-override] - it is a program, not a function

    def fault_of(self, test: TestCase) -> str:
        """See `TestKind`; the checker finds the test in files, and a program may, too."""
        return fault_of_size(test.input, test.output)

    async def results(self, program: Program, tests: Sequence[TestCase], *, stop_early: bool) -> list[TestResult]:
        """See `TestKind`; raises Unjudgeable if the checker doesn't compile."""
        checker = await asyncio.to_thread(self.checker.program)
        results: list[TestResult] = []
        size = FIRST_TESTS
        while True:
            rest = tests[len(results) :]
            executions = await self._slice(program, [test.input for test in rest[:size]])
            results += await self._checked(checker, rest, executions, stop_early=stop_early)
            stopped = bool(results) and not goes_on(results[-1], stop_early=stop_early)
            if stopped or not executions or len(results) == len(tests):
                return results
            size *= GROWTH

    async def _slice(self, program: Program, inputs: Sequence[str]) -> list[Execution]:
        """Executions with whole outputs, until those fill a slice."""
        kept: list[Execution] = []

        def keep(execution: Execution) -> bool:
            kept.append(execution)
            return sum(len(each.stdout) for each in kept) < SLICE

        require_compiled(await self.runner.sandbox.consume(self.runner.job(program, inputs), keep))
        return kept

    async def _checked(
        self, checker: str, tests: Sequence[TestCase], executions: Sequence[Execution], *, stop_early: bool
    ) -> list[TestResult]:
        """The results of some tests; the checker looks at the outputs of those that finished."""
        results = {
            place: TestResult(Verdict(execution.status.value), execution.shortened())
            for place, execution in enumerate(executions)
            if not execution.finished
        }
        end = min(results, default=len(executions)) if stop_early else len(executions)
        places = [place for place in range(end) if place not in results]
        unchecked = iter(places)

        def take(check: Execution) -> bool:
            place = next(unchecked)
            results[place] = self._result(executions[place].shortened(), check)
            return goes_on(results[place], stop_early=stop_early)

        if places:
            await self._check(checker, [(tests[place], executions[place]) for place in places], take)
        return in_order(results, stop_early=stop_early)

    async def _check(
        self, checker: str, outputs: Sequence[tuple[TestCase, Execution]], on_execution: Callable[[Execution], bool]
    ) -> None:
        """Run the checker on outputs, each in a process of its own; raises Unjudgeable if it doesn't compile."""
        inputs = tuple(self.checker.packed(test, execution.stdout) for test, execution in outputs)
        job = Job(Program.from_source(PYTHON, checker), inputs, CHECKER_LIMITS, driver("checking"))
        compilation = await self.runner.sandbox.consume(job, on_execution)
        if not compilation.finished:
            lines = compilation.stderr.strip().splitlines() or [compilation.status.value]
            raise Unjudgeable(f"its checker doesn't compile: {lines[-1].strip()[:300]}")

    def _result(self, execution: Execution, check: Execution) -> TestResult:
        accepted = self.checker.verdict_of(check)
        if isinstance(accepted, str):
            execution = replace(execution, status=Status.INTERNAL_ERROR, stderr=accepted)
            return TestResult(Verdict.INTERNAL_ERROR, execution)
        return TestResult(Verdict.ACCEPTED if accepted else Verdict.WRONG_ANSWER, execution)


def in_order(results: Mapping[int, TestResult], *, stop_early: bool) -> list[TestResult]:
    """The results from the first place on, up to a gap or, with `stop_early`, to the first that isn't accepted."""
    found: list[TestResult] = []
    while len(found) in results and (not found or goes_on(found[-1], stop_early=stop_early)):
        found.append(results[len(found)])
    return found
