"""Run folders of use cases, and the settings that may change when a run is resumed."""

import os
import platform
import shutil
import subprocess
import tempfile
import tomllib
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
from alpha_codium.config import Settings, load_settings
from alpha_codium.config.base import Changes, unchanging
from alpha_codium.config.sections import CodeTesterSection
from alpha_codium.errors import DatasetError, FlowError, ModelNotFound, SettingsError, Unjudgeable, UserError
from alpha_codium.eval.shards import Shard
from alpha_codium.options import RUN_FOLDER, options_of
from alpha_codium.paths import runs_folder
from alpha_codium.repository.running.config import RunConfig
from alpha_codium.runs import AnswerStore, RunFolder, without_secrets
from alpha_codium.runs.answers import without_user
from alpha_codium.runs.folder import (
    BEGAN_IN,
    REMEDY,
    RUN_FILE,
    WITHOUT_VERDICTS,
    WRITTEN,
    WRITTEN_TO,
    absolute_paths,
    to_toml,
)
from alpha_codium.verdict import Identity
from alpha_codium.wording import counted

# Entries of `run.toml` with options of `solve_set` that have other names.
ENTRIES = {"dataset": "dataset_name", "split": "split_name", "output": "output_dataset_name"}
# Entries that may change when a run is resumed, since results don't depend on them.
RESUMABLE_ENTRIES = {"versions", "options", BEGAN_IN, WRITTEN_TO} | {
    ENTRIES.get(field.name, field.name) for field in options_of(SolveSetOptions) if not field.option.changes_result
}
# Entries on which verdicts depend that may change when a run is resumed, since its programs are then judged again.
JUDGED_AGAIN = ("sandbox.rules", "sandbox.version", "sandbox.packages")
# Settings that may change when a run is resumed, by section: of `solve_set`, whose `run.toml` has all settings, and of
# `gencode repo run`, whose `settings` are its configuration; its `run.toml` has the fingerprint of the prompts.
RESUMABLE_SETTINGS = unchanging(Changes.SAMPLES, Settings)
RESUMABLE_CONFIGURATION = unchanging(Changes.SAMPLES, RunConfig)
# For evaluations: their `run.toml` has [code_tester] without these, and no other settings. An earlier run's programs
# near a limit may be judged again; the journal says which were (`rechecked`).
VERDICT_NEUTRAL = unchanging(Changes.VERDICTS, Settings)["code_tester"]

# Entries of `run.toml` that are hashes, and of what.
HASHES = {
    "flow_fingerprint": "the flow's stages or prompts",
    "fingerprint": "the problems",
    "file_sha256": "the file of samples",
    "files": "the repository's files",
}

PART = TypeVar("PART", bound=Sharded)
# A function that returns settings based on those of an earlier run, or on none.
SettingsOn = Callable[[Mapping[str, Any] | None], Settings]


def settings_on(settings: Settings | SettingsOn | None) -> SettingsOn:
    """Return a function that returns the given settings or, if None, loads settings based on an earlier run's."""
    if callable(settings):
        return settings
    return lambda base: settings or load_settings(base=base)


def verdict_settings(code_tester: CodeTesterSection) -> dict[str, Any]:
    """Return the settings of `[code_tester]` that verdicts depend on."""
    return code_tester.model_dump(exclude=VERDICT_NEUTRAL)


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
            _note_another_judge(folder, description)
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
    answers = folder.path / "answers.sqlite"
    if _holds(folder.path / "journal.jsonl"):
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
    _refuse_another_job(folder, folder.description(), description)
    _warn_of_lost_files(folder)
    return folder


def found_by(folder: Path) -> str:
    """Return the value of `resume`: the run's name, or its path if it isn't in the folder of runs."""
    return folder.name if folder.parent == runs_folder() else str(folder)


def can_resume_after(error: UserError, folder: Path) -> bool:
    """Return whether a run that ended with this error can go on after its cause was removed.

    Errors in the settings, the dataset or the flow are final, since a resumed run can't change these. A model that
    isn't found may return if it has answered before.
    """
    if isinstance(error, ModelNotFound):
        return _holds(folder / "journal.jsonl")
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
        entries = _flat(_earlier(name))
    except UserError:
        return []
    values = (value for key, value in entries.items() if key.rpartition(".")[2] not in (WRITTEN_TO, *WRITTEN))
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
    journal, answers, results = (folder.path / name for name in ("journal.jsonl", "answers.sqlite", "results.json"))
    if not _holds(journal) and (_holds(results) or (_holds(answers) and not journal.exists())):
        logger.warning("{} is missing or empty: the work it recorded will be repeated", journal)
    if _holds(journal) and not _holds(answers) and folder.description()["command"] == "solve_set":
        consequence = "unfinished samples ask the model again, and the run cannot be replayed"
        logger.warning("{} is missing or empty: {}", answers, consequence)


