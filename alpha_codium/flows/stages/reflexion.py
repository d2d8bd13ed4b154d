"""Reflexion: another try with what failed, with lessons of the tries before (Shinn et al. 2023, arXiv 2303.11366)."""

from dataclasses import dataclass, field
from typing import Any

from alpha_codium.config import Settings
from alpha_codium.flows.asking import NoAnswer, Question, ask, ask_question
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.stages.fixing import failure_of, first_failed
from alpha_codium.flows.stages.parameters import prompt_file
from alpha_codium.flows.stages.writing import Writer, judge_program, keep_nearest
from alpha_codium.flows.state import FlowState, JudgedProgram
from alpha_codium.flows.tasks import CodingTask
from alpha_codium.languages.python.examples import examples_in
from alpha_codium.problem import Statement
from alpha_codium.rendering import Prompt

LONGEST_LESSON = 500


@dataclass(frozen=True)
class Reflexion(Writer):
    """Writes a program; while a public test fails, at most `max_retries` times, writes it anew.

    1. Before each retry the model is asked for a lesson: what is wrong, and what to do instead. The `memory` last ones
       are shown. With no memory none is asked for: the program and what it failed are all that is shown.
    2. A retry sees the last program, which may be worse than one before; the nearest to passing is kept.
    3. A model that gives the same program again has nothing new to learn of it: the next retry is without another
       lesson, and doesn't show the program that the model can't let go of.
    4. Without public tests the first program is the last.
    """

    lesson_prompt: Prompt = field(**prompt_file("lesson"))
    retry_prompt: Prompt = field(**prompt_file("retry", code=True))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Write programs; the state has the best one at any time."""
        best: JudgedProgram | None = None
        last: JudgedProgram | None = None
        lessons = _Lessons(context.settings.reflexion.memory)
        for number in range(1 + context.settings.reflexion.max_retries):
            program = await self._program(state, last, lessons, number, context)
            if program is None:
                continue
            lessons.stuck = last is not None and program == last.program
            if last is None or not lessons.stuck:
                last = await judge_program(program, state, context)
                best = keep_nearest(state, best, last)
            judgement = last.judgement
            context.record("reflexion", passed=judgement.tests_passed, verdict=judgement.verdict.value)
            if judgement.accepted or not state.statement.public_tests:
                return

    async def _program(
        self, state: FlowState, last: JudgedProgram | None, lessons: "_Lessons", number: int, context: SampleContext
    ) -> str | None:
        question = self.question(state, context, number)
        try:
            if last is not None:
                question = await self._retry(state, last, lessons, number, context)
            return (await ask_question(question, context)).code
        except NoAnswer as error:
            context.skip("reflexion", error)
            return None

    async def _retry(
        self, state: FlowState, last: JudgedProgram, lessons: "_Lessons", number: int, context: SampleContext
    ) -> Question:
        """The question for another program; what the last one taught is added to the lessons."""
        task = CodingTask.of(state, context)
        failed = first_failed(last.judgement, state.statement.public_tests)
        assert failed is not None
        variables = task.variables | await failure_of(last.program, failed, last.judgement, context)
        if lessons.memory and not lessons.stuck:
            lessons.add(await self._lesson(variables, context))
        shown = {"lessons": lessons.latest, "program": "" if lessons.stuck else variables["program"]}
        return Question(self.retry_prompt, variables | shown, task.form, number)

    async def _lesson(self, variables: dict[str, Any], context: SampleContext) -> str:
        try:
            text = (await ask(self.lesson_prompt, variables, context)).values["text"]
        except NoAnswer as error:
            context.skip("lesson", error)
            return ""
        return " ".join(text.split())[:LONGEST_LESSON]

    def calls(self, settings: Settings, statement: Statement) -> tuple[int, int]:
        """The least and the most calls, without those for answers that can't be read."""
        if not (statement.public_tests or examples_in(statement)):
            # The first program is the last, but there may be none in the first answers.
            return 1, 1 + settings.reflexion.max_retries
        each = 2 if settings.reflexion.memory else 1
        return 1, 1 + each * settings.reflexion.max_retries


@dataclass
class _Lessons:
    """What the tries taught; `stuck` says that the last one was the same program as the one before."""

    memory: int
    latest: list[str] = field(default_factory=list)
    stuck: bool = False

    def add(self, lesson: str) -> None:
        """Remember a lesson, if it is one; the oldest beyond `memory` is forgotten."""
        self.latest = [*self.latest, *([lesson] if lesson else [])][-self.memory :]
