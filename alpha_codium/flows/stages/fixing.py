"""Repairing a program by the tests it fails. The code is blamed, never the test.

Anchors are all tests that the program is known to pass; a fix that breaks one is undone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from alpha_codium.config import Settings
from alpha_codium.flows.asking import NoAnswer, ask
from alpha_codium.flows.context import SampleContext, shortened
from alpha_codium.flows.nearness import nearness
from alpha_codium.flows.stages.parameters import prompt_file
from alpha_codium.flows.state import FlowState
from alpha_codium.flows.tasks import CodingTask
from alpha_codium.flows.trace import trace_of
from alpha_codium.problem import Statement, TestCase
from alpha_codium.rendering import Prompt
from alpha_codium.verdict import Judgement, Verdict


@dataclass(frozen=True)
class Fixer:
    """Asks for a repaired program, in one call or, with `single_stage_fix = false`, in two."""

    fix_prompt: Prompt = field(**prompt_file("fix", code=True))
    analyze_prompt: Prompt = field(**prompt_file("analyze_failure"))
    fix_analyzed_prompt: Prompt = field(**prompt_file("fix_analyzed", code=True))

    async def fix(self, state: FlowState, test: TestCase, failed: Judgement, context: SampleContext) -> str | None:
        """A new program for one failed test, or None where the model gives none."""
        settings = context.settings.public_tests
        task = CodingTask.of(state, context)
        variables = task.variables | await failure_of(state.program, test, failed, context)
        variables |= {
            "explanation": state.explanation_of(test) if settings.use_test_explanations else "",
            "reflection": state.reflection if settings.use_self_reflection else "",
            "trace": await self._trace(state, test, context),
        }
        try:
            if settings.single_stage_fix:
                return (await ask(self.fix_prompt, variables, context, task.form)).code
            analysis = (await ask(self.analyze_prompt, variables, context)).values
            return (await ask(self.fix_analyzed_prompt, variables | {"analysis": analysis}, context, task.form)).code
        except NoAnswer as error:
            context.skip("fix", error)
            return None

    async def _trace(self, state: FlowState, test: TestCase, context: SampleContext) -> str:
        # A function's run begins with the test's code: there is no input to trace it on.
        return await trace_of(state.program, test, context) if context.judge.kind.name == "stdin" else ""

    async def anchor_public_tests(self, state: FlowState, context: SampleContext) -> None:
        """The public tests that the program passes are anchors, whatever stages came before."""
        public = state.statement.public_tests
        judgement = await context.run_tests(state.program, public)
        for test, result in zip(public, judgement.tests, strict=False):
            if result.verdict is Verdict.ACCEPTED:
                state.add_anchor(test)


@dataclass(frozen=True)
class FixPublicTests(Fixer):
    """Goes through the public tests; `max_allowed_calls` fixes in all and `max_fixes_per_test` for each."""

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Repair by public tests; a fix that doesn't pass the test is kept if it comes nearer."""
        if not state.program:
            return
        settings = context.settings.public_tests
        left = settings.max_allowed_calls
        await self.anchor_public_tests(state, context)
        for test in state.statement.public_tests:
            if test in state.anchors:
                continue
            judgement = await context.run_tests(state.program, [test])
            for _ in range(min(left, settings.max_fixes_per_test)):
                if judgement.accepted:
                    break
                left -= 1
                judgement = await self._improve(state, test, judgement, context)
            if judgement.accepted:
                state.add_anchor(test)

    def calls(self, settings: Settings, statement: Statement) -> tuple[int, int]:
        """The least and the most calls, without those for answers that can't be read."""
        own = settings.public_tests
        fixes = min(own.max_allowed_calls, own.max_fixes_per_test * len(statement.public_tests))
        return 0, fixes if own.single_stage_fix else 2 * fixes

    async def _improve(self, state: FlowState, test: TestCase, failed: Judgement, context: SampleContext) -> Judgement:
        """One fix: the judgement of the program that is kept, on this test."""
        program = await self.fix(state, test, failed, context)
        if program is None:
            return failed
        judgement = await context.run_tests(program, [test])
        nearer = nearness(judgement, [test]) > nearness(failed, [test])
        kept = nearer and await passes_all(program, state.anchors, context)
        context.record("fix_public_test", verdict=judgement.verdict.value, kept=kept)
        if not kept:
            return failed
        state.program = program
        return judgement


@dataclass(frozen=True)
class FixAiTests(Fixer):
    """Goes through the AI tests, `max_allowed_calls` fixes in all and one for each, public tests first and last.

    A fix is kept only if the test and every anchor pass: an AI test that is wrong can do no harm.
    """

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Repair by AI tests."""
        if not state.program:
            return
        left = context.settings.ai_tests.max_allowed_calls
        await self.anchor_public_tests(state, context)
        for test in self._tests(state, context):
            if test in state.anchors:
                continue
            judgement = await context.run_tests(state.program, [test])
            if not judgement.accepted and left > 0:
                left -= 1
                judgement = await self._repair(state, test, judgement, context)
            if judgement.accepted:
                state.add_anchor(test)

    def calls(self, settings: Settings, statement: Statement) -> tuple[int, int]:
        """The least and the most calls, without those for answers that can't be read."""
        tests = settings.generate_ai_tests.number_of_ai_tests
        if settings.generate_ai_tests.add_public_tests_to_ai_tests:
            tests += 2 * len(statement.public_tests)
        fixes = min(settings.ai_tests.max_allowed_calls, tests)
        return 0, fixes if settings.public_tests.single_stage_fix else 2 * fixes

    def _tests(self, state: FlowState, context: SampleContext) -> Sequence[TestCase]:
        ai_tests = [test.test for test in state.ai_tests]
        if not context.settings.generate_ai_tests.add_public_tests_to_ai_tests:
            return ai_tests
        public = state.statement.public_tests
        return [*public, *ai_tests, *public]

    async def _repair(self, state: FlowState, test: TestCase, failed: Judgement, context: SampleContext) -> Judgement:
        program = await self.fix(state, test, failed, context)
        if program is None:
            return failed
        judgement = await context.run_tests(program, [test])
        kept = judgement.accepted and await passes_all(program, state.anchors, context)
        context.record("fix_ai_test", verdict=judgement.verdict.value, kept=kept)
        if not kept:
            return failed
        state.program = program
        return judgement


async def passes_all(program: str, tests: Sequence[TestCase], context: SampleContext) -> bool:
    """Whether a program passes every one of the tests; true where there is none."""
    return not tests or (await context.run_tests(program, tests, stop_early=True)).accepted


async def failure_of(program: str, test: TestCase, failed: Judgement, context: SampleContext) -> dict[str, Any]:
    """What prompts are told of a program that fails a test: `program`, `test`, `actual` and `verdict`.

    `failed` is its judgement by that test alone, or by some of which this is the first that it fails.
    """
    result = next((each for each in failed.tests if each.verdict is not Verdict.ACCEPTED), failed.tests[0])
    actual = await context.actual_output(program, test, result.execution)
    return {
        "program": program.rstrip(),
        "test": TestCase(shortened(test.input.rstrip()), shortened(test.output.rstrip())),
        "actual": shortened(actual.rstrip()),
        "verdict": result.verdict.value,
    }


def first_failed(judgement: Judgement, tests: Sequence[TestCase]) -> TestCase | None:
    """The first test that isn't passed."""
    judged = zip(tests, judgement.tests, strict=False)
    return next((test for test, result in judged if result.verdict is not Verdict.ACCEPTED), None)
