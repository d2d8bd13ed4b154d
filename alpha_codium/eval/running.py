"""Judging of all programs of a split: resumable after a kill, in bounded memory (see `judge.many`).

1. Each verdict is journalled under problem, group, index and the program's digest. On resume, verdicts are reused,
   also for other programs of the problem with the same text; an `internal_error` is judged again. A kill loses only the
   verdicts of the programs that were being judged.
2. A problem that can't be judged gives all its programs `internal_error`, with the reason; the others are judged.
3. Tests within a fifth of a limit are marked. Programs whose verdict depends on such tests may be judged again, one at
   a time (`recheck_near_limit`).
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import Any

from loguru import logger

from alpha_codium.errors import DatasetError, Unjudgeable
from alpha_codium.eval.failures import failure_of
from alpha_codium.eval.prepare import GENERATED, Entry, EvaluationTask
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.judge import Judge
from alpha_codium.judge.executors import Executor, LocalPool, Task
from alpha_codium.judge.many import judge_batches
from alpha_codium.program import Program
from alpha_codium.runs import Journal
from alpha_codium.verdict import Judgement, Verdict
from alpha_codium.wording import counted

OnResult = Callable[[str, CandidateResult], None]
Key = tuple[str, str, int, str]
# Gets the judgement of each program that was run, and returns the one that counts.
Observer = Callable[[EvaluationTask, Program, Judgement], Awaitable[Judgement]]
# How often a program near a limit is judged again; the median counts.
RECHECKS = 3


async def run_evaluation(
    tasks: Iterable[EvaluationTask],
    judge: Judge,
    executor: Executor | None = None,
    *,
    journal: Journal | None = None,
    on_result: OnResult | None = None,
    observer: Observer | None = None,
) -> list[ProblemResult]:
    """Judge every program of every task; the results are in the tasks' order.

    `journal`, if given, is open; verdicts that it contains are reused. Without an executor, the judge's sandbox runs
    the programs.
    """
    evaluation = _Evaluation(judge, executor or LocalPool(judge.sandbox), journal, on_result, observer)
    return await evaluation.run(tasks)


async def recheck_near_limit(
    tasks: Iterable[EvaluationTask],
    results: Sequence[ProblemResult],
    judge: Judge,
    journal: Journal | None = None,
    executor: Executor | None = None,
) -> list[ProblemResult]:
    """Judge programs near a limit again, one at a time: the results of `tasks`, with the median of three verdicts.

    Programs that were judged again in an earlier run aren't judged once more.
    """
    evaluation = _Evaluation(judge, executor or LocalPool(judge.sandbox), journal)
    if near := sum(each.near_limit and not each.rechecked for result in results for each in result.candidates):
        logger.info(
            "{} within 20 % of a limit, each judged {} more times, one at a time", counted(near, "program"), RECHECKS
        )
    found = []
    for task, result in zip(tasks, results, strict=True):
        candidates = [
            await evaluation.recheck(task, entry, each) if each.near_limit and not each.rechecked else each
            for entry, each in zip(task.entries, result.candidates, strict=True)
        ]
        found.append(replace(result, candidates=tuple(candidates)))
    return found


@dataclass(frozen=True, slots=True)
class _Place:
    """A program of a task, which is one of several."""

    task: EvaluationTask
    number: int
    index: int

    @property
    def entry(self) -> Entry:
        return self.task.entries[self.index]


class _Evaluation:
    """The state that all programs of one evaluation share."""

    def __init__(
        self,
        judge: Judge,
        executor: Executor,
        journal: Journal | None,
        on_result: OnResult | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.judge, self.executor, self.journal = judge, executor, journal
        self.on_result, self.observer = on_result, observer
        self.known = _known_results(journal)
        self.by_program = {(name, program): result for (name, _, _, program), result in self.known.items()}
        self.results: list[ProblemResult] = []
        # The results of each task's programs so far, by their indices. Tests aren't kept: a split may be large.
        self.found: list[dict[int, CandidateResult]] = []
        # Programs that are being judged, by the number of their judgement, and those that needn't be.
        self.asked: dict[int, _Place] = {}
        self.ready: list[tuple[_Place, CandidateResult]] = []

    async def run(self, tasks: Iterable[EvaluationTask]) -> list[ProblemResult]:
        """Judge all programs; the results are in the order of the tasks."""
        async with aclosing(judge_batches(self._draw(tasks), self.executor)) as judged:
            async for batch in judged:
                for number, judgement in batch:
                    place = self.asked.pop(number)
                    self.ready.append((place, await self._result(place.task, place.entry, judgement)))
                await self._record_ready()
        await self._record_ready()
        in_order = [tuple(found[index] for index in sorted(found)) for found in self.found]
        return [replace(each, candidates=found) for each, found in zip(self.results, in_order, strict=True)]

    def _draw(self, tasks: Iterable[EvaluationTask]) -> Iterator[Task]:
        """Yield what is to be judged: programs without a verdict in the journal, except for lost samples."""
        numbers = itertools.count()
        for number, task in enumerate(tasks):
            self.results.append(ProblemResult(task.name, (), task.skipped))
            self.found.append({})
            for index, entry in enumerate(task.entries):
                place, program = _Place(task, number, index), entry.to_program()
                if entry.is_lost:
                    lost = Judgement(Verdict.INTERNAL_ERROR, tests_total=len(task.tests))
                    self.ready.append((place, CandidateResult.of(0, "", lost)))
                elif known := self.by_program.get((task.name, program.digest)):
                    self.ready.append((place, known))
                else:
                    self.asked[next(numbers)] = place
                    yield Task(program, task.problem, task.tests, self.judge.rules)

    async def _record_ready(self) -> None:
        """Record the results that are there: add those that are new to the journal, all at once, and report all."""
        ready, self.ready = self.ready, []
        results = [(place, *self._result_of_entry(place, shared)) for place, shared in ready]
        await self._write(*((place.task, result) for place, result, is_new in results if is_new))
        for place, result, _ in results:
            self.found[place.number][place.index] = result
            if self.on_result is not None:
                self.on_result(place.task.name, result)

    def _result_of_entry(self, place: _Place, shared: CandidateResult) -> tuple[CandidateResult, bool]:
        """Return the result of one entry, and whether it isn't in the journal."""
        task, entry, program = place.task, place.entry, place.entry.to_program().digest
        if (known := self.known.get(_key(task, entry, program))) is not None:
            return replace(known, program=program), False
        error = str(entry.error or "") or (_named(task, entry, shared.error) if shared.error else "")
        return replace(shared, index=entry.index, group=entry.group, error=error, program=program), True

    async def recheck(self, task: EvaluationTask, entry: Entry, result: CandidateResult) -> CandidateResult:
        """Judge a program three times, and return the result with the median of its verdicts; it is journalled."""
        asked = Task(entry.to_program(), task.problem, task.tests, self.judge.rules)
        again = [await self._result(task, entry, (await self.executor.judge([asked]))[0]) for _ in range(RECHECKS)]
        # Passed before failed; of equal verdicts the one with the median time.
        again.sort(key=lambda each: (each.verdict is not Verdict.ACCEPTED, _cpu_seconds(each)))
        median = again[RECHECKS // 2]
        error = _named(task, entry, median.error) if median.error else ""
        changed = {"index": result.index, "group": result.group, "program": result.program}
        found = replace(median, **changed, error=error, rechecked=True)
        await self._write((task, found))
        return found

    async def _write(self, *results: tuple[EvaluationTask, CandidateResult]) -> None:
        """Add the results of programs to the journal."""
        if self.journal is not None and results:
            lines = [
                {"problem": task.name, "program": result.program, "result": replace(result, program="").to_json()}
                for task, result in results
            ]
            await asyncio.to_thread(self.journal.append, *lines)

    async def _result(self, task: EvaluationTask, entry: Entry, judgement: Judgement) -> CandidateResult:
        """Return the result of one program, with what shows why it failed."""
        if self.observer is not None:
            judgement = await self.observer(task, entry.to_program(), judgement)
        failure = None
        if judgement.failed is not None and judgement.tests:
            with suppress(Unjudgeable):  # which the judgement says
                failure = failure_of(self.judge.for_problem(task.problem), task.tests, judgement, entry.language)
        return CandidateResult.of(0, "", judgement, failure)


def _cpu_seconds(result: CandidateResult) -> float:
    return max((test["cpu_seconds"] for test in result.tests), default=0.0)


def _named(task: EvaluationTask, entry: Entry, why: str) -> str:
    """Return why there is no verdict, with the names of the problem and the candidate."""
    return why if why.startswith("problem ") else f"problem {task.name!r}, candidate {entry.index}: {why}"


def _key(task: EvaluationTask, entry: Entry, program: str) -> Key:
    return task.name, entry.group, entry.index, program


def refuse_replaced(journal: Journal, tasks: Iterable[EvaluationTask]) -> None:
    """Raise DatasetError if a sample that has a verdict is gone, or has another program now.

    Samples that were missing may have been made, and others added.
    """
    now = {_key(task, entry, entry.to_program().digest) for task in tasks for entry in task.entries}
    for name, group, index, program in _known_results(journal):
        if group == GENERATED and (name, group, index, program) not in now:
            raise DatasetError(f"sample {index} of {name!r} isn't the program that was judged: start a new run")


def _known_results(journal: Journal | None) -> dict[Key, CandidateResult]:
    results = journal.read(_known_result) if journal is not None else ()
    return {key: result for key, result in results if result.verdict is not Verdict.INTERNAL_ERROR}


def _known_result(line: dict[str, Any]) -> tuple[Key, CandidateResult]:
    result = CandidateResult.from_json(line["result"])
    return (line["problem"], result.group, result.index, line["program"]), result
