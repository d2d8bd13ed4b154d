"""Rows of a frozen file, and the jobs that they come from."""

import contextlib
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

Row = dict[str, Any]
Key = tuple[Any, ...]
FULL, STOP_EARLY, BATCH = "full", "stop_early", "batch"
# Stands for a test's index in the key of a program's own row.
PROGRAM = -1


@dataclass(frozen=True)
class Job:
    """Programs of one problem that are judged together: one, but for a batch. Each has its index in its set."""

    name: str
    problem: str
    record: Row
    programs: tuple[tuple[int, str], ...]
    mode: str = FULL
    setup: str = "all"

    @property
    def key(self) -> Key:
        """What tells it from all others."""
        return self.name, self.problem, self.mode, *(sha256(program) for _, program in self.programs)


def sha256(text: str) -> str:
    """The first 16 digits of a text's digest."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def readable(path: Path) -> Iterator[Row]:
    """Yield the rows up to an incomplete one."""
    with path.open() as file, contextlib.suppress(json.JSONDecodeError):
        for line in file:
            yield json.loads(line)


def program_key(row: Row) -> Key:
    """Return the unique key of a row's program."""
    return row["set"], row["problem"], row["mode"], row["program"]


@dataclass(frozen=True)
class Frozen:
    """The rows of a file by their unique keys."""

    path: Path
    rows: dict[Key, Row]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file; if a program occurs twice, its last rows count."""
        rows = (row for row in readable(path) if "about" not in row)
        return cls(path, {(*program_key(row), row.get("test_index", PROGRAM)): row for row in rows})
