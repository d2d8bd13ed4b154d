"""Resampling: the same question repeated until the public tests pass. A baseline for all other flows."""

from dataclasses import dataclass

from alpha_codium.config import Settings
from alpha_codium.flows.asking import NoAnswer, ask_many
from alpha_codium.flows.context import BudgetExhausted, SampleContext
from alpha_codium.flows.stages.writing import Writer, judge_program, keep_nearest, usable_tests
from alpha_codium.flows.state import FlowState, JudgedProgram
from alpha_codium.problem import Statement


@dataclass(frozen=True)
class Resample(Writer):
    """Writes at most `max_attempts` programs, given only the statement, until one passes all public tests.

    1. Attempts are independent. The program nearest to passing is kept, the first of equals, so the result is the same
       as if all programs were written, but costs less.
    2. Without public tests the first program is kept.
    3. With `answers_per_request` above 1, one request returns several programs. Equal programs are run once.
    """

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Write programs; the state has the best one at any time."""
        best: JudgedProgram | None = None
        judged: dict[str, JudgedProgram] = {}
        settings, tests = context.settings.resample, state.statement.public_tests
        together = settings.answers_per_request if tests else 1
        for done in range(0, settings.max_attempts, together):
            size = min(together, settings.max_attempts - done)
            for reading in await ask_many(self.question(state, context, attempt=done + size - 1), size, context):
                if isinstance(reading, BudgetExhausted):
                    raise reading
                if isinstance(reading, NoAnswer):
                    context.skip("resample", reading)
                    continue
                if reading.code not in judged:
                    judged[reading.code] = await judge_program(reading.code, state, context)
                    best = keep_nearest(state, best, judged[reading.code])
                judgement = judged[reading.code].judgement
                context.record("resample", passed=judgement.tests_passed, verdict=judgement.verdict.value)
                if judgement.accepted or not tests:
                    return

    def calls(self, settings: Settings, statement: Statement) -> tuple[int, int]:
        """Return the least and the most calls."""
        most = settings.resample.max_attempts
        # Without tests the first program is kept, but the first answers may contain none.
        return (min(settings.resample.answers_per_request, most) if usable_tests(statement) else 1), most
