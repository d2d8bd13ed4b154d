"""What judges batches of tasks: the sandbox of this machine, or an executor of another name, such as Ray's."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from alpha_codium.errors import JobUnsupported, Unjudgeable, UserError
from alpha_codium.judge.assertion_batches import AssertionRun, judge_batch
from alpha_codium.judge.assertions import AssertionsKind
from alpha_codium.judge.judge import Judge, PreparedJudgement, ProblemJudge, uncompiled
from alpha_codium.judge.rules import Rules
from alpha_codium.plugins import find_plugin
from alpha_codium.problem import Problem, TestCase
from alpha_codium.program import Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Judgement, Status, TestResult, Verdict

if TYPE_CHECKING:
    from alpha_codium.config import Settings

# Batches in flight per worker of a sandbox, enough that none is idle.
IN_FLIGHT_PER_WORKER = 2
GROUP = "alpha_codium.executors"


@dataclass(frozen=True, slots=True)
class Task:
    """A program and the tests of a problem by which it is judged, with the rules for it.

    `output_variable` is for metrics: a variable of assertions whose value their results have.
    """

    program: Program
    problem: Problem
    tests: Sequence[TestCase]
    rules: Rules = field(default_factory=Rules)
    output_variable: str = ""

    @property
    def batch_key(self) -> tuple[int, int, int, str]:
        """Equal for tasks that differ only in their program; valid while their problem, tests and rules exist."""
        return id(self.problem), id(self.tests), id(self.rules), self.output_variable

    def unjudged(self, why: object) -> Judgement:
        """Return the judgement if no test could be run."""
        return Judgement(Verdict.INTERNAL_ERROR, tests_total=len(self.tests), message=str(why))


class Executor(ABC):
    """Judges batches of tasks; found by name: see `executor_named`.

    `async with` opens it. `tests_in_batch`: how many tests make a batch, of whatever programs; 0 if it takes the
    batches whose tests can share processes, and other programs one by one.
    """

    tests_in_batch: int = 0

    @property
    @abstractmethod
    def in_flight(self) -> int:
        """How many batches it takes at a time."""

    @abstractmethod
    async def judge(self, tasks: Sequence[Task]) -> Sequence[Judgement]:
        """Judge the tasks of a batch, in their order. What can't be judged gets `internal_error`, with the reason."""

    async def __aenter__(self) -> Self:
        """Open it; raises UserError if it can't judge as the sandbox does that it was made with."""
        return self

    async def __aexit__(self, *_exc: object) -> None:
        """End what still runs."""

    def status(self) -> str:
        """Return what is shown beside the progress, such as the number of machines; "" for nothing."""
        return ""

    def machines(self) -> list[dict[str, Any]]:
        """Return what each machine has done, as JSON, for the run folder; nothing if this machine does it all."""
        return []


class LocalPool(Executor):
    """Judges in an open sandbox, which runs `workers` programs at a time (0: one per core)."""

    def __init__(self, sandbox: Sandbox, workers: int = 0) -> None:
        self.sandbox, self.workers = sandbox, workers
        # The last ones, since many programs have the same problem.
        self._judges: list[ProblemJudge] = []

    @property
    def in_flight(self) -> int:
        """See `Executor`."""
        return IN_FLIGHT_PER_WORKER * (self.workers or self.sandbox.workers or os.cpu_count() or 1)

    async def judge(self, tasks: Sequence[Task]) -> list[Judgement]:
        """See `Executor`; raises SandboxError, but not for a program that the sandbox can never run."""
        if len(tasks) == 1 and not tasks[0].output_variable:
            return [await self._judge_alone(tasks[0])]
        found: dict[int, Judgement] = {}
        runs: dict[int, PreparedJudgement] = {}
        for place, task in enumerate(tasks):
            try:
                prepared = self._judge_of(task).prepare(task.program, task.tests)
            except Unjudgeable as reason:
                prepared = task.unjudged(reason)
            if isinstance(prepared, PreparedJudgement):
                runs[place] = prepared
            else:
                found[place] = prepared
        try:
            results = await judge_batch([_assertions(run, tasks[place]) for place, run in runs.items()])
        except JobUnsupported as reason:  # all have the same limits
            return [found.get(place) or task.unjudged(reason) for place, task in enumerate(tasks)]
        found |= {place: _judgement(run, each) for (place, run), each in zip(runs.items(), results, strict=True)}
        return [found[place] for place in range(len(tasks))]

    async def _judge_alone(self, task: Task) -> Judgement:
        try:
            return await self._judge_of(task).judge(task.program, task.tests)
        except (Unjudgeable, JobUnsupported) as reason:
            return task.unjudged(reason)

    def _judge_of(self, task: Task) -> ProblemJudge:
        """Return the judge of a task; raises Unjudgeable."""
        for judge in self._judges:
            if judge.problem is task.problem and judge.rules is task.rules:
                return judge
        judge = Judge(self.sandbox, task.rules).for_problem(task.problem)
        self._judges = [judge, *self._judges[: self.in_flight]]
        return judge


def _assertions(run: PreparedJudgement, task: Task) -> AssertionRun:
    assert isinstance(run.kind, AssertionsKind), "no other tests are batched"
    return AssertionRun(run.kind, run.program, run.runnable, run.stop_early, task.output_variable)


def _judgement(run: PreparedJudgement, results: Sequence[TestResult]) -> Judgement:
    compilation = next((each.execution for each in results if each.execution.status is Status.COMPILATION_ERROR), None)
    return run.judgement(results) if compilation is None else uncompiled(compilation, len(run.tests))


class NoExecutor(Executor):
    """Judges nothing: for results whose verdicts are all there."""

    in_flight = 1

    def __init__(self, *_what: object) -> None:
        """Takes what `executor_named` gives, and needs nothing of it."""

    async def judge(self, tasks: Sequence[Task]) -> list[Judgement]:
        """Raise UserError: a verdict is missing."""
        raise UserError(f"a program of problem {tasks[0].problem.name!r} has no verdict, and nothing is to be judged")


def _local(sandbox: Sandbox, workers: int, _settings: "Settings") -> Executor:
    return LocalPool(sandbox, workers)


def _ray(*what: Any) -> Executor:
    from alpha_codium.judge.on_ray.cluster import RayCluster

    return RayCluster(*what)


# Executors by name; packages can add some with an entry point in the group `alpha_codium.executors`.
EXECUTORS: Mapping[str, Callable[..., Executor]] = {"local": _local, "ray": _ray, "none": NoExecutor}


def executor_named(name: str, sandbox: Sandbox, workers: int, settings: "Settings") -> Executor:
    """Return the executor called `name`, to be used with `async with`; raises UserError if there is none.

    It judges in `sandbox`, or in equivalent ones that it opens by `settings`, as Ray does on each node.
    """
    return find_plugin(GROUP, name, EXECUTORS)(sandbox, workers, settings)
