"""The common base of SQLite files with answers: a run's own file, and the cache that all runs share."""

import contextlib
import json
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

BUSY_SECONDS = 5.0
StoredAnswer = dict[str, Any]


class AnswerFile(ABC):
    """The answers in the file `path`, by key; a context manager that can be used from any thread.

    `schema` creates missing tables, `stamp` marks a new file, and `columns` are those of the table `answers`. A file
    with a version above `version` is refused.
    """

    schema: tuple[str, ...]
    columns: frozenset[str]
    stamp: tuple[str, ...] = ()
    version = 0

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        with self._errors_handled():
            self._connection = self.connect()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._close()

    def connect(self) -> sqlite3.Connection:
        """Return a connection to the file, created if missing; raises OSError or sqlite3.Error."""
        with contextlib.ExitStack() as opening:
            connection = sqlite3.connect(self.path, BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            opening.callback(connection.close)
            self._prepare(connection)
            opening.pop_all()
        return connection

    def get(self, key: str) -> StoredAnswer | None:
        """Return the answer stored under `key`, or None."""
        with self._using() as connection:
            row = connection.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
            return json.loads(row[0]) if row else None
        return None

    def _prepare(self, connection: sqlite3.Connection) -> None:
        tables = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
        columns = {row[1] for row in connection.execute("PRAGMA table_info(answers)")}
        if tables and not self.columns <= columns:
            raise sqlite3.DatabaseError("it is another kind of database")
        if connection.execute("PRAGMA user_version").fetchone()[0] > self.version:
            raise sqlite3.DatabaseError("it was written by a newer version of gencode")
        connection.execute("PRAGMA journal_mode=WAL")
        # Safe if the process is killed; a power cut may lose the last answers, which are then requested again.
        connection.execute("PRAGMA synchronous=NORMAL")
        # Tables come last, so that a process that is killed before leaves an empty file.
        for statement in (*(() if tables else self.stamp), *self.schema):
            connection.execute(statement)

    def _write(self, *statements: tuple[str, Sequence[tuple[Any, ...]]]) -> None:
        """Execute each statement with each of its rows in one transaction."""
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
        with self._lock, self._errors_handled():
            assert self._connection is not None, "the file is not open"
            try:
                yield self._connection
            except sqlite3.Error:
                if self._connection.in_transaction:
                    self._connection.rollback()
                raise

    @contextlib.contextmanager
    def _errors_handled(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            self._handle(error)

    @abstractmethod
    def _handle(self, error: Exception) -> None:
        """Raise an error for the user, or continue without the file."""
