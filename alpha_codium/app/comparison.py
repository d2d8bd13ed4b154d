"""Comparison of runs of `solve_set`; programs without stored verdicts are judged first."""

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from alpha_codium.app.evaluation import refuse_without_tests
from alpha_codium.app.events import judging
from alpha_codium.app.options.solving import CompareOptions
from alpha_codium.app.resuming import verdict_settings
from alpha_codium.comparison.fitting import problems_of, refuse_twins, refuse_unlike
from alpha_codium.comparison.judging import (
    SharedJournal,
    Verdicts,
    all_programs,
    basis_of,
    programs_of,
    tasks_of,
)
from alpha_codium.comparison.records import RunRecord, read_run
from alpha_codium.comparison.references import PUBLISHED
from alpha_codium.comparison.report import Compared, Comparison, report_of
from alpha_codium.config import load_settings
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.data.load import ProblemSet
from alpha_codium.errors import UserError
from alpha_codium.eval.judging import open_judge
from alpha_codium.eval.known import split_known
from alpha_codium.eval.metric import checked_ks
from alpha_codium.eval.prepare import parse_test_types
from alpha_codium.eval.score_progress import ScoreProgress
from alpha_codium.options import use_case
from alpha_codium.paths import runs_folder
from alpha_codium.report.reading import repository_items
from alpha_codium.repository.running.comparison import RepositoryComparison, ScoredRun, compared, scored
from alpha_codium.runs import RunFolder
from alpha_codium.runs.folder import REPOSITORY_COMMAND, RUN_FILE


@use_case(CompareOptions)
async def compare_async(options: CompareOptions) -> Comparison:
    """Compare runs by scores, costs, differences on the same problems, and the effects of each stage.

    Every distinct program is judged once. Verdicts are stored in the runs' folders, so that an interrupted comparison
    can be resumed by repeating it.

    Raises UserError if a run doesn't exist, is in use, or has other problems than the first.
    """
    settings, baseline = options.settings or load_settings(), options.baseline
    ks, test_types = checked_ks(options.k), parse_test_types(options.test_type)
    # The sandbox is opened first, so that invalid settings are reported before anything is read.
    async with open_judge(settings) as judge:
        with ExitStack() as locks:
            folders = _folders(options.runs, baseline)
            refuse_twins(folders)
            for folder in folders:
                locks.enter_context(folder)
            records, problems = await in_thread(_read, folders, options.dataset)
            programs = await in_thread(all_programs, map(programs_of, records))
            tasks = await in_thread(tasks_of, problems, programs, test_types)
            await in_thread(refuse_without_tests, tasks, problems.dataset_name)
            counts = await in_thread(judge.languages, tasks)
            languages = await in_thread(judge.tools_of, counts)
            basis = basis_of(test_types, verdict_settings(settings.code_tester), judge.identity, languages)
            with SharedJournal(records, programs, basis) as journal:
                with judging(options.on_event, counts.total(), "programs judged", ScoreProgress(())) as on_result:
                    judged = await judge.run(judge.with_known(tasks), journal, on_result)
            results, judge_error = split_known(judged, judge.identity.backend, judge.known_solutions)
            verdicts = Verdicts(programs, results)
    what: Compared = {
        "dataset": problems.dataset_name,
        "split": problems.split_name,
        "fingerprint": problems.fingerprint,
        "n_problems": len(problems),
        "test_types": [kind.value for kind in test_types],
    }
    first = records[0].name if baseline is not None else None
    published = PUBLISHED if options.references else ()
    return await in_thread(report_of, records, problems.names, verdicts, judge_error, ks, what, first, published)


compare = blocking(compare_async)


def compare_repository_runs(runs: Sequence[str], baseline: str | None = None) -> RepositoryComparison | None:
    """Compare runs of the repository benchmark, task by task; None if the first isn't one.

    Raises UserError if a run doesn't exist, is in use or of another kind, or they have no common task.
    """
    folders = _folders(runs, baseline)
    if not folders or folders[0].description().get("command") != REPOSITORY_COMMAND:
        return None
    refuse_twins(folders)
    with ExitStack() as locks:
        for folder in folders:
            locks.enter_context(folder)
        names = zip(_names(folders), folders, strict=True)
        return compared([_scored(name, folder) for name, folder in names], baseline is not None)


def _scored(name: str, folder: RunFolder) -> ScoredRun:
    values = folder.description()
    if values.get("command") != REPOSITORY_COMMAND:
        raise UserError(f"run {name!r} isn't one of gencode repo run, as the first is: compare runs of one kind")
    return scored(name, values["settings"]["benchmark"], str(values["model"]), repository_items(folder))


def _folders(runs: Sequence[str], baseline: str | None) -> list[RunFolder]:
    """Return the folders of all runs, the baseline's first."""
    if not runs:
        raise UserError("`runs` is empty: name a run at least")
    folders = [reopened(name) for name in runs]
    if baseline is None:
        return folders
    chosen = reopened(baseline)
    return [chosen, *(folder for folder in folders if not folder.path.samefile(chosen.path))]


def reopened(name: str) -> RunFolder:
    """Return the folder of a run, given its name or path; raises UserError if there is none."""
    root = runs_folder()
    here = Path(name).expanduser()
    is_path = not (root / name / RUN_FILE).exists() and (here / RUN_FILE).exists()
    return RunFolder.reopen(root, str(here.resolve()) if is_path else name)


def _read(folders: Sequence[RunFolder], dataset: str | None) -> tuple[list[RunRecord], ProblemSet]:
    records = [read_run(folder, name) for folder, name in zip(folders, _names(folders), strict=True)]
    refuse_unlike(records)
    return records, problems_of(records, dataset)


def _names(folders: Sequence[RunFolder]) -> list[str]:
    """Return each run's name, or its path if another run has the same name."""
    count = Counter(folder.name for folder in folders)
    return [folder.name if count[folder.name] == 1 else str(folder.path) for folder in folders]
