"""Merging of runs of the parts of one set of samples, or of one evaluation."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from alpha_codium.app.evaluation import evaluate_async, evaluate_human_async
from alpha_codium.app.generation import COMMAND, solve_set_async
from alpha_codium.app.options.judging import MergeOptions
from alpha_codium.app.resuming import differing, differing_entry
from alpha_codium.app.run_folders import is_begun
from alpha_codium.app.scoring import score_async
from alpha_codium.app.validation import validate_async
from alpha_codium.audit.datasets.report import ValidationReport
from alpha_codium.audit.datasets.running import FILE as OBSERVATIONS
from alpha_codium.config import load_settings
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.data.solutions import refuse_overwriting, solutions_path
from alpha_codium.errors import UserError
from alpha_codium.eval.scoring import Score
from alpha_codium.eval.shards import Shard
from alpha_codium.gen.summary import RunSummary
from alpha_codium.options import use_case
from alpha_codium.paths import runs_folder
from alpha_codium.runs import AnswerStore, Journal, RunFolder
from alpha_codium.runs.events import TRANSCRIPTS
from alpha_codium.runs.folder import ANSWERS, JOURNAL, found_by
from alpha_codium.verdict import Identity
from alpha_codium.wording import counted

# The use case of each command, with what it takes besides the recorded options.
COMMANDS: Mapping[str, tuple[Any, dict[str, Any]]] = {
    COMMAND: (solve_set_async, {"overwrite": True}),
    "eval_gen_solutions": (evaluate_async, {}),
    "score": (score_async, {}),
    "validate": (validate_async, {}),
    "eval_cc_solutions": (evaluate_human_async, {"command": "eval_cc_solutions"}),
    "pass_at_k": (evaluate_human_async, {"command": "pass_at_k"}),
}


@use_case(MergeOptions)
async def merge_async(options: MergeOptions) -> Score | RunSummary | ValidationReport:
    """Merge the runs of all parts into one run, and return its result; nothing is asked or judged.

    Raises UserError if a part is missing, isn't finished or has programs without a verdict, or if parts differ in their
    inputs, settings or judges.
    """
    folders = await in_thread(_parts, options.runs)
    run = options.run or _common_name(folders)
    if is_begun(run):
        raise UserError(f"run {run!r} exists already: give the merged run another name with `run`")
    description = await in_thread(_merged_description, folders)
    command, recorded = description["command"], dict(description.get("options", {}))
    if output := description.get("output_dataset_name"):
        refuse_overwriting(solutions_path(output), options.overwrite)
    judged_by = "" if command == COMMAND else Identity.from_json(description["sandbox"]).digest
    lines = await in_thread(_merged_journal, folders, judged_by)
    folder = await in_thread(_merged, folders, run, description, lines)
    if "settings" in recorded:
        recorded["settings"] = load_settings(base=recorded["settings"]).changed("code_tester", executor="none")
    use_case, more = COMMANDS[command]
    return await use_case(**recorded, **more, resume=found_by(folder.path), on_event=options.on_event)


merge = blocking(merge_async)


def _merged(
    folders: Sequence[RunFolder], run: str, description: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]
) -> RunFolder:
    """Return the folder of the merged run, which isn't one before it has the work of all parts."""
    # Described last: a resume would ask for what isn't there yet.
    with RunFolder.create(runs_folder(), run, None) as folder:
        try:
            if description["command"] == COMMAND:
                _copy_answers(folders, folder.path)
            folder.write_lines(JOURNAL, lines)
            _copy_observations(folders, folder.path)
            folder.describe(description)
        except BaseException:
            folder.discard()
            raise
    return folder


def _parts(runs: Sequence[str]) -> list[RunFolder]:
    """Return the folders of the runs; a single name stands for all parts of that name, if there are any."""
    whole = Path(runs[0]).absolute() if "/" in runs[0] else runs_folder() / runs[0]
    found = sorted(path.parent for path in whole.parent.glob(f"{whole.name}-*-of-*/run.toml"))
    if len(runs) == 1 and (found or not is_begun(runs[0])):
        if not found:
            raise UserError(f"there is no run {runs[0]!r}, nor parts of one: {Shard(1, 2).run_name(runs[0])} and so on")
        runs = [str(path) for path in found]
    folders = [RunFolder.reopen(runs_folder(), name) for name in runs]
    parts: dict[int, RunFolder] = {}
    count = 0
    for folder in folders:
        shard = _shard_of(folder)
        if count and shard.count != count:
            raise UserError(f"run {folder.name!r} is part {shard}, and others are parts of {count}")
        if parts.setdefault(shard.number, folder) is not folder:
            raise UserError(f"runs {parts[shard.number].name!r} and {folder.name!r} are both part {shard}: give one")
        count = shard.count
    if missing := [str(number) for number in range(1, count + 1) if number not in parts]:
        raise UserError(f"{counted(len(missing), 'part')} of {count} missing: {', '.join(missing)}")
    return [parts[number] for number in sorted(parts)]


