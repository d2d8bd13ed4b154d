"""The run folder that a command works in: made new, or gone on with if it was made for the same job."""

import os
import platform
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from loguru import logger

import alpha_codium
from alpha_codium.config import BudgetSection, Settings
from alpha_codium.errors import DatasetError, UserError
from alpha_codium.runs import RunFolder, without_secrets
from alpha_codium.runs.answers import without_user
from alpha_codium.runs.description import MEND
from alpha_codium.runs.folder import RUN_FILE, new_run_name, to_toml

# What may differ when a run is gone on with: it decides how fast and where, not what comes out.
FREE = {"versions", "output_dataset_name"}
FREE_SETTINGS = {
    "budget": set(BudgetSection.model_fields),
    "prices": {"models"},
    "config": {
        "api_base",
        "ai_timeout",
        "max_retries",
        "max_requests_per_minute",
        "max_concurrent_requests",
        "adaptive_concurrency",
        "concurrency",
        "cache",
    },
    "code_tester": {"workers"},
    "solve": {"reduce_verbose"},
}


def open_run(kind: str, name: str | None, resume: str | None, description: dict[str, Any]) -> RunFolder:
    """A new folder called `name` (or by kind and time), or that of the run to go on with.

    Raises UserError where both are given, or where the earlier run was of something else: two jobs in one journal
    would make one wrong result.
    """
    from alpha_codium.paths import runs_folder

    if resume is None:
        return RunFolder.create(runs_folder(), name or new_run_name(kind), description)
    if name is not None:
        raise UserError("--run names a new run and --resume an earlier one: give one of them")
    folder = RunFolder.reopen(runs_folder(), resume)
    _refuse_another_job(folder, folder.description(), description)
    _tell_lost(folder)
    return folder


def found_by(folder: Path) -> str:
    """What `--resume` finds a run by: its name, or its path where it isn't among the other runs."""
    from alpha_codium.paths import runs_folder

    return folder.name if folder.parent == runs_folder() else str(folder)


def check_output(name: str) -> None:
    """Raise DatasetError, before any call is paid for, where candidates couldn't be saved under `name` after it."""
    from alpha_codium.data.folders import STATE_FILE
    from alpha_codium.data.sources import output_path
    from alpha_codium.data.store import refuse_foreign

    target = output_path(name)
    if target.suffix == ".parquet":
        return
    refuse_foreign(target)
    if target.is_dir() and any(target.iterdir()) and not (target / STATE_FILE).exists():
        raise DatasetError(f"{target} is a dataset of problems: choose another name")


def run_settings(name: str) -> Mapping[str, Any]:
    """The settings of an earlier run."""
    return _earlier(name).get("settings", {})


def run_options(name: str, given: Any) -> dict[str, Any]:
    """The earlier run's options for those that weren't given again."""
    earlier = _earlier(name)
    keys = ("dataset_name", "split_name", "output_dataset_name", "samples", "sample_rate", "flow", "without")
    return {key: earlier.get(key) for key in keys if getattr(given, key) is None}


def shown_settings(settings: Settings) -> dict[str, Any]:
    """The settings as a run folder may hold them: without secrets in the address or among the extra parameters."""
    values = settings.model_dump()
    values["config"]["api_base"] = without_user(settings.config.api_base)
    values["config"]["extra"] = without_secrets(values["config"]["extra"])
    return values


def versions() -> dict[str, str]:
    """What the run was made with."""
    packages = {name: version(name) for name in ("datasets", "litellm")}
    return {
        "alpha_codium": alpha_codium.__version__,
        "python": platform.python_version(),
        "git": _revision(),
    } | packages


def _revision() -> str:
    """The git revision of the code, or nothing where it isn't in a checkout."""
    if shutil.which("git") is None:
        return ""
    folder = Path(alpha_codium.__file__).parent
    done = subprocess.run(
        ["git", "-C", str(folder), "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def _earlier(name: str) -> dict[str, Any]:
    from alpha_codium.paths import runs_folder

    return RunFolder.reopen(runs_folder(), name).description()


def _tell_lost(folder: RunFolder) -> None:
    """Say which files of an earlier run are gone that going on with it can't give back as they were."""
    journal, answers, results = (folder.path / name for name in ("journal.jsonl", "answers.sqlite", "results.json"))
    if not _holds(journal) and (_holds(results) or (_holds(answers) and not journal.exists())):
        logger.warning("{} is gone or empty: what it told is done again", journal)
    if _holds(journal) and not _holds(answers) and folder.description()["command"] == "solve_set":
        logger.warning("{} is gone or empty: samples to be made ask all again, and no replay is to be had", answers)


def _holds(path: Path) -> bool:
    """Whether there is something in a file, or in what SQLite keeps beside it."""
    files = (path, path.with_name(path.name + "-wal"))
    return any(os.path.lexists(file) and (not file.is_file() or file.stat().st_size > 0) for file in files)


def _refuse_another_job(folder: RunFolder, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    if "versions" not in before:  # which stand at the end
        raise UserError(f"{folder.path / RUN_FILE} was cut off: it lacks versions: {MEND}")
    asked = _flat(tomllib.loads(to_toml(now)))
    was = _flat(before)
    for key in sorted(asked.keys() | was.keys()):
        if not _is_free(key) and asked.get(key) != was.get(key):
            there, here = was.get(key, "not set"), asked.get(key, "not set")
            raise UserError(
                f"run {folder.name!r} was made with {key} = {there!r}, not {here!r}: start a new run for that"
            )


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return flat


def _is_free(key: str) -> bool:
    parts = key.removeprefix("settings.").split(".")
    return parts[0] in FREE or any(len(parts) > 1 and parts[0] == s and parts[1] in k for s, k in FREE_SETTINGS.items())
