"""Making tasks from the documented methods of a repository, each with tests that were seen to decide.

1. The tests that call each method are found: see `coverage`.
2. A method becomes a task if these pass with it, and some of them fail with each body that does nothing, without the
   part that a completion writes, and with enough of its small bugs (`MUTANTS`, `LEAST_SCORE`). With most of these, the
   tests run up to the first that fails, beginning with those that failed before.
3. Of the bugs that the tests find, in a random order, program repair has the first that fails an assertion. At most
   `MOST_CRASHES` of the tasks of a component, or one, have a bug that only raises an error.
4. Assertions that decided are changed for the controls of answers: see `controls`.
5. All of this is repeated for a certificate. A task whose tests disagree once is dropped.
"""

import asyncio
import os
import random
from collections import Counter, deque
from collections.abc import AsyncGenerator, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from alpha_codium.repository.certificate import LOAD, LOADED, REPEATS, Draft, certified, edit_for
from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.controls import Control, controls_in, files_in
from alpha_codium.repository.coverage import CoveredMethod
from alpha_codium.repository.harness import LIMITS, NOT_RUN, PASSED, Edit, SuiteRun
from alpha_codium.repository.methods import without_completion
from alpha_codium.repository.mutations import HALFWAY, Mutation, mutations, no_ops
from alpha_codium.repository.tasks import RepositoryTask
from alpha_codium.repository.warm import TestsOfLabels
from alpha_codium.values import JsonValue
from alpha_codium.verdict import Status

T = TypeVar("T")
# Enough for these tests and an import; a bug may be an endless loop.
RUN_LIMITS = replace(LIMITS, cpu_seconds=5.0)
# Of so many small bugs, or of more, the tests must find this share; of fewer, all.
MUTANTS, LEAST_SCORE = 8, 0.5
TRIED_MUTANTS = 12
MOST_CRASHES = 0.2
# Bodies that do nothing with which all tests are run; with the others, up to the first that fails.
WHOLE = ("raise", "pass", "return object()", f"pass{HALFWAY}")
MOST_CONTROLS, TRIED_CONTROLS = 3, 8
# Tests whose assertions are looked at for controls.
MOST_MESSAGES = 12
MOST_ERROR_CHARACTERS = 20_000
ASSERTION = "AssertionError"
UNCERTAIN = "its tests disagreed"


class NoTask(Exception):
    """A method can't become a task; the message says why."""


@dataclass(frozen=True, slots=True)
class LabelTasks(JsonValue):
    """The tasks of a component; `dropped` counts the methods that became none, by the reason.

    `calm` and `loaded` count the runs of the certificate by how many ran at a time.
    """

    label: str
    tasks: tuple[RepositoryTask, ...]
    dropped: Mapping[str, int]
    cpu_seconds: float
    calm: Mapping[str, int] = field(default_factory=dict)
    loaded: Mapping[str, int] = field(default_factory=dict)


async def tasks_of(
    checkout: Checkout,
    label: str,
    methods: Sequence[CoveredMethod],
    *,
    seed: int = 0,
    most: int | None = None,
    repeats: int = REPEATS,
    workers: int = 0,
) -> LabelTasks:
    """Return at most `most` tasks of methods, whose component is a label, certified by `repeats` runs of each kind.

    Raises SandboxError if the tests can't be loaded.
    """
    workers = workers or os.cpu_count() or 1
    dropped, calm, loaded = Counter[str](), Counter[str](), Counter[str]()
    drafts: list[Draft] = []
    free = asyncio.Semaphore(workers)

    async def draft_in_turn(covered: CoveredMethod) -> Draft | str:
        async with free:
            return await _draft(tests, covered, range(LOADED, repeats), seed, calm)

    async with aclosing(TestsOfLabels(checkout, LOAD * workers, RUN_LIMITS)) as tests:
        # Some more than run at a time, since one may take as long as several that follow.
        async with aclosing(in_order(map(draft_in_turn, methods), LOAD * workers)) as made:
            while len(drafts) != most and (draft := await anext(made, None)) is not None:
                if isinstance(draft, str):
                    dropped[draft] += 1
                elif too_many_crash([each.task for each in (*drafts, draft)]):
                    dropped["its bugs only raise errors"] += 1
                else:
                    drafts.append(draft)
        numbers = range(min(LOADED, repeats))
        certain = await asyncio.gather(*(certified(tests, draft, numbers, seed, loaded) for draft in drafts))
    tasks = tuple(draft.task for draft in certain if draft is not None)
    if len(tasks) < len(drafts):
        dropped[UNCERTAIN] += len(drafts) - len(tasks)
    return LabelTasks(label, tasks, dropped, tests.cpu_seconds, calm, loaded)


