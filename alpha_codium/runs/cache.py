"""The answers of all runs, so that what one has asked another need not: one SQLite file for all processes.

1. The key is that of the run's own store (model, parameters, messages, sample, how often it was asked) with what a run
   may vary freely but which decides the answer: the address of the server, and whether parameters are dropped.
2. It is a help and never a hindrance: a file that is no cache, is locked, is torn, or a disk that is full, is one
   warning, and from then on there is no cache.
3. How often an answer was used again is counted when the cache is closed: a process that is killed counts nothing.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from loguru import logger

from alpha_codium.errors import UserError

FILE_NAME = "answers.sqlite"
# Tells our file from others: "genc".
APPLICATION_ID = 0x67656E63
VERSION = 1
BUSY_SECONDS = 5.0
# Environment variables that say where a provider is, and providers whose variables bear another name.
ADDRESS = re.compile(r"_(API_BASE|BASE_URL)$")
FOUND_BY = {
    "text-completion-openai": "OPENAI",
    "ollama_chat": "OLLAMA",
    "azure_text": "AZURE",
    "meta_llama": "LLAMA",
    "friendliai": "FRIENDLI",
}
SCHEMA = """CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, created INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL, cost REAL, hits INTEGER NOT NULL DEFAULT 0, answer TEXT NOT NULL)"""


class CacheUnusable(UserError):
    """The file of the cache can't be used: it is locked, the disk is full, ..."""

    def __init__(self, path: Path, reason: object, mend: str = "if it stays so, move it away") -> None:
        super().__init__(f"{path} can't be used: {reason} ({mend})")


class NoCache(CacheUnusable):
    """The file is no cache of ours, or a torn one."""

    def __init__(self, path: Path, reason: object) -> None:
        super().__init__(path, reason, "gencode cache clear --all makes it anew")


class AnswerCache:
    """The cache at `path` for calls in one `scope`, a text without secrets; a context manager, used by one thread at
    a time. Nothing in it raises for the file's sake.
    """

    def __init__(self, path: Path, scope: str = "", environment: Mapping[str, str] | None = None) -> None:
        self.path, self.scope = path, scope
        self._environment = os.environ if environment is None else environment
        self._connection: sqlite3.Connection | None = None
        self._hits: Counter[str] = Counter()

    def __enter__(self) -> Self:
        """Open the file; make it where there is none."""
        with self._switched_off_by_faults():
            self._connection = connect(self.path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Count the hits and close the file."""
        with self._switched_off_by_faults():
            if self._connection is not None:
                hits = [(count, key) for key, count in self._hits.items()]
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.executemany("UPDATE answers SET hits = hits + ? WHERE key = ?", hits)
                self._connection.execute("COMMIT")
        self._close()

    @property
    def is_on(self) -> bool:
        """Whether it is open and of use."""
        return self._connection is not None

    def key_of(self, run_key: str, model: str) -> str:
        """The key here of what a run keeps under `run_key`; the address may come from the provider's variables."""
        provider, _, name = model.partition("/")
        if name:
            provider = FOUND_BY.get(provider, provider.upper())
            variables = [f"{provider}_API_BASE", f"{provider}_BASE_URL"]
        else:  # whose it is stands in litellm's table
            variables = sorted(filter(ADDRESS.search, self._environment))
        addresses = [self._environment.get(variable, "") for variable in variables]
        return hashlib.sha256(json.dumps([self.scope, *addresses, run_key]).encode()).hexdigest()

    def get(self, key: str) -> dict[str, Any] | None:
        """What is stored under `key`, or None."""
        with self._switched_off_by_faults():
            if self._connection is None:
                return None
            row = self._connection.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
            if row is not None and _is_outcome(found := _parsed(row[0])):
                self._hits[key] += 1
                return found
        return None

    def put(self, outcomes: Sequence[tuple[str, dict[str, Any]]], model: str) -> None:
        """Store what came of calls to `model`; the first under a key stays."""
        rows = [_row(key, model, outcome) for key, outcome in outcomes]
        with self._switched_off_by_faults():
            if self._connection is not None and rows:
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, 0, ?)", rows)
                self._connection.execute("COMMIT")

    @contextlib.contextmanager
    def _switched_off_by_faults(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, CacheUnusable) as error:
            logger.warning("no answers of other runs are used any more: {}", unusable(self.path, error))
            self._close()

    def _close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):  # the warning was given
                self._connection.close()
            self._connection = None


def connect(path: Path) -> sqlite3.Connection:
    """The cache's file, made where there is none; raises NoCache or CacheUnusable."""
    try:
        with _one_at_a_time(path):
            connection = sqlite3.connect(path, BUSY_SECONDS, isolation_level=None, check_same_thread=False)
            try:
                _prepare(connection, path)
            except BaseException:
                connection.close()
                raise
    except (sqlite3.Error, OSError) as error:
        raise unusable(path, error) from error
    return connection


def unusable(path: Path, error: Exception) -> CacheUnusable:
    """What to say of a fault: SQLite's operational ones may pass, the others say that the file is wrong."""
    if isinstance(error, CacheUnusable):
        return error
    if isinstance(error, OSError):
        return CacheUnusable(Path(error.filename or path), error.strerror)
    torn = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
    return NoCache(path, error) if torn else CacheUnusable(path, error)


@contextlib.contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    """SQLite doesn't wait where two processes turn one new file to WAL."""
    fd = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """See that it is a cache of ours; make it one where it is empty."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    if tables and application != APPLICATION_ID:
        raise NoCache(path, "it is a database of something else")
    if version > VERSION:
        raise NoCache(path, "a newer gencode has made it")
    connection.execute("PRAGMA journal_mode=WAL")
    # Survives a killed process; what a power cut takes from a cache is asked for again.
    connection.execute("PRAGMA synchronous=NORMAL")
    if not tables:  # the table last: a process that is killed before it leaves an empty file
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={VERSION}")
        connection.execute(SCHEMA)


def _row(key: str, model: str, outcome: Mapping[str, Any]) -> tuple[Any, ...]:
    tokens = (outcome.get("prompt_tokens", 0), outcome.get("completion_tokens", 0))
    return (key, model, int(time.time()), *tokens, outcome.get("cost"), json.dumps(outcome))


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return None


def _is_outcome(value: Any) -> bool:
    """Whether it is what a store keeps, an answer or a refusal: a row may have been changed by somebody else."""
    if not isinstance(value, dict):
        return False
    texts = ("refusal", "message") if "refusal" in value else ("text", "model")
    return all(isinstance(value.get(name), str) for name in texts)
