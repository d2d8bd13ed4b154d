"""Scoring of samples from other tools, over the problems of a benchmark."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from alpha_codium.answers.cleaning import (
    RULES,
    STOP_WORDS,
    Cleaning,
    clean_rows,
    clean_samples,
    write_rows,
)
from alpha_codium.app.evaluation import Evaluation, describe, subset_of
from alpha_codium.app.events import Noted, OnEvent
from alpha_codium.app.options.judging import CleanOptions, SampleFile, ScoreOptions
from alpha_codium.config import load_settings
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.data.benchmarks import ALIASES, refuse_another_benchmark
from alpha_codium.data.load import ProblemSet, load_problems
from alpha_codium.data.samples.programs import columns_of, problems_for, solutions_of, with_completions_found
from alpha_codium.data.samples.reading import Columns, Row, read_samples
from alpha_codium.data.samples.runs import parse_selections, selected
from alpha_codium.data.samples.setup import ALL, IMPORTS, WithSetup
from alpha_codium.data.solutions import CANDIDATES, ORIGIN, refuse_other_problems, subsets_of
from alpha_codium.data.sources import stored_names
from alpha_codium.errors import DatasetError, UserError, did_you_mean, nearest
from alpha_codium.eval.prepare import EvaluationSet, only_asked, places_of_difficulty, prepare_for_evaluation
from alpha_codium.eval.scoring import Score
from alpha_codium.language_table import language_asked_for
from alpha_codium.options import use_case
from alpha_codium.program import PYTHON
from alpha_codium.wording import counted

# Benchmarks in our own schema.
HUB_IDS = {"code_contests": "deepmind/code_contests"}


@use_case(ScoreOptions)
async def score_async(options: ScoreOptions) -> Score:
    """Judge and score samples from other tools.

    Raises UserError if the samples or the problems can't be read, or don't match.
    """
    settings = options.settings or load_settings()
    if options.header is not None:
        settings = settings.changed("code_tester", header=options.header)
    tasks, description = await prepared(options)
    return await Evaluation(tasks, description, settings, options=options).run()


score = blocking(score_async)


def clean_file(options: CleanOptions) -> tuple[Cleaning, bool]:
    """Write the samples in a file to another, without fences, prose and the like.

    Returns the counts, and whether the problems' prompts are known. Raises UserError if the samples or the problems
    can't be read, or don't match.
    """
    name = dataset_of(options.benchmark, options.dataset)
    rows = _samples(options.file, Columns(options.column, options.form or ""))
    with _remedy(options):
        problems = load_problems(name, options.split) if name is not None else None
    if problems is not None:
        refuse_another_benchmark(options.benchmark, problems.names, problems.label)
        rows = _in_order_of_part(rows, problems, options.difficulty)
        rows = rows if options.form else with_completions_found(rows, problems)[0]
    rules = [rule for rule in RULES if rule.name not in options.rules_off]
    cleaning = Cleaning(rules, options.stop_words or STOP_WORDS)
    write_rows(options.output, clean_rows(rows, problems, cleaning), rows)
    return cleaning, problems is not None


async def prepared(options: ScoreOptions) -> tuple[EvaluationSet, dict[str, Any]]:
    """Return what is to be judged, and what `run.toml` says of it."""
    name = dataset_of(options.benchmark, options.dataset)
    if name is None:
        raise DatasetError("no problems are given for the samples: use `benchmark` or `dataset`")
    rows = await _selected(options)
    with _remedy(options):
        problems = await in_thread(problems_for, rows, name, options.split)
    refuse_another_benchmark(options.benchmark, problems.names, problems.label)
    rows = await in_thread(_in_order_of_part, rows, problems, options.difficulty)
    if options.form is None:
        rows = await _with_completions(rows, problems, options.on_event)
    asked = language_asked_for(options.language) if options.language else ""
    if options.clean:
        rows, found = await in_thread(_cleaned, rows, problems, asked)
        options.on_event(Noted(found))
    solutions = await in_thread(solutions_of, rows, problems, asked)
    if not options.ignore_fingerprint:
        await in_thread(_refuse_other_problems, rows, problems)
    # All of the prompt's code for a Solutions dataset, only imports for other samples.
    setup = options.setup or (ALL if {row.column for row in rows} == {CANDIDATES} else IMPORTS)
    tasks = await in_thread(prepare_for_evaluation, solutions, WithSetup(problems, setup), options.test_type)
    part, present, difficulty = subset_of(options), options.only_present, options.difficulty
    tasks = await in_thread(only_asked, tasks, subsets_of(solutions), part, present, difficulty)
    description = await in_thread(
        describe,
        "score",
        name,
        problems,
        tasks.test_types,
        benchmark=options.benchmark or "",
        file=options.file,
        file_sha256=await in_thread(_sha256_of, options.file),
        select=list(options.select),
        columns=dict(columns_of(rows)),
        setup=setup,
        subset=tasks.subset,
        **({"clean": True} if options.clean else {}),
        **({"language": options.language} if options.language else {}),
    )
    return tasks, description


def _in_order_of_part(rows: list[Row], problems: ProblemSet, difficulty: Sequence[str]) -> list[Row]:
    """Return rows without names that are in the order of the problems of a difficulty, with the names of these."""
    in_order = [str(row.task) for row in rows] == list(map(str, range(len(rows))))
    if not difficulty or not in_order or len(rows) == len(problems) or any(row.values for row in rows):
        return rows
    places = places_of_difficulty(problems, range(len(problems)), difficulty)
    if len(places) != len(rows):
        return rows
    return [replace(row, task=problems.names[at], by_place=False) for row, at in zip(rows, places, strict=True)]


def _samples(file: str, columns: Columns) -> list[Row]:
    rows = read_samples(file, columns)
    if not rows:
        raise DatasetError(f"{file} contains no samples")
    return rows


async def _selected(options: ScoreOptions) -> list[Row]:
    """Return the rows of a file that `select` selects, and report what each selection turned out to be."""
    selections = parse_selections(options.select)
    rows = await in_thread(_samples, options.file, Columns(options.column, options.form or ""))
    rows = await in_thread(selected, rows, selections, options.file)
    for key in selections:
        options.on_event(Noted(f"selected: {key}={(rows[0].values or {})[key]}"))
    return rows


async def _with_completions(rows: list[Row], problems: ProblemSet, on_event: OnEvent) -> list[Row]:
    """Return the rows with those that go on from their prompts taken as completions, and report how many there are."""
    rows, continued = await in_thread(with_completions_found, rows, problems)
    if continued:
        on_event(Noted(f"taken as completions of the prompts: {counted(continued, 'sample')} (see `form`)"))
    return rows


def _refuse_other_problems(rows: list[Row], problems: ProblemSet) -> None:
    """Raise DatasetError if rows of a Solutions dataset were generated for other problems."""
    refuse_other_problems((row.values for row in rows if row.values and row.values.keys() >= set(ORIGIN)), problems)


def _cleaned(rows: list[Row], problems: ProblemSet, language: str) -> tuple[list[Row], str]:
    """Return the clean rows, and what was changed; raises UserError if samples are in another language than Python."""
    if (language or (problems[0].execution.language if len(problems) else PYTHON)) != PYTHON:
        raise UserError("`clean` is for samples in Python: leave it out")
    found = Cleaning()
    rows = clean_samples(rows, problems, found)
    rules = ", ".join(f"{name} {count}" for name, count in found.changed_by.items()) or "no rule"
    samples = counted(found.samples, "sample")
    return rows, f"cleaning changed {found.changed} of {samples} ({rules}), and left {found.emptied} empty"


@contextmanager
def _remedy(options: SampleFile) -> Iterator[None]:
    """Name the argument that replaces a benchmark's usual problems if these can't be read."""
    try:
        yield
    except DatasetError as error:
        if options.benchmark is None or options.dataset is not None:
            raise
        raise DatasetError(f"problems of {options.benchmark}: {error}; give a file with them as `dataset`") from error


def dataset_of(benchmark: str | None, dataset: str | None) -> str | None:
    """Return the dataset of a benchmark's problems: the given one, else the one stored under its name, or the hub's.

    Raises UserError if there is no such benchmark; with a dataset, only if its name is like that of one.
    """
    if benchmark is None:
        return dataset
    known = {**ALIASES, **HUB_IDS} | {name: name for name in stored_names()}
    if benchmark in known or (dataset is not None and not did_you_mean(benchmark, known)):
        return dataset or known[benchmark]
    remedy = (
        "for another one, give its problems as `dataset`" if dataset is None else "other problems need no `benchmark`"
    )
    raise UserError(f"there is no benchmark {benchmark!r}{nearest(benchmark, known)}; {remedy}")


def _sha256_of(name: str) -> str:
    """Return the SHA-256 of a file; "" for a folder, or the name of a dataset."""
    path = Path(name).expanduser()
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
