"""The stored runs: a list, one sample of a run with the reason why it failed, and their removal."""

import contextlib
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loguru import logger

from alpha_codium.comparison.judging import JOURNAL
from alpha_codium.data.samples.names import TaskNames
from alpha_codium.errors import UserError, nearest
from alpha_codium.paths import runs_folder
from alpha_codium.report.completing import with_public_tests, with_source
from alpha_codium.report.judged_table import JudgedTable
from alpha_codium.report.problems import RunProblems
from alpha_codium.report.reading import found_transcript, generated_samples, judged_samples, split_by_known
from alpha_codium.report.samples import ChosenSamples, StoredSample, failures
from alpha_codium.runs import RunFolder
from alpha_codium.runs.events import Transcript
from alpha_codium.runs.folder import REPOSITORY_COMMAND, RUN_FILE, WITHOUT_VERDICTS
from alpha_codium.values import JsonValue

# Bytes in which a result has its scores, and how it says that something has no verdict or no answer yet.
BEGINNING = 1 << 16
INCOMPLETE = re.compile(r'^ "(?:complete": false|(?:unfinished|unjudged)": [1-9])', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class StoredRun(JsonValue):
    """A run in the folder of runs; `pass_at_k` is empty if the run isn't finished, or isn't an evaluation.

    `incomplete`: whether it ended, but some of its programs have no verdict, or samples no answer.
    """

    name: str
    command: str
    dataset: str
    changed: datetime
    size_bytes: int
    finished: bool
    pass_at_k: Mapping[str, float | None]
    running: bool = False
    incomplete: bool = False

    @property
    def state(self) -> str:
        """Whether a process works in the run, or it can't be read; else its first score, or whether it is finished."""
        if self.running or not self.command:
            return "running" if self.running else "damaged"
        if self.incomplete:
            return "incomplete"
        scores = [f"{name} {value:.3f}" for name, value in self.pass_at_k.items() if value is not None]
        return scores[0] if scores else "finished" if self.finished else "unfinished"


def list_runs() -> list[StoredRun]:
    """Return the runs in the folder of runs, the latest first; a damaged one has no command."""
    found = []
    for path in runs_folder().glob(f"*/{RUN_FILE}"):
        with contextlib.suppress(OSError):  # it was deleted at this moment
            found.append(_stored_run(RunFolder(path.parent)))
    return sorted(found, key=lambda run: run.changed, reverse=True)


def folder_of(run: str) -> RunFolder:
    """Return the folder of a stored run; raises UserError if there is none."""
    return RunFolder.reopen(runs_folder(), run)


def remove_run(name: str) -> None:
    """Delete the folder of a run; raises UserError if it doesn't exist, or another process uses it."""
    folder = folder_of(name)
    with folder:
        try:
            shutil.rmtree(folder.path)
        except OSError as error:
            raise UserError(f"{error.filename or folder.path} can't be deleted: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class ShownSample:
    """A sample of a run, the number of the run's samples, and how many of them failed, in words."""

    sample: StoredSample
    samples: int
    failures: str


def show_sample(run: str, problem: str | None = None, sample: int | None = None) -> ShownSample:
    """Return a sample of a run; raises UserError if there is none, or the run can't be read.

    The sample is the first that failed, or else the first, of those that the arguments select.
    """
    folder = folder_of(run)
    generated = folder.description()["command"] in WITHOUT_VERDICTS
    shown = None if generated else _shown_by_table(folder, problem, sample)
    if shown is None:
        samples = _samples(folder)
        chosen = _chosen(folder, samples, problem, sample)
        shown = ShownSample((chosen.failed or chosen.samples)[0], len(samples.samples), samples.failures(" of the run"))
    if generated:
        return replace(
            shown, sample=with_public_tests(shown.sample, found_transcript(folder, shown.sample), RunProblems(folder))
        )
    return shown if shown.sample.source else replace(shown, sample=with_source(shown.sample, RunProblems(folder)))


def transcript_of(run: str, sample: StoredSample) -> Transcript:
    """Return the transcript of a sample of a run; raises UserError if the run has none."""
    folder = folder_of(run)
    try:
        return Transcript.of_sample(folder.path, sample.problem, sample.result.index)
    except FileNotFoundError:
        raise UserError(f"run {folder.name!r} has no transcripts: runs of gencode gen solve_set have some") from None
    except (OSError, ValueError) as error:
        raise UserError(f"the transcript of {sample.problem!r} can't be read: {error}") from error


def _shown_by_table(folder: RunFolder, problem: str | None, sample: int | None) -> ShownSample | None:
    """Return what `show_sample` does of a finished evaluation; None if it has no table that tells."""
    table = JudgedTable.of(folder)
    if table is None or not len(table):
        return None
    chosen = table
    if problem is not None:
        chosen = chosen.where("problem", _problem_named(folder, chosen.names, problem))
    if sample is not None:
        _refuse_unknown(sample, chosen.indices)
        chosen = chosen.where("sample", sample)
    found = (chosen.failed or chosen).first()
    if found is None:
        return None
    return ShownSample(found, len(table), failures(len(table.failed), len(table), " of the run"))


def chosen_samples(run: str, problem: str | None = None, sample: int | None = None) -> ChosenSamples:
    """Return the samples that the arguments select; raises UserError as `show_sample` does."""
    folder = folder_of(run)
    return _chosen(folder, _samples(folder), problem, sample)


def _samples(folder: RunFolder) -> ChosenSamples:
    command = folder.description()["command"]
    if command == REPOSITORY_COMMAND:
        raise UserError(f"run {folder.name!r} is one of gencode repo run: see {folder.path / 'results_short.jsonl'}")
    generated = command in WITHOUT_VERDICTS
    samples = generated_samples(folder) if generated else split_by_known(judged_samples(folder))[0]
    judged = not generated or (folder.path / JOURNAL).exists()
    if samples and not judged:
        logger.info(_not_judged(folder))
    if not samples:
        raise UserError(f"run {folder.name!r} has no judged samples")
    return ChosenSamples(samples, judged)


def _not_judged(folder: RunFolder) -> str:
    """Return the message that nothing has judged the programs of a run, with what to do."""
    said = f"the programs of run {folder.name!r} weren't judged, only run on public tests"
    with contextlib.suppress(OSError, ValueError, AttributeError):
        command = json.loads((folder.path / "results.json").read_text("utf-8")).get("next_command")
        return f"{said}; judge them: {command}" if command else said
    return f"{said}; the run isn't finished"


def _chosen(folder: RunFolder, of: ChosenSamples, problem: str | None, sample: int | None) -> ChosenSamples:
    """Return the samples of a problem with an index, each if it is given; raises UserError if there is none."""
    chosen = of.samples
    if problem is not None:
        name = _problem_named(folder, list(dict.fromkeys(each.problem for each in chosen)), problem)
        chosen = [each for each in chosen if each.problem == name]
    if sample is not None:
        _refuse_unknown(sample, sorted({each.result.index for each in chosen}))
        chosen = [each for each in chosen if each.result.index == sample]
    return replace(of, samples=chosen)


def _problem_named(folder: RunFolder, names: list[str], problem: str) -> str:
    name = TaskNames(names).find(problem)
    if name is None:
        raise UserError(f"run {folder.name!r} has no samples of {problem!r}{nearest(problem, names)}")
    return name


def _refuse_unknown(sample: int, indices: list[int]) -> None:
    if sample not in indices:
        raise UserError(f"there is no sample {sample}: there are {indices[0]} to {indices[-1]}")


def _stored_run(folder: RunFolder) -> StoredRun:
    described: dict[str, Any] = {"command": ""}
    with contextlib.suppress(UserError):
        described = folder.description()
    results = folder.path / "results.json"
    head = _beginning(results) if results.exists() else ""
    files = [path.stat() for path in folder.path.rglob("*") if path.is_file()]
    return StoredRun(
        folder.name,
        described["command"],
        str(described.get("dataset_name") or described.get("dataset") or described.get("problem") or ""),
        datetime.fromtimestamp(max(file.st_mtime for file in files), UTC),
        sum(file.st_size for file in files),
        results.exists(),
        _scores(head),
        folder.in_use,
        INCOMPLETE.search(head) is not None,
    )


def _beginning(results: Path) -> str:
    with results.open("rb") as file:
        return file.read(BEGINNING).decode("utf-8", "replace")


def _scores(head: str) -> dict[str, float | None]:
    """Return pass@k at the beginning of a result, which may be very large; nothing if it has none."""
    key = re.search(r'^ "pass_at_k":\s*', head, re.MULTILINE)
    if key is None:
        return {}
    try:
        return json.JSONDecoder().raw_decode(head, key.end())[0]
    except ValueError:
        return {}
