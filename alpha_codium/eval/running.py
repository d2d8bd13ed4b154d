"""Judging of all programs of a split: concurrent, in bounded memory, and resumable after a kill.

1. Tasks are taken one at a time as workers become free, and at most two programs per worker are judged at a time. Their
   output is dropped after the verdict; a kill loses only the verdicts of these programs.
2. Programs of a problem with the same text and language are run once and share their verdict; each counts as one.
3. Each verdict is journalled under problem, group, index and the program's digest. On resume, verdicts are reused,
   also for other programs with the same text; an `internal_error` is judged again.
4. A problem that can't be judged gives all its programs `internal_error`, with the reason; the others are judged.
5. Tests within a fifth of a limit are marked. Programs whose verdict depends on such tests may be judged again, one at
   a time (`recheck_near_limit`).
"""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from loguru import logger

from alpha_codium.errors import Unjudgeable
from alpha_codium.eval.failures import failure_of
from alpha_codium.eval.prepare import Entry, EvaluationTask
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.judge import Judge
from alpha_codium.runs import Journal
from alpha_codium.verdict import Judgement, Verdict
from alpha_codium.wording import counted

OnResult = Callable[[str, CandidateResult], None]
Key = tuple[str, str, int, str]
T = TypeVar("T")
# Programs in flight per worker of the sandbox, enough that none is idle.
PROGRAMS_IN_FLIGHT = 2
# How often a program near a limit is judged again; the median counts.
RECHECKS = 3
TASKS_IN_FLIGHT = 4


async def run_evaluation(
    tasks: Iterable[EvaluationTask],
    judge: Judge,
    *,
    journal: Journal | None = None,
    on_result: OnResult | None = None,
    workers: int = 0,
) -> list[ProblemResult]:
    """Judge every program of every task; the results are in the tasks' order.

    `journal`, if given, is open; verdicts that it contains are reused. `workers` are the sandbox's (0: one a core).
    """
    workers = workers or os.cpu_count() or 1
    evaluation = _Evaluation(judge, journal, on_result, PROGRAMS_IN_FLIGHT * workers)
    running: list[asyncio.Task[ProblemResult]] = []
    unfinished: set[asyncio.Task[ProblemResult]] = set()
    try:
        for task in tasks:
            running.append(asyncio.create_task(evaluation.judge_task(task)))
            unfinished.add(running[-1])
            if len(unfinished) >= TASKS_IN_FLIGHT * workers:
                done, unfinished = await asyncio.wait(unfinished, return_when=asyncio.FIRST_COMPLETED)
                for each in done:
                    each.result()
        return await asyncio.gather(*running)
    finally:
        for each in unfinished:
            each.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)


async def recheck_near_limit(
    tasks: Iterable[EvaluationTask], results: Sequence[ProblemResult], judge: Judge, journal: Journal | None = None
) -> list[ProblemResult]:
    """Judge programs near a limit again, one at a time: the results of `tasks`, with the median of three verdicts.

    Programs that were judged again in an earlier run aren't judged once more.
    """
    evaluation = _Evaluation(judge, journal, None, 1)
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


