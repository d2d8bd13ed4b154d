"""Reflexion: retries with the last failure and lessons of earlier attempts (Shinn et al. 2023, arXiv:2303.11366)."""

from dataclasses import dataclass, field

from alpha_codium.config import Settings
from alpha_codium.flows.asking import Question, ask_or_skip
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.stages import prompt_file
from alpha_codium.flows.stages.fixing import failure_of
from alpha_codium.flows.stages.writing import Writer, judge_program, keep_nearest, usable_tests
from alpha_codium.flows.state import FlowState, JudgedProgram
from alpha_codium.flows.tasks import CodingTask
from alpha_codium.flows.variables import FAILURE
from alpha_codium.problem import Statement
from alpha_codium.rendering import Prompt

LONGEST_LESSON = 500


@dataclass(frozen=True)
class Reflexion(Writer):
    """Writes a program, and rewrites it at most `max_retries` times while a public test fails.

    1. Before each retry the model is asked for a lesson: what is wrong, and what to do instead. The prompt contains the
       last `memory` lessons. With `memory = 0` it contains only the program and the failed test.
    2. A retry sees the last program, which may be worse than an earlier one; the nearest to passing is kept.
    3. If the model repeats its program, the next retry skips the lesson and doesn't show the program.
    4. Without public tests the first program is kept.
    """

    lesson_prompt: Prompt = field(**prompt_file("lesson", variables=FAILURE))
    retry_prompt: Prompt = field(**prompt_file("retry", code=True, variables=(*FAILURE, "lessons")))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Write programs; the state has the best one at any time."""
        best: JudgedProgram | None = None
        last: JudgedProgram | None = None
        lessons = _Lessons(context.settings.reflexion.memory)
        for number in range(1 + context.settings.reflexion.max_retries):
            question = self.question(state, context, number)
            if last is not None:
                question = await self._retry(state, last, lessons, number, context)
            reading = await ask_or_skip("reflexion", question, context)
            if reading is None:
                continue
            lessons.stuck = last is not None and reading.code == last.program
            if last is None or not lessons.stuck:
                last = await judge_program(reading.code, state, context)
                best = keep_nearest(state, best, last)
            judgement = last.judgement
            context.record("reflexion", passed=judgement.tests_passed, verdict=judgement.verdict.value)
            if judgement.accepted or not state.statement.public_tests:
                return

    async def _retry(
        self, state: FlowState, last: JudgedProgram, lessons: "_Lessons", number: int, context: SampleContext
    ) -> Question:
        """Return the question for another program, after adding a lesson from the last one."""
        task = CodingTask.of(state, context)
        failure = await failure_of(last.program, state.statement.public_tests, last.judgement, context)
        variables = task.variables | failure
        if lessons.memory and not lessons.stuck:
            lesson = await ask_or_skip("lesson", Question(self.lesson_prompt, variables), context)
            lessons.add(" ".join(lesson.values["text"].split())[:LONGEST_LESSON] if lesson else "")
        shown = {"lessons": lessons.latest, "program": "" if lessons.stuck else variables["program"]}
        return Question(self.retry_prompt, variables | shown, task.form, number)

    def calls(self, settings: Settings, statement: Statement) -> tuple[int, int]:
        """Return the least and the most calls."""
        # Without tests the first program is kept, but the first answers may contain none.
        calls_per_retry = 2 if settings.reflexion.memory and usable_tests(statement) else 1
        return 1, 1 + calls_per_retry * settings.reflexion.max_retries


@dataclass
class _Lessons:
    """The lessons of earlier attempts; `stuck` means that the model repeated its program."""

    memory: int
    latest: list[str] = field(default_factory=list)
    stuck: bool = False

    def add(self, lesson: str) -> None:
        """Add a lesson unless it is empty; only the last `memory` lessons are kept."""
        self.latest = [*self.latest, *([lesson] if lesson else [])][-self.memory :]