def _shard_of(folder: RunFolder) -> Shard:
    described = folder.description()
    if "shard" not in described or described["command"] not in COMMANDS:
        raise UserError(f"run {folder.name!r} isn't a part: it wasn't made with `shard`")
    return Shard.of(described["shard"], {})


def _common_name(folders: Sequence[RunFolder]) -> str:
    """Return the name of the whole run, from that of its first part; raises UserError if it has another form."""
    first = found_by(folders[0].path)
    name = Shard(1, len(folders)).whole_name(first)
    if name == first:
        raise UserError("give the merged run a name with `run`")
    return name


def _merged_description(folders: Sequence[RunFolder]) -> dict[str, Any]:
    """Return the merged run's `run.toml`; raises UserError if a part isn't like the first, or isn't finished."""
    whole = _without_shard(folders[0].description())
    for folder in folders:
        other = _without_shard(folder.description())
        # A resume may go on with another version of the judge; parts that two judges have judged are no whole.
        judges = [{f"sandbox.{key}": value for key, value in each["sandbox"].items()} for each in (whole, other)]
        if entry := differing_entry(whole, other) or differing(*judges):
            key, first, value = entry
            raise UserError(
                f"run {folder.name!r} was made with {key} = {value!r}, and run {folders[0].name!r} with {first!r}: "
                "they aren't parts of one run"
            )
        _refuse_unfinished(folder)
    return whole


def _without_shard(description: dict[str, Any]) -> dict[str, Any]:
    for values in (description, description.get("options", {})):
        values.pop("shard", None)
    return description


def _refuse_unfinished(folder: RunFolder) -> None:
    if folder.in_use:
        raise UserError(f"run {folder.name!r} is in use by another process")
    try:
        results = json.loads((folder.path / "results.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"run {folder.name!r} isn't finished: repeat its command, or resume it") from error
    lost = results.get("verdicts", {}).get("internal_error", 0) or results.get("unfinished", 0)
    if not results.get("complete", not lost) or results.get("ended_by_budget"):
        raise UserError(f"run {folder.name!r} is incomplete ({counted(lost, 'program')} missing): resume it")


def _copy_answers(folders: Sequence[RunFolder], target: Path) -> None:
    """Copy the answers of a model and the transcripts of all parts to the folder of the merged run."""
    with AnswerStore(target / ANSWERS) as store:
        for folder in folders:
            if (folder.path / ANSWERS).exists():
                store.absorb(folder.path / ANSWERS)
            if (folder.path / TRANSCRIPTS).exists():
                shutil.copytree(folder.path / TRANSCRIPTS, target / TRANSCRIPTS, dirs_exist_ok=True)


def _copy_observations(folders: Sequence[RunFolder], target: Path) -> None:
    """Copy what validations observed of programs."""
    for path in (folder.path / OBSERVATIONS for folder in folders):
        if path.exists():
            with path.open("rb") as part, (target / OBSERVATIONS).open("ab") as whole:
                shutil.copyfileobj(part, whole)


def _merged_journal(folders: Sequence[RunFolder], judged_by: str) -> list[dict[str, Any]]:
    """Return the lines of all journals, of a judge if it is given, the last one of each key, sorted by their keys."""
    journals = (Journal(folder.path / JOURNAL, judged_by) for folder in folders)
    mark = {"judged_by": judged_by} if judged_by else {}
    lines = {_key(line): line | mark for journal in journals for line in journal.entries()}
    return [lines[key] for key in sorted(lines)]


def _key(line: Mapping[str, Any]) -> tuple[str, str, int, str]:
    """Return what a line is about: a sample of a problem, or the verdict on a program of one."""
    result = line.get("result")
    if result is None:
        return line["task_name"], "", line["sample_index"], ""
    return line["problem"], result["group"], result["index"], line["program"]