def _holds(path: Path) -> bool:
    """Return whether a file or its SQLite write-ahead log isn't empty."""
    files = (path, path.with_name(path.name + "-wal"))
    return any(os.path.lexists(file) and (not file.is_file() or file.stat().st_size > 0) for file in files)


def _refuse_another_job(folder: RunFolder, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    if "versions" not in before:  # the last entry
        raise UserError(f"{folder.path / RUN_FILE} was cut off: it lacks versions: {REMEDY}")
    here = str(Path.cwd())
    if entry := differing_entry(absolute_paths(before, here), absolute_paths(tomllib.loads(to_toml(now)), here)):
        key, old, new = entry
        if key in HASHES:
            raise UserError(f"{HASHES[key]} changed after run {folder.name!r} was made: start a new run for that")
        raise UserError(f"run {folder.name!r} was made with {key} = {old!r}, not {new!r}: start a new run for that")


def differing_entry(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, Any, Any] | None:
    """Return the first entry of `run.toml` that results depend on and that differs, with both values, or None."""
    asked = _flat(now)
    # A version that lacked a setting behaved as its default value does.
    defaults = {f"settings.{key}": value for key, value in _flat(Settings().model_dump()).items()}
    was = {key: defaults[key] for key in asked.keys() & defaults.keys()} | _flat(before)
    if "subset.by" in was:  # an earlier version named options of the command line
        was["subset.by"] = was["subset.by"].replace("--problems", "names").replace("--", "")
    if "sandbox" not in before:  # an early run of the repository benchmark
        asked = {key: value for key, value in asked.items() if not key.startswith("sandbox.")}
    return differing(*({key: value for key, value in each.items() if not _may_change(key)} for each in (was, asked)))


def differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, Any, Any] | None:
    """Return the first key, hashes last, whose value differs, with both values; None if none does."""
    for key in sorted(before.keys() | now.keys(), key=lambda key: (key in HASHES, key)):
        if before.get(key) != now.get(key):
            return key, before.get(key, "not set"), now.get(key, "not set")
    return None


def _note_another_judge(folder: RunFolder, description: Mapping[str, Any]) -> None:
    """Log how the judge differs from that of the earlier run, and record the new one in `run.toml`."""
    before = folder.description()
    was, now = (tomllib.loads(to_toml(each)).get("sandbox", {}) for each in (before, description))
    if not (changes := _changes_of_judge(was, now)):
        return
    keeps_samples = description["command"] in WITHOUT_VERDICTS
    consequence = "its finished samples are kept" if keeps_samples else "its programs are judged again"
    logger.warning("run {!r} was made with {}: {}", folder.name, "; ".join(changes), consequence)
    folder.describe(before | {"sandbox": now})


def _changes_of_judge(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the differences between the identities of two judges that don't prevent resuming, as texts."""
    changes = []
    if was.get("rules", 0) != now.get("rules", 0):
        earlier = f"version {was['rules']}" if "rules" in was else "an unrecorded version"
        changes.append(f"{earlier} of the judging rules, not {now.get('rules', 0)}")
    if was.get("version", "") != now.get("version", ""):
        changes.append(f"{now['backend']} {was.get('version')}, not {now['version']}")
    before, after = (dict(each.split("==") for each in values.get("packages", ())) for values in (was, now))
    names = sorted(name for name in before | after if before.get(name) != after.get(name))
    if before and names:
        shown = (f"{name} {before.get(name, 'missing')}, not {after.get(name, 'missing')}" for name in names[:3])
        changes.append(f"{counted(len(names), 'other package')} ({', '.join(shown)})")
    return changes


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return flat


def _may_change(key: str) -> bool:
    if key in JUDGED_AGAIN:
        return True
    section, _, name = key.removeprefix("settings.").partition(".")
    if key.startswith("code_tester."):
        return name in VERDICT_NEUTRAL
    names = RESUMABLE_SETTINGS.get(section) or RESUMABLE_CONFIGURATION.get(section, ())
    return section in RESUMABLE_ENTRIES or name.partition(".")[0] in names
