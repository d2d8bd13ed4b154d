"""Tests written by the model. They may be wrong, so public tests take precedence.

The tests can be checked by a brute-force program, which is slow and simple, but seldom wrong. Tests that it doesn't
pass, or not in time, are dropped.
"""

from dataclasses import dataclass, field

from alpha_codium.config import Settings
from alpha_codium.flows.asking import Question, ask_or_skip
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.inputs import example_input, explained, public_inputs, runnable
from alpha_codium.flows.stages import prompt_file
from alpha_codium.flows.stages.writing import usable_tests
from alpha_codium.flows.state import ExplainedTest, FlowState
from alpha_codium.flows.tasks import CodingTask
from alpha_codium.problem import Statement
from alpha_codium.program import PYTHON
from alpha_codium.rendering import Prompt
from alpha_codium.verdict import Verdict

TESTS = ("tests.input", "tests.output")
ASKED = ("example", "reflection", "explanations", "number_of_ai_tests")


@dataclass(frozen=True)
class GenerateAiTests:
    """Fills `ai_tests` with at most `number_of_ai_tests` tests.

    With `vet_by_brute_force`, or if there are no public tests, only those are kept that the model's brute-force program
    passes.
    """

    prompt: Prompt = field(**prompt_file("generate_ai_tests", *TESTS, variables=ASKED))
    validate_prompt: Prompt = field(**prompt_file("validate_ai_tests", *TESTS, variables=(*ASKED, "ai_tests")))
    brute_force_prompt: Prompt = field(**prompt_file("brute_force", code=True, variables=()))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Generate tests; drop those with the input of an example or an earlier test, and those that can't be run."""
        settings = context.settings.generate_ai_tests
        if settings.number_of_ai_tests == 0:
            return
        task = CodingTask.of(state, context)
        if not task.has_outputs and task.language.name != PYTHON:
            context.skip("generate_ai_tests", f"assertions in {task.language.title} aren't made up")
            return
        shown = {text.strip() for text in (*public_inputs(task), example_input(task))}
        new: dict[str, ExplainedTest] = {}
        for explained_test in await self._generate(state, task, context):
            test = runnable(explained_test, task)
            # A test that the judge can't run is the model's mistake, not a fault of the sandbox.
            if explained_test.input.strip() not in shown and not context.judge.kind.fault_of(test.test):
                new.setdefault(explained_test.input.strip(), test)
        tests = list(new.values())[: settings.number_of_ai_tests]
        if tests and (settings.vet_by_brute_force or not state.statement.public_tests):
            tests = await self._vetted(task, tests, context)
        state.ai_tests = tests

    async def _generate(self, state: FlowState, task: CodingTask, context: SampleContext) -> list[ExplainedTest]:
        settings = context.settings.generate_ai_tests
        variables = task.variables | {
            "example": example_input(task),
            "reflection": state.reflection,
            "explanations": state.explanations if settings.use_test_explanations else [],
            "number_of_ai_tests": settings.number_of_ai_tests,
        }
        generated = await ask_or_skip("generate_ai_tests", Question(self.prompt, variables), context)
        tests = explained(generated.values["tests"], task) if generated else []
        if tests and settings.validate_ai_tests:
            question = Question(self.validate_prompt, variables | {"ai_tests": tests})
            checked = await ask_or_skip("validate_ai_tests", question, context)
            tests = (explained(checked.values["tests"], task) if checked else []) or tests
        return tests

    async def _vetted(
        self, task: CodingTask, tests: list[ExplainedTest], context: SampleContext
    ) -> list[ExplainedTest]:
        """Return the tests that a brute-force program passes."""
        if context.on_last_call:
            context.skip("brute_force", "the last call is kept for the program")
            return []
        question = Question(self.brute_force_prompt, task.variables, task.form)
        written = await ask_or_skip("brute_force", question, context)
        if written is None:
            return []
        public = task.statement.public_tests
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
        return asked, asked + (own.vet_by_brute_force or not usable_tests(statement))
