"""The card of a dataset of tasks: what they were made of, how each kind was validated, and the certificate."""

from collections import Counter
from collections.abc import Sequence

from alpha_codium.repository.building import LabelTasks
from alpha_codium.repository.certificate import LOAD, LOADED
from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.inside.pinned import MOMENT
from alpha_codium.wording import counted

TEXT = """\
---
license: {licence_id}
task_categories:
- text-generation
---

# Methods of {name} {version}

{counted} for the repository benchmark of gencode, made by `gencode repo build` from the documented methods of
{name} {version}. Licence of the repository, whose files are in the rows: {licence}.

| benchmark | tasks | what was seen of each |
|---|---|---|
| `method_gen` | {count} | the tests pass with the method; those of `fail_to_pass` fail without its body |
| `completion` | {count} | those of `completion_tests` fail if the body ends after `completion_prefix` |
| `program_repair` | {count} | those of `bug_tests` fail with the bug in `file_with_buggy_method` |

Bugs: {bugs}.

## Certificate

Of each task, the file as it is, and those without the body, without the completion and with the bug were run
{repeats} times each, with the tests in another order each time: {calm} times beside as many others as there are
processors, and {loaded} times beside {load} times as many. One of the runs of the file as it is
imported everything again. The file passed
each time, and the others failed the same tests each time; any other method was dropped.

Python {python}, TZ=UTC, LC_ALL=C.UTF-8, PYTHONHASHSEED=0, `random.seed(0)`. The clock of each run begins at {moment}
(by the package time-machine); only `time.monotonic`, file times and SQLite have the real time.

## Labels

| tests | tasks | no tasks |
|---|---|---|
{labels}
"""


def card_of(checkout: Checkout, built: Sequence[LabelTasks], repeats: int, python: str) -> str:
    """Return the text of the card."""
    recipe = checkout.recipe
    count = sum(len(label.tasks) for label in built)
    bugs = Counter(task.bug for label in built for task in label.tasks)
    return TEXT.format(
        name=recipe.name,
        version=checkout.version,
        licence=recipe.licence or "unknown",
        licence_id=recipe.licence.lower() or "unknown",
        count=count,
        counted=counted(count, "task"),
        bugs=", ".join(f"{kind} {count}" for kind, count in bugs.most_common()),
        repeats=repeats,
        calm=max(repeats - LOADED, 0),
        loaded=min(repeats, LOADED),
        load=LOAD,
        python=python,
        moment=MOMENT.isoformat(),
        labels="\n".join(f"| {label.label} | {len(label.tasks)} | {reasons(label)} |" for label in built),
    )


def reasons(label: LabelTasks) -> str:
    """Return why methods of a label became no tasks, with their numbers."""
    return ", ".join(f"{reason}: {count}" for reason, count in sorted(label.dropped.items()))
