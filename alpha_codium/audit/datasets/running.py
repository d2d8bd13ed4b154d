"""Validating a split, in two steps.

1. Every known program that can be run is judged on all tests, by `run_evaluation` as for a score, which gives each
   judgement to `Observing`. Each program's observation is one line of `observations.jsonl`, on disk
   before the verdict is recorded, so every program in a run's journal has one. An interrupted run can be resumed; a
   program whose observation was lost since is judged again.
2. When all are judged, problems are assessed one by one from those observations: memory holds one problem at a time.

Verdicts are returned without their tests, which would fill the memory on a large split. A program with an internal
error on any test has no verdict, even if an earlier test failed: validation needs all tests, so the program is judged
again when the run is resumed. Known-correct programs that ran out of time are run on those tests once more, with
`WIDER` times the limit: this distinguishes a tight limit from a program that never ends.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from loguru import logger

from alpha_codium.audit.datasets.alternatives import alternatives_for
from alpha_codium.audit.datasets.assessment import Assessment, assess
from alpha_codium.audit.datasets.observation import (
    WIDER,
    Known,
    Observation,
    ObservedProblem,
    Wider,
    observe,
    places_of,
)
from alpha_codium.audit.datasets.timing import NEAR
from alpha_codium.audit.datasets.wording import several_answers
from alpha_codium.errors import Unjudgeable
from alpha_codium.eval.known import disputed
from alpha_codium.eval.languages import Languages
from alpha_codium.eval.prepare import CORRECT, INCORRECT, EvaluationTask, HumanSolutions, human_solutions
from alpha_codium.eval.results import ProblemResult
from alpha_codium.eval.running import OnResult, run_evaluation
from alpha_codium.judge import Judge, Rules, kind_of
from alpha_codium.judge.executors import Executor, LocalPool, Task
from alpha_codium.problem import Problem, TestType
from alpha_codium.program import PYTHON, Program
from alpha_codium.runs import Journal, RunFolder
from alpha_codium.verdict import Judgement, Verdict
from alpha_codium.wording import counted

T = TypeVar("T")
FILE = "observations.jsonl"
# Verdicts of programs that weren't run.
UNOBSERVED = (Verdict.NO_TESTS, Verdict.INTERNAL_ERROR)


# The limits that are checked are those of Python programs.
VALIDATED = Languages((PYTHON,), other="`data validate` runs programs in python3")


@dataclass(frozen=True, slots=True)
class Observing:
    """Writes observations of programs, which `judge` judged by all tests, to an open journal."""

    judge: Judge
    executor: Executor
    journal: Journal

    async def __call__(self, task: EvaluationTask, program: Program, judgement: Judgement) -> Judgement:
        """Record the observation of a program; its verdict is returned without its tests."""
        if not judgement.tests:
            return judgement
        await self._record(task, program, judgement)
        fault_of = kind_of(task.problem, self.judge.rules).fault_of
        # No test was left out, so results and tests pair up.
        lost = [
            result
            for test, result in zip(task.tests, judgement.tests, strict=True)
            if result.verdict is Verdict.INTERNAL_ERROR and not fault_of(test)
        ]
        if not lost:
            return replace(judgement, tests=())
        why = lost[0].execution.stderr or judgement.message
        return replace(judgement, verdict=Verdict.INTERNAL_ERROR, message=why, tests=())

    async def _record(self, task: EvaluationTask, program: Program, judgement: Judgement) -> None:
        problem = task.problem
        is_correct = any(solution.code == program.source for solution in problem.solutions)
        seen = await asyncio.to_thread(
            observe,
            task.tests,
            judgement,
            alternatives_for(problem),
            keep_outputs=is_correct,
            printed=problem.execution.has_outputs,
            wider=await self._again(task, program, judgement) if is_correct else {},
        )
        line = {"problem": problem.name, "program": program.digest, "observation": seen.to_json()}
        await asyncio.to_thread(self.journal.append, line)

    async def _again(self, task: EvaluationTask, program: Program, judgement: Judgement) -> dict[int, Wider]:
        """Run the tests that ran out of time again with the wider limit, up to the first that does so again."""
        late = [p for p, result in enumerate(judgement.tests) if result.verdict is Verdict.TIME_LIMIT_EXCEEDED]
        limits = self.judge.rules.limits_for(task.problem)
        rules = replace(self.judge.rules, cpu_seconds=limits.cpu_seconds * WIDER)
        again: dict[int, Wider] = {}
        for place in late:
            (judged,) = await self.executor.judge([Task(program, task.problem, (task.tests[place],), rules)])
            result = judged.tests[0]
            again[place] = Wider(result.verdict, round(result.execution.cpu_seconds, 4))
            if result.verdict is Verdict.TIME_LIMIT_EXCEEDED:
                break
        return again


class Observations:
    """The observations in a run's journal of them, each read when it is asked for."""

    def __init__(self, journal: Journal) -> None:
        """Raises JournalError if the file can't be read, or a line of it isn't an observation."""
        self.path = journal.path
        self._offsets = {key: offset for offset, key in journal.placed(_key)}

    def __contains__(self, key: object) -> bool:
        """Whether there is one for (problem, digest of the program)."""
        return key in self._offsets

    def get(self, problem: str, program: Program) -> Observation | None:
        """Return the last observation of a program, None if there is none."""
        offset = self._offsets.get((problem, program.digest))
        if offset is None:
            return None
        with self.path.open("rb") as lines:
            lines.seek(offset)
            return Observation.from_json(json.loads(lines.readline())["observation"])


