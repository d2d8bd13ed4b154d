"""What may differ when a run is resumed: its options, its settings, and its judge."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loguru import logger

from alpha_codium.app.options.solving import SolveSetOptions
from alpha_codium.config import Settings
from alpha_codium.config.base import Changes, unchanging
from alpha_codium.config.sections import CodeTesterSection
from alpha_codium.errors import UserError
from alpha_codium.options import options_of
from alpha_codium.repository.running.config import RunConfig
from alpha_codium.runs import RunFolder
from alpha_codium.runs.folder import BEGAN_IN, REMEDY, RUN_FILE, WITHOUT_VERDICTS, WRITTEN_TO, absolute_paths, to_toml
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


def verdict_settings(code_tester: CodeTesterSection) -> dict[str, Any]:
    """Return the settings of `[code_tester]` that verdicts depend on."""
    return code_tester.model_dump(exclude=VERDICT_NEUTRAL)


def refuse_another_job(folder: RunFolder, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise UserError if the description of a run was cut off, or if the resumed command would change it."""
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
    asked = flat(now)
    # A version that lacked a setting behaved as its default value does.
    defaults = {f"settings.{key}": value for key, value in flat(Settings().model_dump()).items()}
    was = {key: defaults[key] for key in asked.keys() & defaults.keys()} | flat(before)
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


def note_another_judge(folder: RunFolder, description: Mapping[str, Any]) -> None:
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


def flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the entries of tables within tables by their dotted keys."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return found


def _may_change(key: str) -> bool:
    if key in JUDGED_AGAIN:
        return True
    section, _, name = key.removeprefix("settings.").partition(".")
    if key.startswith("code_tester."):
        return name in VERDICT_NEUTRAL
    names = RESUMABLE_SETTINGS.get(section) or RESUMABLE_CONFIGURATION.get(section, ())
    return section in RESUMABLE_ENTRIES or name.partition(".")[0] in names
