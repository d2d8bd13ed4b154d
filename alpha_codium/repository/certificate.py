"""The certificate of a task: its tests say the same each time.

1. The file as it is is run `REPEATS` times, each time with the tests in another order. Those without the method's body,
   without its completion, and with the bug are run in the first `WRONG_REPEATS` of these, too.
2. The first `LOADED` run beside as many others as there are processes, the others beside those that are made
   at the same time. How many there were is counted.
3. In the first repeat, the file as it is is imported again, which takes most of the time; all other runs swap the
   method's code where that is possible.
4. Time zone, locale, PYTHONHASHSEED, the clock and the seed of `random` are the same in each: see `inside/pinned`.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from alpha_codium.repository.harness import Edit, edit_of
from alpha_codium.repository.tasks import RepositoryTask
from alpha_codium.repository.warm import TestsOfLabels

REPEATS = 10
WRONG_REPEATS = 4
LOADED = 2
LOAD = 2


@dataclass(frozen=True, slots=True)
class Draft:
    """A task that isn't certified yet; `failing` has the texts of its file, each with the tests that fail."""

    task: RepositoryTask
    failing: Mapping[str, frozenset[str]]


async def certified(
    tests: TestsOfLabels, draft: Draft, repeats: Iterable[int], seed: int = 0, beside: Counter[str] | None = None
) -> Draft | None:
    """Return the draft with the CPU time of these repeats, or None unless each text failed its tests and no others.

    In `beside`, the runs are counted by how many ran at the time, with them.
    """
    task = draft.task
    seconds, beside = task.cpu_seconds, Counter() if beside is None else beside
    # Made once, since the whole file is parsed for each.
    edits = [(edit_for(task, text), expected) for text, expected in draft.failing.items()]
    imported = Edit(task.file_path, task.raw_file_content)
    for number in repeats:
        order = random.Random(f"{seed} {number}").sample(task.tests, len(task.tests))
        for edit, expected in edits:
            if expected and number >= WRONG_REPEATS:
                continue
            run = await tests.run(task.labels, imported if number == 0 and not expected else edit, order)
            beside[str(tests.running + 1)] += 1
            if set(run.failed) != expected:
                return None
            seconds = max(seconds, run.cpu_seconds)
    return replace(draft, task=replace(task, cpu_seconds=round(seconds, 3)))


def edit_for(task: RepositoryTask, text: str) -> Edit:
    """Return the edit that puts `text` in place of the task's file."""
    if task.fresh:
        return Edit(task.file_path, text)
    return edit_of(task.raw_file_content, task.file_path, task.method.qualified_name, text)


def described(beside: Mapping[str, int]) -> str:
    """Return the least, median and largest number of runs at a time, as part of a sentence."""
    numbers: Sequence[int] = sorted(Counter({int(number): count for number, count in beside.items()}).elements())
    if not numbers:
        return "none"
    if numbers[0] == numbers[-1]:
        return f"{numbers[0]} at a time"
    return f"{numbers[0]} to {numbers[-1]} at a time (median {numbers[len(numbers) // 2]})"
