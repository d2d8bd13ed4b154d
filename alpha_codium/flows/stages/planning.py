"""Thinking of several ways to solve a problem, and choosing one."""

from dataclasses import dataclass, field
from typing import Any

from alpha_codium.config import Settings
from alpha_codium.flows.asking import NoAnswer, ask
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.stages.parameters import prompt_file
from alpha_codium.flows.state import FlowState, Plan
from alpha_codium.problem import Statement
from alpha_codium.rendering import Prompt


@dataclass(frozen=True)
class PossibleSolutions:
    """Fills `plans` with at most `max_num_of_possible_solutions`; nothing in the direct variant."""

    prompt: Prompt = field(**prompt_file("possible_solutions", "possible_solutions.name", "possible_solutions.content"))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Think of plans; brute force is left out where asked for, but never the only plan."""
        settings = context.settings.possible_solutions
        if context.settings.solve.use_direct_solutions:
            return
        variables = {
            "problem": state.statement,
            "reflection": state.reflection,
            "explanations": state.explanations if settings.use_test_explanations else [],
            "max_num_of_possible_solutions": settings.max_num_of_possible_solutions,
        }
        try:
            values = (await ask(self.prompt, variables, context)).values
        except NoAnswer as error:
            context.skip("possible_solutions", error)
            return
        plans = [_plan(record) for record in values["possible_solutions"]]
        if settings.remove_brute_force_solutions:
            plans = [plan for plan in plans if not plan.is_brute_force] or plans[:1]
        state.plans = plans[: settings.max_num_of_possible_solutions]

    def calls(self, settings: Settings, _statement: Statement) -> tuple[int, int]:
        """One, but none in the direct variant."""
        asked = int(not settings.solve.use_direct_solutions)
        return asked, asked


@dataclass(frozen=True)
class ChooseBest:
    """Fills `plan`. Later samples take another plan than the first, so that they differ."""

    prompt: Prompt = field(**prompt_file("choose_best", "name", "content"))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Choose among the plans; with one there is nothing to ask."""
        if not state.plans:
            return
        if len(state.plans) == 1:
            state.plan = state.plans[0]
            return
        variables = {"problem": state.statement, "reflection": state.reflection, "plans": state.plans}
        try:
            chosen = _chosen(state.plans, (await ask(self.prompt, variables, context)).values)
        except NoAnswer as error:
            context.skip("choose_best", error)
            chosen = state.plans[0]
        others = [plan for plan in state.plans if plan.name != chosen.name]
        state.plan = context.variation.rotate([chosen, *others])[0]

    def calls(self, settings: Settings, _statement: Statement) -> tuple[int, int]:
        """None where there is nothing to choose from, else one."""
        several = settings.possible_solutions.max_num_of_possible_solutions > 1
        return 0, int(several and not settings.solve.use_direct_solutions)


def _chosen(plans: list[Plan], values: dict[str, Any]) -> Plan:
    """The chosen plan with the steps thought out for it; a name that isn't among the plans is a plan of its own."""
    name, steps = values["name"].strip(), values.get("flow") or []
    known = next((plan for plan in plans if plan.name.lower() == name.lower()), None)
    content = "\n".join([values["content"].strip(), *(f"- {step.strip()}" for step in steps)])
    return Plan(known.name if known else name, content, values.get("why", "").strip(), known.labels if known else ())


def _plan(record: dict[str, Any]) -> Plan:
    return Plan(
        name=record["name"].strip(),
        content=record["content"].strip(),
        why_it_works=record.get("why_it_works", "").strip(),
        labels=tuple(record.get("labels") or ()),
        complexity=record.get("complexity", "").strip(),
    )
