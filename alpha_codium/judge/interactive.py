"""Interactive problems: an interactor, a program that talks to the candidate, decides whether it is right.

The two run at once, isolated from each other but for the pipes between their standard streams. The interactor is called
as a checker program is (`checker_programs`), without an output; for testlib, the output's file is the one that the
interactor may write to, and is discarded. Its exit status means the same. The verdict is the first of these:

1. The interactor ended first, and rejects: `wrong_answer`, and the candidate is ended.
2. The interactor ended first, without a verdict: `wrong_answer`, unless the interactor is broken.
3. The candidate crashed, or reached a limit, before or after the interactor accepted: that is the verdict. If both only
   waited for `IDLE_SECONDS`, it is `time_limit_exceeded`, with a message.
4. The candidate ended by itself, and the interactor found the end of its output: the interactor's verdict. If it gave
   none: `wrong_answer`, unless the interactor is broken.

An interactor is broken if it also fails beside a program that says nothing and waits, or beside the problem's known
solution, if there is one that can be run here. Then the verdict is `internal_error`. See "Who is to blame" in
docs/checkers.md.

Sources: icpc.io/problem-package-format, "output validators"; github.com/Kattis/problemtools, support/interactive;
github.com/MikeMirzayanov/testlib, `registerInteraction`.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from alpha_codium.checkers import INTERACTOR
from alpha_codium.errors import SandboxError, Unjudgeable
from alpha_codium.judge.behaviour import error_shown, without_addresses
from alpha_codium.judge.checker_programs import ACCEPTS, CheckerProgram, CheckerProgramKind
from alpha_codium.judge.kinds import NotCompiled, goes_on, no_verdict, require_compiled
from alpha_codium.limits import CHECKER_LIMITS, IDLE_SECONDS
from alpha_codium.problem import TestCase
from alpha_codium.program import PYTHON, Dialogue, PairJob, Program, Side
from alpha_codium.sandbox.protocol import PairUnsupported
from alpha_codium.verdict import Execution, PairReport, Status, TestResult, Verdict

# What stands between the candidate's stderr and the interactor's.
PREFIX = "the interactor said: "
NO_REASON = "(the interactor gave no reason)"
# Characters of the end of the interactor's stderr that are kept.
KEPT = 2000
# Says nothing and waits until the interactor ends.
MUTE = Program.from_source(PYTHON, "import sys\nsys.stdin.read()\n")
# Seconds for which an interactor must wait for that program.
PATIENCE = 1.0


@dataclass(frozen=True, slots=True)
class Interactor(CheckerProgram):
    """A program that talks to the candidate; it is described, started and understood as a checker program is."""

    name: ClassVar[str] = INTERACTOR
    noun: ClassVar[str] = "interactor"
    mode: ClassVar[str] = "interactive"

    def verdict_of(self, checking: Execution) -> bool | str:
        """See `CheckerProgram`; an interactor may also wait in vain."""
        return "the interactor waited for too long" if waited(checking) else CheckerProgram.verdict_of(self, checking)


@dataclass(frozen=True, slots=True)
class InteractiveKind(CheckerProgramKind):
    """The test's input and output are the interactor's; the program sees only what the interactor writes."""

    checker: Interactor  # pyrefly: ignore[bad-override] - it is a program, not a function
    # Programs that are known to be right.
    known: tuple[Program, ...] = ()
    # Tests for which the interactor was found to work.
    works: set[TestCase] = field(default_factory=set, compare=False)

    def input_fault(self, text: str) -> str:
        """See `TestKind`; an input that was made up could be one that the interactor can't read."""
        return "inputs of interactive problems are read by their interactors"

    async def results(self, program: Program, tests: Sequence[TestCase], *, stop_early: bool) -> list[TestResult]:
        """See `TestKind`; raises Unjudgeable if the interactor doesn't compile, or the sandbox can't run it."""
        interactor = await asyncio.to_thread(self.checker.side_for, self.sandbox)
        results: list[TestResult] = []
        for test in tests:
            results.append(await self._judged(interactor, program, test))
            if not goes_on(results[-1], stop_early=stop_early):
                break
        return results

    async def execute(self, program: Program, input: str) -> Execution:
        """See `TestKind`; the interactor gets an empty answer."""
        return (await self.results(program, [TestCase(input, "")], stop_early=True))[0].execution

    def given(self, result: TestResult) -> str:
        """See `TestKind`; what the interactor said about it."""
        return said_in(result.execution)

    def shown(self, execution: Execution) -> str:
        """See `TestKind`; what the interactor said, or why the program ended."""
        lines = execution.stderr.rstrip().splitlines()
        if execution.finished:
            return without_addresses(said_in(execution))
        return lines[-1] if lines and lines[-1].startswith("idleness limit") else error_shown(execution)

    async def _run(self, interactor: Side, program: Program, test: TestCase, idle: float = 0.0) -> PairReport:
        """Run the candidate beside the interactor, for `idle` seconds if both only wait.

        Raises NotCompiled and Unjudgeable.
        """
        # The candidate waits while the interactor works.
        longest = self.limits.wall_seconds + CHECKER_LIMITS.cpu_seconds
        limits = replace(self.limits, wall_seconds=longest)
        own = replace(CHECKER_LIMITS, wall_seconds=longest + CHECKER_LIMITS.cpu_seconds)
        left = replace(interactor, input=self.checker.packed(test), limits=own)
        right = Side(self.job(program, ()).program)  # with setup code
        dialogue = Dialogue(ACCEPTS[self.checker.protocol], idle or IDLE_SECONDS)
        try:
            report = await self.sandbox.execute_pair(PairJob(left, right, limits, dialogue))
        except PairUnsupported as unsupported:
            raise Unjudgeable(f"it is interactive: {unsupported}") from unsupported
        require_compiled(report.right.compilation)
        self.checker.check_compiled(report.left.compilation)
        return report

    async def _judged(self, interactor: Side, program: Program, test: TestCase) -> TestResult:
        """Return the result of one test; see the module."""
        report = await self._run(interactor, program, test)
        talk, candidate = report.left.executions[0], report.right.executions[0]
        accepted = self.checker.verdict_of(talk)
        refused_first = report.first == "left" and accepted is not True
        if candidate.status is Status.INTERNAL_ERROR or not (refused_first or candidate.finished):
            return TestResult(Verdict(candidate.status.value), candidate.shortened())
        said = talk.stderr.rstrip()[-KEPT:] or NO_REASON
        if isinstance(accepted, str):
            if not (self.checker.fails(talk) and await self._works(interactor, test)):
                return no_verdict(candidate, accepted)
            said = f"{talk.stderr.rstrip()[-KEPT:]}\n{accepted}".lstrip()
        stderr = "\n".join(filter(None, (candidate.stderr.rstrip(), PREFIX + said)))
        # How a program ended that was ended, or left alone, doesn't count.
        execution = replace(candidate, status=Status.FINISHED, stderr=stderr).shortened()
        return TestResult(Verdict.ACCEPTED if accepted is True else Verdict.WRONG_ANSWER, execution)

    async def _works(self, interactor: Side, test: TestCase) -> bool:
        """Whether the interactor fails neither beside a program that waits nor beside one that is known to be right."""
        if test not in self.works:
            talk = (await self._run(interactor, MUTE, test, PATIENCE)).left.executions[0]
            works = waited(talk) or not isinstance(self.checker.verdict_of(talk), str)
            if works and await self._decides_on_known(interactor, test):
                self.works.add(test)
        return test in self.works

    async def _decides_on_known(self, interactor: Side, test: TestCase) -> bool:
        """Whether the interactor gives a verdict on the first known program that runs well here, if there is one."""
        for program in self.known:
            with contextlib.suppress(NotCompiled, SandboxError):
                report = await self._run(interactor, program, test)
                if report.right.executions[0].finished or report.first == "left":
                    return not isinstance(self.checker.verdict_of(report.left.executions[0]), str)
        return True


def waited(checking: Execution) -> bool:
    """Whether an interactor reached a limit of time by waiting."""
    return checking.status is Status.TIME_LIMIT_EXCEEDED and checking.cpu_seconds < CHECKER_LIMITS.cpu_seconds


def said_in(execution: Execution) -> str:
    """Return what the interactor said, at the end of an execution's stderr."""
    return execution.stderr.rpartition(PREFIX)[2]
