"""A SQLite file of answers by their keys: what a run's own file and the one that runs share have in common."""

import contextlib
import json
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

BUSY_SECONDS = 5.0
StoredAnswer = dict[str, Any]


class AnswerFile(ABC):
    """The answers at `path`; a context manager, used from any thread.

    `schema` makes the tables where they are missing, `stamp` marks a new file, and `columns` are those that each table
    must have where it exists. A file of a `version` that is higher than ours is refused.
    """

    schema: tuple[str, ...]
    columns: Mapping[str, set[str]]
    stamp: tuple[str, ...] = ()
    version = 0

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        """Open the file; make it where there is none."""
        with self._faults_handled():
            self._connection = self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self._close()

    def connect(self) -> sqlite3.Connection:
        """A connection to the file, with our tables; raises OSError or sqlite3.Error."""
        with contextlib.ExitStack() as opening:
            connection = sqlite3.connect(self.path, BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            opening.callback(connection.close)
            self._prepare(connection)
            opening.pop_all()
        return connection

    def get(self, key: str) -> StoredAnswer | None:
        """The answer stored under `key`, or None."""
        with self._using() as connection:
            row = connection.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
            return self._parsed(row[0]) if row else None
        return None

    def _prepare(self, connection: sqlite3.Connection) -> None:
        is_new = not self._known_tables(connection)
        connection.execute("PRAGMA journal_mode=WAL")
        # Survives a killed process; only a power cut may lose the last answers, and those are asked for again.
        connection.execute("PRAGMA synchronous=NORMAL")
        # Tables last: a process that is killed before leaves an empty file.
        for statement in (*(self.stamp if is_new else ()), *self.schema):
            connection.execute(statement)

    def _known_tables(self, connection: sqlite3.Connection) -> set[str]:
        """The tables there are; raises DatabaseError where the file is a database of something else."""
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and "answers" not in tables:
            raise sqlite3.DatabaseError("it is a database of something else")
        for table in sorted(tables & self.columns.keys()):
            if not self.columns[table] <= {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}:
                raise sqlite3.DatabaseError(f"its table {table!r} isn't one of ours")
        if connection.execute("PRAGMA user_version").fetchone()[0] > self.version:
            raise sqlite3.DatabaseError("a newer gencode has made it")
        return tables

    def _parsed(self, text: Any) -> StoredAnswer | None:
        return json.loads(text)

    def _write(self, *statements: tuple[str, Sequence[tuple[Any, ...]]]) -> None:
        """Execute each statement with each of its rows; all or none."""
        with self._using() as connection:
            connection.execute("BEGIN IMMEDIATE")
            for statement, rows in statements:
                connection.executemany(statement, rows)
            connection.execute("COMMIT")

    def _close(self) -> None:
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    @contextlib.contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._faults_handled():
            assert self._connection is not None, "the store is not open"
            try:
                yield self._connection
            except sqlite3.Error:
                if self._connection.in_transaction:
                    self._connection.rollback()
                raise

    @contextlib.contextmanager
    def _faults_handled(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            self._handle(error)

    @abstractmethod
    def _handle(self, error: Exception) -> None:
        """Raise what a user is told of a fault, or go on without the file."""
