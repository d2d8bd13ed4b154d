"""Run folders of use cases; what may differ when a run is resumed is in `resuming`."""

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from loguru import logger

import alpha_codium
from alpha_codium.app.events import OnEvent, RunOpened
from alpha_codium.app.options.shared import Sharded
from alpha_codium.app.options.solving import SolveSetOptions
from alpha_codium.app.resuming import ENTRIES, flat, note_another_judge, refuse_another_job
from alpha_codium.config import Settings, load_settings
from alpha_codium.errors import DatasetError, FlowError, ModelNotFound, SettingsError, Unjudgeable, UserError
from alpha_codium.eval.shards import Shard
from alpha_codium.options import RUN_FOLDER, options_of
from alpha_codium.paths import runs_folder
from alpha_codium.runs import AnswerStore, RunFolder, without_secrets
from alpha_codium.runs.answers import without_user
from alpha_codium.runs.folder import ANSWERS, BEGAN_IN, JOURNAL, OUTPUTS, RUN_FILE, WITHOUT_VERDICTS, WRITTEN_TO
from alpha_codium.verdict import Identity

PART = TypeVar("PART", bound=Sharded)
# A function that returns settings based on those of an earlier run, or on none.
SettingsOn = Callable[[Mapping[str, Any] | None], Settings]


def settings_on(settings: Settings | SettingsOn | None) -> SettingsOn:
    """Return a function that returns the given settings or, if None, loads settings based on an earlier run's."""
    if callable(settings):
        return settings
    return lambda base: settings or load_settings(base=base)


@contextmanager
def opened_run(
    run: str | None, resume: str | None, description: dict[str, Any], on_event: OnEvent
) -> Iterator[RunFolder | None]:
    """Yield the locked folder of a new run or of the run to resume, or None if neither is named.

    Raises UserError if both are named, or if the earlier run had other options.
    """
    if run is None and resume is None:
        yield None
        return
    with _create_or_reopen(run, resume, description) as folder:
        if resume is not None:
            note_another_judge(folder, description)
        if description["command"] not in WITHOUT_VERDICTS and "sandbox" in description:
            folder.judged_by = Identity.from_json(description["sandbox"]).digest
        on_event(RunOpened(folder.path))
        try:
            yield folder
        except UserError as error:
            if resume is None and not can_resume_after(error, folder.path) and not _has_begun(folder):
                folder.discard()  # so that its name can be used again
            raise


def _has_begun(folder: RunFolder) -> bool:
    """Return whether anything was finished or answered in a run."""
    answers = folder.path / ANSWERS
    if _holds(folder.path / JOURNAL):
        return True
    if not answers.exists():
        return False
    with AnswerStore(answers) as store:
        spent = store.spent()
    return bool(spent.asked or spent.from_cache)


@contextmanager
def run_or_temporary(
    run: str | None, resume: str | None, description: dict[str, Any], on_event: OnEvent
) -> Iterator[RunFolder]:
    """Do the same as `opened_run`, but yield a temporary folder if no run is named."""
    with tempfile.TemporaryDirectory(prefix="gencode-") as scratch:
        with opened_run(run, resume, description, on_event) as folder:
            yield folder or RunFolder(Path(scratch))


def _create_or_reopen(run: str | None, resume: str | None, description: dict[str, Any]) -> RunFolder:
    description = description | {BEGAN_IN: str(Path.cwd()), "versions": versions()}
    if resume is None:
        return RunFolder.create(runs_folder(), run or "", description)
    if run is not None:
        raise UserError("`run` names a new run and `resume` an earlier one: give one of them")
    folder = RunFolder.reopen(runs_folder(), resume)
    refuse_another_job(folder, folder.description(), description)
    _warn_of_lost_files(folder)
    return folder


def can_resume_after(error: UserError, folder: Path) -> bool:
    """Return whether a run that ended with this error can go on after its cause was removed.

    Errors in the settings, the dataset or the flow are final, since a resumed run can't change these. A model that
    isn't found may return if it has answered before.
    """
    if isinstance(error, ModelNotFound):
        return _holds(folder / JOURNAL)
    return not isinstance(error, SettingsError | DatasetError | FlowError | Unjudgeable)


