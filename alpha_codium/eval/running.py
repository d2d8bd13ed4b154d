"""Judging all programs of a split: concurrent, in bounded memory, and able to go on after a kill.

1. Tasks are drawn one at a time as room appears; what programs printed is dropped once it is judged.
2. Each verdict is journalled under problem, group, index and the program's hash. On resume those are taken over;
   `internal_error`, which is no verdict, is judged again.
"""

import asyncio
import hashlib
import os
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from alpha_codium.eval.prepare import Entry, Task
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.judge import Judge, ProblemJudge
from alpha_codium.runs import Journal
from alpha_codium.solution import ErrorKind
from alpha_codium.verdict import Judgement, Verdict

OnResult = Callable[[str, CandidateResult], None]
# Tasks in flight: enough that no worker of a sandbox waits, few enough to bound memory.
TASKS_IN_FLIGHT = 4 * (os.cpu_count() or 1)


async def run_evaluation(
    tasks: Iterable[Task], judge: Judge, *, journal: Journal | None = None, on_result: OnResult | None = None
) -> list[ProblemResult]:
    """Judge every program of every task; the results stand in the tasks' order.

    `journal`, if given, is open; what it holds already isn't judged again. Raises UserError where a problem's
    checker can't be had.
    """
    known = _known_results(journal)
    results: dict[int, ProblemResult] = {}
    running: set[asyncio.Task[None]] = set()

    async def judge_task(number: int, task: Task) -> None:
        problem_judge = judge.for_problem(task.problem)
        judged = [_judge_entry(task, entry, problem_judge, known, journal, on_result) for entry in task.entries]
        results[number] = ProblemResult(task.name, tuple(await _all_or_none(judged)), task.skipped)

    try:
        for number, task in enumerate(tasks):
            running.add(asyncio.create_task(judge_task(number, task)))
            if len(running) >= TASKS_IN_FLIGHT:
                running = await _some_done(running, asyncio.FIRST_COMPLETED)
        await _some_done(running, asyncio.ALL_COMPLETED)
    finally:
        for unfinished in running:
            unfinished.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    return [results[number] for number in sorted(results)]


async def _all_or_none(coroutines: Iterable[Coroutine[Any, Any, CandidateResult]]) -> list[CandidateResult]:
    """The results of all; where one raises, the others are ended before that goes on."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _some_done(running: set[asyncio.Task[None]], when: str) -> set[asyncio.Task[None]]:
    """Wait; raise what a task raised; give back what still runs."""
    if not running:
        return running
    done, pending = await asyncio.wait(running, return_when=when)
    for task in done:
        task.result()
    return pending


async def _judge_entry(
    task: Task,
    entry: Entry,
    judge: ProblemJudge,
    known: dict[tuple[Any, ...], CandidateResult],
    journal: Journal | None,
    on_result: OnResult | None,
) -> CandidateResult:
    key = _key(task.name, entry.group, entry.index, _hash(entry.program))
    result = known.get(key)
    if result is None:
        result = CandidateResult.of(entry.index, entry.group, await _judgement(task, entry, judge), _error_of(entry))
        if journal is not None:
            line = {"problem": task.name, "program": key[-1], "result": result.to_json()}
            await asyncio.to_thread(journal.append, line)
    if on_result is not None:
        on_result(task.name, result)
    return result


async def _judgement(task: Task, entry: Entry, judge: ProblemJudge) -> Judgement:
    """The judgement of one program; a sample that the provider or we lost is `internal_error`, no verdict."""
    if entry.error is not None and entry.error.kind is not ErrorKind.MODEL:
        return Judgement(Verdict.INTERNAL_ERROR, tests_total=len(task.tests), message=entry.error.message)
    return await judge.judge(entry.program, task.tests)


def _error_of(entry: Entry) -> str:
    return str(entry.error) if entry.error else ""


def _known_results(journal: Journal | None) -> dict[tuple[Any, ...], CandidateResult]:
    known: dict[tuple[Any, ...], CandidateResult] = {}
    for line in journal.entries() if journal is not None else ():
        result = CandidateResult.from_json(line["result"])
        if result.verdict is not Verdict.INTERNAL_ERROR:
            known[_key(line["problem"], result.group, result.index, line["program"])] = result
    return known


def _key(problem: str, group: str, index: int, program: str) -> tuple[Any, ...]:
    return (problem, group, index, program)


def _hash(program: str) -> str:
    return hashlib.sha256(program.encode("utf-8", "surrogatepass")).hexdigest()
