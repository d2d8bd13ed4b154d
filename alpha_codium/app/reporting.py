"""One page of HTML on stored runs."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from alpha_codium.app.comparison import reopened
from alpha_codium.app.events import Noted, working
from alpha_codium.app.options.reporting import ReportOptions
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.errors import UserError
from alpha_codium.options import use_case
from alpha_codium.paths import runs_folder
from alpha_codium.report.page import Page, check_output, write_page
from alpha_codium.report.reading import ReadRun, read
from alpha_codium.runs import RunFolder
from alpha_codium.runs.folder import JOURNAL, RUN_FILE
from alpha_codium.wording import counted, size_text

# How long a followed run is left alone between two pages, in seconds.
PAUSE_SECONDS = 5.0


@use_case(ReportOptions)
async def report_async(options: ReportOptions) -> Page:
    """Write a page of HTML on runs: their scores, what these are worth, and what is behind each sample.

    The page needs no server and no network. A run of `solve_set` is shown with the verdicts of the evaluation of its
    candidates, if there is one, and that evaluation with the prompts and answers.

    Raises UserError if a run doesn't exist or has no samples, if runs have no problem in common, or if the page can't
    be written. A followed page that is interrupted shows the run as it is then.
    """
    folders = [reopened(name) for name in options.runs]
    path = (options.output or _usual_output(folders)).absolute()
    await in_thread(check_output, path)
    if options.follow:
        await _follow(folders, path, options)
    return await _written(folders, path, False, options)


report = blocking(report_async)


async def _follow(folders: Sequence[RunFolder], path: Path, options: ReportOptions) -> None:
    """Write the page again and again while runs go on; if interrupted, leave one that waits for no other."""
    writing: asyncio.Task[Page] | None = None
    try:
        while any(folder.in_use for folder in folders):
            before = _state_of(folders)
            writing = asyncio.create_task(_written(folders, path, True, options))
            page = await asyncio.shield(writing)
            options.on_event(Noted(f"{counted(page.samples, 'sample')}, {size_text(page.size_bytes)}"))
            await in_thread(_wait, folders, before)
    except asyncio.CancelledError:
        if writing is not None:
            await writing
            await _written(folders, path, False, options)
        raise


async def _written(folders: Sequence[RunFolder], path: Path, live: bool, options: ReportOptions) -> Page:
    runs = await in_thread(_read, folders, live)
    total = len({name for run in runs for name in run.by_problem})
    with working(options.on_event, "problems", total) as on_done:
        return await in_thread(write_page, runs, path, live, on_done)


def _read(folders: Sequence[RunFolder], live: bool) -> list[ReadRun]:
    """Read the runs; raises UserError if one has no samples, unless it has just begun."""
    others = [RunFolder(each.parent) for each in runs_folder().glob(f"*/{RUN_FILE}")]
    runs = [read(folder, others) for folder in folders]
    for run in runs:
        if not run.samples and not live:
            raise UserError(f"run {run.name!r} has no samples yet: there is nothing to show")
    return runs


def _wait(folders: Sequence[RunFolder], before: list[int]) -> None:
    """Wait until a journal has grown, or no run goes on."""
    time.sleep(PAUSE_SECONDS)
    while _state_of(folders) == before and any(folder.in_use for folder in folders):
        time.sleep(PAUSE_SECONDS)


def _usual_output(folders: Sequence[RunFolder]) -> Path:
    return Path(f"{folders[0].name}.html" if len(folders) == 1 else "report.html")


def _state_of(folders: Sequence[RunFolder]) -> list[int]:
    """Return the sizes of the journals, which grow with each sample."""
    journals = [folder.path / JOURNAL for folder in folders]
    return [journal.stat().st_size if journal.exists() else 0 for journal in journals]