def is_begun(run: str) -> bool:
    """Return whether there is a run of that name."""
    return (runs_folder() / run / RUN_FILE).exists()


def part_of(options: PART) -> tuple[Shard | None, PART]:
    """Return the part that the options ask for, and the options with its name, such as 2/8, and its own run.

    The run is resumed if it has begun, so an array job's task can be started again with the same command.
    """
    if not options.shard:
        return None, options
    shard = Shard.of(options.shard, os.environ)
    options = replace(options, shard=str(shard))
    if options.run is None:
        return shard, options
    name = shard.run_name(options.run)
    run, resume = (None, name) if is_begun(name) else (name, None)
    return shard, replace(options, run=run, resume=resume)


def run_settings(name: str) -> Mapping[str, Any]:
    """Return the settings of an earlier run."""
    return _earlier(name).get("settings", {})


def run_options(name: str, given: SolveSetOptions) -> dict[str, Any]:
    """Return an earlier run's values of the options that aren't given."""
    earlier = _earlier(name)
    missing = (field.name for field in options_of(SolveSetOptions) if getattr(given, field.name) in (None, ()))
    entries = {name: ENTRIES.get(name, name) for name in missing if name not in RUN_FOLDER}
    return {name: earlier.get(entry) for name, entry in entries.items()}


def recorded_options(name: str) -> dict[str, Any]:
    """Return the options that an evaluation was run with, with its `settings`, if it recorded them."""
    return _earlier(name).get("options", {})


def has_written(run: str | None, path: Path) -> bool:
    """Return whether an earlier run has written its result there, so that going on with it may replace that."""
    return run is not None and RunFolder.reopen(runs_folder(), run).has_written(path)


def files_of_run(name: str) -> list[Path]:
    """Return the files that an earlier run was made with, such as its problems, but not those that it has written."""
    try:
        entries = flat(_earlier(name))
    except UserError:
        return []
    values = (value for key, value in entries.items() if key.rpartition(".")[2] not in (WRITTEN_TO, *OUTPUTS))
    texts = [text for value in values for text in (value if isinstance(value, list) else [value])]
    return [Path(text) for text in texts if isinstance(text, str) and os.path.isfile(text)]  # noqa: PTH113 - may be no path


def with_settings(options: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return the entry `options` of `run.toml`: options of a command that judges, and the settings that it uses."""
    sections = {name: getattr(settings, name).model_dump() for name in ("code_tester", "sandbox", "languages")}
    return {"options": {**options, "settings": sections}}


def shown_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings without secrets in the address and in extra parameters."""
    values = settings.model_dump()
    values["config"]["api_base"] = without_user(settings.config.api_base)
    values["config"]["extra"] = without_secrets(values["config"]["extra"])
    return values


def versions() -> dict[str, str]:
    """Return the versions of the software in use."""
    packages = {name: version(name) for name in ("datasets", "litellm")}
    return {
        "alpha_codium": alpha_codium.__version__,
        "python": platform.python_version(),
        "git": _revision(),
    } | packages


def _revision() -> str:
    """Return the git revision of the code, or "" outside a checkout."""
    if shutil.which("git") is None:
        return ""
    folder = Path(alpha_codium.__file__).parent
    done = subprocess.run(
        ["git", "-C", str(folder), "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def _earlier(name: str) -> dict[str, Any]:
    return RunFolder.reopen(runs_folder(), name).description()


def _warn_of_lost_files(folder: RunFolder) -> None:
    """Log a warning about files of an earlier run that are missing and can't be restored by resuming it."""
    journal, answers, results = (folder.path / name for name in (JOURNAL, ANSWERS, "results.json"))
    if not _holds(journal) and (_holds(results) or (_holds(answers) and not journal.exists())):
        logger.warning("{} is missing or empty: the work it recorded will be repeated", journal)
    if _holds(journal) and not _holds(answers) and folder.description()["command"] == "solve_set":
        consequence = "unfinished samples ask the model again, and the run cannot be replayed"
        logger.warning("{} is missing or empty: {}", answers, consequence)


def _holds(path: Path) -> bool:
    """Return whether a file or its SQLite write-ahead log isn't empty."""
    files = (path, path.with_name(path.name + "-wal"))
    return any(os.path.lexists(file) and (not file.is_file() or file.stat().st_size > 0) for file in files)
