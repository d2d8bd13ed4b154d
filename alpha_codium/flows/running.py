"""Running a flow: its stages in order, until they are done or the budget is."""

from alpha_codium.flows.context import BudgetExhausted, SampleContext
from alpha_codium.flows.loading import Flow, check_prompt_names
from alpha_codium.flows.state import FlowState
from alpha_codium.problem import Statement


async def run_flow(flow: Flow, statement: Statement, context: SampleContext) -> FlowState:
    """The state after the last stage; with the budget exhausted, that with the best program so far.

    Raises what the model client raises for faults of the provider: those are no end of a sample. Raises SettingsError
    where a model is named for a prompt that there isn't.
    """
    if context.settings.config.model_by_prompt:
        check_prompt_names(flow, context.settings.config.model_by_prompt)
    state = FlowState(statement)
    try:
        for stage in flow.stages:
            await stage.run(state, context)
            context.record("after", kind=flow.kind_of(stage), program=state.program)
    except BudgetExhausted as error:
        context.record("budget", ended=str(error))
    return state
