"""Stages that repair a program by the tests that it fails. Tests are never changed; an AI test may be dropped.

Anchors are tests that the program is known to pass; a fix that breaks one is undone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from alpha_codium.config import Settings
from alpha_codium.flows.asking import Question, Reading, ask_or_skip
from alpha_codium.flows.context import SampleContext, shortened
from alpha_codium.flows.nearness import Nearness
from alpha_codium.flows.stages import prompt_file
from alpha_codium.flows.stages.writing import usable_tests
from alpha_codium.flows.state import FlowState, RejectedFix
from alpha_codium.flows.tasks import CodingTask
from alpha_codium.flows.variables import FAILURE
from alpha_codium.languages import TRACE_MARK
from alpha_codium.problem import Statement, TestCase
from alpha_codium.rendering import Prompt
from alpha_codium.runs.events import ProgramTraced, kept_text
from alpha_codium.verdict import Judgement, Verdict

# The variables of prompts for repairs.
FAILED = (*FAILURE, "explanation", "reflection", "trace", "objection", "rejected")
# What the model writes as the mistake if it finds the expected output of an AI test wrong.
OBJECTION = "TEST IS WRONG"


@dataclass(frozen=True)
class Fixer:
    """Base class of stages that repair a program test by test.

    A fix is kept if all anchors pass, and the test passes or, without `must_pass`, is nearer to passing.
    """

    step: ClassVar[str]
    must_pass: ClassVar[bool]

    fix_prompt: Prompt = field(**prompt_file("fix", code=True, variables=FAILED))
    analyze_prompt: Prompt = field(**prompt_file("analyze_failure", variables=FAILED))
    fix_analyzed_prompt: Prompt = field(**prompt_file("fix_analyzed", code=True, variables=(*FAILED, "analysis")))

    async def repair(
        self, state: FlowState, tests: Sequence[TestCase], context: SampleContext, fixes: int, fixes_per_test: int
    ) -> None:
        """Repair the state's program test by test, with at most `fixes` fixes, and `fixes_per_test` for each test.

        An AI test is dropped if the model objects to it. A public test whose fixes are used up, here or in an earlier
        stage, isn't tried again.
        """
        await self._anchor_public_tests(state, context)
        public, begun = state.statement.public_tests, state.fixes.total()
        for test in tests:
            if test in state.anchors:
                continue
            judgement: Judgement | None = await context.run_tests(state.program, [test])
            for _ in range(fixes_per_test):
                used_up = test in public and state.fixes[test] >= context.settings.public_tests.max_fixes_per_test
                if judgement is None or judgement.accepted or used_up or state.fixes.total() - begun >= fixes:
                    break
                judgement = await self._try_fix(state, test, judgement, context)
            if judgement is not None and judgement.accepted:
                state.add_anchor(test)

    async def _try_fix(
        self, state: FlowState, test: TestCase, failed: Judgement, context: SampleContext
    ) -> Judgement | None:
        """Ask for a fix, and keep it if it is better; return the program's judgement on the test, None if the test was
        dropped.
        """
        calls = context.calls
        reading = await self._fix(state, test, failed, context)
        state.fixes[test] += context.calls > calls  # a question that could only be repeated isn't asked
        if reading is None:
            return failed
        if reading.objected:
            state.drop_ai_test(test)
            context.record(self.step, dropped=test.input)
            return None
        fixed = await context.run_tests(reading.code, [test])
        is_better = fixed.accepted if self.must_pass else Nearness.of(fixed, [test]) > Nearness.of(failed, [test])
        rejected = await _rejected(RejectedFix(reading.code, [test], fixed), is_better, state, context)
        context.record(self.step, verdict=fixed.verdict.value, kept=rejected is None)
        if rejected is not None:
            state.rejected[test] = rejected
            return failed
        state.rejected.pop(test, None)
        state.program = reading.code
        return fixed

    async def _fix(self, state: FlowState, test: TestCase, failed: Judgement, context: SampleContext) -> Reading | None:
        """Ask for a fixed program in one call, or two with `single_stage_fix = false`; None without an answer."""
        settings = context.settings.public_tests
        task = CodingTask.of(state, context)
        variables = task.variables | await failure_of(state.program, [test], failed, context)
        objection, rejected = OBJECTION if state.is_ai_test(test) else "", state.rejected.get(test)
        variables |= {
            "explanation": state.explanation_of(test) if settings.use_test_explanations else "",
            "reflection": state.reflection if settings.use_self_reflection else "",
            # A function has no input to trace it on: its tests are code.
            "trace": "" if task.is_function else await trace_of(state.program, test, context),
            "objection": objection,
            "rejected": await _shown(rejected, context) if rejected else None,
        }
        prompt = self.fix_prompt
        if not settings.single_stage_fix:
            question = Question(self.analyze_prompt, variables, objection=objection)
            analysis = await ask_or_skip("fix", question, context)
            if analysis is None or analysis.objected:
                return analysis
            prompt, variables = self.fix_analyzed_prompt, variables | {"analysis": analysis.values}
        return await ask_or_skip("fix", Question(prompt, variables, task.form, objection=objection), context)

    async def _anchor_public_tests(self, state: FlowState, context: SampleContext) -> None:
        """Make the public tests that the program passes anchors."""
        public = state.statement.public_tests
        judgement = await context.run_tests(state.program, public)
        for test, result in zip(public, judgement.tests, strict=False):
            if result.verdict is Verdict.ACCEPTED:
                state.add_anchor(test)


@dataclass(frozen=True)
class FixPublicTests(Fixer):
    """Repairs by the public tests; a fix that is nearer to passing is kept."""

    step: ClassVar[str] = "fix_public_test"
    must_pass: ClassVar[bool] = False

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Repair the program, if there is one."""
        own, tests = context.settings.public_tests, state.statement.public_tests
        if state.program:
            await self.repair(state, tests, context, own.max_allowed_calls, own.max_fixes_per_test)

    def calls(self, settings: Settings, statement: Statement) -> tuple[int, int]:
        """Return the least and the most calls."""
        own = settings.public_tests
        fixes = min(own.max_allowed_calls, own.max_fixes_per_test * len(usable_tests(statement)))
        return 0, fixes if own.single_stage_fix else 2 * fixes


