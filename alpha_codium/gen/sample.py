"""One sample of one problem: the flow run once, and what came of it as a candidate.

Whose fault it is that there is no program decides what the sample counts as: the model's makes a failed sample; the
provider's and ours make one to be tried again.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

from loguru import logger

from alpha_codium.config import Settings
from alpha_codium.errors import Unjudgeable, UserError
from alpha_codium.flows import Flow, FlowState, SampleContext
from alpha_codium.flows.context import SandboxFault
from alpha_codium.flows.running import run_flow
from alpha_codium.flows.variation import Variation
from alpha_codium.gen.fitting import check_fit, misfit
from alpha_codium.gen.recorded import Budget, RecordedModel, Usage, well_formed
from alpha_codium.judge import Judge
from alpha_codium.llm.errors import ModelError
from alpha_codium.llm.messages import ChatModel
from alpha_codium.log import redact
from alpha_codium.problem import Problem
from alpha_codium.runs import AnswerStore
from alpha_codium.solution import Candidate, ErrorKind, SampleError

# Tests passed, and how many there are.
Passed = tuple[int, int]


@dataclass(frozen=True)
class Solver:
    """All that samples share; `fits` says that the flow is known to be for some of the problems.

    `warned` holds the kinds of tests that the flow isn't for, of which the user has been told.
    """

    flow: Flow
    model: ChatModel
    model_name: str
    judge: Judge
    settings: Settings
    store: AnswerStore | None = None
    fits: bool = False
    warned: set[str] = field(default_factory=set)

    async def solve(self, problem: Problem, sample_index: int) -> tuple[Candidate, dict[str, Any]]:
        """One candidate and its transcript. Raises UserError where no sample could go better (a wrong key, a
        missing model, a flow for other problems).
        """
        self._check_fit(problem)
        model = RecordedModel(
            self.model,
            self.model_name,
            f"{problem.name}#{sample_index}",
            self.store,
            Budget(self.settings.solve.max_calls, self.settings.solve.max_tokens, self.settings.solve.max_cost),
        )
        variation = Variation(sample_index, self.settings.dataset.use_iteration_scheme)
        try:
            context = SampleContext(model, self.judge.for_problem(problem), self.settings, variation)
        except Unjudgeable as reason:
            error = SampleError(ErrorKind.INTERNAL, one_line(reason))
            candidate = self._candidate(problem, sample_index, FlowState(problem.statement), model.usage, error, (0, 0))
            return candidate, transcript_of(candidate, [])
        state, public, error = await self._run(problem, context)
        candidate = self._candidate(problem, sample_index, state, model.usage, error, public)
        return candidate, transcript_of(candidate, context.events)

    def _check_fit(self, problem: Problem) -> None:
        """Refuse a problem that the flow is not for, or warn where it may be one among others."""
        if not self.fits:
            check_fit(self.flow, [problem])
        kind = problem.execution.kind
        if kind not in self.warned and not self.flow.suits(kind):
            self.warned.add(kind)
            logger.warning(misfit(self.flow, problem))

    async def _run(self, problem: Problem, context: SampleContext) -> tuple[FlowState, Passed, SampleError | None]:
        """The flow's state, the public tests passed and their number, and whose fault it is if there's no program."""
        state = FlowState(problem.statement)
        try:
            state = await run_flow(self.flow.for_kind(problem.execution.kind), problem.statement, context)
            if not state.program.strip():
                return state, (0, 0), SampleError(ErrorKind.MODEL, _why_no_program(context))
            return state, await _public_result(state, context), None
        except UserError:
            raise
        except ModelError as fault:
            logger.warning("{}: {}", problem.name, fault)
            return state, (0, 0), SampleError(ErrorKind.PROVIDER, one_line(fault))
        except SandboxFault as fault:
            return state, (0, 0), SampleError(ErrorKind.INTERNAL, one_line(fault))
        except Exception as fault:  # noqa: BLE001 - one sample's fault mustn't end the others; it is kept and counted
            logger.exception("{}: a fault of ours", problem.name)
            return state, (0, 0), SampleError(ErrorKind.INTERNAL, one_line(fault))

    def _candidate(
        self,
        problem: Problem,
        sample_index: int,
        state: FlowState,
        usage: Usage,
        error: SampleError | None,
        public: Passed,
    ) -> Candidate:
        return Candidate(
            task_name=problem.name,
            sample_index=sample_index,
            program=state.program if error is None else "",
            model=", ".join(usage.models) or self.model_name,
            flow=self.flow.for_kind(problem.execution.kind).name,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cost=usage.cost,
            llm_calls=usage.llm_calls,
            truncated_answers=usage.truncated_answers,
            public_tests_passed=public[0],
            public_tests_total=public[1],
            error=error,
        )


async def _public_result(state: FlowState, context: SampleContext) -> Passed:
    tests = state.statement.public_tests
    judgement = await context.run_tests(state.program, tests)
    context.record("public_tests", passed=judgement.tests_passed, of=len(tests), verdict=judgement.verdict.value)
    return judgement.tests_passed, len(tests)


def one_line(fault: BaseException) -> str:
    """An error in one line, without secrets."""
    text = " ".join(str(fault).split()) or type(fault).__name__
    return redact(well_formed(text[:500]))


def _why_no_program(context: SampleContext) -> str:
    reasons = [str(e[key]) for e in context.events for key in ("ended", "skipped", "refused") if key in e]
    return one_line(ValueError(reasons[-1] if reasons else "no answer held a program"))


def transcript_of(candidate: Candidate, events: list[dict[str, Any]]) -> dict[str, Any]:
    """How a sample came about, for `transcripts/`."""
    return {"candidate": candidate_to_json(candidate), "events": events}


def candidate_to_json(candidate: Candidate) -> dict[str, Any]:
    """A candidate as the journal holds it."""
    return asdict(candidate) | {"error": str(candidate.error) if candidate.error else ""}


def candidate_from_json(values: dict[str, Any]) -> Candidate:
    """Read back what `candidate_to_json` gave."""
    return Candidate(**(values | {"error": SampleError.parse(values["error"])}))
