"""The context of a stage: the model, the judge, the settings, and the events of the sample."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from alpha_codium.config import Settings
from alpha_codium.flows.variation import Attempts, Variation
from alpha_codium.judge import ProblemJudge
from alpha_codium.judge.behaviour import Behaviour
from alpha_codium.languages import Language, language_named
from alpha_codium.llm.messages import ChatModel
from alpha_codium.problem import Problem, TestCase
from alpha_codium.program import Program
from alpha_codium.runs.events import (
    LONGEST_TEXT,
    Event,
    ProgramTested,
    StepResult,
    StepSkipped,
    TestOutcome,
    kept_text,
)
from alpha_codium.solution import BudgetEnd
from alpha_codium.verdict import Execution, Judgement, Status, Verdict
from alpha_codium.wording import counted

SHOWN_OUTPUT = 2000


class BudgetExhausted(Exception):
    """The sample may make no further calls, and ends with the best program so far; `end` names the spent budget."""

    def __init__(self, end: BudgetEnd) -> None:
        super().__init__(str(end))
        self.end = end


class SandboxFault(Exception):
    """The sandbox failed to run a program, which says nothing about the program."""


@dataclass
class SampleContext:
    """The objects that the stages of one sample share."""

    model: ChatModel
    judge: ProblemJudge
    settings: Settings
    variation: Variation = field(default_factory=Variation)
    events: list[Event] = field(default_factory=list)
    calls: int = 0
    attempts: Attempts = field(init=False)

    def __post_init__(self) -> None:
        """Begin without any requests."""
        self.attempts = Attempts(self.settings.config, self.variation)

    @property
    def language(self) -> Language:
        """The language of the programs; see `language_of`."""
        return language_named(language_of(self.judge.problem, self.settings))

    @property
    def on_last_call(self) -> bool:
        """Whether the sample's budget has one call left, which is reserved for a program."""
        return self.calls == self.settings.solve.max_calls - 1

    def made(self, program: str) -> Program:
        """Return the program of a source."""
        return Program.from_source(self.language.name, program)

    async def run_tests(self, program: str, tests: Sequence[TestCase], *, stop_early: bool = False) -> Judgement:
        """Run tests on a program; raises SandboxFault."""
        judgement = await self.judge.judge(self.made(program), tests, stop_early=stop_early)
        fault = next((t.execution for t in judgement.tests if t.verdict is Verdict.INTERNAL_ERROR), None)
        if fault is not None:
            raise SandboxFault(fault.stderr)
        ran = ((test.verdict, test.execution) for test in judgement.tests)
        outcomes = tuple(TestOutcome(v, shortened(e.stdout), shortened(e.stderr), e.cpu_seconds) for v, e in ran)
        self.events.append(ProgramTested(kept_text(program), judgement.verdict, outcomes))
        return judgement

    async def behaviour(self, program: str, inputs: Sequence[str]) -> tuple[Behaviour, ...]:
        """Run a program on inputs without expected outputs; raises SandboxFault."""
        found = await self.judge.behaviour(self.made(program), inputs)
        fault = next((b for b in found if b.status is Status.INTERNAL_ERROR), None)
        if fault is not None:
            raise SandboxFault(fault.shown)
        return found

    async def actual_output(self, program: str, test: TestCase, execution: Execution) -> str:
        """Return a program's output for a test that it failed; raises SandboxFault."""
        actual = await self.judge.actual_output(self.made(program), test, execution)
        if actual.status is Status.INTERNAL_ERROR:
            raise SandboxFault(actual.shown)
        return actual.shown

    def record(self, step: str, **values: Any) -> None:
        """Record the result of a step as JSON values in the transcript; long texts are shortened."""
        kept = {name: shortened(v, LONGEST_TEXT) if isinstance(v, str) else v for name, v in values.items()}
        self.events.append(StepResult(step, kept))

    def skip(self, step: str, reason: object) -> None:
        """Record in the transcript that a step was skipped."""
        self.events.append(StepSkipped(step, str(reason)))


def language_of(problem: Problem, settings: Settings) -> str:
    """Return the language in which a problem is solved: the one asked for, or else that of its tests."""
    return settings.solve.language or problem.execution.language


def shortened(text: str, limit: int = SHOWN_OUTPUT) -> str:
    """Return a text for a prompt, without its middle part if it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n... ({counted(len(text) - 2 * half, 'character')} left out) ...\n{text[-half:]}"
