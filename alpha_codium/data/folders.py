"""Problems in a folder: what `save_to_disk` wrote, or Parquet files called `SPLIT-*.parquet`."""

import json
import os
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

DICT_FILE, STATE_FILE, COLUMNS_FILE = "dataset_dict.json", "state.json", "dataset_info.json"
MEND = "store it again: gencode data etl, or gencode gen solve_set --resume for what a run made"
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
        return _is_there(self.path / STATE_FILE)

    def splits(self) -> tuple[str, ...]:
        """The names of the splits, in the folder's own order."""
        if self.any_split:
            return (str(_read_object(self.path / STATE_FILE).get("_split") or guess_split(self.path.name)),)
        if _is_there(self.path / DICT_FILE):
            return _splits_in(self.path / DICT_FILE)
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
        return not any(_is_there(self.path / name) for name in (DICT_FILE, STATE_FILE))


def is_dataset_folder(path: Path) -> bool:
    """Whether a folder holds what `FolderSource` reads; one that can't be searched is left for it to refuse."""
    try:
        return any(_is_there(path / name) for name in (DICT_FILE, STATE_FILE)) or bool(_parquet_files(path))
    except DatasetError:
        return True


def is_free_or_dataset(path: Path) -> bool:
    """Whether a dataset may be put at `path` without harm: there is nothing, an empty folder, or a dataset.

    Raises DatasetError where it can't be told.
    """
    if not path.is_dir():
        return not os.path.lexists(path)
    try:
        return not any(path.iterdir()) or is_dataset_folder(path)
    except OSError as error:
        raise _unreadable(path, error) from error


def refuse_damaged(folder: Path) -> None:
    """Raise DatasetError, which names the file, where one of a saved `Dataset` isn't there or isn't what it was.

    What the rows themselves are shows when they are read.
    """
    for name, what, kind in ((STATE_FILE, "_data_files", list), (COLUMNS_FILE, "features", dict)):
        if not isinstance(_read_object(folder / name).get(what), kind):
            raise DatasetError(f"{folder / name} was changed: it has no {what} ({MEND})")
    for entry in _read_object(folder / STATE_FILE)["_data_files"]:
        name = entry.get("filename") if isinstance(entry, dict) else None
        if not isinstance(name, str):
            raise DatasetError(f"{folder / STATE_FILE} was changed: {entry!r:.80} is no file of rows ({MEND})")
        try:
            (folder / name).open("rb").close()
        except OSError as error:
            raise _unreadable(folder / name, error) from error


def load_saved(folder: Path) -> "Dataset":
    """What `Dataset.save_to_disk` wrote to `folder`, memory-mapped; raises DatasetError where it can't be read."""
    import datasets

    refuse_damaged(folder)
    try:
        dataset = datasets.load_from_disk(str(folder))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise DatasetError(
            f"{_culprit(folder)} can't be read as a saved dataset: {one_line(error)} ({MEND})"
        ) from error
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


def _culprit(folder: Path) -> Path:
    """The first file of rows in the folder of a saved `Dataset` that can't be read; the folder where all can."""
    import pyarrow as pa

    for entry in _read_object(folder / STATE_FILE)["_data_files"]:
        path = folder / entry["filename"]
        try:
            with pa.memory_map(str(path)) as file, pa.ipc.open_stream(file) as reader:
                reader.read_all()
        except (OSError, pa.ArrowException):
            return path
    return folder


def _splits_in(path: Path) -> tuple[str, ...]:
    splits = _read_object(path).get("splits")
    if not isinstance(splits, list) or not splits or not all(isinstance(split, str) for split in splits):
        raise DatasetError(f"{path} was changed: it lists no splits ({MEND})")
    return tuple(splits)


def _read_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise _unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path} can't be read: it is no JSON: {one_line(error)} ({MEND})") from error
    if not isinstance(value, dict):
        raise DatasetError(f"{path} was changed: it is no JSON object ({MEND})")
    return value


def _is_there(path: Path) -> bool:
    """Whether there is such a file; raises DatasetError where its folder can't be searched."""
    try:
        path.stat()
    except PermissionError as error:
        raise _unreadable(path.parent, error) from error
    except OSError:
        return False
    return True


def _unreadable(path: Path, error: OSError) -> DatasetError:
    mend = "" if isinstance(error, PermissionError) else f" ({MEND})"
    return DatasetError(f"{path} can't be read: {error.strerror}{mend}")
