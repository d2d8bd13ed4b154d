"""The certificate of a task: its tests say the same each time.

1. Each text of `expected_failures` is run `REPEATS` times, each time with the tests in another order.
2. The first `LOADED` of these run beside others, `LOAD` times as many as there are processors; the others beside as
   many as there are processors.
3. In the first repeat, the file as it is is imported again, which takes most of the time; all other runs swap the
   method's code where that is possible.
4. Time zone, locale, PYTHONHASHSEED, the clock and the seed of `random` are the same in each: see `inside/pinned`.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import replace

from alpha_codium.repository.harness import PASSED, Edit, RepositoryTests, SuiteRun, edit_of
from alpha_codium.repository.methods import stubbed, without_completion
from alpha_codium.repository.tasks import RepositoryTask

REPEATS = 10
LOADED = 2
LOAD = 4


def expected_failures(task: RepositoryTask) -> Mapping[str, frozenset[str]]:
    """Return the texts of the task's file that are certified, each with the tests that fail.

    They are the file itself, and those without the method's body, without its completion, and with the bug.
    """
    source, method = task.raw_file_content, task.method
    return {
        source: frozenset(),
        stubbed(source, method): frozenset(task.fail_to_pass),
        without_completion(source, method): frozenset(task.completion_tests),
        task.buggy_text: frozenset(task.bug_tests),
    }


async def certified(
    tests: RepositoryTests, task: RepositoryTask, repeats: Iterable[int], seed: int = 0
) -> RepositoryTask | None:
    """Return the task with the CPU time of these repeats, or None unless each text failed its tests and no others."""
    seconds = task.cpu_seconds
    # Made once, since the whole file is parsed for each.
    edits = [(edit_for(task, text), expected) for text, expected in expected_failures(task).items()]
    imported = Edit(task.file_path, task.raw_file_content)
    for number in repeats:
        order = random.Random(f"{seed} {number}").sample(task.tests, len(task.tests))
        for edit, expected in edits:
            run = await tests.run_trusted(imported if number == 0 and not expected else edit, order)
            if set(failed(run)) != expected:
                return None
            seconds = max(seconds, run.cpu_seconds)
    return replace(task, cpu_seconds=round(seconds, 3))


def edit_for(task: RepositoryTask, text: str) -> Edit:
    """Return the edit that puts `text` in place of the task's file."""
    if task.fresh:
        return Edit(task.file_path, text)
    return edit_of(task.raw_file_content, task.file_path, task.method.qualified_name, text)


def failed(run: SuiteRun) -> list[str]:
    """Return the names of the tests that didn't pass."""
    return [result.name for result in run.results if result.status != PASSED]
