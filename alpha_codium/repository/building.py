"""Making tasks from the documented methods of a repository, each with tests that were seen to decide.

1. The tests of a label run on the repository as it is; those that pass are kept, with the functions that each calls.
2. A method becomes a task if its tests pass with it, one of them fails without its body, and one without the part of it
   that a completion writes.
3. Of the bugs that can be put into the method, tried in a random order, the first that a test finds is kept.
4. All of this is repeated for a certificate. A task whose tests disagree once is dropped.
"""

import asyncio
import os
import random
from collections import Counter, defaultdict, deque
from collections.abc import AsyncGenerator, Collection, Coroutine, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeVar

from alpha_codium.repository.certificate import LOAD, LOADED, REPEATS, certified, edit_for, failed
from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.harness import LIMITS, PASSED, RepositoryTests, SuiteRun, Trace, TracedTest
from alpha_codium.repository.methods import Method, methods_of, stubbed, without_completion
from alpha_codium.repository.mutations import mutations
from alpha_codium.repository.tasks import RepositoryTask
from alpha_codium.values import JsonValue
from alpha_codium.verdict import Status

T = TypeVar("T")
MOST_TESTS = 100
# Of all tests of a task, as they took while calls were noted. They are run about 50 times until the task is certified.
MOST_SECONDS = 1.0
# Enough for these tests and an import; a bug may be an endless loop.
RUN_LIMITS = replace(LIMITS, cpu_seconds=10.0)
# A body of fewer lines leaves nothing to complete.
FEWEST_LINES = 3
TRIED_BUGS = 8
MOST_ERROR_CHARACTERS = 20_000


UNCERTAIN = "its tests disagreed"


class NoTask(Exception):
    """A method can't become a task; the message says why."""


@dataclass(frozen=True, slots=True)
class CoveredMethod:
    """A method that may become a task, its file, and the tests that call it; `fresh` as in `RepositoryTask`."""

    file: str
    source: str
    method: Method
    tests: tuple[str, ...]
    fresh: bool

    @property
    def place(self) -> tuple[str, str]:
        """The method's file and name."""
        return self.file, self.method.qualified_name


@dataclass(frozen=True, slots=True)
class LabelTasks(JsonValue):
    """The tasks of a label; `dropped` counts the methods that became none, by the reason."""

    label: str
    tasks: tuple[RepositoryTask, ...]
    dropped: Mapping[str, int]
    cpu_seconds: float


async def tasks_of_label(
    checkout: Checkout,
    label: str,
    *,
    seed: int = 0,
    most: int | None = None,
    known: Collection[tuple[str, str]] = (),
    repeats: int = REPEATS,
    workers: int = 0,
) -> LabelTasks:
    """Return at most `most` tasks of a label's tests, certified by `repeats` runs of each kind.

    Methods of `known`, by file and name, are left out. Raises SandboxError if the tests can't be loaded.
    """
    workers = workers or os.cpu_count() or 1
    dropped: Counter[str] = Counter()
    drafts: list[RepositoryTask] = []
    async with RepositoryTests(checkout, label, workers, RUN_LIMITS) as tests:
        methods = [each for each in await covered_methods(checkout, tests, seed) if each.place not in known]
        made = in_order((_draft(tests, each, range(LOADED, repeats), seed) for each in methods), workers)
        async with aclosing(made):
            while len(drafts) != most and (draft := await anext(made, None)) is not None:
                drafts += [draft] if isinstance(draft, RepositoryTask) else []
                dropped.update([draft] if isinstance(draft, str) else [])
    if not drafts:
        return LabelTasks(label, (), dropped, tests.cpu_seconds)
    async with RepositoryTests(checkout, label, LOAD * workers, RUN_LIMITS) as loaded:
        numbers = range(min(LOADED, repeats))
        certain = await asyncio.gather(*(certified(loaded, draft, numbers, seed) for draft in drafts))
    tasks = tuple(task for task in certain if task is not None)
    if len(tasks) < len(drafts):
        dropped[UNCERTAIN] += len(drafts) - len(tasks)
    return LabelTasks(label, tasks, dropped, tests.cpu_seconds + loaded.cpu_seconds)


async def _draft(
    tests: RepositoryTests, covered: CoveredMethod, repeats: Iterable[int], seed: int
) -> RepositoryTask | str:
    """Return the task of a method, certified by these repeats, or why there is none."""
    try:
        task = await task_of(tests, covered, random.Random(f"{seed} {covered.place}"))
    except NoTask as error:
        return str(error)
    return await certified(tests, task, repeats, seed) or UNCERTAIN


