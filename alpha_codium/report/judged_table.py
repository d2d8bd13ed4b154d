"""The programs of a finished evaluation by its table: one of a million is found without reading what the others did.

The table has the place and the verdict of each program. Its line of the journal, and its source, are found by its
digest.
"""

import json
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from alpha_codium.eval.known import KNOWN_GROUPS
from alpha_codium.eval.tables import CANDIDATES
from alpha_codium.report.reading import sample_of_line
from alpha_codium.report.samples import NOT_FAILED, StoredSample
from alpha_codium.runs import RunFolder
from alpha_codium.runs.folder import PROGRAMS
from alpha_codium.wording import natural_order

if TYPE_CHECKING:
    import pyarrow

PLACE = ("problem", "kind", "sample")


class JudgedTable:
    """The programs of an evaluation; those of known verdict only if there are no others."""

    def __init__(self, folder: RunFolder, rows: "pyarrow.Table") -> None:
        self.folder, self.rows = folder, rows

    @classmethod
    def of(cls, folder: RunFolder) -> Self | None:
        """Return the programs of a run; None if it has no table, or its journal has changed since."""
        from pyarrow import compute, parquet

        path = folder.path / CANDIDATES
        try:
            if path.stat().st_mtime < folder.journal.path.stat().st_mtime:
                return None
            rows = parquet.read_table(path, columns=[*PLACE, "verdict"], read_dictionary=["problem", "kind", "verdict"])
        except (OSError, ValueError):
            return None
        scored = rows.filter(~compute.field("kind").isin(KNOWN_GROUPS))
        return cls(folder, scored if scored.num_rows else rows)

    def __len__(self) -> int:
        return self.rows.num_rows

    @property
    def names(self) -> list[str]:
        """The problems that have programs."""
        return self.rows["problem"].unique().to_pylist()

    @property
    def indices(self) -> list[int]:
        """The indices of programs, sorted."""
        return sorted(self.rows["sample"].unique().to_pylist())

    @property
    def failed(self) -> Self:
        """Those that failed."""
        return self.where("verdict", *NOT_FAILED, inverted=True)

    def where(self, column: str, *values: Any, inverted: bool = False) -> Self:
        """Return those with one of the values in a column, or with another one if `inverted`."""
        from pyarrow import compute

        chosen = compute.field(column).isin(list(values))
        return type(self)(self.folder, self.rows.filter(~chosen if inverted else chosen))

    def first(self) -> StoredSample | None:
        """Return the first sample, in the order of the problems' names; None if the journal lacks it."""
        from pyarrow import parquet

        of_problem = self.where("problem", min(self.names, key=natural_order)).rows.to_pylist()
        place = min([row[column] for column in PLACE] for row in of_problem)
        equal = [(column, "==", value) for column, value in zip(PLACE, place, strict=True)]
        found = parquet.read_table(self.folder.path / CANDIDATES, columns=["program"], filters=equal)
        digest = found["program"][0].as_py()
        for line in _lines_with(self.folder.journal.path, digest):
            if [line["problem"], line["result"]["group"], line["result"]["index"]] == place:
                return sample_of_line(line, next(_lines_with(self.folder.path / PROGRAMS, digest), None))
        return None


def _lines_with(path: Path, digest: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of a journal on the program with this digest, the last one first."""
    if not path.exists() or not path.stat().st_size:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        at = len(text)
        while (at := text.rfind(f'"program": "{digest}"'.encode(), 0, at)) >= 0:
            start, end = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at)
            yield json.loads(text[start:end])
