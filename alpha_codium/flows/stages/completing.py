"""Completing a function: the one program of the flow for problems whose tests call what a program defines."""

from dataclasses import dataclass, field

from alpha_codium.config import Settings
from alpha_codium.flows.asking import NoAnswer, ask
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.stages.parameters import prompt_file
from alpha_codium.flows.state import FlowState
from alpha_codium.flows.tasks import CodingTask
from alpha_codium.problem import Statement
from alpha_codium.rendering import Prompt


@dataclass(frozen=True)
class CompleteCode:
    """Asks once for the function; an answer that holds its body alone is put after its beginning.

    The prompt gets `beginning`, the description where that is code up to a function's body, and `tests`, the public
    tests that don't stand in the description.
    """

    prompt: Prompt = field(**prompt_file("complete", code=True))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Write the program."""
        task = CodingTask.of(state, context)
        try:
            state.program = (await ask(self.prompt, task.variables, context, task.form)).code
        except NoAnswer as error:
            context.skip("complete_code", error)

    def calls(self, _settings: Settings, _statement: Statement) -> tuple[int, int]:
        """One."""
        return 1, 1
