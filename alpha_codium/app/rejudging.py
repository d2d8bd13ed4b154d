"""Published samples, judged again: their verdicts beside ours, and python3's wherever these differ."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from alpha_codium.app.evaluation import Evaluation
from alpha_codium.app.events import OnEvent, working
from alpha_codium.app.options.auditing import RejudgeOptions
from alpha_codium.app.options.judging import ScoreOptions
from alpha_codium.app.run_folders import is_begun
from alpha_codium.app.scoring import prepared
from alpha_codium.audit.graders.asking import arguments_for
from alpha_codium.audit.graders.finding import find_grader
from alpha_codium.audit.graders.process import GraderProcess
from alpha_codium.audit.published.report import FAILED, PASSED, Flip, PublishedRun, Rejudgement
from alpha_codium.audit.published.verdicts import verdict_column, verdicts_of
from alpha_codium.config import Settings, load_settings
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.data.files import WHOLE, FileSource
from alpha_codium.data.load import load_problems
from alpha_codium.data.samples.programs import problem_names
from alpha_codium.data.samples.reading import Columns, Row, read_samples
from alpha_codium.data.samples.runs import parse_selections, runs_of, selected
from alpha_codium.data.sources import find_source
from alpha_codium.errors import DatasetError, UserError
from alpha_codium.eval.prepare import EvaluationTask
from alpha_codium.eval.results import CandidateResult
from alpha_codium.options import use_case
from alpha_codium.program import PYTHON
from alpha_codium.verdict import Verdict

PLAIN_SECONDS = 60.0
JUDGED = frozenset(Verdict) - {Verdict.INTERNAL_ERROR, Verdict.NO_TESTS}


@dataclass(frozen=True)
class _Part:
    """One run in a file of samples: its rows, the column with their verdicts, and the problems that they are for.

    `name` is what it is called, and that of no other run.
    """

    file: str
    name: str
    selection: tuple[str, ...]
    rows: Sequence[Row]
    column: str
    dataset: str
    split: str | None

    def published(self) -> dict[str, list[bool | None]]:
        """Return the verdicts of each problem's samples."""
        found: dict[str, list[bool | None]] = {}
        names = problem_names(self.rows, load_problems(self.dataset, self.split))
        for row, name in zip(self.rows, names, strict=True):
            found.setdefault(name, []).extend(verdicts_of(row, self.column))
        return found


@use_case(RejudgeOptions)
async def rejudge_async(options: RejudgeOptions) -> Rejudgement:
    """Judge published samples again, and compare the verdicts with those that the files have themselves.

    Raises UserError if a file can't be read, has no verdicts, or none of the datasets has its problems.
    """
    settings = options.settings or load_settings()
    # The judge is checked by `gencode eval doctor`; here, each program is judged once.
    settings = settings.changed("code_tester", known_solutions=0)
    if options.header is not None:
        settings = settings.changed("code_tester", header=options.header)
    if twice := [file for file in options.files if list(options.files).count(file) > 1]:
        raise UserError(f"`files` has {twice[0]} twice: give it once")
    parts = [part for file in options.files for part in await in_thread(_parts_of, file, options)]
    published = [await in_thread(part.published) for part in parts]  # raises before any program is judged
    runs: list[PublishedRun] = []
    flips: list[tuple[Flip, EvaluationTask]] = []
    for number, (part, theirs) in enumerate(zip(parts, published, strict=True), 1):
        name = options.run and (f"{options.run}-{number}" if len(parts) > 1 else options.run)
        run, changed = await _judged(part, theirs, name, options, settings)
        runs.append(run)
        flips += changed
    return Rejudgement(tuple(runs), tuple(await _with_plain(flips, settings, options.on_event)))


rejudge = blocking(rejudge_async)


def _parts_of(file: str, options: RejudgeOptions) -> list[_Part]:
    """Return the runs of a file; the first column that tells them apart selects them."""
    rows = read_samples(file, Columns(options.column))
    column, dataset = verdict_column(rows, options.verdict_column), _dataset_for(rows, options.datasets, file)
    several = next(iter(runs_of(rows).items()), None)
    selections = [(f"{several[0]}={value}",) for value in several[1]] if several else [()]
    return [
        _Part(
            file,
            _name_of(file, each, options.files),
            each,
            selected(rows, parse_selections(each), file),
            column,
            dataset,
            _split_of(dataset),
        )
        for each in selections
    ]


def _name_of(file: str, selection: Sequence[str], files: Sequence[str]) -> str:
    """Return what a run is called: by what selects it, or by its file, whose path tells files of one name apart."""
    selected_by = [each.partition("=")[2] for each in selection]
    if sum(Path(each).name == Path(file).name for each in files) > 1:
        return ": ".join([file, *selected_by])
    return ": ".join(selected_by) or Path(file).name


