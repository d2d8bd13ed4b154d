"""Is the flow for problems of this kind? A program that reads stdin solves nothing where a function is called."""

from collections.abc import Iterable

from alpha_codium.errors import FlowError
from alpha_codium.flows import Flow
from alpha_codium.problem import Problem


def check_fit(flow: Flow, problems: Iterable[Problem]) -> None:
    """Raise FlowError where the flow says which kinds of tests it is for, and no problem has tests of one of these."""
    if not flow.kinds:
        return
    first: Problem | None = None
    for problem in problems:
        if flow.suits(problem.execution.kind):
            return
        first = first or problem
    if first is not None:
        raise FlowError(misfit(flow, first))


def misfit(flow: Flow, problem: Problem) -> str:
    """What to say of a problem that the flow isn't meant for."""
    meant, wanted = "programs that read stdin", "a function"
    if flow.kinds:
        meant, wanted = "functions", "a program that reads stdin"
    return (
        f"flow {flow.name!r} asks for {meant}, and {problem.name!r} wants {wanted}: "
        "leave out --flow, and each problem gets the flow for its kind"
    )