def _key(line: dict[str, Any]) -> tuple[str, str]:
    Observation.from_json(line["observation"])
    return line["problem"], line["program"]


def known_programs(problems: Sequence[Problem], test_types: Sequence[TestType]) -> HumanSolutions:
    """Return the known programs that are run."""
    return human_solutions(problems, "both", test_types, languages=VALIDATED)


async def observe_known(
    problems: Sequence[Problem],
    test_types: Sequence[TestType],
    judge: Judge,
    folder: RunFolder,
    *,
    on_result: OnResult | None = None,
    executor: Executor | None = None,
) -> list[ProblemResult]:
    """Judge all known programs in a run's folder, except those that already have an observation there."""
    tasks = known_programs(problems, test_types)
    judge, executor = Judge(judge.sandbox, by_all_tests(judge.rules)), executor or LocalPool(judge.sandbox)
    with _JournalOfObserved(folder) as journal, folder.journal_in(FILE) as observations:
        observer = Observing(judge, executor, observations)
        return await run_evaluation(tasks, judge, executor, journal=journal, on_result=on_result, observer=observer)


def by_all_tests(rules: Rules) -> Rules:
    """Return the rules, but all tests are run."""
    return replace(rules, stop_on_first_failure=False)


class _JournalOfObserved(Journal):
    """The run's journal, without the verdicts on programs whose observation was lost."""

    def __init__(self, folder: RunFolder) -> None:
        super().__init__(folder.journal.path, folder.judged_by)
        self._observed = Observations(folder.journal_in(FILE))

    def read(self, parse: Callable[[dict[str, Any]], T]) -> Iterator[T]:
        """`parse` applied to each entry on a program that was observed."""
        lost = 0
        for is_observed, parsed in super().read(lambda line: (self._is_observed(line), parse(line))):
            lost += not is_observed
            if is_observed:
                yield parsed
        if lost:
            logger.warning(
                "{} lacks the observations of {}, to be judged again", self._observed.path, counted(lost, "program")
            )

    def _is_observed(self, line: dict[str, Any]) -> bool:
        verdict = line["result"]["verdict"]
        return verdict in UNOBSERVED or (line["problem"], line["program"]) in self._observed


def assess_known(
    problems: Sequence[Problem],
    test_types: Sequence[TestType],
    judge: Judge,
    folder: RunFolder,
    results: Sequence[ProblemResult],
    near: float = NEAR,
) -> Iterator[Assessment]:
    """Yield the assessments of problems whose known programs were judged, in their order; nothing is run."""
    observations = Observations(folder.journal_in(FILE))
    tasks = known_programs(problems, test_types)
    for task, result in zip(tasks, results, strict=True):
        yield assess(_observed(task, test_types, judge, observations, result), near)


def _observed(
    task: EvaluationTask,
    test_types: Sequence[TestType],
    judge: Judge,
    observations: Observations,
    result: ProblemResult,
) -> ObservedProblem:
    problem = task.problem
    malformed, not_judged = _malformed(task, judge)
    # Skip programs that are listed as both correct and incorrect.
    both = disputed(problem)
    known: dict[str, list[Known]] = {CORRECT: [], INCORRECT: []}
    lost = 0
    for label, programs in ((CORRECT, problem.solutions), (INCORRECT, problem.incorrect_solutions)):
        for index, solution in enumerate(programs):
            if solution.language not in VALIDATED.asked:
                continue
            seen = observations.get(problem.name, Program.from_source(solution.language, solution.code))
            if seen is None or any(
                v is Verdict.INTERNAL_ERROR for p, v in enumerate(seen.verdicts) if p not in malformed
            ):
                lost += bool(task.tests)
            elif solution.code not in both:
                known[label].append(Known(label, index, solution.code, seen))
    unjudged = 0 if not_judged else lost
    if unjudged:
        why = next((candidate.error for candidate in result.candidates if candidate.error), "a fault of the sandbox")
        not_judged = f"{counted(lost, 'program')} got no verdict: {why}"
    return ObservedProblem(
        problem=problem,
        tests=task.tests,
        places=places_of(problem, test_types),
        checker=judge.rules.checker_for(problem) if problem.execution.has_outputs else None,
        limits=judge.rules.limits_for(problem),
        alternatives=alternatives_for(problem),
        correct=tuple(known[CORRECT]),
        incorrect=tuple(known[INCORRECT]),
        malformed=malformed,
        not_run=task.skipped.total(),
        wording=several_answers(problem.description),
        not_judged=not_judged,
        unjudged=unjudged,
    )


def _malformed(task: EvaluationTask, judge: Judge) -> tuple[dict[int, str], str]:
    """Return the tests that can't be run, each with the reason; or why the problem can't be judged."""
    try:
        fault_of = kind_of(task.problem, judge.rules).fault_of
    except Unjudgeable as reason:
        return {}, str(reason)
    faults = ((place, fault_of(test)) for place, test in enumerate(task.tests))
    return {place: fault for place, fault in faults if fault}, ""