def _dataset_for(rows: Sequence[Row], datasets: Sequence[str], file: str) -> str:
    """Return the first of the datasets that has the problems of all rows, preferably by the names in the rows."""
    errors, fitting = [], {}
    for dataset in datasets:
        try:
            problems = load_problems(dataset, _split_of(dataset))
            problem_names(rows, problems)
        except DatasetError as error:
            errors.append(str(error))
        else:
            fitting[dataset] = {row.task for row in rows} <= set(problems.names)
    if not fitting:
        raise DatasetError(f"{file}: {errors[0] if errors else 'name its problems as `datasets`'}")
    return max(fitting, key=lambda dataset: fitting[dataset])


def _split_of(dataset: str) -> str | None:
    """Return all splits of a file, since only the problems with samples count."""
    return WHOLE if isinstance(find_source(dataset), FileSource) else None


async def _judged(
    part: _Part,
    published: Mapping[str, Sequence[bool | None]],
    run: str | None,
    options: RejudgeOptions,
    settings: Settings,
) -> tuple[PublishedRun, list[tuple[Flip, EvaluationTask]]]:
    """Return one run with our verdicts, as `score` has them, and its flips."""
    again = run is not None and is_begun(run)
    asked = ScoreOptions(
        file=part.file, dataset=part.dataset, split=part.split, select=part.selection, setup=options.setup,
        only_present=True, k=(1,), column=options.column, settings=settings, on_event=options.on_event,
        run=None if again else run, resume=run if again else None,
    )  # fmt: skip
    tasks, description = await prepared(asked)
    score = await Evaluation(tasks, description, settings, options=asked).run()
    by_name = {task.name: task for task in tasks}
    both: dict[str, list[tuple[bool, bool]]] = {}
    flips, without = [], 0
    for problem in score.problems:
        for theirs, result in zip(published[problem.name], problem.candidates, strict=True):
            if theirs is None or result.verdict not in JUDGED:
                without += 1
                continue
            ours = result.verdict is Verdict.ACCEPTED
            both.setdefault(problem.name, []).append((theirs, ours))
            if theirs is not ours:
                flips.append((_flip(part.name, by_name[problem.name], theirs, result), by_name[problem.name]))
    before, after = ({name: tuple(pair[i] for pair in pairs) for name, pairs in both.items()} for i in (0, 1))
    return PublishedRun(part.name, part.dataset, before, after, without), flips


def _flip(run: str, task: EvaluationTask, theirs: bool, result: CandidateResult) -> Flip:
    program = next(entry.program for entry in task.entries if entry.index == result.index)
    published = PASSED if theirs else FAILED
    return Flip(run, task.name, result.index, published, result.verdict.value, "", _reason(result), program)


def _reason(result: CandidateResult) -> str:
    """Return why a program failed, in one line."""
    failure = result.failure
    if failure is None:
        return "all tests pass" if result.verdict is Verdict.ACCEPTED else result.verdict.value
    said = (failure.stderr.strip().splitlines() or [""])[-1]
    if failure.verdict is Verdict.WRONG_ANSWER and failure.assertion:
        return f"{failure.assertion} (value: {failure.actual})"
    return failure.used or said or failure.verdict.value


async def _with_plain(
    flips: Sequence[tuple[Flip, EvaluationTask]], settings: Settings, on_event: OnEvent
) -> list[Flip]:
    """Return the flips with what python3 says: each program is run alone, with the tests after it."""
    if not flips:
        return []
    python = settings.code_tester.interpreter or sys.executable
    found = []
    with working(on_event, "flips run plainly", len(flips)) as on_done:
        async with GraderProcess(find_grader("plain", python)) as witness:
            for flip, task in flips:
                found.append(await _plain(flip, task, witness, settings.code_tester.header))
                on_done(flip)
    return found


async def _plain(flip: Flip, task: EvaluationTask, witness: GraderProcess, header: str) -> Flip:
    """Return a flip with what python3 says of its program."""
    spec = task.problem.execution
    if spec.kind not in witness.forms or spec.language != PYTHON:
        return replace(flip, plain="not run")
    program = "\n\n".join(filter(None, (header, spec.setup_code, flip.program)))
    tests = [replace(test, input=f"{spec.test_code}\n{test.input}".strip("\n")) for test in task.tests]
    tests = tests if spec.test_code else list(task.tests)
    arguments = arguments_for(spec.kind, program, spec.entry_point, tests)
    answer = await witness.ask(spec.kind, arguments, PLAIN_SECONDS)
    return replace(flip, plain=answer.seen)
