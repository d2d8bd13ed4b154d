"""`gencode compare`: runs of `solve_set` side by side."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from alpha_codium.cli.judging import KList, opened, tests_option
from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.output import say
from alpha_codium.cli.progress import Progress
from alpha_codium.data.load import ProblemSet
from alpha_codium.errors import UserError
from alpha_codium.eval.comparing.formats import plain
from alpha_codium.eval.comparing.judging import (
    JudgedPrograms,
    SharedJournal,
    Verdicts,
    all_programs,
    basis_of,
    programs_of,
)
from alpha_codium.eval.comparing.records import read_run
from alpha_codium.eval.comparing.references import PUBLISHED
from alpha_codium.eval.known import KNOWN_GROUPS, JudgeError, split_known, with_known
from alpha_codium.eval.prepare import parse_test_types
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.eval.running import run_evaluation
from alpha_codium.judge import Judge, Rules
from alpha_codium.languages.python.prelude import check_header
from alpha_codium.runs import RunFolder
from alpha_codium.runs.folder import RUN_FILE
from alpha_codium.sandbox import Sandbox, sandbox_of

if TYPE_CHECKING:
    from alpha_codium.eval.comparing.report import Report

# Settings of the tester that decide no verdict.
NO_VERDICT = {"workers", "preload", "known_solutions", "calc_trace", "use_trace", "max_trace_lines", "trace_depth"}


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@tests_option(default="private_tests")
@click.option("--k", "ks", type=KList(), default="1,5", show_default=True, help="The k of pass@k.")
@click.option("--baseline", metavar="RUN", help="Compare each run with this one.  [default: each pair]")
@click.option("--dataset_name", help="Where the problems are, if not where they were.")
@click.option("--references", is_flag=True, help="Show published numbers too, in a table of their own.")
@common_options
def command(runs: tuple[str, ...], common: CommonOptions, **options: Any) -> None:
    """Set runs of solve_set side by side: scores, costs, differences on the same problems, what each stage did.

    RUN is a run's name or the path of its folder. Every distinct program is judged once; verdicts are kept in the
    runs' folders, so that repeating a comparison, or going on with one that was cut off, costs nothing.
    """
    print_report(compare_runs(CompareOptions(runs, **options), common), common)


@dataclass(frozen=True)
class CompareOptions:
    """The options of `compare`; `runs` are names or folders."""

    runs: tuple[str, ...]
    test_types: tuple[str, ...]
    ks: tuple[int, ...]
    baseline: str | None = None
    dataset_name: str | None = None
    references: bool = False


def compare_runs(options: CompareOptions, common: CommonOptions) -> "Report":
    """Judge what the runs made, as far as it isn't judged yet, and set them side by side.

    Raises UserError where a run isn't there, is in use, or is of other problems than the first.
    """
    from alpha_codium.eval.comparing.fitting import problems_of, refuse_twins, refuse_unlike
    from alpha_codium.eval.comparing.report import report_of

    test_types = parse_test_types(options.test_types)
    code_tester = common.settings.code_tester
    # Made, not opened: what the settings get wrong is told before anything is read.
    sandbox = sandbox_of(code_tester)
    check_header(code_tester.header)
    folders = _folders(options)
    refuse_twins(folders)
    names = _names(folders)
    with ExitStack() as locks:
        for folder in folders:
            locks.enter_context(folder)
        records = [read_run(folder, name) for folder, name in zip(folders, names, strict=True)]
        refuse_unlike(records)
        problems = problems_of(records, options.dataset_name)
        programs = all_programs(map(programs_of, records))
        tasks = JudgedPrograms(problems, programs, test_types)
        _refuse_without_tests(tasks, problems)
        with opened(sandbox) as (runner, identity):
            basis = basis_of(test_types, code_tester.model_dump(exclude=NO_VERDICT), identity)
            with SharedJournal(records, programs, basis) as journal:
                results, judge_error = _judged(sandbox, runner, tasks, journal, common)
    what = {
        "dataset": problems.dataset_name,
        "split": problems.split_name,
        "fingerprint": problems.fingerprint,
        "n_problems": len(problems),
        "test_types": [kind.value for kind in test_types],
    }
    published = PUBLISHED if options.references else ()
    verdicts = Verdicts(programs, results)
    baseline = names[0] if options.baseline is not None else None
    return report_of(records, problems.names, verdicts, judge_error, options.ks, what, baseline, published)


def print_report(report: "Report", common: CommonOptions) -> None:
    """Print the comparison; exit with 1 where a run of it is unfinished."""
    from alpha_codium.cli.run_folders import found_by
    from alpha_codium.eval.comparing.tables import text_of

    common.write_json(report.to_json())
    say(text_of(report).removesuffix("\n"))
    for run in report.runs:
        name = plain(run.name)
        if run.unfinished:
            click.echo(
                f"run {name} is unfinished: {run.unfinished} of {run.asked} samples have no verdict on the model; "
                f"go on with gencode gen solve_set --resume {plain(found_by(run.record.path))}",
                err=True,
            )
        if unjudged := run.score.unjudged - run.unfinished:
            click.echo(f"{unjudged} programs of run {name} got no verdict: repeat the command", err=True)
    if not report.complete:
        click.echo("the comparison is INCOMPLETE", err=True)
        raise click.exceptions.Exit(1)


def _folders(options: CompareOptions) -> list[RunFolder]:
    """The folders of all runs, the baseline's first if there is one, whether or not it is among the runs."""
    folders = [_reopened(name) for name in options.runs]
    if options.baseline is None:
        return folders
    chosen = _reopened(options.baseline)
    return [chosen, *(folder for folder in folders if not folder.path.samefile(chosen.path))]


