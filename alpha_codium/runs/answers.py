"""Every answered call of a run, so that none is made twice.

The key is what was asked, of which model, with which parameters, and for which sample: k samples stay k different
samples. A sample that asks the same thing twice gets a second key for the second time, so it can be answered
differently.
"""

import hashlib
import json
import sqlite3
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from alpha_codium.log import SECRET_NAME

SCHEMA = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID"


def answer_key(question: dict[str, Any], sample: str, occurrence: int = 0) -> str:
    """The key of one call: SHA-256 over the canonical JSON of all that decides its answer."""
    text = json.dumps([question, sample, occurrence], sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def without_secrets(value: Any) -> Any:
    """Parameters for a provider without those, at any depth, that bear a secret's name: they decide no answer."""
    if not isinstance(value, dict):
        return [without_secrets(item) for item in value] if isinstance(value, list | tuple) else value
    return {key: without_secrets(inner) for key, inner in value.items() if not _is_secret(str(key))}


def _is_secret(name: str) -> bool:
    return bool(SECRET_NAME.search(name.replace("-", "_"))) or name.lower().endswith("authorization")


class AnswerStore:
    """The answers at `path`, one SQLite file; a context manager, used from any thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        """Open the file; make it where there is none."""
        self._connection = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        # Survives a killed process; only a power cut may lose the last answers, and those are asked for again.
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(SCHEMA)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file, after a call that a thread is in: a run that is cut off doesn't wait for its threads."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def get(self, key: str) -> dict[str, Any] | None:
        """The answer stored under `key`, or None."""
        with self._lock:
            row = self._open.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row else None

    def put(self, key: str, answer: dict[str, Any]) -> None:
        """Store an answer; the first one stays."""
        with self._lock:
            self._open.execute("INSERT OR IGNORE INTO answers VALUES (?, ?)", (key, json.dumps(answer)))

    def __len__(self) -> int:
        with self._lock:
            return self._open.execute("SELECT COUNT(*) FROM answers").fetchone()[0]

    @property
    def _open(self) -> sqlite3.Connection:
        assert self._connection is not None, "the store is not open"
        return self._connection
