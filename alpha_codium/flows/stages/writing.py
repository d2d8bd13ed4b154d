"""Stages that write a program, and functions that they share with other stages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from alpha_codium.config import Settings
from alpha_codium.flows.asking import Question, ask_or_skip
from alpha_codium.flows.context import BudgetExhausted, SampleContext
from alpha_codium.flows.nearness import Nearness
from alpha_codium.flows.stages import prompt_file
from alpha_codium.flows.state import FlowState, JudgedProgram, Plan
from alpha_codium.flows.tasks import CodingTask
from alpha_codium.languages.python.examples import examples_in
from alpha_codium.problem import Statement, TestCase
from alpha_codium.program import PYTHON
from alpha_codium.rendering import Prompt
from alpha_codium.verdict import Judgement, Verdict


@dataclass(frozen=True)
class WriteCode:
    """Asks once for a program; the public tests aren't run."""

    prompt: Prompt = field(**prompt_file("code", code=True, variables=()))
    function_prompt: Prompt = field(**prompt_file("complete/complete", code=True, variables=()))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Write the program."""
        task = CodingTask.of(state, context)
        prompt = self.function_prompt if task.is_function else self.prompt
        reading = await ask_or_skip("write_code", Question(prompt, task.variables, task.form), context)
        state.program = reading.code if reading else state.program

    def calls(self, _settings: Settings, _statement: Statement) -> tuple[int, int]:
        """Return the least and the most calls."""
        return 1, 1


@dataclass(frozen=True)
class CompleteCode:
    """Asks once for a function; an answer with only the function's body is completed.

    The prompt's variables are `beginning`, the description if it is code that ends before a function's body, and
    `tests`, the public tests that the description doesn't contain.
    """

    prompt: Prompt = field(**prompt_file("complete", code=True, variables=()))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Write the program."""
        task = CodingTask.of(state, context)
        reading = await ask_or_skip("complete_code", Question(self.prompt, task.variables, task.form), context)
        state.program = reading.code if reading else state.program

    def calls(self, _settings: Settings, _statement: Statement) -> tuple[int, int]:
        """Return the least and the most calls."""
        return 1, 1


@dataclass(frozen=True)
class InitialCode:
    """Writes at most `max_attempts` programs until one passes all public and AI tests; keeps the nearest to passing.

    Public tests count first, since AI tests may be wrong. The chosen plan is tried twice, then the others in turn. With
    `use_direct_solutions` there are no plans, and `direct_prompt` is used.
    """

    prompt: Prompt = field(**prompt_file("initial_code", code=True, variables=("reflection", "plan")))
    direct_prompt: Prompt = field(**prompt_file("direct_code", code=True, variables=("reflection", "plan")))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Write programs; if the budget ends after the first one, the next stages still run."""
        task, nearest = CodingTask.of(state, context), None
        prompt = self.direct_prompt if context.settings.solve.use_direct_solutions else self.prompt
        try:
            for plan in plans_to_try(state, context.settings.initial_code_generation.max_attempts):
                variables = task.variables | {"reflection": state.reflection, "plan": plan}
                reading = await ask_or_skip("initial_code", Question(prompt, variables, task.form), context)
                if reading is None:
                    continue
                passes, nearness = await self._judged(reading.code, state, context)
                if nearest is None or nearness > nearest:
                    nearest, state.program = nearness, reading.code
                if passes:
                    return
        except BudgetExhausted:
            if nearest is None:
                raise

    async def _judged(
        self, program: str, state: FlowState, context: SampleContext
    ) -> tuple[bool, tuple[Nearness, Nearness]]:
        """Return whether it passes all public and AI tests, and its nearness to passing the ones and the others."""
        public, ai_tests = state.statement.public_tests, [each.test for each in state.ai_tests]
        judged = await judge_program(program, state, context)
        by_ai = await context.run_tests(program, ai_tests) if ai_tests else Judgement(Verdict.NO_TESTS)
        results = {"passed": judged.judgement.tests_passed, "of": len(public)}
        results |= {"passed_ai": by_ai.tests_passed, "of_ai": len(ai_tests)} if ai_tests else {}
        context.record("initial_code", **results, verdict=judged.judgement.verdict.value)
        passes = (judged.judgement.accepted or not public) and (by_ai.accepted or not ai_tests)
        return passes, (judged.nearness, Nearness.of(by_ai, ai_tests))

    def calls(self, settings: Settings, _statement: Statement) -> tuple[int, int]:
        """Return the least and the most calls."""
        return 1, settings.initial_code_generation.max_attempts


def plans_to_try(state: FlowState, attempts: int) -> Iterator[Plan | None]:
    """Yield the plan for each attempt: the chosen one twice, then the others, then all over again."""
    chosen = state.plan
    others: list[Plan | None] = [plan for plan in state.plans if chosen is None or plan.name != chosen.name]
    round_of_plans = [chosen, chosen, *others]
    for number in range(attempts):
        yield round_of_plans[number % len(round_of_plans)]


@dataclass(frozen=True)
class ReadExamples:
    """Uses the examples in a function's description as public tests if it has none; makes no calls."""

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Read the examples, which may be wrong: later stages keep the program that passes most of them."""
        has_outputs = context.judge.problem.execution.has_outputs
        if state.statement.public_tests or has_outputs or context.language.name != PYTHON:
            return
        found = tuple(test for test in examples_in(state.statement) if not context.judge.kind.fault_of(test))
        context.record("read_examples", tests=[test.input for test in found])
        state.examples = found
        state.statement = replace(state.statement, public_tests=found)

    def calls(self, _settings: Settings, _statement: Statement) -> tuple[int, int]:
        """Return the least and the most calls."""
        return 0, 0


@dataclass(frozen=True)
class Writer:
    """Base class of stages that ask for programs, or functions, given only the statement."""

    program_prompt: Prompt = field(**prompt_file("baseline/code_contests_prompts_baseline", code=True, variables=()))
    function_prompt: Prompt = field(**prompt_file("complete/complete", code=True, variables=()))

    def question(self, state: FlowState, context: SampleContext, attempt: int = 0) -> Question:
        """Return the question for a program; `attempt` is the number of programs that the sample asked for before."""
        task = CodingTask.of(state, context)
        prompt = self.function_prompt if task.is_function else self.program_prompt
        return Question(prompt, task.variables, task.form, attempt)


async def judge_program(program: str, state: FlowState, context: SampleContext) -> JudgedProgram:
    """Run a program on the public tests; raises SandboxFault."""
    tests = state.statement.public_tests
    judgement = await context.run_tests(program, tests)
    return JudgedProgram(program, judgement, Nearness.of(judgement, tests))


def keep_nearest(state: FlowState, best: JudgedProgram | None, judged: JudgedProgram) -> JudgedProgram:
    """Make the program that is nearer to passing, or `best` if they are equal, the state's program, and return it."""
    if best is None or judged.nearness > best.nearness:
        best = judged
    state.program = best.program
    return best


def usable_tests(statement: Statement) -> Sequence[TestCase]:
    """Return the public tests, or the examples that `read_examples` uses in their place."""
    return statement.public_tests or examples_in(statement)
