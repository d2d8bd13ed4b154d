"""Solving one problem from Python."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from alpha_codium.config import Settings, load_settings
from alpha_codium.flows import Flow, load_flow
from alpha_codium.gen.ablation import kinds_meant
from alpha_codium.gen.pricing import check_prices
from alpha_codium.gen.sample import Solver
from alpha_codium.judge import Judge, Rules
from alpha_codium.llm.opening import choose_model, effective_config, open_model
from alpha_codium.problem import Problem
from alpha_codium.sandbox import sandbox_of
from alpha_codium.solution import Candidate

# Chooses by the kind of a problem's tests.
DEFAULT_FLOW = "auto"


def solve(problem: Problem, flow: str = DEFAULT_FLOW, model: str = "", settings: Settings | None = None) -> Candidate:
    """One candidate for `problem`; without a model, as the settings and the environment decide. The flow is as shipped
    the one for the kind of its tests.

    Raises UserError where the flow, the model or the sandbox can't be had. Must be called outside a running event
    loop.
    """
    from alpha_codium.paths import models_folder

    return asyncio.run(_solve(problem, flow, model, settings or load_settings(), models_folder()))


async def _solve(problem: Problem, flow: str, model: str, settings: Settings, models: Path) -> Candidate:
    asked = settings.config.model_copy(update={"model": model or settings.config.model})
    name = await asyncio.to_thread(choose_model, asked, models)
    settings = settings.model_copy(update={"config": effective_config(asked, name)})
    await asyncio.to_thread(check_prices, settings)
    code_tester = settings.code_tester
    async with sandbox_of(code_tester) as opened, open_model(settings.config, models, settings.prices) as client:
        solver = Solver(chosen_flow(flow, settings), client, name, Judge(opened, Rules.of(code_tester)), settings)
        return (await solver.solve(problem, 0))[0]


def chosen_flow(name: str | None, settings: Settings, without: Sequence[str] = ()) -> Flow:
    """The flow to run: `[solve] use_baseline` wins over what was asked for; `without` names stages to leave out.

    Raises FlowError where there is no such flow, or it has no such stage.
    """
    flow = load_flow("baseline" if settings.solve.use_baseline else name or DEFAULT_FLOW)
    return flow.without(*kinds_meant(flow, without)) if without else flow