def too_many_crash(tasks: Sequence[RepositoryTask]) -> bool:
    """Whether the last task must go: its bug only raises an error, and so do those of too many others."""
    crashes = sum(task.bug_crashes for task in tasks)
    return tasks[-1].bug_crashes and crashes > max(1, MOST_CRASHES * len(tasks))


async def _draft(
    tests: TestsOfLabels, covered: CoveredMethod, repeats: Iterable[int], seed: int, beside: Counter[str]
) -> Draft | str:
    """Return the draft of a method, certified by these repeats, or why there is none."""
    try:
        draft = await draft_of(tests, covered, random.Random(f"{seed} {covered.place}"))
    except NoTask as error:
        return str(error)
    return await certified(tests, draft, repeats, seed, beside) or UNCERTAIN


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


async def draft_of(tests: TestsOfLabels, covered: CoveredMethod, chance: random.Random) -> Draft:
    """Return the draft of a method; raises NoTask if its tests don't decide it."""
    if covered.loading:
        raise NoTask("it is called while the repository is imported")
    trial = Trial(tests, covered)
    await trial.pass_all()
    for name, text in no_ops(covered.source, covered.method).items():
        await trial.refuse(text, "with a body that does nothing", fail_fast=name not in WHOLE)
    without = without_completion(covered.source, covered.method)
    task, decide = await _with_bugs(trial, chance), trial.seen
    await trial.refuse(without, "without its completion")
    task = replace(
        task,
        fail_to_pass=tuple(name for name in trial.passing if name in decide),
        pass_to_pass=tuple(name for name in trial.passing if name not in decide),
        completion_tests=tuple(name for name in trial.passing if name in trial.failing[without]),
        controls=tuple(await _controls(trial, chance)),
    )
    certain = (covered.source, trial.raising, without, task.buggy_text)
    return Draft(task, {text: trial.failing.get(text, frozenset()) for text in certain})


class Trial:
    """Runs of a method's tests on texts of its file. `failing` has the tests that failed with each text."""

    def __init__(self, tests: TestsOfLabels, covered: CoveredMethod) -> None:
        self.tests, self.covered = tests, covered
        self.task = RepositoryTask(
            repository=tests.checkout.recipe.name,
            version=tests.checkout.version,
            file_path=covered.file,
            labels=covered.labels,
            method=covered.method,
            raw_file_content=covered.source,
            fail_to_pass=(),
            pass_to_pass=(),
        )
        self.passing: Sequence[str] = covered.tests
        self.failing: dict[str, frozenset[str]] = {}
        # Those that failed with any text but the one that raises.
        self.seen: frozenset[str] = frozenset()
        # What tests said that failed, by an assertion if they did, with any text but those that raise.
        self.messages: dict[str, str] = {}
        self.raising = no_ops(covered.source, covered.method)["raise"]
        # All texts differ in the method's body only, so that the whole file needn't be parsed for each.
        self.swapped = edit_for(self.task, self.raising).method

    async def run(self, text: str, names: Sequence[str] = (), **options: Any) -> SuiteRun:
        """Run tests, by default all that pass with the method, on a text of the file."""
        edit = Edit(self.covered.file, text, self.swapped)
        return await self.tests.run(self.task.labels, edit, names or self.passing, **options)

    async def pass_all(self) -> None:
        """Keep the tests that pass with the method as it is; raises NoTask if there are none."""
        run = await self.run(self.covered.source)
        self.passing = [result.name for result in run.results if result.status == PASSED]
        if not self.passing:
            raise NoTask("its tests fail")

    async def try_out(self, text: str, *, fail_fast: bool = False) -> SuiteRun:
        """Run the tests on a wrong text, and note which fail; with `fail_fast`, only the first."""
        names = sorted(self.passing, key=lambda name: name not in self.seen) if fail_fast else self.passing
        run = await self.run(text, names, fail_fast=fail_fast)
        crashed = all(result.status == NOT_RUN for result in run.results)
        self.failing[text] = frozenset(
            result.name for result in run.results if result.status != PASSED and (crashed or result.status != NOT_RUN)
        )
        self.seen |= frozenset() if crashed or text == self.raising else self.failing[text]
        for result in run.results if text != self.raising else ():
            if ASSERTION in result.message and ASSERTION not in self.messages.get(result.name, ""):
                self.messages[result.name] = result.message
            elif result.name in self.failing[text]:
                self.messages.setdefault(result.name, result.message)
        return run

    async def refuse(self, text: str, what: str, *, fail_fast: bool = False) -> None:
        """Raise NoTask if the tests pass with a text of the file, or don't end if all of them are to run."""
        run = await self.try_out(text, fail_fast=fail_fast)
        if not fail_fast and run.crash.startswith(Status.TIME_LIMIT_EXCEEDED):
            raise NoTask("its tests don't end without its body")
        if not self.failing[text]:
            raise NoTask(f"its tests pass {what}")


