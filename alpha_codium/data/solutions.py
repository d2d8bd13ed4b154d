"""Solutions datasets: one row a problem, with the candidates that were generated for it.

The columns of `ORIGIN` say which problems the candidates were made for: columns survive a conversion or an upload
of the dataset, unlike a file beside it. Files made elsewhere may lack them, and `truncated_answers` and `language`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alpha_codium.data.files import FileSource, one_line
from alpha_codium.data.folders import STATE_FILE, FolderSource, dataset_of_parquet
from alpha_codium.data.origin import choose_split
from alpha_codium.data.sources import find_source, output_path
from alpha_codium.data.store import lock, no_progress_bars, put_in_place, refuse_foreign, save, temporary_folder
from alpha_codium.errors import DatasetError

if TYPE_CHECKING:
    from datasets import Dataset, Features

    from alpha_codium.data.load import ProblemSet

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
# Lists that a row may lack.
OPTIONAL = {"truncated_answers": "int64", "language": "string"}
# The dataset and split of the problems, as they were named, and the fingerprint of their content.
ORIGIN = ("dataset", "split", "fingerprint")


def load_solutions(name: str | Path) -> "Dataset":
    """Return the Solutions dataset of that name or path, as a `datasets.Dataset`.

    A saved dataset (or one of a single split), Parquet, JSON lines. Files made elsewhere need `task_name` and
    `solution_candidates` only. Raises DatasetError if it can't be read or lacks one of them.
    """
    source = find_source(str(name))
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
    beside = [column for column in DETAILS | OPTIONAL if column in dataset.column_names]
    rows: Iterable[Any] = dataset.select_columns(["task_name", CANDIDATES, *beside]) if beside else ()
    for number, row in enumerate(rows, start=1):
        check_row(row, f"{name}, row {number}")
    return dataset


def check_row(row: Mapping[str, Any], where: str) -> None:
    """Raise DatasetError if a list beside a row's candidates hasn't one valid entry for each of them."""
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
            f"{where} is no Solutions dataset: it has no column {min(missing)} (it has: {have}); "
            "samples made elsewhere are scored by gencode eval score"
        )


def save_solutions(rows: Iterable[Mapping[str, Any]], where: str | Path) -> Path:
    """Save rows of a Solutions dataset under a name or at a path (`.parquet`: one Parquet file); gives the path.

    What stood there is replaced in one step. A row holds `task_name`, `solution_candidates` and the lists of
    `DETAILS`, and may hold those of `OPTIONAL`, all of one length, ValueError otherwise; and texts for `ORIGIN`. Raises
    DatasetError where it can't be written.
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
    """The types of the columns of a Solutions dataset."""
    from datasets import Features, Sequence, Value

    text = Value("string")
    details = {column: Sequence(Value(kind)) for column, kind in (DETAILS | OPTIONAL).items()}
    return Features({"task_name": text, CANDIDATES: Sequence(text), **details, **dict.fromkeys(ORIGIN, text)})


def origin_of(problems: "ProblemSet") -> dict[str, str]:
    """What a row says of the problems that its candidates were made for."""
    return dict(zip(ORIGIN, (problems.dataset_name, problems.split_name, problems.fingerprint), strict=True))


def refuse_other_problems(solutions: Iterable[Mapping[str, Any]], problems: "ProblemSet") -> None:
    """Raise DatasetError where solutions were made for problems of another content than `problems`.

    A dataset may be renamed or moved: its fingerprint tells. Solutions that don't say what they were made for pass.
    """
    rows: Iterable[Mapping[str, Any]] = solutions
    columns = getattr(solutions, "column_names", None)
    if columns is not None:
        if not set(columns).issuperset(ORIGIN):
            return
        rows = solutions.select_columns(list(ORIGIN))  # type: ignore[union-attr] - a Dataset, without its programs
    told = {tuple(str(row.get(column) or "") for column in ORIGIN) for row in rows}
    for dataset, split, fingerprint in sorted(told):
        if fingerprint and fingerprint != problems.fingerprint:
            raise DatasetError(
                f"the solutions were made for {dataset}[{split}] (fingerprint {fingerprint[:12]}), not for "
                f"{problems.dataset_name}[{problems.split_name}] (fingerprint {problems.fingerprint[:12]}): score them "
                "against those, or say --ignore_fingerprint"
            )


def solutions_path(where: str | Path) -> Path:
    """Return the path for solutions of a name or a path; raises DatasetError if they can't be saved there."""
    target = where if isinstance(where, Path) else output_path(where)
    if target.suffix == ".parquet":
        if target.is_dir():
            raise DatasetError(f"{target} is a folder: choose another name")
        return target if isinstance(where, Path) else Path(where).expanduser()
    refuse_foreign(target)
    if target.exists() and any(target.iterdir()) and not (target / STATE_FILE).exists():
        raise DatasetError(f"{target} is a dataset of problems: choose another name")
    return target


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    optional = [name for name in (*OPTIONAL, *ORIGIN) if rows and all(name in row for row in rows)]
    columns: dict[str, list[Any]] = {name: [] for name in ("task_name", CANDIDATES, *DETAILS, *optional)}
    for row in rows:
        lengths = {name: len(row[name]) for name in columns if name not in ("task_name", *ORIGIN)}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"the lists of {row['task_name']!r} differ in length: {lengths}")
        for name, values in columns.items():
            values.append(row[name])
    return columns


def _dataset_of_rows(rows: Sequence[Mapping[str, Any]], where: str) -> "Dataset":
    """Return rows of JSON as a dataset; columns of another schema are left out."""
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
        raise DatasetError(f"{where} is no Solutions dataset: {one_line(error)}") from error
