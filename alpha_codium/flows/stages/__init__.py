"""The kinds of stages. A user's package adds one under the entry-point group `alpha_codium.stages`.

A kind is a frozen dataclass: its fields are its parameters in `flow.toml`, those called `*prompt` name prompt files
and arrive as `Prompt` (see `parameters.prompt_file`); `run` fills the state. It may have a method
`calls(settings, statement) -> (least, most)`, by which a preview knows how many calls of the model it makes.
"""

from typing import Any, Protocol

from alpha_codium.errors import FlowError, UserError
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.state import FlowState
from alpha_codium.plugins import find_plugin


class Stage(Protocol):
    """One step of a flow."""

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Fill the state; raises BudgetExhausted, and what the model client raises for faults of the provider."""
        ...


def stage_class(kind: str) -> Any:
    """The class of a kind of stage; raises FlowError where there is none."""
    from alpha_codium.flows.stages.ai_tests import GenerateAiTests
    from alpha_codium.flows.stages.code import InitialCode, WriteCode
    from alpha_codium.flows.stages.completing import CompleteCode
    from alpha_codium.flows.stages.examples import ReadExamples
    from alpha_codium.flows.stages.fixing import FixAiTests, FixPublicTests
    from alpha_codium.flows.stages.planning import ChooseBest, PossibleSolutions
    from alpha_codium.flows.stages.reflect import Reflect
    from alpha_codium.flows.stages.reflexion import Reflexion
    from alpha_codium.flows.stages.resampling import Resample
    from alpha_codium.flows.stages.selecting import Select

    kinds = {
        "reflect": Reflect,
        "possible_solutions": PossibleSolutions,
        "choose_best": ChooseBest,
        "generate_ai_tests": GenerateAiTests,
        "initial_code": InitialCode,
        "fix_public_tests": FixPublicTests,
        "fix_ai_tests": FixAiTests,
        "write_code": WriteCode,
        "complete_code": CompleteCode,
        "read_examples": ReadExamples,
        "resample": Resample,
        "reflexion": Reflexion,
        "select": Select,
    }
    try:
        return find_plugin("alpha_codium.stages", kind, kinds)
    except UserError as error:
        raise FlowError(f"flow: {error}") from error
