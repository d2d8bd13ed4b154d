"""Writing programs: the first one of a flow, and the only one of the baseline."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from alpha_codium.config import Settings
from alpha_codium.flows.asking import NoAnswer, ask
from alpha_codium.flows.context import BudgetExhausted, SampleContext
from alpha_codium.flows.nearness import nearness
from alpha_codium.flows.stages.parameters import prompt_file
from alpha_codium.flows.state import FlowState, JudgedProgram, Plan
from alpha_codium.problem import Statement
from alpha_codium.rendering import Prompt


@dataclass(frozen=True)
class WriteCode:
    """Asks once for a program; what it prints on the public tests is not looked at."""

    prompt: Prompt = field(**prompt_file("code", code=True))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Write the program."""
        try:
            state.program = (await ask(self.prompt, {"problem": state.statement}, context)).code
        except NoAnswer as error:
            context.skip("write_code", error)

    def calls(self, _settings: Settings, _statement: Statement) -> tuple[int, int]:
        """One."""
        return 1, 1


@dataclass(frozen=True)
class InitialCode:
    """Writes programs until one passes all public tests, at most `max_attempts`; keeps the nearest.

    The chosen plan is tried twice, then the others in turn. In the direct variant there are no plans, and the
    prompt is `direct_prompt`.
    """

    prompt: Prompt = field(**prompt_file("initial_code", code=True))
    direct_prompt: Prompt = field(**prompt_file("direct_code", code=True))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Write programs; the state gets the best one even where the budget ends in between."""
        best: JudgedProgram | None = None
        try:
            for plan in plans_to_try(state, context.settings.initial_code_generation.max_attempts):
                attempt = await self._attempt(state, plan, context)
                if attempt is not None and (best is None or attempt.nearness > best.nearness):
                    best = attempt
                if attempt is not None and (attempt.judgement.accepted or not state.statement.public_tests):
                    break
        except BudgetExhausted:
            if best is None:
                raise
        if best is not None:
            state.program = best.program

    def calls(self, settings: Settings, _statement: Statement) -> tuple[int, int]:
        """The least and the most calls, without those for answers that can't be read."""
        return 1, settings.initial_code_generation.max_attempts

    async def _attempt(self, state: FlowState, plan: Plan | None, context: SampleContext) -> JudgedProgram | None:
        variables = {"problem": state.statement, "reflection": state.reflection, "plan": plan}
        prompt = self.direct_prompt if context.settings.solve.use_direct_solutions else self.prompt
        try:
            program = (await ask(prompt, variables, context)).code
        except NoAnswer as error:
            context.skip("initial_code", error)
            return None
        tests = state.statement.public_tests
        judgement = await context.run_tests(program, tests)
        context.record("initial_code", passed=judgement.tests_passed, of=len(tests), verdict=judgement.verdict.value)
        return JudgedProgram(program, judgement, nearness(judgement, tests))


def plans_to_try(state: FlowState, attempts: int) -> Iterator[Plan | None]:
    """The plan of each attempt: the chosen one twice, then the others in turn, then all of them round again."""
    chosen = state.plan
    others: list[Plan | None] = [plan for plan in state.plans if chosen is None or plan.name != chosen.name]
    round_of_plans = [chosen, chosen, *others]
    for number in range(attempts):
        yield round_of_plans[number % len(round_of_plans)]
