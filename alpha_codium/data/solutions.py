"""Solutions datasets: one row a problem, with the candidates that were generated for it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alpha_codium.data.files import FileSource, one_line
from alpha_codium.data.folders import STATE_FILE, FolderSource, dataset_of_parquet
from alpha_codium.data.origin import choose_split
from alpha_codium.data.sources import find_source, output_path
from alpha_codium.data.store import lock, no_progress_bars, put_in_place, refuse_foreign, save, workshop
from alpha_codium.errors import DatasetError

if TYPE_CHECKING:
    from datasets import Dataset, Features

CANDIDATES = "solution_candidates"
# Lists beside the candidates, one entry each, and the type of an entry.
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


def load_solutions(name: str | Path) -> "Dataset":
    """The Solutions dataset of that name or path, as a `datasets.Dataset`.

    A saved dataset (or one of a single split), Parquet, JSON lines. Files made elsewhere need `task_name` and
    `solution_candidates` only. Raises DatasetError where it can't be read or lacks one of them.
    """
    source = find_source(str(name))
    if isinstance(source, FolderSource):
        dataset = _quiet(source.dataset, choose_split(source, None))
    elif isinstance(source, FileSource) and source.suffix == ".parquet":
        dataset = _quiet(dataset_of_parquet, [source.path])
    elif isinstance(source, FileSource):
        dataset = _dataset_of_rows(list(source.records("solutions")), str(name))
    else:
        raise DatasetError(f"there is no Solutions dataset {name}")
    missing = {"task_name", CANDIDATES} - set(dataset.column_names)
    if missing:
        have = ", ".join(dataset.column_names)
        raise DatasetError(f"{name} is no Solutions dataset: it has no column {min(missing)} (it has: {have})")
    return dataset


def save_solutions(rows: Iterable[Mapping[str, Any]], where: str | Path) -> Path:
    """Save rows of a Solutions dataset under a name or at a path (`.parquet`: one Parquet file); gives the path.

    What stood there is replaced in one step. A row holds `task_name`, `solution_candidates` and the lists of
    `DETAILS`, all of one length, ValueError otherwise. Raises DatasetError where it can't be written.
    """
    from datasets import Dataset

    target = _target(where)
    columns = _columns(rows)
    with workshop(target) as folder:
        dataset = Dataset.from_dict(columns, features=solutions_features())
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
    """The types of the columns of a Solutions dataset."""
    from datasets import Features, Sequence, Value

    details = {column: Sequence(Value(kind)) for column, kind in DETAILS.items()}
    return Features({"task_name": Value("string"), CANDIDATES: Sequence(Value("string")), **details})


def _target(where: str | Path) -> Path:
    target = where if isinstance(where, Path) else output_path(where)
    if target.suffix == ".parquet":
        if target.is_dir():
            raise DatasetError(f"{target} is a folder: choose another name")
        return target if isinstance(where, Path) else Path(where).expanduser()
    refuse_foreign(target)
    if target.exists() and any(target.iterdir()) and not (target / STATE_FILE).exists():
        raise DatasetError(f"{target} is a dataset of problems: choose another name")
    return target


def _columns(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in ("task_name", CANDIDATES, *DETAILS)}
    for row in rows:
        lengths = {name: len(row[name]) for name in (CANDIDATES, *DETAILS)}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"the lists of {row['task_name']!r} differ in length: {lengths}")
        for name, values in columns.items():
            values.append(row[name])
    return columns


def _dataset_of_rows(rows: Sequence[Mapping[str, Any]], where: str) -> "Dataset":
    """Rows of JSON as a dataset; columns of another schema are left out."""
    from datasets import Dataset, Features

    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or not isinstance(row.get(CANDIDATES, []), list):
            raise DatasetError(f"{where}, row {number}: {CANDIDATES} must be a list of programs")
    present = set().union(*rows) if rows else {"task_name", CANDIDATES}
    known = {name: kind for name, kind in solutions_features().items() if name in present}
    try:
        return Dataset.from_dict({name: [row.get(name) for row in rows] for name in known}, features=Features(known))
    except (ValueError, TypeError, AttributeError) as error:
        raise DatasetError(f"{where} is no Solutions dataset: {one_line(error)}") from error


def _quiet(load: Any, *arguments: Any) -> "Dataset":
    with no_progress_bars():
        return load(*arguments)
