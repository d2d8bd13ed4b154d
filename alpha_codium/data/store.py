"""Atomic writing of datasets.

`SplitWriter` writes one split as an Arrow file in batches. Its metadata is that of an empty dataset with the same
columns, saved by `datasets`. `put_splits` builds the whole dataset in a hidden folder, with hard links to unchanged
splits, and exchanges it with the old one atomically, under a lock.
"""

import datetime
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from loguru import logger

from alpha_codium.data.folders import DICT_FILE, STATE_FILE, FolderSource, is_free_or_dataset
from alpha_codium.data.schema import Fingerprint, SplitCounts
from alpha_codium.errors import DatasetError

if TYPE_CHECKING:
    from datasets import Dataset, Features

INFO_FILE = "etl.json"
# The size of a record batch, in bytes (as JSON) and records.
BATCH_BYTES = 8 * 2**20
BATCH_RECORDS = 1000


class SplitWriter:
    """A writer of one split: `with SplitWriter(...) as writer: writer.add(record)`, then `finish()`."""

    def __init__(self, folder: Path, features: "Features") -> None:
        import pyarrow as pa

        self.folder = folder
        self.features = features
        self.fingerprint = Fingerprint()
        self.counts = SplitCounts()
        self._arrow = folder.with_name(folder.name + ".arrow")
        self._records: list[Mapping[str, Any]] = []
        self._bytes = 0
        self._file = pa.ipc.new_stream(str(self._arrow), features.arrow_schema)

    def add(self, record: Mapping[str, Any]) -> None:
        """Write one stored record."""
        self._bytes += self.fingerprint.add(record)
        self.counts.add(record)
        self._records.append(record)
        if self._bytes >= BATCH_BYTES or len(self._records) >= BATCH_RECORDS:
            self._flush()

    def finish(self) -> dict[str, Any]:
        """Finish the folder for `datasets.load_from_disk`; return the split's facts for `etl.json`."""
        from datasets import Dataset, NamedSplit

        self._flush()
        self._file.close()
        table = self.features.arrow_schema.empty_table()
        empty = Dataset(table, split=NamedSplit(self.folder.name), fingerprint=self.fingerprint.hex[:16])
        save(empty, self.folder)
        (placeholder,) = self.folder.glob("*.arrow")
        self._arrow.replace(placeholder)
        return {
            "problems_out": self.counts.problems,
            "counts": self.counts.as_record(),
            "without_tests": self.counts.without_tests,
            "fingerprint": self.fingerprint.hex,
            "when": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "versions": {name: version(name) for name in ("alpha_codium", "datasets", "pyarrow")},
        }

    def _flush(self) -> None:
        import pyarrow as pa

        if self._records:
            self._file.write_batch(pa.RecordBatch.from_pylist(self._records, schema=self.features.arrow_schema))
        self._records, self._bytes = [], 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._file.close()


def save(dataset: "Dataset", folder: Path) -> None:
    """Call `dataset.save_to_disk(folder)` without a progress bar; an empty dataset can be read again, too."""
    with no_progress_bars():
        dataset.save_to_disk(str(folder), num_shards=None if len(dataset) else 1)


@contextmanager
def no_progress_bars() -> Iterator[None]:
    """Disable the progress bars of `datasets`."""
    from datasets.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    were_disabled = are_progress_bars_disabled()
    disable_progress_bars()
    try:
        yield
    finally:
        if not were_disabled:
            enable_progress_bars()


@contextmanager
def temporary_folder(target: Path) -> Iterator[Path]:
    """Yield a hidden folder next to `target`, deleted at the end; raises DatasetError if it can't be created."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise DatasetError(f"{target} can't be written: {error.strerror}") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_target(target: Path) -> None:
    """Raise DatasetError if `target` exists and is not a saved dataset with splits, nor an empty folder."""
    refuse_foreign(target)
    if (target / STATE_FILE).exists():
        raise DatasetError(f"{target} is a dataset without splits: choose another name")
    if not (target / DICT_FILE).exists() and any(target.glob("*.parquet")):
        raise DatasetError(f"{target} is a dataset in Parquet files: choose another name")


def check_split_name(split: str) -> None:
    """Raise DatasetError unless `datasets` takes the name of a split."""
    if not re.fullmatch(r"\w+(\.\w+)*", split):
        raise DatasetError(f"{split!r} isn't a valid split name: use letters, digits and '_'")


def refuse_foreign(target: Path) -> None:
    """Raise DatasetError if `target` can't be written, or exists and is neither a dataset nor an empty folder."""
    if not is_free_or_dataset(target):
        raise DatasetError(f"{target} exists and isn't a dataset: choose another name, or move it")
    parent = next(each for each in target.absolute().parents if each.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise DatasetError(f"{target} can't be written: {parent} is read-only, or no folder")


def refuse_replacing(splits: Iterable[str], target: Path) -> None:
    """Raise DatasetError if the dataset at `target` has one of the splits already."""
    if stored := sorted(set(splits) & read_info(target).keys()):
        raise DatasetError(f"{target} has the split {stored[0]!r} already: choose another `output`, or use `overwrite`")


def put_splits(built: Path, infos: Mapping[str, Any], target: Path, *, overwrite: bool = True) -> None:
    """Add the split folders `built/SPLIT` to the dataset `target`, and the `infos` of each split to its `etl.json`.

    Raises DatasetError if it has one of them already, unless `overwrite`.
    """
    with lock(target):
        check_target(target)
        if not overwrite:  # another process may have written it meanwhile
            refuse_replacing(infos, target)
        kept = FolderSource(target).splits() if (target / DICT_FILE).exists() else ()
        known = read_info(target)
        if kept and not known and (target / INFO_FILE).exists():
            logger.warning("{} can't be read: the origin of the other splits is lost", INFO_FILE)
        for split in kept:
            if split not in infos:
                shutil.copytree(target / split, built / split, copy_function=_link_or_copy)
        splits = list(dict.fromkeys([*kept, *infos]))
        (built / DICT_FILE).write_text(json.dumps({"splits": splits}), "utf-8")
        values = {"splits": {split: infos.get(split, known.get(split, {})) for split in splits}}
        (built / INFO_FILE).write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", "utf-8")
        put_in_place(built, target)


def read_info(folder: Path) -> dict[str, Any]:
    """Return the entry of each split in `etl.json`; empty if the file is missing or damaged."""
    try:
        return {split: dict(info) for split, info in json.loads((folder / INFO_FILE).read_bytes())["splits"].items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}


def put_in_place(built: Path, target: Path) -> None:
    """Move the folder `built` to `target` atomically; an existing `target` is moved to `built`, or deleted."""
    refuse_foreign(target)
    built.chmod(0o755)
    if not target.exists():
        built.rename(target)
    elif not _exchange(built, target):
        old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
        target.rename(old / target.name)
        built.rename(target)
        shutil.rmtree(old, ignore_errors=True)


@contextmanager
def lock(target: Path) -> Iterator[None]:
    """Lock the parent folder of `target` against other writers."""
    import fcntl

    folder = os.open(target.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders atomically (Linux, renameat2); return False if that isn't supported."""
    import ctypes

    rename_exchange, at_fdcwd = 2, -100  # of linux/fs.h and fcntl.h
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    return rename is not None and rename(at_fdcwd, os.fsencode(one), at_fdcwd, os.fsencode(other), rename_exchange) == 0


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
