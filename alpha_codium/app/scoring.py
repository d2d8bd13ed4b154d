"""Scoring of samples from other tools, over the problems of a benchmark."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from alpha_codium.answers.cleaning import (
    RULES,
    STOP_WORDS,
    Cleaning,
    CleaningRule,
    clean_rows,
    clean_samples,
    write_rows,
)
from alpha_codium.app.evaluation import Evaluation, describe, with_code_tester
from alpha_codium.app.events import Noted, OnEvent, ignore
from alpha_codium.app.run_folders import recordable
from alpha_codium.config import Settings, load_settings
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.data.benchmarks import ALIASES, refuse_another_benchmark
from alpha_codium.data.load import ProblemSet, load_problems
from alpha_codium.data.samples.programs import columns_of, problems_for, solutions_of, with_completions_found
from alpha_codium.data.samples.reading import CANDIDATES, Columns, Row, read_samples
from alpha_codium.data.samples.runs import parse_selections, selected
from alpha_codium.data.samples.setup import ALL, IMPORTS, WithSetup
from alpha_codium.data.solutions import ORIGIN, refuse_other_problems, subsets_of
from alpha_codium.data.sources import stored_names
from alpha_codium.data.subset import Subset
from alpha_codium.errors import DatasetError, UserError, nearest
from alpha_codium.eval.metric import DEFAULT_KS
from alpha_codium.eval.prepare import only_asked, places_of_difficulty, prepare_for_evaluation
from alpha_codium.eval.scoring import Score
from alpha_codium.languages.names import language_asked_for
from alpha_codium.problem import TestType
from alpha_codium.program import PYTHON
from alpha_codium.wording import counted

# Benchmarks in our own schema.
HUB_IDS = {"code_contests": "deepmind/code_contests"}


async def score_async(
    file: str,
    benchmark: str | None = None,
    *,
    dataset: str | None = None,
    split: str | None = None,
    select: Sequence[str] = (),
    column: str = "",
    form: str | None = None,
    language: str | None = None,
    clean: bool = False,
    header: str | None = None,
    setup: str | None = None,
    sample_rate: float = 1.0,
    seed: int = 0,
    limit: int | None = None,
    names: Sequence[str] = (),
    only_present: bool = False,
    difficulty: Sequence[str] = (),
    ignore_fingerprint: bool = False,
    test_type: str | Iterable[str] = TestType.PRIVATE,
    k: Sequence[int] = DEFAULT_KS,
    settings: Settings | None = None,
    run: str | None = None,
    resume: str | None = None,
    on_event: OnEvent = ignore,
) -> Score:
    """Judge and score samples from other tools.

    `file` has rows with task_id and completion or solution (JSON lines), or a list or object with the programs for each
    problem (JSON, or a pickle of APPS), or is a Solutions dataset. `benchmark` is a name such as `humaneval`; `dataset`
    and `split` are the location of its problems, if it differs from the benchmark's. `select` selects rows by
    `COLUMN=VALUE`. `column` is the column with the programs, and `form` is `completion` or `solution`; by default the
    columns' names decide. `language` is that of the samples whose rows name none. `clean` removes fences, prose and the
    like from the samples first. `header` is code that runs before each program. `setup` is the part of the
    prompt's code that programs may use: `all`, `imports` or `none`.
    `sample_rate` with `seed`, `names` and `limit` choose a part of the problems, `only_present` those with samples, and
    `difficulty` those with one of these names, such as `introductory`.
    `run` names a new run folder with a journal; `resume` names an earlier run.

    Raises UserError if the samples or the problems can't be read, or don't match.
    """
    # Before there are other local variables: `run.toml` records the arguments, for `--resume`.
    options = recordable(locals())
    settings = settings or load_settings()
    if header is not None:
        settings = with_code_tester(settings, header=header)
    name = dataset_of(benchmark, dataset)
    if name is None:
        raise DatasetError("no problems are given for the samples: use --benchmark or --dataset_name")
    rows = await _selected(file, Columns(column, form or ""), select, on_event)
    with _remedy(benchmark, dataset):
        problems = await in_thread(problems_for, rows, name, split)
    refuse_another_benchmark(benchmark, problems.names, problems.label)
    rows = await in_thread(_in_order_of_part, rows, problems, difficulty)
    if form is None:
        rows = await _with_completions(rows, problems, on_event)
    asked = language_asked_for(language) if language else ""
    if clean:
        rows, found = await in_thread(_cleaned, rows, problems, asked)
        on_event(Noted(found))
    solutions = await in_thread(solutions_of, rows, problems, asked)
    if not ignore_fingerprint:
        await in_thread(_refuse_other_problems, rows, problems)
    setup = setup or _usual_setup(rows)
    tasks = await in_thread(prepare_for_evaluation, solutions, WithSetup(problems, setup), test_type)
    part = Subset(sample_rate, seed, limit, tuple(names))
    tasks = await in_thread(only_asked, tasks, subsets_of(solutions), part, only_present, difficulty)
    description = await in_thread(
        describe,
        "score",
        name,
        problems,
        tasks.test_types,
        benchmark=benchmark or "",
        file=file,
        file_sha256=await in_thread(_sha256_of, file),
        select=list(select),
        columns=dict(columns_of(rows)),
        setup=setup,
        subset=tasks.subset,
        **({"clean": True} if clean else {}),
        **({"language": language} if language else {}),
    )
    return await Evaluation(tasks, description, settings, options=options).run(k, run, resume, on_event)


score = blocking(score_async)


def clean_file(
    file: str,
    output: Path,
    benchmark: str | None = None,
    *,
    dataset: str | None = None,
    split: str | None = None,
    column: str = "",
    form: str | None = None,
    difficulty: Sequence[str] = (),
    rules: Sequence[CleaningRule] = RULES,
    stop_words: Sequence[str] = (),
) -> tuple[Cleaning, bool]:
    """Write the samples in `file` to `output`, without fences, prose and the like.

    The other arguments are those of `score_async`. Returns the counts, and whether the problems' prompts are known.
    Raises UserError if the samples or the problems can't be read, or don't match.
    """
    name = dataset_of(benchmark, dataset)
    rows = _samples(file, Columns(column, form or ""))
    with _remedy(benchmark, dataset):
        problems = load_problems(name, split) if name is not None else None
    if problems is not None:
        refuse_another_benchmark(benchmark, problems.names, problems.label)
        rows = _in_order_of_part(rows, problems, difficulty)
        rows = rows if form else with_completions_found(rows, problems)[0]
    cleaning = Cleaning(rules, stop_words or STOP_WORDS)
    write_rows(output, clean_rows(rows, problems, cleaning), rows)
    return cleaning, problems is not None


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


async def _selected(file: str, columns: Columns, select: Sequence[str], on_event: OnEvent) -> list[Row]:
    """Return the rows of a file that `select` selects, and report what each selection turned out to be."""
    selections = parse_selections(select)
    rows = await in_thread(selected, await in_thread(_samples, file, columns), selections, file)
    for key in selections:
        on_event(Noted(f"selected: {key}={(rows[0].values or {})[key]}"))
    return rows


async def _with_completions(rows: list[Row], problems: ProblemSet, on_event: OnEvent) -> list[Row]:
    """Return the rows with those that go on from their prompts taken as completions, and report how many there are."""
    rows, continued = await in_thread(with_completions_found, rows, problems)
    if continued:
        on_event(Noted(f"taken as completions of the prompts: {counted(continued, 'sample')} (see --form)"))
    return rows


def _refuse_other_problems(rows: list[Row], problems: ProblemSet) -> None:
    """Raise DatasetError if rows of a Solutions dataset were generated for other problems."""
    refuse_other_problems((row.values for row in rows if row.values and row.values.keys() >= set(ORIGIN)), problems)


def _usual_setup(rows: list[Row]) -> str:
    """Return the default setup: all of the prompt's code for a Solutions dataset, only imports for other samples."""
    return ALL if {row.column for row in rows} == {CANDIDATES} else IMPORTS


