"""The card of a dataset of tasks: what they were made of, how each kind was validated, and the certificate."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

import alpha_codium
from alpha_codium.repository.building import LEAST_SCORE, MUTANTS, TRIED_MUTANTS, LabelTasks
from alpha_codium.repository.certificate import LOADED, WRONG_REPEATS, described
from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.inside.pinned import MOMENT
from alpha_codium.repository.tasks import RepositoryTask
from alpha_codium.wording import counted

TEXT = """\
---
license: {licence_id}
language: [code]
pretty_name: Methods of {name} {version}
tags: [code, repository, program-repair, code-completion]
task_categories:
- text-generation
---

# Methods of {name} {version}

{counted} for the repository benchmark of gencode, made by `gencode repo build` of gencode {gencode} from the documented
methods of {name} {version}, which were tried in a random order (seed {seed}).

- Source: {source}{url}
- SHA-256 of the names and contents of its files: {digest}
- Licence of the repository, whose files are in the rows: {licence}

| benchmark | tasks | what was seen of each |
|---|---|---|
| `method_gen_multiturn` | {count} | all tests pass with the method; those of `fail_to_pass` decide |
| `completion` | {count} | those of `completion_tests` fail if the body ends after `completion_prefix` |
| `program_repair` | {count} | those of `bug_tests` fail with the bug in `file_with_buggy_method` |

Some tests fail with each body that does nothing: one that raises, or that returns None, a new object, an empty or fixed
value or an argument, at once or after the first half. Of up to {tried} small bugs, at least {least:.0%} are found, and
all of fewer than {mutants}. A test decides (`fail_to_pass`) if it was seen to fail with one of these bodies, other than
the one that raises, or bugs; the others (`pass_to_pass`) call the method, and must pass.

| of each task | least | median | most |
|---|---|---|---|
{numbers}

Bugs: {bugs}.
In {crashes} of {count}, no test fails by an assertion: the bug only raises an error.
Answers to {controlled} of {count} are controlled by tests with another expected value; the others are `uncontrolled`.

## Columns

As in `anonauthor/django_multi_task`: `idx` and `dp_id`; `file_path`, `class_name` and `class_doc`; `method`, with its
`name`, `declaration`, `description` (the docstring), `body`, and the first and last lines of the declaration and the
body, from 0; `raw_file_content`, the file; `file_without_method` and `class_without_method`; `file_with_buggy_method`
and `test_error_message`, what its tests say; `tests`, the names of all in `full_paths`.

Besides: `repository`, `version`, `file_sha256`; `label` and `labels`, with which the tests are loaded;
`completion_prefix`, the part of the body that a completion continues; `bug`, its kind, and `bug_crashes`;
`fail_to_pass`, `pass_to_pass`, `bug_tests` and `completion_tests`, parts of `tests`; `deciding_tests`, the number of
`fail_to_pass`; `mutants`, the number of small bugs that were tried, `mutation_score`, the share that was found, and
`survivors`, the others; `controls` and `uncontrolled`; `cpu_seconds`, the most that a run of the tests took.

## Contamination

The methods, their docstrings and their tests are public since the release of {name} {version} or longer, and are likely
to be in the training data of models. A high score doesn't show that a model could write code that it hasn't seen.

## Certificate

Of each task, the file as it is was run {repeats} times, and those without the body, without the completion and with the
bug {wrong} times each, with the tests in another order each time; {single} of {count} tasks have one test, so no order.
In the first {first} runs of each, there were {loaded_runs}; in the others, {calm_runs}. One of the runs of the file as
it is imported everything again. The file passed each time, and the others failed the same tests each time; any other
method was dropped.

{python}, TZ=UTC, LC_ALL=C.UTF-8, PYTHONHASHSEED=0, `random.seed(0)`. The clock of each run begins at {moment}
(by the package time-machine); only `time.monotonic`, file times and SQLite have the real time.

## Components

| tests | tasks | methods that became none |
|---|---|---|
{labels}
| all | {count} | {reasons} |
"""
NUMBERS: Mapping[str, Callable[[RepositoryTask], float]] = {
    "tests": lambda task: len(task.tests),
    "tests that decide": lambda task: len(task.fail_to_pass),
    "labels": lambda task: len(task.labels),
    "mutation score": lambda task: task.mutation_score or 0.0,
    "CPU seconds of a run": lambda task: task.cpu_seconds,
}


def card_of(checkout: Checkout, built: Sequence[LabelTasks], seed: int, repeats: int, python: str) -> str:
    """Return the text of the card."""
    recipe = checkout.recipe
    tasks = [task for label in built for task in label.tasks]
    bugs = Counter(task.bug for task in tasks)
    return TEXT.format(
        name=recipe.name,
        version=checkout.version,
        gencode=alpha_codium.__version__,
        source=checkout.source_package() or "a checkout",
        digest=checkout.digest(),
        url=f"; {recipe.url}" if recipe.url else "",
        licence=recipe.licence or "unknown",
        licence_id=recipe.licence.lower() or "unknown",
        count=len(tasks),
        counted=counted(len(tasks), "task"),
        tried=TRIED_MUTANTS,
        least=LEAST_SCORE,
        mutants=MUTANTS,
        numbers="\n".join(_numbers(tasks)),
        bugs=", ".join(f"{kind} {count}" for kind, count in bugs.most_common()),
        crashes=sum(task.bug_crashes for task in tasks),
        controlled=sum(bool(task.controls) for task in tasks),
        seed=seed,
        repeats=repeats,
        wrong=min(repeats, WRONG_REPEATS),
        single=sum(len(task.tests) == 1 for task in tasks),
        first=min(repeats, LOADED),
        loaded_runs=described(_sum(label.loaded for label in built)),
        calm_runs=described(_sum(label.calm for label in built)),
        python=python,
        moment=MOMENT.isoformat(),
        labels="\n".join(f"| {label.label} | {len(label.tasks)} | {reasons(label.dropped)} |" for label in built),
        reasons=reasons(_sum(label.dropped for label in built)),
    )


def _numbers(tasks: Sequence[RepositoryTask]) -> list[str]:
    values = {name: [number(task) for task in tasks] for name, number in NUMBERS.items()}
    return [f"| {name} | {min(each):g} | {median(each):g} | {max(each):g} |" for name, each in values.items()]


def _sum(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    return sum(map(Counter, counts), Counter())


def reasons(dropped: Mapping[str, int]) -> str:
    """Return why methods became no tasks, with their numbers."""
    return ", ".join(f"{reason}: {count}" for reason, count in sorted(dropped.items()))
