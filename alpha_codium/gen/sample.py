"""One sample of one problem: a run of the flow whose result becomes a candidate.

A sample without a program has failed if that is the model's fault. If it is the provider's fault or gencode's own, the
sample is tried again on resume.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from loguru import logger

from alpha_codium.config import Settings
from alpha_codium.errors import Unjudgeable, UserError
from alpha_codium.flows import Flow, FlowState, SampleContext
from alpha_codium.flows.context import BudgetExhausted, SandboxFault, language_of
from alpha_codium.flows.loading import check_prompt_names
from alpha_codium.flows.variation import Variation
from alpha_codium.gen.budgets import Ledger
from alpha_codium.gen.choosing import misfit
from alpha_codium.gen.sample_model import SampleModel, well_formed
from alpha_codium.judge import Judge
from alpha_codium.llm.errors import ModelError
from alpha_codium.llm.messages import ChatModel
from alpha_codium.log import redact
from alpha_codium.problem import Problem, Statement
from alpha_codium.runs import AnswerStore
from alpha_codium.runs.events import Event, ModelRefusal, StageEnd, StepSkipped, kept_text
from alpha_codium.solution import BudgetEnd, Candidate, ErrorKind, SampleError


@dataclass(frozen=True, slots=True)
class StageProgress:
    """How far a sample is: in stage `number` of `stages`, after `calls` of the model with `tokens` in all.

    `sample` is the problem's name and the sample's index.
    """

    sample: tuple[str, int]
    kind: str
    number: int
    stages: int
    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True)
class Solver:
    """The objects that all samples share.

    Without a `ledger`, each sample has its own. Provider faults are logged at `fault_level`. `warned` is the set of
    kinds of tests for which the user was warned that the flow isn't meant for them. `on_progress` is called at the
    beginning of each stage, and after each answer.
    """

    flow: Flow
    model: ChatModel
    model_name: str
    judge: Judge
    settings: Settings
    store: AnswerStore | None = None
    ledger: Ledger | None = None
    fault_level: str = "WARNING"
    warned: set[str] = field(default_factory=set)
    on_progress: Callable[[StageProgress], None] | None = None

    async def solve(self, problem: Problem, sample_index: int) -> tuple[Candidate, tuple[Event, ...]]:
        """Return one candidate and the events of its sample.

        Raises UserError for errors that every sample would have, such as a wrong key or a missing model.
        """
        kind = problem.execution.kind
        if kind not in self.warned and not self.flow.suits(kind):
            self.warned.add(kind)
            logger.warning(misfit(self.flow, problem))
        ledger = self.ledger or Ledger(self.settings)
        budget = ledger.sample(problem.name)
        model = SampleModel(self.model, self.model_name, f"{problem.name}#{sample_index}", self.store, budget)
        events: list[Event] = []
        with budget.counting(usage := model.usage):
            result = await self._result(problem, sample_index, model, events)
        ledger.note(budget)
        candidate = Candidate(
            task_name=problem.name,
            sample_index=sample_index,
            program=result.program,
            model=", ".join(usage.models) or self.model_name,
            flow=self.flow.for_kind(kind).name,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cost=usage.cost,
            llm_calls=usage.llm_calls,
            truncated_answers=usage.truncated_answers,
            public_tests_passed=result.tests_passed,
            public_tests_total=result.tests_total,
            error=result.error,
            language=language_of(problem, self.settings),
        )
        return candidate, tuple(events)

    async def _result(self, problem: Problem, sample_index: int, model: SampleModel, events: list[Event]) -> "_Result":
        """Run the flow, and add its events to `events`."""
        try:
            model.budget.check()
        except BudgetExhausted as exhausted:
            return _Result(error=_spent_before(exhausted.end))
        try:
            variation = Variation(sample_index, self.settings.dataset.use_iteration_scheme)
            context = SampleContext(model, self.judge.for_problem(problem), self.settings, variation, events)
            flow = self.flow.for_kind(problem.execution.kind)
            reporter = self._reporter(flow, model, (problem.name, sample_index))
            state = await run_flow(flow, problem.statement, context, reporter)
            end = model.budget.end
            if end is not None and not any(isinstance(event, BudgetEnd) for event in events):
                events.append(end)
            tests = state.statement.public_tests
            if not state.program.strip():
                return _Result(error=_no_program(events, model), tests_total=len(tests))
            judgement = await context.run_tests(state.program, tests)
            passed = judgement.tests_passed
            context.record("public_tests", passed=passed, of=len(tests), verdict=judgement.verdict.value)
            return _Result(state.program, tests_passed=passed, tests_total=len(tests))
        except (SandboxFault, Unjudgeable) as fault:
            return _Result(error=SampleError(ErrorKind.INTERNAL, fault_text(fault)))
        except UserError:
            raise
        except ModelError as fault:
            logger.log(self.fault_level, "{}: {}", problem.name, fault)
            return _Result(error=SampleError(ErrorKind.PROVIDER, fault_text(fault)))
        except Exception as fault:  # noqa: BLE001 - a bug in one sample mustn't end the others
            logger.exception("{}: internal error", problem.name)
            return _Result(error=SampleError(ErrorKind.INTERNAL, fault_text(fault)))

    def _reporter(self, flow: Flow, model: SampleModel, sample: tuple[str, int]) -> Callable[[int], None]:
        """Return a function for the index of a stage that begins; from then on, it and the answers are reported."""
        if (on_progress := self.on_progress) is None:
            return lambda _index: None

        def begin(index: int) -> None:
            def report() -> None:
                usage, kind = model.usage, flow.stage_kinds[index]
                tokens = usage.prompt_tokens + usage.completion_tokens
                on_progress(StageProgress(sample, kind, index + 1, len(flow.stages), usage.llm_calls, tokens))

            model.on_answer = report
            report()

        return begin


@dataclass(frozen=True)
class _Result:
    """A program and the number of public tests that it passes, or an error; `tests_total` is the number of tests."""

    program: str = ""
    error: SampleError | None = None
    tests_passed: int = 0
    tests_total: int = 0


async def run_flow(
    flow: Flow, statement: Statement, context: SampleContext, on_stage: Callable[[int], None] = lambda _index: None
) -> FlowState:
    """Return the state, with the best program, after the last stage or when the budget is exhausted.

    `on_stage` gets the index of each stage that begins.

    Raises the model client's errors for faults of the provider, and SettingsError if `config.model_by_prompt` names an
    unknown prompt.
    """
    if context.settings.config.model_by_prompt:
        check_prompt_names(flow, context.settings.config.model_by_prompt)
    state = FlowState(statement)
    try:
        for index, stage in enumerate(flow.stages):
            on_stage(index)
            try:
                await stage.run(state, context)
            finally:
                context.events.append(StageEnd(flow.stage_kinds[index], kept_text(state.program)))
    except BudgetExhausted as exhausted:
        context.events.append(exhausted.end)
    return state


def fault_text(fault: BaseException | str) -> str:
    """Return an error's message in one line, without secrets."""
    text = " ".join(str(fault).split()) or type(fault).__name__
    return redact(well_formed(text[:500]))


def _no_program(events: Sequence[Event], model: SampleModel) -> SampleError:
    """Return the error of a sample without a program: the model's fault, unless a shared budget ended the sample."""
    end = model.budget.end
    if end is not None and not end.is_own:
        return _spent_before(end, " had a program" if model.usage.llm_calls else "")
    reasons = [reason for event in events if (reason := _reason(event))]
    return SampleError(ErrorKind.MODEL, fault_text(reasons[-1] if reasons else "no answer held a program"))


def _spent_before(end: BudgetEnd, what: str = "") -> SampleError:
    return SampleError(ErrorKind.INTERNAL, f"{end.budget} was spent before this sample{what}", end)


def _reason(event: Event) -> str:
    """Return the reason why an event left the sample without a program; "" for other events."""
    if isinstance(event, BudgetEnd):
        return str(event)
    return event.reason if isinstance(event, StepSkipped | ModelRefusal) else ""
