"""Tests that the model thinks of. They are suspicions, never facts: none can change a public test.

A program that solves small inputs by brute force is a second opinion: it is slow, simple and seldom wrong. Where it
disagrees with a test, one of the two is; such a test is dropped. So is one that it can't solve in time.
"""

from dataclasses import dataclass, field

from alpha_codium.config import Settings
from alpha_codium.flows.asking import NoAnswer, ask
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.stages.parameters import prompt_file
from alpha_codium.flows.stages.reflect import explained
from alpha_codium.flows.state import ExplainedTest, FlowState
from alpha_codium.problem import Statement
from alpha_codium.rendering import Prompt
from alpha_codium.verdict import Verdict

TESTS = ("tests.input", "tests.output")


@dataclass(frozen=True)
class GenerateAiTests:
    """Fills `ai_tests` with at most `number_of_ai_tests`.

    Where a problem has no public tests, and with `vet_by_brute_force` always, with those only on which a brute-force
    program of the model agrees.
    """

    prompt: Prompt = field(**prompt_file("generate_ai_tests", *TESTS))
    validate_prompt: Prompt = field(**prompt_file("validate_ai_tests", *TESTS))
    brute_force_prompt: Prompt = field(**prompt_file("brute_force", code=True))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Make tests; drop those that contradict or repeat a public test, or one another, or that can't be run."""
        settings = context.settings.generate_ai_tests
        if settings.number_of_ai_tests == 0:
            return
        try:
            tests = await self._generate(state, context)
        except NoAnswer as error:
            context.skip("generate_ai_tests", error)
            return
        public = {test.input.strip() for test in state.statement.public_tests}
        fresh: dict[str, ExplainedTest] = {}
        for test in tests:
            # What the judge can't run is the model's slip, not a fault of the sandbox.
            if test.input.strip() not in public and not context.judge.kind.fault_of(test.test):
                fresh.setdefault(test.input.strip(), test)
        tests = list(fresh.values())[: settings.number_of_ai_tests]
        if tests and (settings.vet_by_brute_force or not state.statement.public_tests):
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
        tests = explained((await ask(self.prompt, variables, context)).values["tests"])
        if not settings.validate_ai_tests:
            return tests
        try:
            checked = (await ask(self.validate_prompt, variables | {"tests": tests}, context)).values
        except NoAnswer as error:
            context.skip("validate_ai_tests", error)
            return tests
        return explained(checked["tests"]) or tests

    async def _vetted(
        self, statement: Statement, tests: list[ExplainedTest], context: SampleContext
    ) -> list[ExplainedTest]:
        """The tests whose output a brute-force program prints too."""
        if context.on_last_call:
            context.skip("brute_force", "the last call is kept for the program")
            return []
        try:
            program = (await ask(self.brute_force_prompt, {"problem": statement}, context)).code
        except NoAnswer as error:
            context.skip("brute_force", error)
            return []
        public = statement.public_tests
        if public and not (await context.run_tests(program, public)).accepted:
            # It is wrong itself: nothing it says of other tests counts, and a test that nobody vouches for is dropped.
            context.skip("brute_force", "it fails the public tests")
            return []
        judgement = await context.run_tests(program, [test.test for test in tests])
        judged = zip(tests, judgement.tests, strict=False)
        kept = [test for test, result in judged if result.verdict is Verdict.ACCEPTED]
        context.record("brute_force", agreed=len(kept), of=len(tests))
        return kept

    def calls(self, settings: Settings, statement: Statement) -> tuple[int, int]:
        """The least and the most calls, without those for answers that can't be read."""
        own = settings.generate_ai_tests
        if not own.number_of_ai_tests:
            return 0, 0
        asked = 1 + own.validate_ai_tests
        return asked, asked + (own.vet_by_brute_force or not statement.public_tests)
