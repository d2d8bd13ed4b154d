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
from typing import Any

from loguru import logger

from alpha_codium.errors import UserError
from alpha_codium.runs.store import AnswerFile, StoredAnswer

FILE_NAME = "answers.sqlite"
# Tells our file from others: "genc".
APPLICATION_ID = 0x67656E63
VERSION = 1
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
COLUMNS = {"answers": {"key", "model", "created", "prompt_tokens", "completion_tokens", "cost", "hits", "answer"}}


class CacheUnusable(UserError):
    """The file of the cache can't be used: it is locked, the disk is full, ..."""

    def __init__(self, path: Path, reason: object, mend: str = "if it stays so, move it away") -> None:
        super().__init__(f"{path} can't be used: {reason} ({mend})")


class NoCache(CacheUnusable):
    """The file is no cache of ours, or a torn one."""

    def __init__(self, path: Path, reason: object) -> None:
        super().__init__(path, reason, "gencode cache clear --all makes it anew")


class AnswerCache(AnswerFile):
    """The cache at `path` for calls in one `scope`, a text without secrets; a context manager, used by one thread at
    a time. Nothing in it raises for the file's sake.
    """

    schema = (SCHEMA,)
    columns = COLUMNS
    stamp = (f"PRAGMA application_id={APPLICATION_ID}", f"PRAGMA user_version={VERSION}")
    version = VERSION

    def __init__(self, path: Path, scope: str = "", environment: Mapping[str, str] | None = None) -> None:
        super().__init__(path)
        self.scope = scope
        self._environment = os.environ if environment is None else environment
        self._hits: Counter[str] = Counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Count the hits and close the file."""
        if self.is_on:
            hits = [(count, key) for key, count in self._hits.items()]
            self._write(("UPDATE answers SET hits = hits + ? WHERE key = ?", hits))
        self._close()

    def connect(self) -> sqlite3.Connection:
        """A connection to the file; raises OSError or sqlite3.Error."""
        with _one_at_a_time(self.path):
            return super().connect()

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

    def get(self, key: str) -> StoredAnswer | None:
        """What is stored under `key`, or None."""
        found = super().get(key) if self.is_on else None
        if found is not None:
            self._hits[key] += 1
        return found

    def put(self, outcomes: Sequence[tuple[str, StoredAnswer]], model: str) -> None:
        """Store what came of calls to `model`; the first under a key stays."""
        rows = [_row(key, model, outcome) for key, outcome in outcomes]
        if self.is_on and rows:
            self._write(("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, 0, ?)", rows))

    def _parsed(self, text: Any) -> StoredAnswer | None:
        """The answer or refusal in a row; None where somebody else has changed it."""
        try:
            found = json.loads(text)
        except (TypeError, ValueError):
            return None
        return found if _is_outcome(found) else None

    def _handle(self, error: Exception) -> None:
        logger.warning("no answers of other runs are used any more: {}", unusable(self.path, error))
        with contextlib.suppress(sqlite3.Error):  # the warning was given
            self._close()


def unusable(path: Path, error: Exception) -> CacheUnusable:
    """What to say of a fault: SQLite's operational ones may pass, the others say that the file is wrong."""
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


def _row(key: str, model: str, outcome: Mapping[str, Any]) -> tuple[Any, ...]:
    tokens = (outcome.get("prompt_tokens", 0), outcome.get("completion_tokens", 0))
    return (key, model, int(time.time()), *tokens, outcome.get("cost"), json.dumps(outcome))


def _is_outcome(value: Any) -> bool:
    """Whether it is what a store keeps, an answer or a refusal."""
    if not isinstance(value, dict):
        return False
    texts = ("refusal", "message") if "refusal" in value else ("text", "model")
    return all(isinstance(value.get(name), str) for name in texts)
