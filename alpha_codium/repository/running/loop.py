"""The turns of one item: the model answers, the tests run, and the model is told what they said.

1. The turns end when the tests pass, after `max_iter` answers, or when the question doesn't fit into the model's
   context even without earlier answers.
2. If the messages don't fit, the oldest answer that is shown again is left out with its feedback.
3. An answer that can't be read isn't run; the model is told why, as after tests that failed.
4. Tests that could not be run because of the sandbox are run again. If that doesn't help, the item ends without a
   verdict, and is run again when the run is resumed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from loguru import logger

from alpha_codium.flows.asking import answer_event
from alpha_codium.llm.errors import ContentFiltered, ContextOverflow
from alpha_codium.llm.messages import ChatModel, ChatRequest, Message
from alpha_codium.repository.harness import Edit, SuiteRun
from alpha_codium.repository.methods import AnswerError
from alpha_codium.repository.providers import ProviderError, TestProvider
from alpha_codium.repository.running.answers import ReadAnswer
from alpha_codium.repository.running.benchmarks import RepositoryBenchmark
from alpha_codium.repository.running.context import Shown
from alpha_codium.repository.running.conversation import Manner, messages
from alpha_codium.repository.running.feedback import feedback_of
from alpha_codium.repository.running.measures import measured
from alpha_codium.repository.running.prompts import Prompts
from alpha_codium.repository.running.turns import Turn, TurnStatus
from alpha_codium.repository.tasks import RepositoryTask
from alpha_codium.runs.events import Event, ModelRefusal, StepResult

# The distance between the seeds of replicas, which leaves room for those of turns.
SEEDS_APART = 1000


@dataclass(frozen=True)
class LoopRules:
    """What is the same for all items of a run; `request` has the parameters for the model."""

    benchmark: RepositoryBenchmark
    prompts: Prompts
    shown: Shown = field(default_factory=Shown)
    manner: Manner = field(default_factory=Manner)
    request: ChatRequest = field(default_factory=lambda: ChatRequest(()))
    max_iter: int = 1
    max_feedback: int = 20_000
    max_tests: int = 100
    max_retries: int = 5


class TestsNotRun(Exception):
    """Tests could not be run because of the sandbox, also when they were tried again."""

    __test__ = False


@dataclass
class LoopItem:
    """One task in one run; `turns` grows. Without a model, the right answer stands in for the model's."""

    task: RepositoryTask
    rules: LoopRules
    provider: TestProvider
    model: ChatModel | None
    replica: int = 0
    turns: list[Turn] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Keep as many tests as a task may have."""
        most = self.rules.max_tests
        first, others = self.task.fail_to_pass[:most], self.task.pass_to_pass
        self.task = replace(self.task, fail_to_pass=first, pass_to_pass=others[: most - len(first)])
        self.variables = self.rules.benchmark.variables(self.task, self.rules.shown, self.rules.max_feedback)

    async def run(self) -> None:
        """Add all turns; raises TestsNotRun, BudgetExhausted, and the model client's errors of the provider."""
        while len(self.turns) < self.rules.max_iter:
            if self.turns and self.turns[-1].status is TurnStatus.OK:
                return
            try:
                answer = await self._answer()
            except ContextOverflow as error:
                self._refused(error)
                return
            except ContentFiltered as error:
                self._refused(error)
                continue
            self.turns.append(await self._tested(answer))

    def _refused(self, error: Exception) -> None:
        self.events.append(ModelRefusal(self._turn_name(), str(error)))
        self.turns.append(Turn(TurnStatus.NOT_RUN, "", reason=f"the model gave no answer: {error}"))

    def _turn_name(self) -> str:
        return f"turn {len(self.turns) + 1}"

    async def _answer(self) -> str:
        """Return the next answer; raises ContextOverflow if nothing can be left out any more."""
        if self.model is None:
            return f"```python\n{self.rules.benchmark.right(self.task)}```"
        shown = self.rules.manner.shown_again(self.turns)
        while True:
            asked = self._request(messages(self.rules.prompts, self.variables, shown, self.rules.manner))
            try:
                answer = await self.model.ask(asked)
            except ContextOverflow:
                if not shown:
                    raise
                shown = shown[1:]
                continue
            self.events.append(answer_event(self._turn_name(), asked, answer))
            return answer.text

    def _request(self, asked: Sequence[Message]) -> ChatRequest:
        request = self.rules.request
        seed = None if request.seed is None else request.seed + SEEDS_APART * self.replica + len(self.turns)
        return replace(request, messages=tuple(asked), seed=seed)

    async def _tested(self, answer: str) -> Turn:
        try:
            read = self.rules.benchmark.read(self.task, answer)
        except AnswerError as error:
            turn = Turn(TurnStatus.NOT_RUN, answer, reason=str(error))
        else:
            turn = self._turn(answer, read, await self._run_tests(read.edit))
        self.events.append(StepResult("tests", {"turn": len(self.turns) + 1, "code": turn.code, **turn.short()}))
        return turn

    def _turn(self, answer: str, read: ReadAnswer, run: SuiteRun) -> Turn:
        status = TurnStatus.OK if run.passed else TurnStatus.CRASHED if run.crash else TurnStatus.FAILED
        same_method = read.method == self.task.method.qualified_name
        return Turn(
            status=status,
            answer=answer,
            method=read.method,
            code=read.code,
            reason=run.crash,
            feedback="" if run.passed else feedback_of(run, self.task, self.rules.max_feedback),
            tests=run.results,
            measures=measured(read.written, self.rules.benchmark.reference(self.task), same_method),
            cpu_seconds=run.cpu_seconds,
        )

    async def _run_tests(self, edit: Edit) -> SuiteRun:
        """Run the tests, again after faults of the sandbox; raises TestsNotRun."""
        fault = ""
        for attempt in range(self.rules.max_retries + 1):
            if fault:
                logger.warning("{}: {}: attempt {}", self.task.dp_id, fault, attempt + 1)
            try:
                return await self.provider.run(self.task, edit)
            except ProviderError as error:
                fault = str(error)
        raise TestsNotRun(f"the tests could not be run: {fault}")