async def in_order(works: Iterable[Coroutine[object, object, T]], most: int) -> AsyncGenerator[T]:
    """Yield the results of coroutines in their order; of those that follow, up to `most` run already."""
    running: deque[asyncio.Task[T]] = deque()
    try:
        for work in works:
            running.append(asyncio.ensure_future(work))
            if len(running) > most:
                yield await running.popleft()
        while running:
            yield await running.popleft()
    finally:
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def covered_methods(checkout: Checkout, tests: RepositoryTests, seed: int = 0) -> list[CoveredMethod]:
    """Return the documented methods that tests of the label call, in a random order.

    Those whose tests have to import the repository again are last, since that takes most of the time.
    """
    trace = await tests.traced()
    callers, while_loading = _callers(trace), set(trace.loading)
    order = {test.name: number for number, test in enumerate(trace.tests)}
    found = []
    for path in sorted({path for path, _ in callers}.intersection(checkout.files())):
        source = checkout.source(path)
        for method in documented(source):
            place = (path, method.lines[0] - method.decorators + 1)
            called = tuple(sorted(_affordable(callers[place]), key=order.__getitem__))
            if called:
                found.append(CoveredMethod(path, source, method, called, place in while_loading))
    # The order of two methods doesn't depend on which others there are: tests near the limit of time come and go.
    return sorted(found, key=lambda covered: (covered.fresh, random.Random(f"{seed} {covered.place}").random()))


def _callers(trace: Trace) -> dict[tuple[str, int], list[TracedTest]]:
    """Return the tests that pass and call each function; first those that call little else, which say most about it."""
    callers = defaultdict(list)
    for test in sorted(trace.tests, key=lambda test: len(test.functions)):
        if test.status == PASSED:
            for place in test.functions:
                callers[place].append(test)
    return callers


def _affordable(tests: Iterable[TracedTest]) -> Iterator[str]:
    """Yield the names of the first `MOST_TESTS` tests, without those that don't fit into `MOST_SECONDS`."""
    left, count = MOST_SECONDS, 0
    for test in tests:
        if test.seconds <= left and count < MOST_TESTS:
            left, count = left - test.seconds, count + 1
            yield test.name


def documented(source: str) -> Iterator[Method]:
    """Yield the methods of a file that have a docstring and a body of some lines."""
    for method in methods_of(source):
        lines = [line for line in method.body.splitlines() if line.strip()]
        if method.docstring and len(lines) >= FEWEST_LINES:
            yield method


async def task_of(tests: RepositoryTests, covered: CoveredMethod, chance: random.Random) -> RepositoryTask:
    """Return the task of a method; raises NoTask if its tests don't decide it, or find no bug in it."""
    task = RepositoryTask(
        repository=tests.checkout.recipe.name,
        version=tests.checkout.version,
        file_path=covered.file,
        label=tests.label,
        method=covered.method,
        raw_file_content=covered.source,
        fail_to_pass=(),
        pass_to_pass=(),
        fresh=covered.fresh,
    )
    gold = await tests.run_trusted(edit_for(task, covered.source), covered.tests)
    passing = [result.name for result in gold.results if result.status == PASSED]
    if not passing:
        raise NoTask("its tests fail")
    failing = await _failing(tests, task, stubbed(covered.source, covered.method), passing)
    if not failing:
        raise NoTask("no test fails without its body")
    unfinished = await _failing(tests, task, without_completion(covered.source, covered.method), passing)
    if not unfinished:
        raise NoTask("no test fails without its completion")
    others = tuple(name for name in passing if name not in set(failing))
    return await _with_bug(
        tests, replace(task, fail_to_pass=failing, pass_to_pass=others, completion_tests=unfinished), chance
    )


async def _failing(tests: RepositoryTests, task: RepositoryTask, text: str, names: list[str]) -> tuple[str, ...]:
    run = await tests.run_trusted(edit_for(task, text), names)
    if run.crash.startswith(Status.TIME_LIMIT_EXCEEDED):
        raise NoTask("its tests don't end without its body")
    return tuple(failed(run))


async def _with_bug(tests: RepositoryTests, task: RepositoryTask, chance: random.Random) -> RepositoryTask:
    """Return the task with the first of some bugs that its tests find; raises NoTask."""
    bugs = list(mutations(task.raw_file_content, task.method))
    chance.shuffle(bugs)
    for bug in bugs[:TRIED_BUGS]:
        run = await tests.run_trusted(edit_for(task, bug.source), task.tests)
        found = failed(run)
        if found and not run.crash.startswith(Status.TIME_LIMIT_EXCEEDED):
            bug_tests, error = tuple(found), error_text(run)
            return replace(task, buggy_text=bug.source, bug=bug.kind, bug_tests=bug_tests, test_error=error)
    raise NoTask("its tests find no bug")


def error_text(run: SuiteRun, most: int = MOST_ERROR_CHARACTERS) -> str:
    """Return the messages of the tests that didn't pass, each after its name; at most the last `most` characters."""
    parts = [f"{result.name}: {result.status}\n{result.message}" for result in run.results if result.status != PASSED]
    return "\n".join([*parts, *([run.crash] if run.crash else [])])[-most:]