@dataclass(frozen=True)
class FixAiTests(Fixer):
    """Repairs by the AI tests, with public tests first and last.

    A fix is kept only if it passes the test and all anchors, so that wrong tests do no harm.
    """

    step: ClassVar[str] = "fix_ai_test"
    must_pass: ClassVar[bool] = True

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Repair the program, if there is one."""
        settings = context.settings
        public = state.statement.public_tests if settings.generate_ai_tests.add_public_tests_to_ai_tests else ()
        if state.program:
            tests = [*public, *(test.test for test in state.ai_tests), *public]
            await self.repair(state, tests, context, settings.ai_tests.max_allowed_calls, fixes_per_test=1)

    def calls(self, settings: Settings, statement: Statement) -> tuple[int, int]:
        """Return the least and the most calls."""
        tests = settings.generate_ai_tests.number_of_ai_tests
        if settings.generate_ai_tests.add_public_tests_to_ai_tests:
            tests += 2 * len(usable_tests(statement))
        fixes = min(settings.ai_tests.max_allowed_calls, tests)
        return 0, fixes if settings.public_tests.single_stage_fix else 2 * fixes


async def _rejected(fix: RejectedFix, is_better: bool, state: FlowState, context: SampleContext) -> RejectedFix | None:
    """Return why a fix is rejected: it isn't better on its test, or it breaks an anchor; None if it is kept."""
    if not is_better or not state.anchors:
        return None if is_better else fix
    judgement = await context.run_tests(fix.program, state.anchors, stop_early=True)
    return None if judgement.accepted else RejectedFix(fix.program, tuple(state.anchors), judgement)


async def _shown(fix: RejectedFix, context: SampleContext) -> dict[str, Any]:
    """Return the variable `rejected` of prompts."""
    return await failure_of(fix.program, fix.tests, fix.judgement, context)


async def failure_of(
    program: str, tests: Sequence[TestCase], failed: Judgement, context: SampleContext
) -> dict[str, Any]:
    """Return the variables of prompts for the first failed test: `program`, `test`, `actual` and `verdict`.

    `failed` is the program's judgement on `tests`.
    """
    pairs = list(zip(tests, failed.tests, strict=False))
    test, result = next((pair for pair in pairs if pair[1].verdict is not Verdict.ACCEPTED), pairs[0])
    actual = await context.actual_output(program, test, result.execution)
    return {
        "program": program.rstrip(),
        "test": TestCase(shortened(test.input.rstrip()), shortened(test.output.rstrip())),
        "actual": shortened(actual.rstrip()),
        "verdict": result.verdict.value,
    }


async def trace_of(program: str, test: TestCase, context: SampleContext) -> str:
    """Return a compact trace of a program's run on one test, for prompts; "" unless `use_trace` is set.

    With `[code_tester] calc_trace` or `use_trace`, the program runs again under its language's tracer, which prints
    each executed line with the local names that changed.
    """
    settings = context.settings.code_tester
    if not (settings.calc_trace or settings.use_trace):
        return ""
    traced = context.language.traced(program, depth=settings.trace_depth, lines=settings.max_trace_lines)
    if traced == program:
        return ""  # there is no tracer for this language
    execution = await context.judge.execute(context.made(traced), test.input)
    lines = [line.removeprefix(TRACE_MARK) for line in execution.stderr.splitlines() if line.startswith(TRACE_MARK)]
    trace = "\n".join(lines[-settings.max_trace_lines :])
    context.events.append(ProgramTraced(kept_text(trace)))
    return trace if settings.use_trace else ""