async def _with_bugs(trial: Trial, chance: random.Random) -> RepositoryTask:
    """Return the task with one of its small bugs, and what the tests find of them; raises NoTask."""
    source = trial.covered.source
    bugs = list(mutations(source, trial.covered.method))
    chance.shuffle(bugs)
    found: list[tuple[Mutation, SuiteRun]] = []
    survivors = []
    bugs = bugs[:TRIED_MUTANTS]
    for bug in bugs:
        run = await trial.try_out(bug.source, fail_fast=True)
        if not trial.failing[bug.source]:
            survivors.append(f"line {bug.line + 1}: {bug.kind}: {bug.source.splitlines()[bug.line].strip()}")
        elif not run.crash.startswith(Status.TIME_LIMIT_EXCEEDED):
            found.append((bug, run))
        if len(survivors) > (len(bugs) * (1 - LEAST_SCORE) if len(bugs) >= MUTANTS else 0):
            raise NoTask("its tests are too weak: they find too few small bugs")
    if not found:
        raise NoTask("its tests find no bug")
    bug, run = next((each for each in found if asserts(each[1])), found[0])
    run = await trial.try_out(bug.source)
    return replace(
        trial.task,
        buggy_text=bug.source,
        bug=bug.kind,
        bug_crashes=not asserts(run),
        bug_tests=run.failed,
        test_error=error_text(run),
        mutants=len(bugs),
        survivors=tuple(survivors),
    )


def asserts(run: SuiteRun) -> bool:
    """Whether a test failed by an assertion."""
    return any(ASSERTION in result.message for result in run.results if result.status != PASSED)


async def _controls(trial: Trial, chance: random.Random) -> Sequence[Control]:
    """Return some controls, of a test each, which the method as it is fails by an assertion."""
    found: list[Control] = []
    tried = 0
    for _, control in sorted(_candidates(trial, chance), key=lambda each: each[0]):
        if len(found) == MOST_CONTROLS or tried == TRIED_CONTROLS:
            break
        if control.test in {each.test for each in found}:
            continue
        tried += 1
        run = await trial.run(trial.covered.source, [control.test], control=control, changed=True)
        found += [control] if asserts(run) else []
    return found


def _candidates(trial: Trial, chance: random.Random) -> Iterator[tuple[int, Control]]:
    checkout = trial.tests.checkout
    messages = sorted(trial.messages.items(), key=lambda each: (ASSERTION not in each[1], chance.random()))
    for test, message in messages[:MOST_MESSAGES]:
        for file in files_in(message):
            if file != trial.covered.file and (checkout.folder / file).is_file():
                yield from controls_in(test, message, file, checkout.source(file))


def error_text(run: SuiteRun, most: int = MOST_ERROR_CHARACTERS) -> str:
    """Return the messages of the tests that didn't pass, each after its name; at most the last `most` characters."""
    parts = [f"{result.name}: {result.status}\n{result.message}" for result in run.results if result.status != PASSED]
    return "\n".join([*parts, *([run.crash] if run.crash else [])])[-most:]
