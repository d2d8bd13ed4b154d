"""Judging many programs: the only place where judgements run side by side.

    async with aclosing(judge_many(tasks, LocalPool(sandbox))) as judged:
        async for index, judgement in judged:
            ...

1. Tasks are taken from their iterator as room appears: an executor gets at most `in_flight` batches at a time. If a
   judgement raises, or the caller stops, the others are cancelled.
2. Of consecutive tasks with the same problem, tests and rules, those with the same program are judged once.
3. Consecutive tasks whose tests can share processes (`is_batched`) form batches of at most `MOST_IN_BATCH`. A
   batch gives the verdicts that its programs get alone. Every other task is a batch of its own, unless the executor
   asks for larger batches (`tests_in_batch`). The same tasks always form the same batches.
4. Tests that got no verdict are judged again, at most `retries` times each.
5. Tasks and judgements are values: an executor may judge them in another process or on another machine.
"""

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import Any

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge.executors import Executor, Task
from alpha_codium.judge.kinds import is_batched
from alpha_codium.program import Program
from alpha_codium.verdict import Judgement, Verdict, judgement_of

MOST_IN_BATCH = 64


async def judge_many(
    tasks: Iterable[Task], executor: Executor, *, retries: int = 0
) -> AsyncGenerator[tuple[int, Judgement]]:
    """Judge tasks side by side; yields the index of each, with its judgement, in the order in which they finish.

    Close it with `contextlib.aclosing`, which cancels what is still running.
    """
    async with aclosing(judge_batches(tasks, executor, retries=retries)) as judged:
        async for batch in judged:
            for each in batch:
                yield each


async def judge_batches(
    tasks: Iterable[Task], executor: Executor, *, retries: int = 0
) -> AsyncGenerator[list[tuple[int, Judgement]]]:
    """Judge tasks as `judge_many` does; yields what it does for each batch."""
    batches = _batches(tasks, executor)
    running: set[asyncio.Task[list[tuple[int, Judgement]]]] = set()
    try:
        while True:
            # An executor takes fewer when it has lost a machine.
            for batch in itertools.islice(batches, max(0, executor.in_flight - len(running))):
                running.add(asyncio.create_task(_judged(batch, executor, retries)))
            if not running:
                return
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                yield each.result()
    finally:
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def judge_all(
    tasks: Iterable[Task],
    executor: Executor,
    *,
    retries: int = 0,
    on_judgement: Callable[[int, Judgement], object] = lambda *_: None,
) -> list[Judgement]:
    """Return the judgements of all tasks, in their order; `on_judgement` gets each with its index as it finishes."""
    found: dict[int, Judgement] = {}
    async with aclosing(judge_many(tasks, executor, retries=retries)) as judged:
        async for place, judgement in judged:
            found[place] = judgement
            on_judgement(place, judgement)
    return [found[place] for place in range(len(found))]


@dataclass(frozen=True, slots=True)
class _Shared:
    """A task, and the indices of all tasks that are the same."""

    task: Task
    places: list[int]


async def _judged(batch: Sequence[_Shared], executor: Executor, retries: int) -> list[tuple[int, Judgement]]:
    """Judge a batch; returns the judgement of each index."""
    tasks = [each.task for each in batch]
    judgements = dict(enumerate(await executor.judge(tasks)))
    lost_before = Counter[tuple[int, int]]()
    asked: Iterable[int] = judgements
    while asked := [i for i in asked if _may_ask_again(i, judgements[i], lost_before, retries)]:
        parts = await executor.judge([_part(tasks[i], _undecided(judgements[i])) for i in asked])
        judgements |= {i: _merged(judgements[i], part) for i, part in zip(asked, parts, strict=True)}
    return [(place, judgements[i]) for i, each in enumerate(batch) for place in each.places]


def _may_ask_again(number: int, judgement: Judgement, lost_before: Counter[tuple[int, int]], retries: int) -> bool:
    """Whether tests of a judgement were lost, none of them more than `retries` times."""
    lost = [(number, place) for place in _undecided(judgement) if place < max(1, len(judgement.tests))]
    lost_before.update(lost)
    return bool(lost) and all(lost_before[each] <= retries for each in lost)


def _undecided(judgement: Judgement) -> list[int]:
    """Return the indices of the tests that got no verdict; with them, of those that weren't run for that reason."""
    ran = judgement.tests
    lost = [place for place, result in enumerate(ran) if result.verdict is Verdict.INTERNAL_ERROR]
    stopped = len(ran) < judgement.tests_total
    # After a failure that stopped it early, only malformed tests have no verdict.
    if judgement.verdict is not Verdict.INTERNAL_ERROR and (stopped or not lost):
        return []
    return [*lost, *range(len(ran), judgement.tests_total)]


def _part(task: Task, places: Sequence[int]) -> Task:
    return replace(task, tests=tuple(task.tests[place] for place in places))


def _merged(judgement: Judgement, part: Judgement) -> Judgement:
    """Return the judgement with the results of the tests that were judged again."""
    results = dict(enumerate(judgement.tests)) | dict(zip(_undecided(judgement), part.tests, strict=False))
    if not results:
        return replace(judgement, message=part.message)
    return judgement_of([results[place] for place in sorted(results)], judgement.tests_total)


def _batches(tasks: Iterable[Task], executor: Executor) -> Iterator[list[_Shared]]:
    """Yield batches of distinct tasks, of the size that the executor takes."""
    if executor.tests_in_batch:
        return _batches_by_tests(tasks, executor.tests_in_batch)
    return _batches_by_process(tasks, executor.in_flight)


def _batches_by_tests(tasks: Iterable[Task], most: int) -> Iterator[list[_Shared]]:
    """Yield batches with at least `most` tests; a program without tests counts as one."""
    held: list[_Shared] = []
    tests = 0
    for shared, _ in _distinct(tasks):
        held.append(shared)
        tests += max(1, len(shared.task.tests))
        if tests >= most:
            yield held
            held, tests = [], 0
    if held:
        yield held


def _batches_by_process(tasks: Iterable[Task], in_flight: int) -> Iterator[list[_Shared]]:
    """Yield batches of tasks that can share processes, divided evenly among the workers, and of one task each."""
    held: list[_Shared] = []
    held_key: Any = None
    for shared, key in _distinct(tasks):
        if held and (key != held_key or len(held) >= MOST_IN_BATCH * in_flight):
            yield from _divided(held, in_flight)
            held = []
        if key is None:
            yield [shared]
        else:
            held.append(shared)
            held_key = key
    yield from _divided(held, in_flight)


def _divided(held: Sequence[_Shared], in_flight: int) -> Iterator[list[_Shared]]:
    size = max(1, min(MOST_IN_BATCH, -(-len(held) // in_flight)))
    return (list(held[first : first + size]) for first in range(0, len(held), size))


def _distinct(tasks: Iterable[Task]) -> Iterator[tuple[_Shared, Any]]:
    """Yield the distinct tasks, each with the key of the batches that it may be in."""
    for _, alike in itertools.groupby(enumerate(tasks), lambda each: each[1].batch_key):
        shared: dict[Program, _Shared] = {}
        for place, task in alike:
            shared.setdefault(task.program, _Shared(task, [])).places.append(place)
        keys: dict[str, Any] = {}
        for each in shared.values():
            language = each.task.program.language
            if language not in keys:
                keys[language] = _batch_key(each.task, language)
            yield each, keys[language]


def _batch_key(task: Task, language: str) -> Any:
    if is_batched(task.problem.execution, language):
        with suppress(Unjudgeable):  # judged alone, it says why
            return task.rules.limits_for(task.problem, language)
    return None
