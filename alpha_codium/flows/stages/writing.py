"""Writing a program for tests of any kind, and what the public tests say of it: shared by several stages."""

from dataclasses import dataclass, field

from alpha_codium.flows.asking import Question
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.nearness import nearness
from alpha_codium.flows.stages.parameters import prompt_file
from alpha_codium.flows.state import FlowState, JudgedProgram
from alpha_codium.flows.tasks import CodingTask
from alpha_codium.rendering import Prompt


@dataclass(frozen=True)
class Writer:
    """Asks for a program from the statement alone: one that reads and prints, or a function."""

    program_prompt: Prompt = field(**prompt_file("baseline/code_contests_prompts_baseline", code=True))
    function_prompt: Prompt = field(**prompt_file("complete/complete", code=True))

    def question(self, state: FlowState, context: SampleContext, attempt: int = 0) -> Question:
        """The question for a program; `attempt` counts those that this sample asked for before."""
        task = CodingTask.of(state, context)
        prompt = self.function_prompt if task.is_function else self.program_prompt
        return Question(prompt, task.variables, task.form, attempt)


async def judge_program(program: str, state: FlowState, context: SampleContext) -> JudgedProgram:
    """A program with what the public tests say of it; raises SandboxFault."""
    tests = state.statement.public_tests
    judgement = await context.run_tests(program, tests)
    return JudgedProgram(program, judgement, nearness(judgement, tests))


def keep_nearest(state: FlowState, best: JudgedProgram | None, attempt: JudgedProgram) -> JudgedProgram:
    """The nearer of two attempts, the earlier of equals; the state gets its program."""
    if best is None or attempt.nearness > best.nearness:
        best = attempt
    state.program = best.program
    return best
