"""Loading of problems from a stored dataset, a path, or the hub."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, overload

from alpha_codium.data.etl import run_etl
from alpha_codium.data.files import FileSource
from alpha_codium.data.folders import FolderSource, dataset_of_parquet
from alpha_codium.data.hub import HubSource
from alpha_codium.data.origin import Source, choose_split
from alpha_codium.data.reader import RecordReader
from alpha_codium.data.schema import DATE_COLUMNS, Fingerprint, features, problem_from_record, stored_record
from alpha_codium.data.sources import find_source, stored_path
from alpha_codium.data.store import no_progress_bars, read_info
from alpha_codium.errors import DatasetError, nearest
from alpha_codium.problem import Problem
from alpha_codium.wording import counted

if TYPE_CHECKING:
    from datasets import Dataset


class Rows(Protocol):
    """Raw records by index: a list, or a `datasets.Dataset`."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __getitem__(self, position: int, /) -> Any: ...


class ProblemSet(Sequence[Problem]):
    """The problems of one split, converted on access.

    `records` are the raw records (a memory-mapped `datasets.Dataset`, or a list). Accessing a malformed one raises
    DatasetError.
    """

    def __init__(self, records: Rows, dataset_name: str, split_name: str, fingerprint: str | None = None) -> None:
        self.records = records
        self.dataset_name = dataset_name
        self.split_name = split_name
        self._known_fingerprint = fingerprint

    def __len__(self) -> int:
        return len(self.records)

    @overload
    def __getitem__(self, index: int) -> Problem: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Problem, ...]: ...
    def __getitem__(self, index: int | slice) -> Problem | tuple[Problem, ...]:
        """Return the problem at an index, or those of a slice."""
        if isinstance(index, slice):
            return tuple(self[position] for position in range(*index.indices(len(self))))
        return self._problem(range(len(self))[index])

    def __iter__(self) -> Iterator[Problem]:
        return (self[position] for position in range(len(self)))

    def get(self, name: str) -> Problem:
        """Return the first problem with that name; raises DatasetError with the nearest name if there is none."""
        if name not in self._positions:
            raise DatasetError(f"{self.label} has no problem {name!r}{nearest(name, self._positions)}")
        return self[self._positions[name]]

    def to_dataset(self) -> "Dataset":
        """Return the problems as a `datasets.Dataset` with the columns of stored datasets.

        Raises DatasetError if a record is malformed.
        """
        from datasets import Dataset

        columns = features(self.dates)
        if getattr(self.records, "features", None) == columns:
            return self.records  # type: ignore[return-value] - only a Dataset has features
        return Dataset.from_list(list(self.stored_records()), features=columns)

    def select(self, positions: Sequence[int]) -> "ProblemSet":
        """Return the problems at these indices; the fingerprint is the whole split's."""
        select = getattr(self.records, "select", None)
        records = select(positions) if select else [self.records[position] for position in positions]
        return ProblemSet(records, self.dataset_name, self.split_name, self.fingerprint)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all problems, in the dataset's order."""
        if "name" in getattr(self.records, "column_names", ()):
            return tuple(self.records["name"])  # type: ignore[call-overload] - a Dataset returns a column by its name
        return tuple(
            RecordReader(self.records[position], self._where(position)).name() for position in range(len(self))
        )

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the content, as in `etl.json`; it doesn't depend on the file format."""
        if self._known_fingerprint:
            return self._known_fingerprint
        digest = Fingerprint()
        for record in self.stored_records():
            digest.add(record)
        return digest.hex

    @property
    def dates(self) -> list[str]:
        """The columns with dates, by the first record."""
        return [column for column in DATE_COLUMNS if len(self) and column in self.records[0]]

    def stored_records(self) -> Iterator[dict[str, Any]]:
        """Return the records with the columns of stored datasets; raises DatasetError for a malformed one."""
        dates = self.dates
        return (stored_record(self.records[place], self._where(place), dates) for place in range(len(self)))

    def _problem(self, position: int) -> Problem:
        return problem_from_record(self.records[position], self._where(position))

    @cached_property
    def _positions(self) -> dict[str, int]:
        positions: dict[str, int] = {}
        for position, name in enumerate(self.names):
            positions.setdefault(name, position)
        return positions

    @property
    def label(self) -> str:
        """The dataset and its split, `NAME[SPLIT]`."""
        return f"{self.dataset_name}[{self.split_name}]"

    def _where(self, position: int) -> str:
        return f"{self.label}, record {position + 1}"

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'problem')} of {self.label}>"


def load_problems(name: str | Path, split: str | None = None) -> ProblemSet:
    """Return the problems of a stored dataset, a path, or a hub id; `split` is needed if there are several.

    A dataset from the hub is stored, and next time loaded from the stored copy. Raises DatasetError with the nearest
    name if there is no such dataset or split.
    """
    text = str(name)
    source = find_source(text)
    if isinstance(source, HubSource):
        source = _stored_copy(source, split)
    split = choose_split(source, split)
    # `no_progress_bars` imports `datasets`, which takes a second and 110 MB; files of JSON don't need it.
    if isinstance(source, FolderSource):
        with no_progress_bars():
            dataset = source.dataset(split)
        return ProblemSet(dataset, text, split, read_info(source.path).get(split, {}).get("fingerprint"))
    if isinstance(source, FileSource) and source.suffix == ".parquet" and len(source.parts()) == 1:
        with no_progress_bars():
            return ProblemSet(dataset_of_parquet([source.path]), text, split)
    return ProblemSet(list(source.records(split)), text, split)


def load_problem_file(path: str | Path) -> Problem:
    """Return the only problem in a file; raises DatasetError if it is malformed, or there isn't exactly one."""
    if not Path(path).is_file():
        raise DatasetError(f"there is no problem file {path}")
    records = list(FileSource(Path(path)).records("file"))
    if len(records) != 1:
        raise DatasetError(f"{path} holds {counted(len(records), 'problem')}, not one: give it as `dataset` {path}")
    return problem_from_record(records[0], str(path))


def _stored_copy(source: HubSource, split: str | None) -> Source:
    """Return the stored copy of a hub dataset; the given split, or the only one, is downloaded if it is missing."""
    from loguru import logger

    name = source.dataset_id.replace("/", "--")
    path = stored_path(name)
    if path is None or (split is not None and split not in FolderSource(path).splits()):
        split = choose_split(source, split)
        where = "read from the cache of `datasets`" if source.cached else "fetched from the hub"
        logger.info("{}[{}] is {} and stored as {}", source.dataset_id, split, where, name)
        path = run_etl(source, name, [split], overwrite=True).path
    return FolderSource(path, source.dataset_id)
