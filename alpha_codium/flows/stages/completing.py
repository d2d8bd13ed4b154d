"""Completing a function: the one program of the flow for problems whose tests call what a program defines."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from alpha_codium.data.beginnings import beginning_of
from alpha_codium.flows.asking import CodeForm, NoAnswer, ask
from alpha_codium.flows.completion import extract_completion
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.stages.parameters import prompt_file
from alpha_codium.flows.state import FlowState
from alpha_codium.problem import Statement, TestCase
from alpha_codium.rendering import Prompt

WHOLE_CODE = "Give the whole Python 3 code, with the imports it needs, in one fenced block:\n```python\n...\n```"


@dataclass(frozen=True)
class CompleteCode:
    """Asks once for the function; an answer that holds its body alone is put after its beginning.

    The prompt gets `beginning`, the description where that is code up to a function's body, and `tests`, the public
    tests that don't stand in the description.
    """

    prompt: Prompt = field(**prompt_file("complete", code=True))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Write the program."""
        statement = state.statement
        beginning = beginning_of(statement.description)
        variables = {
            "problem": statement,
            "beginning": beginning.text if beginning else "",
            "tests": tests_to_show(statement),
        }
        form = CodeForm(WHOLE_CODE, partial(extract_completion, beginning=beginning))
        try:
            state.program = (await ask(self.prompt, variables, context, form)).code
        except NoAnswer as error:
            context.record("complete_code", skipped=str(error))


def tests_to_show(statement: Statement) -> Sequence[TestCase]:
    """The public tests but for assertions that the description shows already."""
    text = statement.description
    return [t for t in statement.public_tests if t.output.strip() or any(line not in text for line in _lines(t))]


def _lines(test: TestCase) -> list[str]:
    return [line.strip() for line in test.input.splitlines()]
