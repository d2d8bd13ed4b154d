"""Resampling: the same question again until the public tests are content. The control that every flow must beat."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from alpha_codium.config import Settings
from alpha_codium.flows.asking import NoAnswer, Question, Reading, ask_many, ask_question
from alpha_codium.flows.context import BudgetExhausted, SampleContext
from alpha_codium.flows.stages.writing import Writer, judge_program, keep_nearest
from alpha_codium.flows.state import FlowState, JudgedProgram
from alpha_codium.languages.python.examples import examples_in
from alpha_codium.problem import Statement


@dataclass(frozen=True)
class Resample(Writer):
    """Writes programs from the statement alone, until one passes all public tests; at most `max_attempts`.

    1. None of them sees another, or what became of it. The nearest to passing is kept, the first of equals; so to stop
       at the first that passes is to choose as if all had been written, and costs less.
    2. Without public tests the first program is as good as any.
    3. With `answers_per_request` above 1 several come by one request. A text that came before isn't run again.
    """

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Write programs; the state has the best one at any time."""
        best: JudgedProgram | None = None
        judged: dict[str, JudgedProgram] = {}
        async for program in self._programs(state, context):
            if program not in judged:
                judged[program] = await judge_program(program, state, context)
                best = keep_nearest(state, best, judged[program])
            judgement = judged[program].judgement
            context.record("resample", passed=judgement.tests_passed, verdict=judgement.verdict.value)
            if judgement.accepted or not state.statement.public_tests:
                return

    async def _programs(self, state: FlowState, context: SampleContext) -> AsyncIterator[str]:
        settings = context.settings.resample
        together = settings.answers_per_request if state.statement.public_tests else 1
        for done in range(0, settings.max_attempts, together):
            size = min(together, settings.max_attempts - done)
            question = self.question(state, context, attempt=done + size - 1)
            for reading in await _readings(question, size, context):
                if isinstance(reading, BudgetExhausted):
                    raise reading
                if isinstance(reading, NoAnswer):
                    context.skip("resample", reading)
                else:
                    yield reading.code

    def calls(self, settings: Settings, statement: Statement) -> tuple[int, int]:
        """The least and the most calls, without those for answers that can't be read."""
        most = settings.resample.max_attempts
        if not (statement.public_tests or examples_in(statement)):
            # The first program is taken, but there may be none in the first answers.
            return 1, most
        return min(settings.resample.answers_per_request, most), most


async def _readings(
    question: Question, size: int, context: SampleContext
) -> list[Reading | NoAnswer | BudgetExhausted]:
    if size > 1:
        return await ask_many(question, size, context)
    try:
        return [await ask_question(question, context)]
    except NoAnswer as error:
        return [error]
