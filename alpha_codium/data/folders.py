"""Problems in a folder: datasets written by `save_to_disk`, or Parquet files called `SPLIT-*.parquet`."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from alpha_codium.data.files import ROWS_AT_A_TIME, first_line, guess_split, read_parquet
from alpha_codium.data.origin import PathSource, Record
from alpha_codium.errors import DatasetError

if TYPE_CHECKING:
    from datasets import Dataset

DICT_FILE, STATE_FILE, COLUMNS_FILE = "dataset_dict.json", "state.json", "dataset_info.json"
HINT = "store it again: gencode data etl, or resume the run of gencode gen solve_set whose candidates it has"
PARQUET_NAME = re.compile(r"(?P<split>[\w.]+?)(-\d.*)?\.parquet")


class FolderSource(PathSource):
    """A folder with a saved `DatasetDict`, a saved `Dataset` (any split), or Parquet files."""

    def __init__(self, path: Path, text: str = "") -> None:
        super().__init__(path, text)
        self.any_split = _has(path, STATE_FILE)
        self._is_dict = not self.any_split and _has(path, DICT_FILE)
        if not is_dataset_folder(path):
            files = f"{DICT_FILE}, {STATE_FILE} nor files called SPLIT-*.parquet or SPLIT.jsonl"
            raise DatasetError(f"{path} is not a dataset that can be read: there are neither {files} in it")

    def splits(self) -> tuple[str, ...]:
        """Return the names of the splits, in the order in which they are stored."""
        with _saved_errors(self.path):
            if self.any_split:
                state = json.loads((self.path / STATE_FILE).read_bytes())
                return (str(state.get("_split") or guess_split(self.path.name)),)
            if self._is_dict:
                return tuple(map(str, json.loads((self.path / DICT_FILE).read_bytes())["splits"]))
        return tuple(_parquet_files(self.path))

    def saved_folders(self) -> tuple[Path, ...]:
        """Return the folder of each split that `save_to_disk` wrote; none for Parquet files."""
        if self.any_split:
            return (self.path,)
        return tuple(self.path / split for split in self.splits()) if self._is_dict else ()

    def records(self, split: str) -> Iterator[Record]:
        """Yield the rows of one split. Files aren't memory-mapped, so that only a few rows are in memory at a time."""
        if not self.saved_folders():
            for path in _parquet_files(self.path)[split]:
                yield from read_parquet(path)
            return
        for entry in self.dataset(split).cache_files:
            yield from read_arrow(Path(entry["filename"]))

    def dataset(self, split: str) -> "Dataset":
        """Return one split as a memory-mapped `datasets.Dataset`; raises DatasetError if it can't be read."""
        if self.any_split or self._is_dict:
            return load_saved(self.path if self.any_split else self.path / split)
        return dataset_of_parquet(_parquet_files(self.path)[split])


def is_dataset_folder(path: Path) -> bool:
    """Return whether a folder contains a dataset that `FolderSource` reads; False if it can't be listed."""
    return any(_has(path, name) for name in (DICT_FILE, STATE_FILE)) or bool(_parquet_files(path))


def is_free_or_dataset(path: Path) -> bool:
    """Return whether a dataset may be written to `path`: it doesn't exist, is an empty folder, or is a dataset.

    Raises DatasetError if the folder can't be listed.
    """
    if not path.is_dir():
        return not os.path.lexists(path)
    try:
        return not any(path.iterdir()) or is_dataset_folder(path)
    except OSError as error:
        raise DatasetError(f"{path} can't be read: {error.strerror}") from error


def refuse_damaged(folder: Path) -> None:
    """Raise DatasetError if a file of a saved `Dataset` is missing or damaged; rows aren't read."""
    with _saved_errors(folder):
        json.loads((folder / COLUMNS_FILE).read_bytes())["features"].keys()
        for entry in json.loads((folder / STATE_FILE).read_bytes())["_data_files"]:
            (folder / entry["filename"]).open("rb").close()


def load_saved(folder: Path) -> "Dataset":
    """Return a dataset that `save_to_disk` wrote, memory-mapped; raises DatasetError if it can't be read."""
    import datasets

    refuse_damaged(folder)
    with _saved_errors(folder):
        dataset = datasets.load_from_disk(str(folder))
    if not isinstance(dataset, datasets.Dataset):
        raise DatasetError(f"{folder} holds several splits, not one dataset")
    return dataset


def dataset_of_parquet(paths: list[Path]) -> "Dataset":
    """Return Parquet files as one memory-mapped `datasets.Dataset`, stored in the cache of `datasets`."""
    import datasets

    try:
        return datasets.Dataset.from_parquet([str(path) for path in paths])
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        raise DatasetError(f"{paths[0]} can't be read as Parquet: {first_line(error)}") from error


def _has(folder: Path, name: str) -> bool:
    return os.access(folder / name, os.F_OK)


def _parquet_files(folder: Path) -> dict[str, list[Path]]:
    """Return the Parquet files of each split, in the folder or its subfolder `data` (a clone from the hub)."""
    splits: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("*.parquet")) or sorted((folder / "data").glob("*.parquet")):
        if match := PARQUET_NAME.fullmatch(path.name):
            splits.setdefault(match["split"], []).append(path)
    return splits


def read_arrow(path: Path) -> Iterator[Record]:
    """Yield the rows of an Arrow file, read a few at a time; raises DatasetError if it can't be read."""
    import pyarrow as pa

    with _saved_errors(path), pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
        for batch in reader:
            for start in range(0, batch.num_rows, ROWS_AT_A_TIME):
                yield from batch.slice(start, ROWS_AT_A_TIME).to_pylist()


@contextmanager
def _saved_errors(path: Path) -> Iterator[None]:
    """Raise errors of reading a saved dataset as DatasetError."""
    try:
        yield
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        what = f"{type(error).__name__}: {first_line(error)}"
        raise DatasetError(f"{path} can't be read as a saved dataset: {what} ({HINT})") from error
