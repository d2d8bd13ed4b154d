"""Stages before any code: reflection on the problem, plans to solve it, and the choice of a plan."""

from dataclasses import dataclass, field
from typing import Any

from alpha_codium.config import Settings
from alpha_codium.flows.asking import Question, ask_or_skip
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.inputs import example_input, explained
from alpha_codium.flows.stages import prompt_file
from alpha_codium.flows.state import FlowState, Plan
from alpha_codium.flows.tasks import CodingTask
from alpha_codium.problem import Statement
from alpha_codium.rendering import Prompt

EXPLANATIONS = ("tests_explanations.input", "tests_explanations.output")


@dataclass(frozen=True)
class Reflect:
    """Fills `reflection` and `explanations`, which the model checks with `validate_self_reflection`."""

    prompt: Prompt = field(**prompt_file("reflect", "self_reflection", *EXPLANATIONS, variables=("example",)))
    validate_prompt: Prompt = field(
        **prompt_file("validate_reflection", *EXPLANATIONS, variables=("example", "explanations"))
    )

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Reflect; without an answer the state isn't changed."""
        task = CodingTask.of(state, context)
        variables = task.variables | {"example": example_input(task)}
        reflected = await ask_or_skip("reflect", Question(self.prompt, variables), context)
        if reflected is None:
            return
        state.reflection = reflected.values["self_reflection"].strip()
        state.explanations = explained(reflected.values["tests_explanations"], task)
        if context.settings.self_reflection.validate_self_reflection:
            variables |= {"explanations": state.explanations}
            checked = await ask_or_skip("reflect", Question(self.validate_prompt, variables), context)
            if checked is not None:
                state.explanations = explained(checked.values["tests_explanations"], task) or state.explanations

    def calls(self, settings: Settings, _statement: Statement) -> tuple[int, int]:
        """Return the least and the most calls."""
        return 1, 1 + settings.self_reflection.validate_self_reflection


@dataclass(frozen=True)
class PossibleSolutions:
    """Fills `plans` with at most `max_num_of_possible_solutions`; does nothing with `use_direct_solutions`."""

    prompt: Prompt = field(
        **prompt_file(
            "possible_solutions",
            "possible_solutions.name",
            "possible_solutions.content",
            variables=("reflection", "explanations", "max_num_of_possible_solutions"),
        )
    )

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Ask for plans; with `remove_brute_force_solutions`, brute force is dropped unless it is the only plan."""
        settings = context.settings.possible_solutions
        if context.settings.solve.use_direct_solutions:
            return
        variables = CodingTask.of(state, context).variables | {
            "reflection": state.reflection,
            "explanations": state.explanations if settings.use_test_explanations else [],
            "max_num_of_possible_solutions": settings.max_num_of_possible_solutions,
        }
        reading = await ask_or_skip("possible_solutions", Question(self.prompt, variables), context)
        if reading is None:
            return
        plans = [_plan(record) for record in reading.values["possible_solutions"]]
        if settings.remove_brute_force_solutions:
            plans = [plan for plan in plans if not plan.is_brute_force] or plans[:1]
        state.plans = plans[: settings.max_num_of_possible_solutions]

    def calls(self, settings: Settings, _statement: Statement) -> tuple[int, int]:
        """Return the least and the most calls."""
        asked = int(not settings.solve.use_direct_solutions)
        return asked, asked


@dataclass(frozen=True)
class ChooseBest:
    """Fills `plan`; each sample takes another plan, so that samples differ."""

    prompt: Prompt = field(**prompt_file("choose_best", "name", "content", variables=("reflection", "plans")))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Choose a plan; if there is only one, no question is asked."""
        if len(state.plans) < 2:
            state.plan = next(iter(state.plans), None)
            return
        variables = CodingTask.of(state, context).variables | {"reflection": state.reflection, "plans": state.plans}
        reading = await ask_or_skip("choose_best", Question(self.prompt, variables), context)
        chosen = _chosen(state.plans, reading.values) if reading else state.plans[0]
        others = [plan for plan in state.plans if plan.name != chosen.name]
        state.plan = context.variation.rotate([chosen, *others])[0]

    def calls(self, settings: Settings, _statement: Statement) -> tuple[int, int]:
        """Return the least and the most calls."""
        several = settings.possible_solutions.max_num_of_possible_solutions > 1
        return 0, int(several and not settings.solve.use_direct_solutions)


def _chosen(plans: list[Plan], values: dict[str, Any]) -> Plan:
    """Return the chosen plan with its steps; an unknown name makes a new plan."""
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