def _cleaned(rows: list[Row], problems: ProblemSet, language: str) -> tuple[list[Row], str]:
    """Return the clean rows, and what was changed; raises UserError if samples are in another language than Python."""
    if (language or (problems[0].execution.language if len(problems) else PYTHON)) != PYTHON:
        raise UserError("--clean is for samples in Python: leave it out")
    found = Cleaning()
    rows = clean_samples(rows, problems, found)
    rules = ", ".join(f"{name} {count}" for name, count in found.changed_by.items()) or "no rule"
    samples = counted(found.samples, "sample")
    return rows, f"cleaning changed {found.changed} of {samples} ({rules}), and left {found.emptied} empty"


@contextmanager
def _remedy(benchmark: str | None, dataset: str | None) -> Iterator[None]:
    """Name the option that replaces a benchmark's usual problems if these can't be read."""
    try:
        yield
    except DatasetError as error:
        if benchmark is None or dataset is not None:
            raise
        raise DatasetError(f"problems of {benchmark}: {error}; give a file with them: --dataset_name FILE") from error


def dataset_of(benchmark: str | None, dataset: str | None) -> str | None:
    """Return the dataset of a benchmark's problems: the given one, else the one stored under its name, or the hub's."""
    if benchmark is None or dataset is not None:
        return dataset
    known = {**ALIASES, **HUB_IDS} | {name: name for name in stored_names()}
    if benchmark not in known:
        raise UserError(
            f"there is no benchmark {benchmark!r}{nearest(benchmark, known)}; "
            "for another one, give its problems with --dataset_name"
        )
    return known[benchmark]


def _sha256_of(name: str) -> str:
    """Return the SHA-256 of a file; "" for a folder, or the name of a dataset."""
    path = Path(name).expanduser()
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
