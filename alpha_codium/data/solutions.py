"""Solutions datasets: one row for each problem, with the candidates that were generated for it.

The columns of `ORIGIN` identify the problems that the candidates were generated for. They are columns because a
separate file would be lost when the dataset is converted or uploaded. Files from other tools may lack them, and the
columns of `OPTIONAL`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alpha_codium.data.files import FileSource, first_line
from alpha_codium.data.folders import STATE_FILE, FolderSource, dataset_of_parquet
from alpha_codium.data.origin import choose_split
from alpha_codium.data.sources import find_source, is_plain_name, output_path, stored_path
from alpha_codium.data.store import lock, no_progress_bars, put_in_place, refuse_foreign, save, temporary_folder
from alpha_codium.errors import DatasetError
from alpha_codium.paths import runs_folder

if TYPE_CHECKING:
    from datasets import Dataset, Features

    from alpha_codium.data.load import ProblemSet
    from alpha_codium.data.subset import Subset

CANDIDATES = "solution_candidates"
# Lists with one entry for each candidate, and the type of an entry.
DETAILS = {
    "sample_index": "int64",
    "model": "string",
    "flow": "string",
    "prompt_tokens": "int64",
    "completion_tokens": "int64",
    "llm_calls": "int64",
    "cost": "float64",
    "sample_errors": "string",
}
# Lists that a row may lack.
OPTIONAL = {"truncated_answers": "int64", "language": "string"}
# The names of the problems' dataset and split, and the fingerprint of their content.
ORIGIN = ("dataset", "split", "fingerprint")
# The part of the split that was to be solved, as JSON; "" for the whole split.
SUBSET = "subset"


def load_solutions(name: str | Path) -> "Dataset":
    """Return the Solutions dataset with that name or path, as a `datasets.Dataset`.

    It may be a saved dataset (with one split at most), Parquet, JSON, JSON lines, or a run of `solve_set` by its name.
    The only required columns are `task_name` and `solution_candidates`. Raises DatasetError if it can't be read, or
    lacks one of them.
    """
    made = runs_folder() / str(name) / "solutions"
    of_run = is_plain_name(str(name)) and stored_path(str(name)) is None and made.is_dir()
    source = find_source(str(made if of_run else name))
    with no_progress_bars():
        if isinstance(source, FolderSource):
            dataset = source.dataset(choose_split(source, None))
        elif isinstance(source, FileSource) and source.suffix == ".parquet":
            dataset = dataset_of_parquet([source.path])
        elif isinstance(source, FileSource):
            dataset = _dataset_of_rows(list(source.records("solutions")), str(name))
        else:
            raise DatasetError(f"there is no Solutions dataset {name}")
    _refuse_missing(dataset.column_names, str(name))
    lists = [column for column in DETAILS | OPTIONAL if column in dataset.column_names]
    rows: Iterable[Any] = dataset.select_columns(["task_name", CANDIDATES, *lists]) if lists else ()
    for number, row in enumerate(rows, start=1):
        check_row(row, f"{name}, row {number}")
    return dataset


def check_row(row: Mapping[str, Any], where: str) -> None:
    """Raise DatasetError unless the lists of a row have one valid entry for each candidate."""
    size = len(row[CANDIDATES] or ())
    for column, type_ in (DETAILS | OPTIONAL).items():
        values = row.get(column)
        if values is None:
            continue
        if not isinstance(values, list | tuple) or len(values) != size:
            raise DatasetError(f"{where}: {column} must be a list of {size}, an entry for each candidate")
        kinds = str if type_ == "string" else (int, float)
        if wrong := [value for value in values if value is not None and not isinstance(value, kinds)]:
            raise DatasetError(f"{where}: {column} can't hold {wrong[0]!r:.80}")


def _refuse_missing(columns: Iterable[str], where: str) -> None:
    columns = list(columns)
    if missing := {"task_name", CANDIDATES} - set(columns):
        have = ", ".join(str(column)[:40] for column in columns[:12])
        raise DatasetError(
            f"{where} isn't a Solutions dataset: it has no column {min(missing)} (it has: {have}); "
            "use gencode eval score for samples from other tools"
        )


def save_solutions(rows: Iterable[Mapping[str, Any]], where: str | Path) -> Path:
    """Save rows of a Solutions dataset under a name or at a path (`.parquet` for one Parquet file); return the path.

    An existing dataset is replaced atomically. A row has `task_name`, `solution_candidates` and the lists of `DETAILS`,
    and may have the lists of `OPTIONAL` and the texts of `ORIGIN`. Raises ValueError if a row's lists differ in length,
    and DatasetError if the dataset can't be written.
    """
    from datasets import Dataset, Features

    target = solutions_path(where)
    columns = _columns(list(rows))
    features = Features({name: kind for name, kind in solutions_features().items() if name in columns})
    with temporary_folder(target) as folder:
        dataset = Dataset.from_dict(columns, features=features)
        if target.suffix == ".parquet":
            with no_progress_bars():
                dataset.to_parquet(str(folder / "rows.parquet"))
            (folder / "rows.parquet").replace(target)
        else:
            save(dataset, folder)
            with lock(target):
                put_in_place(folder, target)
    return target


def solutions_features() -> "Features":
    """Return the types of a Solutions dataset's columns."""
    from datasets import Features, Sequence, Value

    text = Value("string")
    details = {column: Sequence(Value(kind)) for column, kind in (DETAILS | OPTIONAL).items()}
    return Features(
        {"task_name": text, CANDIDATES: Sequence(text), **details, **dict.fromkeys((*ORIGIN, SUBSET), text)}
    )


