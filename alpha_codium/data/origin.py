"""The protocol of sources of problems, and the origin of their records."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from alpha_codium.errors import DatasetError, nearest

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of records: the text that the user gave, and what it refers to.

    `location` is a resolved path or a hub id; `revision` is the commit of a hub dataset, if known.
    """

    text: str
    kind: str
    location: str
    revision: str | None = None


class Source(Protocol):
    """A source of raw records in splits.

    A package can register a factory in the entry-point group `alpha_codium.sources`: `NAME:TEXT` calls `factory(TEXT)`.
    """

    @property
    def origin(self) -> Origin:
        """The origin of the records."""
        ...

    @property
    def any_split(self) -> bool:
        """Whether there is only one split, which can be read under any name."""
        ...

    def splits(self) -> tuple[str, ...]:
        """Return the names of the splits; raises DatasetError if they can't be read."""
        ...

    def records(self, split: str) -> Iterator[Record]:
        """Yield the raw records of one split; raises DatasetError if they can't be read."""
        ...


class PathSource:
    """The base of sources that are a file or a folder; `text` is what the user gave."""

    def __init__(self, path: Path, text: str = "") -> None:
        self.path, self.text = path, text or str(path)

    @cached_property
    def origin(self) -> Origin:
        """The path, as given and resolved."""
        return Origin(self.text, "folder" if self.path.is_dir() else "file", str(self.path.resolve()))


def choose_split(source: Source, asked: str | None) -> str:
    """Return the given split if it exists, or the only one; otherwise raises DatasetError."""
    splits = source.splits()
    if asked is not None and (source.any_split or asked in splits):
        return asked
    if asked is not None:
        raise DatasetError(f"{source.origin.text} has no split {asked!r}{nearest(asked, splits)}")
    if len(splits) == 1:
        return splits[0]
    raise DatasetError(f"{source.origin.text} has several splits: choose one of {', '.join(splits)} with `split`")
