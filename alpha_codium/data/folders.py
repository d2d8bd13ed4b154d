"""Problems in a folder: what `save_to_disk` wrote, or Parquet files called `SPLIT-*.parquet`."""

import json
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alpha_codium.data.files import ROWS_AT_A_TIME, guess_split, one_line, read_parquet
from alpha_codium.data.origin import Origin, Record
from alpha_codium.errors import DatasetError

if TYPE_CHECKING:
    from datasets import Dataset

DICT_FILE, STATE_FILE = "dataset_dict.json", "state.json"
PARQUET_NAME = re.compile(r"(?P<split>[\w.]+?)(-\d.*)?\.parquet")


class FolderSource:
    """A folder with a saved `DatasetDict`, a saved `Dataset` (any split), or Parquet files."""

    def __init__(self, path: Path, text: str = "") -> None:
        self.path = path
        self.text = text or str(path)
        if not is_dataset_folder(path):
            raise DatasetError(
                f"{path} is no dataset: it holds neither {DICT_FILE}, {STATE_FILE} nor SPLIT-*.parquet files"
            )

    @cached_property
    def origin(self) -> Origin:
        """The folder."""
        return Origin(self.text, "folder", str(self.path.resolve()))

    @property
    def any_split(self) -> bool:
        """Whether it is a saved `Dataset`, which knows no splits."""
        return (self.path / STATE_FILE).exists()

    def splits(self) -> tuple[str, ...]:
        """The names of the splits, in the folder's own order."""
        if self.any_split:
            return (_read_object(self.path / STATE_FILE).get("_split") or guess_split(self.path.name),)
        if (self.path / DICT_FILE).exists():
            return tuple(_read_object(self.path / DICT_FILE).get("splits", ()))
        return tuple(_parquet_files(self.path))

    def records(self, split: str) -> Iterator[Record]:
        """The rows of one split. Files are read, not mapped, so that memory holds a few rows only."""
        if self._is_parquet:
            for path in _parquet_files(self.path)[split]:
                yield from read_parquet(path)
            return
        for entry in self.dataset(split).cache_files:
            yield from _read_arrow(Path(entry["filename"]))

    def dataset(self, split: str) -> "Dataset":
        """One split as a memory-mapped `datasets.Dataset`; raises DatasetError where it can't be read."""
        if self._is_parquet:
            return dataset_of_parquet(_parquet_files(self.path)[split])
        return load_saved(self.path if self.any_split else self.path / split)

    @property
    def _is_parquet(self) -> bool:
        return not any((self.path / name).exists() for name in (DICT_FILE, STATE_FILE))


def is_dataset_folder(path: Path) -> bool:
    """Whether a folder holds what `FolderSource` reads."""
    return (path / DICT_FILE).exists() or (path / STATE_FILE).exists() or bool(_parquet_files(path))


def is_free_or_dataset(path: Path) -> bool:
    """Whether a dataset may be put at `path` without harm: there is nothing, an empty folder, or a dataset."""
    if not path.is_dir():
        return not path.exists()
    return is_dataset_folder(path) or not any(path.iterdir())


def load_saved(folder: Path) -> "Dataset":
    """What `Dataset.save_to_disk` wrote to `folder`, memory-mapped; raises DatasetError where it can't be read."""
    import datasets

    try:
        dataset = datasets.load_from_disk(str(folder))
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise DatasetError(f"{folder} can't be read as a saved dataset: {one_line(error)}") from error
    if not isinstance(dataset, datasets.Dataset):
        raise DatasetError(f"{folder} holds several splits, not one dataset")
    return dataset


def dataset_of_parquet(paths: list[Path]) -> "Dataset":
    """Parquet files as one memory-mapped `datasets.Dataset`, by way of the cache of `datasets`."""
    import datasets

    try:
        return datasets.Dataset.from_parquet([str(path) for path in paths])
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        raise DatasetError(f"{paths[0]} can't be read as Parquet: {one_line(error)}") from error


def _parquet_files(folder: Path) -> dict[str, list[Path]]:
    """The Parquet files of each split, of the folder or, as in a clone from the hub, of its folder `data`."""
    splits: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("*.parquet")) or sorted((folder / "data").glob("*.parquet")):
        if match := PARQUET_NAME.fullmatch(path.name):
            splits.setdefault(match["split"], []).append(path)
    return splits


def _read_arrow(path: Path) -> Iterator[Record]:
    import pyarrow as pa

    try:
        with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
            for batch in reader:
                for start in range(0, batch.num_rows, ROWS_AT_A_TIME):
                    yield from batch.slice(start, ROWS_AT_A_TIME).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{path} can't be read as Arrow: {one_line(error)}") from error


def _read_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path} can't be read: {one_line(error)}") from error
    return value if isinstance(value, dict) else {}
