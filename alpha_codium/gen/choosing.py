"""The choice of a flow, and checks that it suits the problems."""

from collections.abc import Sequence

from alpha_codium.config import Settings
from alpha_codium.errors import DatasetError, FlowError
from alpha_codium.eval.languages import why_not_tested
from alpha_codium.flows import Flow, load_flow
from alpha_codium.flows.context import language_of
from alpha_codium.languages import language_named
from alpha_codium.problem import EXECUTION_KINDS, Problem

# A flow that chooses another one by the kind of a problem's tests.
DEFAULT_FLOW = "auto"


def chosen_flow(name: str | None, settings: Settings, without: Sequence[str] = ()) -> Flow:
    """Return the flow to run: `[solve] use_baseline` overrides `name`; `without` names stages to leave out.

    Raises FlowError if there is no such flow or stage.
    """
    flow = load_flow("baseline" if settings.solve.use_baseline else name or DEFAULT_FLOW)
    return flow.without(without) if without else flow


def check_fit(flow: Flow, problems: Sequence[Problem]) -> None:
    """Raise FlowError if no problem has tests of a kind that the flow is for."""
    if problems and not any(flow.suits(problem.execution.kind) for problem in problems):
        raise FlowError(misfit(flow, problems[0]))


def check_problems(flow: Flow, problems: Sequence[Problem], settings: Settings) -> None:
    """Do the same as `check_fit`; also raise DatasetError for a problem without a description, or whose tests can't run
    programs in the language that is asked for, and UserError for an unknown language.
    """
    check_fit(flow, problems)
    for problem in problems:
        if not problem.description.strip():
            raise DatasetError(f"the problem {problem.name!r} has no description, so there is nothing to ask a model")
        language = language_named(language_of(problem, settings))
        if reason := why_not_tested(language.name, problem):
            raise DatasetError(f"the problem {problem.name!r} can't be solved in {language.title}: {reason}")


def misfit(flow: Flow, problem: Problem) -> str:
    """Return the message for a problem that the flow isn't meant for."""
    supported, required = "programs that read stdin", "a function"
    if flow.kinds:
        supported, required = "functions", "a program that reads stdin"
    remedy = "leave out `flow`, and each problem gets the flow for its kind"
    if not flow.kinds:
        remedy += f", or, if it asks for functions, too, add kinds = {[*EXECUTION_KINDS]} to its flow.toml"
    return f"flow {flow.name!r} asks for {supported}, and {problem.name!r} wants {required}: {remedy}"
