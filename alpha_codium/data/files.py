"""Problems in one file (JSON lines, JSON or Parquet), or in a folder with a file of JSON lines for each split.

A file is one split, which can be given any name. If it is a benchmark whose records name their split (MBPP), it has
those splits, and `all`.
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from alpha_codium.data.benchmarks import benchmark_of
from alpha_codium.data.benchmarks.benchmark import Benchmark
from alpha_codium.data.fields import Fields
from alpha_codium.data.origin import PathSource, Record
from alpha_codium.errors import DatasetError, did_you_mean, nearest
from alpha_codium.values import parse_json

SPLIT_WORDS = {"test": {"test", "tests"}, "valid": {"valid", "validation", "dev"}, "train": {"train", "training"}}
SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".parquet")
# Rows turned into Python objects at a time: a problem may be megabytes.
ROWS_AT_A_TIME = 16
GZIP = b"\x1f\x8b"
# The split of all records in a file with several splits.
WHOLE = "all"


class FileSource(PathSource):
    """One file of problems; its suffix decides the format."""

    any_split = True

    def __init__(self, path: Path, text: str = "") -> None:
        super().__init__(path, text)
        self.suffix = next((s for s in SUFFIXES if path.name.lower().endswith(s)), "")
        if not self.suffix:
            hint = did_you_mean("".join(path.suffixes), SUFFIXES)
            raise DatasetError(f"{path} is not a file of problems: it must end in {', '.join(SUFFIXES)}{hint}")

    def splits(self) -> tuple[str, ...]:
        """Return the only split, named by the file's name; `all` for a file with several."""
        if self._has_splits:
            return (WHOLE,)
        return (guess_split(self.path.name, self._benchmark.only_split if self._benchmark else "train"),)

    def parts(self) -> tuple[str, ...]:
        """Return the splits in the file, in the benchmark's order."""
        if not self._has_splits or self._benchmark is None:
            return self.splits()
        found = {split for split, _ in self._with_splits()}
        return tuple(split for split in self._benchmark.splits if split in found)

    def records(self, split: str) -> Iterator[Record]:
        """Yield the records of a split; a `.json` file is read into memory first.

        Raises DatasetError if the file has splits, but none of that name.
        """
        if not self._has_splits or split == WHOLE:
            return self._all()
        if split not in (parts := self.parts()):
            raise DatasetError(f"{self.text} has no split {split!r}{nearest(split, (*parts, WHOLE))}")
        return (record for own, record in self._with_splits() if own == split)

    @cached_property
    def _benchmark(self) -> Benchmark | None:
        """The benchmark, recognized by the first record."""
        first = next(self._all(), None)
        return benchmark_of(first) if isinstance(first, dict) else None

    @cached_property
    def _has_splits(self) -> bool:
        return self._benchmark is not None and self._benchmark.has_splits(self._fields(1, next(self._all())))

    def _fields(self, number: int, record: Record) -> Fields:
        assert self._benchmark is not None
        return self._benchmark.fields(record, f"{self.text}, record {number}")

    def _with_splits(self) -> Iterator[tuple[str, Record]]:
        assert self._benchmark is not None
        for number, record in enumerate(self._all(), start=1):
            yield self._benchmark.split_of(self._fields(number, record)), record

    def _all(self) -> Iterator[Record]:
        return {".json": read_json, ".parquet": read_parquet}.get(self.suffix, read_json_lines)(self.path)


class SplitFilesSource(PathSource):
    """A folder with a file of JSON lines for each split: `train.jsonl`, `test.jsonl`."""

    any_split = False

    def __init__(self, folder: Path, text: str = "") -> None:
        super().__init__(folder, text)
        self._files = split_files(folder)

    def splits(self) -> tuple[str, ...]:
        """Return the names of the splits: train, valid, test."""
        return tuple(self._files)

    def records(self, split: str) -> Iterator[Record]:
        """Yield the records of a split."""
        return read_json_lines(self._files[split])


def split_files(folder: Path) -> dict[str, Path]:
    """Return the files of JSON lines in a folder that are named after a split, such as `train.jsonl`, by split."""
    names = {split: [word + ending for word in sorted(SPLIT_WORDS[split]) for ending in (".jsonl", ".jsonl.gz")]
             for split in ("train", "valid", "test")}  # fmt: skip
    files = {split: next((folder / n for n in names[split] if (folder / n).is_file()), None) for split in names}
    return {split: path for split, path in files.items() if path is not None}


def guess_split(name: str, otherwise: str = "train") -> str:
    """Return the split that a file's name contains as a word: test, valid or train.

    `codecontests_train.jsonl` is train, though "contests" contains "test".
    """
    words = re.split(r"[^a-z]+", name.lower())
    return next((split for split, spellings in SPLIT_WORDS.items() if not spellings.isdisjoint(words)), otherwise)


def read_json_lines(path: Path) -> Iterator[Record]:
    """Yield the objects in a file of JSON lines; raises DatasetError with the number of an invalid line."""
    number = 0
    try:
        with opened(path) as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    value = _parse(line, f"{path}, line {number}")
                    if not isinstance(value, dict):
                        raise DatasetError(f"{path}, line {number}: a record must be a JSON object")
                    yield value
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DatasetError(f"{path} is not a complete gzip file, after line {number}: {error}") from error
    except OSError as error:
        raise DatasetError(f"{path} can't be read: {error.strerror or error}") from error


def read_json(path: Path) -> Iterator[Record]:
    """Yield the object in a file of JSON, the items of its list or, if it has several, of JSON lines."""
    try:
        with opened(path) as file:
            text = file.read()
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(f"{path} can't be read: {getattr(error, 'strerror', None) or error}") from error
    try:
        value = _parse(text, str(path))
    except DatasetError:
        if not is_json_lines(text):
            raise
        yield from read_json_lines(path)
    else:
        yield from value if isinstance(value, list) else [value]


def opened(path: Path) -> BinaryIO | gzip.GzipFile:
    """Open a file, compressed with gzip or not, by its first bytes; raises OSError."""
    with path.open("rb") as file:
        is_compressed = file.read(2) == GZIP
    return gzip.open(path, "rb") if is_compressed else path.open("rb")


def is_json_lines(text: bytes) -> bool:
    """Whether the first of several lines is a JSON object."""
    first, _, rest = text.strip().partition(b"\n")
    try:
        return bool(rest) and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def read_parquet(path: Path) -> Iterator[Record]:
    """Yield the rows of a Parquet file, read a few at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        # The default, pre_buffer=True, would keep the compressed columns of the whole file in memory.
        with parquet.ParquetFile(path, buffer_size=2**20, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=ROWS_AT_A_TIME, use_threads=False):
                yield from batch.to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{path} can't be read as Parquet: {first_line(error)}") from error


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _parse(text: bytes | str, where: str) -> Any:
    try:
        return parse_json(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{where}: not valid JSON: {first_line(error)}") from error