def origin_of(problems: "ProblemSet", subset: "Subset | None" = None) -> dict[str, str]:
    """Return the columns of a row that identify the problems its candidates were generated for."""
    origin = dict(zip(ORIGIN, (problems.dataset_name, problems.split_name, problems.fingerprint), strict=True))
    return origin | ({SUBSET: subset.as_text()} if subset else {})


def subsets_of(solutions: Iterable[Mapping[str, Any]]) -> list["Subset"]:
    """Return the different parts of a split for which solutions were generated, if they record any.

    Raises DatasetError if a record can't be read.
    """
    from alpha_codium.data.subset import Subset

    try:
        texts = sorted({str(row[SUBSET] or "") for row in _only(solutions, SUBSET) if SUBSET in row})
        return [Subset.of(json.loads(text) if text else {}) for text in texts]
    except (ValueError, TypeError, AttributeError) as error:
        raise DatasetError(f"the column {SUBSET!r} of the solutions can't be read: {error}") from error


def refuse_other_problems(solutions: Iterable[Mapping[str, Any]], problems: "ProblemSet") -> None:
    """Raise DatasetError if solutions were generated for problems other than `problems`.

    Problems are compared by fingerprint, since a dataset may be renamed. Solutions without one are accepted.
    """
    origins = {tuple(str(row.get(column) or "") for column in ORIGIN) for row in _only(solutions, *ORIGIN)}
    for dataset, split, fingerprint in sorted(origins):
        if fingerprint and fingerprint != problems.fingerprint:
            raise DatasetError(
                f"the solutions were made for {dataset}[{split}] (fingerprint {fingerprint[:12]}), not for "
                f"{problems.dataset_name}[{problems.split_name}] (fingerprint {problems.fingerprint[:12]}): score them "
                "against those, or use `ignore_fingerprint`"
            )


def solutions_path(where: str | Path) -> Path:
    """Return the path to save solutions to, given a name or path; raises DatasetError if they can't be saved there."""
    target = where if isinstance(where, Path) else output_path(where)
    if target.suffix == ".parquet":
        if target.is_dir():
            raise DatasetError(f"{target} is a folder: choose another name")
        return target if isinstance(where, Path) else Path(where).expanduser()
    refuse_foreign(target)
    if target.exists() and any(target.iterdir()) and not (target / STATE_FILE).exists():
        raise DatasetError(f"{target} is a dataset of problems: choose another name")
    return target


def refuse_overwriting(target: Path, overwrite: bool) -> None:
    """Raise DatasetError if there is a dataset at `target` that mustn't be replaced."""
    if not overwrite and target.exists() and (target.is_file() or any(target.iterdir())):
        raise DatasetError(f"{target} exists already: choose another `output`, or use `overwrite`")


def _only(solutions: Any, *columns: str) -> Iterable[Mapping[str, Any]]:
    """Return the rows; those of a Dataset without its programs, and none if it lacks one of the columns."""
    present = getattr(solutions, "column_names", None)
    if present is None:
        return solutions
    return solutions.select_columns(list(columns)) if set(columns).issubset(present) else ()


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    optional = [name for name in (*OPTIONAL, *ORIGIN, SUBSET) if rows and all(name in row for row in rows)]
    columns: dict[str, list[Any]] = {name: [] for name in ("task_name", CANDIDATES, *DETAILS, *optional)}
    for row in rows:
        lengths = {name: len(row[name]) for name in columns if name not in ("task_name", *ORIGIN, SUBSET)}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"the lists of {row['task_name']!r} differ in length: {lengths}")
        for name, values in columns.items():
            values.append(row[name])
    return columns


def _dataset_of_rows(rows: Sequence[Mapping[str, Any]], where: str) -> "Dataset":
    """Return rows of JSON as a dataset, without unknown columns."""
    from datasets import Dataset, Features

    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or not isinstance(row.get(CANDIDATES), list | None):
            raise DatasetError(f"{where}, row {number}: {CANDIDATES} must be a list of programs")
        check_row({CANDIDATES: None} | row, f"{where}, row {number}")
    present = dict.fromkeys(key for row in rows for key in row) if rows else {"task_name": None, CANDIDATES: None}
    _refuse_missing(present, where)
    known = {name: kind for name, kind in solutions_features().items() if name in present}
    try:
        return Dataset.from_dict({name: [row.get(name) for row in rows] for name in known}, features=Features(known))
    except (ValueError, TypeError, AttributeError) as error:
        raise DatasetError(f"{where} isn't a Solutions dataset: {first_line(error)}") from error
