"""The kinds of stages. A package can register another kind in the entry-point group `alpha_codium.stages`.

A kind is a frozen dataclass whose fields are its parameters in `flow.toml`. Those called `*prompt` name prompt files
and are loaded as `Prompt` (see `prompt_file`). Its method `run` fills the state. For previews, a method
`calls(settings, statement)` may return the fewest and the most model calls it makes, without repeated questions for
unreadable answers.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from alpha_codium.errors import FlowError, UserError
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.state import FlowState
from alpha_codium.plugins import find_plugin


class Stage(Protocol):
    """One step of a flow."""

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Fill the state; raises BudgetExhausted, and the model client's errors for faults of the provider."""
        ...


def prompt_file(
    default: str, *fields: str, code: bool = False, variables: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return the arguments of a dataclass field for a prompt, which is checked when a flow is loaded.

    The prompt must ask for `fields` (a record's are written `records.field`), and with `code` for a program. Its
    templates may use only `variables` and those of `variables.TASK`; None allows any.
    """
    return {"default": default, "metadata": {"fields": fields, "code": code, "variables": variables}}


def stage_class(kind: str) -> Any:
    """Return the class of a kind of stage; raises FlowError if there is none."""
    try:
        return find_plugin("alpha_codium.stages", kind, built_in_stages())
    except UserError as error:
        raise FlowError(f"flow: {error}") from error


def built_in_stages() -> dict[str, Any]:
    """Return the classes of the built-in kinds of stages."""
    from alpha_codium.flows.stages.ai_tests import GenerateAiTests
    from alpha_codium.flows.stages.fixing import FixAiTests, FixPublicTests
    from alpha_codium.flows.stages.planning import ChooseBest, PossibleSolutions, Reflect
    from alpha_codium.flows.stages.reflexion import Reflexion
    from alpha_codium.flows.stages.resampling import Resample
    from alpha_codium.flows.stages.selecting import Select
    from alpha_codium.flows.stages.writing import CompleteCode, InitialCode, ReadExamples, WriteCode

    return {
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
