"""One sample of one problem: the flow run once, and what came of it as a candidate.

Whose fault it is that there is no program decides what the sample counts as: the model's makes a failed sample; the
provider's and ours make one to be tried again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from loguru import logger

from alpha_codium.config import Settings
from alpha_codium.errors import Unjudgeable, UserError
from alpha_codium.flows import Flow, FlowState, SampleContext
from alpha_codium.flows.context import BudgetExhausted, SandboxFault
from alpha_codium.flows.loading import check_prompt_names
from alpha_codium.flows.variation import Variation
from alpha_codium.gen.budgeted import BudgetedModel
from alpha_codium.gen.budgets import Ledger, SampleBudget, Usage
from alpha_codium.gen.fitting import check_fit, misfit
from alpha_codium.gen.recorded import RecordedModel, well_formed
from alpha_codium.judge import Judge
from alpha_codium.llm.errors import ModelError
from alpha_codium.llm.messages import ChatModel
from alpha_codium.log import redact
from alpha_codium.problem import Problem, Statement
from alpha_codium.runs import AnswerStore
from alpha_codium.runs.events import Event, ModelRefusal, StageEnd, StepSkipped, kept_text
from alpha_codium.solution import BudgetEnd, Candidate, ErrorKind, SampleError

# Tests passed, and how many there are.
Passed = tuple[int, int]


@dataclass(frozen=True)
class Solver:
    """All that samples share; `fits` says that the flow is known to be for some of the problems.

    `warned` holds the kinds of tests that the flow isn't for, of which the user has been told. Without a `ledger` each
    sample is a run of its own. `fault_level` is the level at which a call that got no answer is logged.
    """

    flow: Flow
    model: ChatModel
    model_name: str
    judge: Judge
    settings: Settings
    store: AnswerStore | None = None
    fits: bool = False
    warned: set[str] = field(default_factory=set)
    ledger: Ledger | None = None
    fault_level: str = "WARNING"

    async def solve(self, problem: Problem, sample_index: int) -> tuple[Candidate, tuple[Event, ...]]:
        """One candidate and how it came about. Raises UserError where no sample could go better (a wrong key, a
        missing model, a flow for other problems).
        """
        self._check_fit(problem)
        model = RecordedModel(self.model, self.model_name, f"{problem.name}#{sample_index}", self.store)
        ledger = self.ledger or Ledger(self.settings)
        budget = ledger.sample(problem.name)
        variation = Variation(sample_index, self.settings.dataset.use_iteration_scheme)
        with budget.counting(model.usage):
            result = await self._result(problem, variation, BudgetedModel(model, budget), budget)
        ledger.note(budget)
        return self._candidate(problem, sample_index, result, model.usage), tuple(result.events)

    def _check_fit(self, problem: Problem) -> None:
        """Refuse a problem that the flow is not for, or warn where it may be one among others."""
        if not self.fits:
            check_fit(self.flow, [problem])
        kind = problem.execution.kind
        if kind not in self.warned and not self.flow.suits(kind):
            self.warned.add(kind)
            logger.warning(misfit(self.flow, problem))

    async def _result(
        self, problem: Problem, variation: Variation, model: BudgetedModel, budget: SampleBudget
    ) -> "_Result":
        """What came of the flow, or why it wasn't begun."""
        try:
            budget.check()
            context = SampleContext(model, self.judge.for_problem(problem), self.settings, variation)
        except BudgetExhausted as exhausted:
            return _Result(error=_spent_before(exhausted.end))
        except Unjudgeable as reason:
            return _Result.internal(one_line(reason))
        return await self._run(problem, context, budget)

    async def _run(self, problem: Problem, context: SampleContext, budget: SampleBudget) -> "_Result":
        """What came of the flow; where there's no program, whose fault that is."""
        events = context.events
        try:
            state = await run_flow(self.flow.for_kind(problem.execution.kind), problem.statement, context)
            if budget.end is not None and not any(isinstance(event, BudgetEnd) for event in events):
                events.append(budget.end)
            if not state.program.strip():
                return _Result(error=_no_program(context, budget), events=events)
            return _Result(state.program, None, await _public_result(state, context), events)
        except UserError:
            raise
        except ModelError as fault:
            logger.log(self.fault_level, "{}: {}", problem.name, fault)
            return _Result(error=SampleError(ErrorKind.PROVIDER, one_line(fault)), events=events)
        except SandboxFault as fault:
            return _Result.internal(one_line(fault), events)
        except Exception as fault:  # noqa: BLE001 - one sample's fault mustn't end the others; it is kept and counted
            logger.exception("{}: a fault of ours", problem.name)
            return _Result.internal(one_line(fault), events)

    def _candidate(self, problem: Problem, sample_index: int, result: "_Result", usage: Usage) -> Candidate:
        return Candidate(
            task_name=problem.name,
            sample_index=sample_index,
            program=result.program,
            model=", ".join(usage.models) or self.model_name,
            flow=self.flow.for_kind(problem.execution.kind).name,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cost=usage.cost,
            llm_calls=usage.llm_calls,
            truncated_answers=usage.truncated_answers,
            public_tests_passed=result.public[0],
            public_tests_total=result.public[1],
            error=result.error,
        )


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
            context.events.append(StageEnd(flow.kind_of(stage), kept_text(state.program)))
    except BudgetExhausted as exhausted:
        context.events.append(exhausted.end)
    return state


@dataclass(frozen=True)
class _Result:
    """What a sample came to: a program and the public tests it passes, or an error; and how."""

    program: str = ""
    error: SampleError | None = None
    public: Passed = (0, 0)
    events: list[Event] = field(default_factory=list)

    @classmethod
    def internal(cls, reason: str, events: Sequence[Event] = ()) -> "_Result":
        """None, through no fault of the model."""
        return cls(error=SampleError(ErrorKind.INTERNAL, reason), events=list(events))


async def _public_result(state: FlowState, context: SampleContext) -> Passed:
    tests = state.statement.public_tests
    judgement = await context.run_tests(state.program, tests)
    context.record("public_tests", passed=judgement.tests_passed, of=len(tests), verdict=judgement.verdict.value)
    return judgement.tests_passed, len(tests)


def one_line(fault: BaseException | str) -> str:
    """An error in one line, without secrets."""
    text = " ".join(str(fault).split()) or type(fault).__name__
    return redact(well_formed(text[:500]))


def _no_program(context: SampleContext, budget: SampleBudget) -> SampleError:
    """The model's fault, but where a budget that the sample shares with others ended it."""
    if budget.end is not None and not budget.end.is_own:
        return _spent_before(budget.end, " had a program" if budget.calls_made else "")
    reasons = [reason for event in context.events if (reason := _reason(event))]
    return SampleError(ErrorKind.MODEL, one_line(reasons[-1] if reasons else "no answer held a program"))


def _spent_before(end: BudgetEnd, what: str = "") -> SampleError:
    return SampleError(ErrorKind.INTERNAL, f"{end.budget} was spent before this sample{what}", end)


def _reason(event: Event) -> str:
    """Why an event left a sample without a program; nothing if it is no such event."""
    if isinstance(event, BudgetEnd):
        return str(event)
    return event.reason if isinstance(event, StepSkipped | ModelRefusal) else ""


def candidate_to_json(candidate: Candidate) -> dict[str, Any]:
    """A candidate as `--json` shows it, its error as the Solutions dataset has it."""
    return candidate.to_json() | {"error": str(candidate.error or "")}
