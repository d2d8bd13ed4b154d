"""Tests written by the model. They may be wrong, so public tests take precedence.

The tests can be checked by a brute-force program, which is slow and simple, but seldom wrong. Tests that it doesn't
pass, or not in time, are dropped.
"""

from dataclasses import dataclass, field

from alpha_codium.config import Settings
from alpha_codium.flows.asking import Question, ask_or_skip
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.stages import prompt_file
from alpha_codium.flows.stages.planning import explained
from alpha_codium.flows.state import ExplainedTest, FlowState
from alpha_codium.problem import Statement
from alpha_codium.rendering import Prompt
from alpha_codium.verdict import Verdict

TESTS = ("tests.input", "tests.output")


@dataclass(frozen=True)
class GenerateAiTests:
    """Fills `ai_tests` with at most `number_of_ai_tests` tests.

    With `vet_by_brute_force`, or if there are no public tests, only those are kept that the model's brute-force program
    passes.
    """

    prompt: Prompt = field(**prompt_file("generate_ai_tests", *TESTS))
    validate_prompt: Prompt = field(**prompt_file("validate_ai_tests", *TESTS))
    brute_force_prompt: Prompt = field(**prompt_file("brute_force", code=True))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Generate tests; drop those with the input of a public or an earlier test, and those that can't be run."""
        settings = context.settings.generate_ai_tests
        if settings.number_of_ai_tests == 0:
            return
        public = {test.input.strip() for test in state.statement.public_tests}
        new: dict[str, ExplainedTest] = {}
        for test in await self._generate(state, context):
            # A test that the judge can't run is the model's mistake, not a fault of the sandbox.
            if test.input.strip() not in public and not context.judge.kind.fault_of(test.test):
                new.setdefault(test.input.strip(), test)
        tests = list(new.values())[: settings.number_of_ai_tests]
        if tests and (settings.vet_by_brute_force or not public):
            tests = await self._vetted(state.statement, tests, context)
        state.ai_tests = tests

    async def _generate(self, state: FlowState, context: SampleContext) -> list[ExplainedTest]:
        settings = context.settings.generate_ai_tests
        variables = {
            "problem": state.statement,
            "reflection": state.reflection,
            "explanations": state.explanations if settings.use_test_explanations else [],
            "number_of_ai_tests": settings.number_of_ai_tests,
        }
        generated = await ask_or_skip("generate_ai_tests", Question(self.prompt, variables), context)
        tests = explained(generated.values["tests"]) if generated else []
        if tests and settings.validate_ai_tests:
            question = Question(self.validate_prompt, variables | {"tests": tests})
            checked = await ask_or_skip("validate_ai_tests", question, context)
            tests = (explained(checked.values["tests"]) if checked else []) or tests
        return tests

    async def _vetted(
        self, statement: Statement, tests: list[ExplainedTest], context: SampleContext
    ) -> list[ExplainedTest]:
        """Return the tests that a brute-force program passes."""
        if context.on_last_call:
            context.skip("brute_force", "the last call is kept for the program")
            return []
        question = Question(self.brute_force_prompt, {"problem": statement})
        written = await ask_or_skip("brute_force", question, context)
        if written is None:
            return []
        public = statement.public_tests
        if public and not (await context.run_tests(written.code, public)).accepted:
            # The brute-force program is wrong itself, so none of the tests is confirmed.
            context.skip("brute_force", "it fails the public tests")
            return []
        judgement = await context.run_tests(written.code, [test.test for test in tests])
        judged = zip(tests, judgement.tests, strict=False)
        kept = [test for test, result in judged if result.verdict is Verdict.ACCEPTED]
        context.record("brute_force", agreed=len(kept), of=len(tests))
        return kept

    def calls(self, settings: Settings, statement: Statement) -> tuple[int, int]:
        """Return the least and the most calls."""
        own = settings.generate_ai_tests
        if not own.number_of_ai_tests:
            return 0, 0
        asked = 1 + own.validate_ai_tests
        return asked, asked + (own.vet_by_brute_force or not statement.public_tests)
