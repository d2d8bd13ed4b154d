"""The result of a run as a file for others."""

from collections.abc import Mapping
from pathlib import Path

from alpha_codium.app.comparison import reopened
from alpha_codium.app.options.reporting import ExportOptions
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.errors import UserError
from alpha_codium.options import use_case
from alpha_codium.paths import runs_folder
from alpha_codium.report.exports.every_eval_ever import eval_files
from alpha_codium.report.exports.hub import hub_results
from alpha_codium.report.exports.inspect_log import inspect_log
from alpha_codium.report.exports.scored_run import ExportedRun, Given
from alpha_codium.report.reading import read
from alpha_codium.runs import RunFolder
from alpha_codium.runs.folder import RUN_FILE, write_atomically


@use_case(ExportOptions)
async def export_run_async(options: ExportOptions) -> list[Path]:
    """Write the result of a run in the format of others, with what judged it and what it is worth.

    Returns the files. A run of `solve_set` is exported with the verdicts of the evaluation of its candidates.

    Raises UserError if there is no such run, if it has no score of a model, if the format needs what neither the run
    nor an option says, or if a file exists already.
    """
    return await in_thread(_export, options)


export_run = blocking(export_run_async)


def _export(options: ExportOptions) -> list[Path]:
    folder = reopened(options.run)
    others = [RunFolder(each.parent) for each in runs_folder().glob(f"*/{RUN_FILE}")]
    given = Given(
        options.model, options.dataset, options.task, options.organization, options.relationship, options.source_url
    )
    scored = ExportedRun(read(folder, others), given)
    return _write(_files(scored, options.format, options.output))


def _files(scored: ExportedRun, form: str, output: Path | None) -> dict[Path, str | bytes]:
    if form == "hf":
        return {output or Path(f"{scored.run.name}.yaml"): hub_results(scored)}
    if form == "inspect":
        return {output or Path(f"{scored.run.name}.eval"): inspect_log(scored)}
    folder = output or Path(f"{scored.run.name}.eee")
    return {folder / path: text for path, text in eval_files(scored).items()}


def _write(files: Mapping[Path, str | bytes]) -> list[Path]:
    for path in files:
        if path.exists():
            raise UserError(f"{path} exists: remove it, or choose another `output`")
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content)
    except OSError as error:
        raise UserError(f"can't write {error.filename}: {error.strerror}") from error
    return [path.absolute() for path in files]