def _names(folders: Sequence[RunFolder]) -> list[str]:
    """What each run is called: its name, or its path where another one bears that name."""
    count = Counter(folder.name for folder in folders)
    return [folder.name if count[folder.name] == 1 else str(folder.path) for folder in folders]


def _reopened(name: str) -> RunFolder:
    """The folder of a run by its name, or by a path, also a relative one without a slash."""
    from alpha_codium.paths import runs_folder

    root = runs_folder()
    here = Path(name).expanduser()
    is_path = not (root / name / RUN_FILE).exists() and (here / RUN_FILE).exists()
    return RunFolder.reopen(root, str(here.resolve()) if is_path else name)


def _refuse_without_tests(tasks: JudgedPrograms, problems: ProblemSet) -> None:
    if not any(task.tests for task in tasks):
        kinds = " and ".join(kind.value for kind in tasks.test_types)
        raise UserError(f"no problem of {problems.dataset_name!r} has {kinds}: choose another --evaluation_test_type")


def _judged(
    sandbox: Sandbox, runner: asyncio.Runner, tasks: JudgedPrograms, journal: SharedJournal, common: CommonOptions
) -> tuple[Sequence[ProblemResult], JudgeError]:
    """What every program got, and what known solutions say of the judge."""
    settings = common.settings.code_tester
    total = sum(len(task.entries) for task in with_known(tasks, settings.known_solutions))
    accepted = 0

    def count(_name: str, result: CandidateResult) -> None:
        nonlocal accepted
        accepted += result.verdict.value == "accepted" and result.group not in KNOWN_GROUPS
        progress.advance()

    async def judge_all() -> list[ProblemResult]:
        judge = Judge(sandbox, Rules.of(settings))
        entries = with_known(tasks, settings.known_solutions)
        return await run_evaluation(entries, judge, journal=journal, on_result=count, workers=settings.workers)

    with Progress("judged", total, common.verbosity < 0, lambda: f"{accepted} accepted") as progress:
        results = runner.run(judge_all())
    return split_known(results, settings.tester_type, settings.known_solutions)