class _Evaluation:
    """The state that all programs of one evaluation share."""

    def __init__(self, judge: Judge, journal: Journal | None, on_result: OnResult | None, in_flight: int) -> None:
        self.judge, self.journal, self.on_result = judge, journal, on_result
        self.room = asyncio.Semaphore(in_flight)
        self.known = _known_results(journal)

    async def judge_task(self, task: EvaluationTask) -> ProblemResult:
        """The results of a task's entries, in their order."""
        judged = await all_or_none(self._judge_alike(task, places) for places in _alike(task.entries))
        by_place = {place: result for results in judged for place, result in results.items()}
        return ProblemResult(task.name, tuple(by_place[place] for place in range(len(task.entries))), task.skipped)

    async def _judge_alike(self, task: EvaluationTask, places: Sequence[int]) -> dict[int, CandidateResult]:
        """The results of the entries at `places`, which all have one program, from the journal if it has one."""
        entries = {place: task.entries[place] for place in places}
        program = task.entries[places[0]].to_program().digest
        shared = next((r for r in (self.known.get(_key(task, e, program)) for e in entries.values()) if r), None)
        if shared is None:
            async with self.room:
                shared = await self._result(task, task.entries[places[0]])
        return {place: await self._recorded(task, entry, program, shared) for place, entry in entries.items()}

    async def _recorded(
        self, task: EvaluationTask, entry: Entry, program: str, shared: CandidateResult
    ) -> CandidateResult:
        """The result of one entry, added to the journal if it is new, and reported."""
        result = self.known.get(_key(task, entry, program))
        if result is None:
            error = str(entry.error or "") or (_named(task, entry, shared.error) if shared.error else "")
            result = replace(shared, index=entry.index, group=entry.group, error=error, program="")
            await self._write(task, program, result)
        result = replace(result, program=program)
        if self.on_result is not None:
            self.on_result(task.name, result)
        return result

    async def recheck(self, task: EvaluationTask, entry: Entry, result: CandidateResult) -> CandidateResult:
        """Judge a program three times, and return the result with the median of its verdicts; it is journalled."""
        again = [await self._result(task, entry) for _ in range(RECHECKS)]
        # Passed before failed; of equal verdicts the one with the median time.
        again.sort(key=lambda each: (each.verdict is not Verdict.ACCEPTED, _cpu_seconds(each)))
        median = again[RECHECKS // 2]
        error = _named(task, entry, median.error) if median.error else ""
        found = replace(median, index=result.index, group=result.group, error=error, rechecked=True)
        await self._write(task, result.program, found)
        return replace(found, program=result.program)

    async def _write(self, task: EvaluationTask, program: str, result: CandidateResult) -> None:
        """Add the result of a program, by its digest, to the journal."""
        if self.journal is not None:
            line = {"problem": task.name, "program": program, "result": result.to_json()}
            await asyncio.to_thread(self.journal.append, line)

    async def _result(self, task: EvaluationTask, entry: Entry) -> CandidateResult:
        """Judge one program; a lost sample gets `internal_error`."""
        failure, limits, judgement = None, None, Judgement(Verdict.INTERNAL_ERROR, tests_total=len(task.tests))
        if not entry.is_lost:
            try:
                judge, program = self.judge.for_problem(task.problem), entry.to_program()
                judgement = await judge.judge(program, task.tests)
                if judgement.tests:  # the judge of validation returns none
                    failure = failure_of(judge, task.tests, judgement, entry.language)
                    limits = judge.kind_for(entry.language).limits
            except Unjudgeable as reason:
                judgement = replace(judgement, message=str(reason))
        return CandidateResult.of(0, "", judgement, failure, limits)


def _alike(entries: Sequence[Entry]) -> list[list[int]]:
    """Return the indices of entries grouped by program; each lost sample is a group of its own."""
    places: dict[object, list[int]] = {}
    for place, entry in enumerate(entries):
        places.setdefault(place if entry.is_lost else (entry.language, entry.program), []).append(place)
    return list(places.values())


def _cpu_seconds(result: CandidateResult) -> float:
    return max((test["cpu_seconds"] for test in result.tests), default=0.0)


def _named(task: EvaluationTask, entry: Entry, why: str) -> str:
    """Return why there is no verdict, with the names of the problem and the candidate."""
    return why if why.startswith("problem ") else f"problem {task.name!r}, candidate {entry.index}: {why}"


def _key(task: EvaluationTask, entry: Entry, program: str) -> Key:
    return task.name, entry.group, entry.index, program


async def all_or_none(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines and return their results; if one raises, cancel the others before raising its exception."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _known_results(journal: Journal | None) -> dict[Key, CandidateResult]:
    results = journal.read(_known_result) if journal is not None else ()
    return {key: result for key, result in results if result.verdict is not Verdict.INTERNAL_ERROR}


def _known_result(line: dict[str, Any]) -> tuple[Key, CandidateResult]:
    result = CandidateResult.from_json(line["result"])
    return (line["problem"], result.group, result.index, line["program"]), result
