"""Reflecting on the problem before any code: what is asked, and why the examples are as they are."""

from dataclasses import dataclass, field
from typing import Any

from alpha_codium.config import Settings
from alpha_codium.flows.asking import NoAnswer, ask
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.stages.parameters import prompt_file
from alpha_codium.flows.state import ExplainedTest, FlowState
from alpha_codium.problem import Statement
from alpha_codium.rendering import Prompt

EXPLANATIONS = ("tests_explanations.input", "tests_explanations.output")


@dataclass(frozen=True)
class Reflect:
    """Fills `reflection` and `explanations`; `[self_reflection] validate_self_reflection` has the latter checked."""

    prompt: Prompt = field(**prompt_file("reflect", "self_reflection", *EXPLANATIONS))
    validate_prompt: Prompt = field(**prompt_file("validate_reflection", *EXPLANATIONS))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Reflect; a model that can't leaves the state as it is."""
        try:
            values = (await ask(self.prompt, {"problem": state.statement}, context)).values
            state.reflection = values["self_reflection"].strip()
            state.explanations = explained(values["tests_explanations"])
            if context.settings.self_reflection.validate_self_reflection:
                variables = {"problem": state.statement, "explanations": state.explanations}
                checked = (await ask(self.validate_prompt, variables, context)).values
                state.explanations = explained(checked["tests_explanations"]) or state.explanations
        except NoAnswer as error:
            context.skip("reflect", error)

    def calls(self, settings: Settings, _statement: Statement) -> tuple[int, int]:
        """One, and one more for the check."""
        return 1, 1 + settings.self_reflection.validate_self_reflection


def explained(records: list[dict[str, Any]]) -> list[ExplainedTest]:
    """Tests with explanations from an answer's records."""
    return [ExplainedTest(r["input"], r["output"], r.get("explanation", "").strip()) for r in records]
