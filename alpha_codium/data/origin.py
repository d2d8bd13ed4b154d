"""What a source of problems is, and where it says its records come from."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from alpha_codium.errors import DatasetError, nearest

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where records come from: the text that was given, and what it was found to be.

    `location` is a resolved path or a hub id; `revision` the commit of a hub dataset, where it is known.
    """

    text: str
    kind: str
    location: str
    revision: str | None = None

    def as_record(self) -> dict[str, str | None]:
        """The origin as JSON."""
        return asdict(self)


class Source(Protocol):
    """Where raw records come from, split by split.

    A user's package adds a factory under the entry-point group `alpha_codium.sources`: `NAME:TEXT` makes the
    source `factory(TEXT)`.
    """

    @property
    def origin(self) -> Origin:
        """Where the records come from."""
        ...

    @property
    def any_split(self) -> bool:
        """Whether there is but one split, which goes by whatever name is asked for."""
        ...

    def splits(self) -> tuple[str, ...]:
        """The names of the splits; raises DatasetError where they can't be read."""
        ...

    def records(self, split: str) -> Iterator[Record]:
        """The raw records of one split, streamed; raises DatasetError at what can't be read."""
        ...


def choose_split(source: Source, asked: str | None) -> str:
    """The split asked for, or the only one there is; raises DatasetError that lists what there is."""
    splits = source.splits()
    if asked is not None and (source.any_split or asked in splits):
        return asked
    if asked is not None:
        raise DatasetError(f"{source.origin.text} has no split {asked!r}{nearest(asked, splits)}")
    if len(splits) == 1:
        return splits[0]
    raise DatasetError(f"{source.origin.text} has several splits: choose one of {', '.join(splits)} with --split_name")
