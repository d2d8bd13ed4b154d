"""The cache of answers, one SQLite file that all runs and processes share.

1. The key consists of the key in the run's own store (model, parameters, messages, sample, earlier requests), and of
   settings that may change on resume but affect answers: the server's address and `drop_params`.
2. The cache never stops a run. If its file is locked, damaged or not a cache, or the disk is full, one warning is
   logged, and the run continues without it.
3. Hits are written when the cache is closed; those of a killed process are lost.
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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loguru import logger

from alpha_codium.errors import UserError
from alpha_codium.runs.answer_file import AnswerFile, StoredAnswer

VERSION = 1
# Environment variables with a provider's address, and providers whose variables have different names.
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
    """The cache's file can't be used: it is locked, the disk is full, ..."""

    def __init__(self, path: Path, reason: object, remedy: str = "if this persists, move it away") -> None:
        super().__init__(f"{path} can't be used: {reason} ({remedy})")


class NotACache(CacheUnusable):
    """The file isn't a cache, or is damaged."""

    def __init__(self, path: Path, reason: object) -> None:
        super().__init__(path, reason, "clear the whole cache to make it anew: gencode cache clear")


class AnswerCache(AnswerFile):
    """The cache in the file `path`; a context manager. Errors of the file are logged, not raised.

    `scope` is part of every key: a text, without secrets, of the settings that affect answers.
    """

    schema = (SCHEMA,)
    columns = frozenset(["key", "model", "created", "prompt_tokens", "completion_tokens", "cost", "hits", "answer"])
    stamp = (f"PRAGMA user_version={VERSION}",)
    version = VERSION

    def __init__(self, path: Path, scope: str = "", environment: Mapping[str, str] | None = None) -> None:
        super().__init__(path)
        self.scope = scope
        self._environment = os.environ if environment is None else environment
        self._hits: Counter[str] = Counter()

    def __exit__(self, *_exc: object) -> None:
        if self.is_on:
            hits = [(count, key) for key, count in self._hits.items()]
            self._write(("UPDATE answers SET hits = hits + ? WHERE key = ?", hits))
        self._close()

    def connect(self) -> sqlite3.Connection:
        """Return a connection, made by one process at a time: SQLite fails if two switch a new file to WAL at once."""
        with self.path.with_suffix(".lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return super().connect()

    @property
    def is_on(self) -> bool:
        """Whether the cache is open and usable."""
        return self._connection is not None

    def key_of(self, run_key: str, model: str) -> str:
        """Return the key in the cache for a run's key; it includes the addresses in the provider's variables."""
        provider, _, name = model.partition("/")
        if name:
            provider = FOUND_BY.get(provider, provider.upper())
            variables = [f"{provider}_API_BASE", f"{provider}_BASE_URL"]
        else:  # only litellm's table knows the provider
            variables = sorted(filter(ADDRESS.search, self._environment))
        addresses = [self._environment.get(variable, "") for variable in variables]
        return hashlib.sha256(json.dumps([self.scope, *addresses, run_key]).encode()).hexdigest()

    def get(self, key: str) -> StoredAnswer | None:
        """Return the answer with this key, and count the hit, or return None."""
        found = super().get(key) if self.is_on else None
        if found is not None:
            self._hits[key] += 1
        return found

    def put(self, outcomes: Sequence[tuple[str, StoredAnswer]], model: str) -> None:
        """Store answers of `model`, except those whose keys exist."""
        rows = [_row(key, model, outcome) for key, outcome in outcomes]
        if self.is_on and rows:
            self._write(("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, 0, ?)", rows))

    def _handle(self, error: Exception) -> None:
        logger.warning("the shared cache is no longer used: {}", unusable(self.path, error))
        with contextlib.suppress(sqlite3.Error):  # already reported
            self._close()


def unusable(path: Path, error: Exception) -> CacheUnusable:
    """Return the error for the user: operational errors of SQLite are temporary, others mean that the file is wrong."""
    if isinstance(error, OSError):
        return CacheUnusable(Path(error.filename or path), error.strerror)
    is_wrong = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
    return NotACache(path, error) if is_wrong else CacheUnusable(path, error)


def _row(key: str, model: str, outcome: StoredAnswer) -> tuple[Any, ...]:
    tokens = (outcome.get("prompt_tokens", 0), outcome.get("completion_tokens", 0))
    return (key, model, int(time.time()), *tokens, outcome.get("cost"), json.dumps(outcome))
