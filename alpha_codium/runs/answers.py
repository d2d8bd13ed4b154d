"""The store of a run's answers, so that no call is made twice.

1. The key consists of model, messages, parameters and sample, so that different samples get different answers. If a
   sample asks the same thing twice, the second call has another key.
2. With a cache, answers that the run lacks are looked up there and copied; new answers are put into both. The run's own
   file is enough to resume and to replay the run.
3. `find` and `keep` run in the store's own thread, so that the event loop isn't blocked. Writes to the cache aren't
   awaited.
"""

import asyncio
import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

from alpha_codium.errors import UserError
from alpha_codium.log import SECRET_NAME
from alpha_codium.runs.answer_file import AnswerFile, StoredAnswer
from alpha_codium.runs.cache import AnswerCache

# `taken` contains the keys of answers from the cache, `facts` other values on which questions depend.
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS taken (key TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
)
# The cost of a refusal is unknown, and counts as 0.
PAID = """SELECT COUNT(*), COUNT(price), COALESCE(SUM(price), 0.0) FROM (
    SELECT CASE WHEN json_extract(answer, '$.refusal') IS NULL THEN json_extract(answer, '$.cost') ELSE 0 END AS price
    FROM answers WHERE key NOT IN (SELECT key FROM taken))"""
# Names of text tokens such as `eos_token`, which affect answers and aren't secrets.
TEXT_TOKEN = re.compile(r"\b(eos|bos|pad|unk|sep|cls|mask|stop|start|begin|end|eot|eom)[-_]?token$", re.IGNORECASE)
T = TypeVar("T")


class StoreBroken(UserError):
    """A run's file of answers can't be read or written."""


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """The key of an answer in the run's store, and in the cache ("" if it isn't cached)."""

    run: str
    shared: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """The numbers of answers that a run requested and took from the cache, and the US dollars it spent, if known."""

    asked: int
    from_cache: int
    spent: float | None


def question_text(question: dict[str, Any], sample: str) -> str:
    """Return the canonical JSON of everything on which an answer depends, except the number of earlier requests."""
    return json.dumps([question, sample], sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def key_of(text: str, occurrence: int = 0) -> str:
    """Return the SHA-256 of a call: of its `question_text`, and the number of times it was asked before."""
    return hashlib.sha256(f"{text[:-1]},{occurrence}]".encode()).hexdigest()


def without_secrets(value: Any) -> Any:
    """Return parameters for a provider without those whose names are like secrets', at any depth."""
    if not isinstance(value, dict):
        return [without_secrets(item) for item in value] if isinstance(value, list | tuple) else value
    return {key: without_secrets(inner) for key, inner in value.items() if not _is_secret(str(key), inner)}


def without_user(address: str) -> str:
    """Return a URL without user, password and query."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _is_secret(name: str, value: Any) -> bool:
    if TEXT_TOKEN.search(name) or (isinstance(value, int | float) and name.lower().endswith("token")):
        return False
    return bool(SECRET_NAME.search(name.replace("-", "_"))) or name.lower().endswith("authorization")


class AnswerStore(AnswerFile):
    """The answers of a run in the file `path`, and in `cache`; a context manager that can be used from any thread.

    All methods raise StoreBroken if the file can't be read or written.
    """

    schema = SCHEMA
    columns = frozenset({"key", "answer"})

    def __init__(self, path: Path, cache: AnswerCache | None = None) -> None:
        super().__init__(path)
        self.cache = cache
        self.facts: dict[str, Any] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="answers")

    def __exit__(self, *_exc: object) -> None:
        self._thread.shutdown()  # after all pending writes, including those of cancelled calls
        self._close()

    async def find(self, keys: Sequence[AnswerKey]) -> list[StoredAnswer | None]:
        """Return the answer for each key from the run or the cache; those from the cache are copied into the run."""
        return await self._in_thread(lambda: [self.get(key.run) or self._take(key) for key in keys])

    async def keep(self, outcomes: Sequence[tuple[AnswerKey, StoredAnswer]], model: str) -> None:
        """Store answers of `model` in one transaction; they are in the run's file when this returns."""
        rows = [(key.run, outcome) for key, outcome in outcomes]
        try:
            await self._in_thread(lambda: self._put_all(rows))
        finally:  # also if the caller is cancelled
            if (cache := self.cache) is not None:
                shared = [(key.shared, outcome) for key, outcome in outcomes if key.shared]
                self._thread.submit(cache.put, shared, model)

    def note(self, name: str, value: Any) -> None:
        """Store a fact on which questions depend, so that they can be repeated exactly; returns at once."""
        if self.facts.get(name) != value:
            self.facts[name] = value
            row = (name, json.dumps(value))
            self._thread.submit(self._write, ("INSERT OR REPLACE INTO facts VALUES (?, ?)", [row]))

    def put(self, key: str, answer: StoredAnswer) -> None:
        """Store an answer, unless there is one with this key."""
        self._put_all([(key, answer)])

    def absorb(self, path: Path) -> None:
        """Add the answers of another run's file."""
        with self._using() as connection:
            connection.execute("ATTACH ? AS other", (str(path),))
            for table in ("answers", "taken", "facts"):
                connection.execute(f"INSERT OR IGNORE INTO {table} SELECT * FROM other.{table}")  # noqa: S608 - ours
            connection.commit()
            connection.execute("DETACH other")

    def spent(self) -> Spent:
        """Return the numbers of answers that the run requested and paid for, over all resumes."""
        with self._using() as connection:
            taken = connection.execute("SELECT COUNT(*) FROM taken").fetchone()[0]
            asked, known, cost = connection.execute(PAID).fetchone()
        return Spent(asked, taken, cost if known == asked else None)

    def __len__(self) -> int:
        with self._using() as connection:
            return connection.execute("SELECT COUNT(*) FROM answers").fetchone()[0]

    def _take(self, key: AnswerKey) -> StoredAnswer | None:
        """Return the cached answer with this key, after copying it into the run, or None."""
        found = self.cache.get(key.shared) if self.cache is not None and key.shared else None
        if found is not None:
            self._put_all([(key.run, found)], taken=True)
        return found

    def _put_all(self, answers: Sequence[tuple[str, StoredAnswer]], taken: bool = False) -> None:
        with self._errors_handled():
            rows = [(key, json.dumps(answer)) for key, answer in answers]
        from_cache = [(key,) for key, _ in answers] if taken else []
        self._write(
            ("INSERT OR IGNORE INTO answers VALUES (?, ?)", rows),
            ("INSERT OR IGNORE INTO taken VALUES (?)", from_cache),
        )

    def _prepare(self, connection: sqlite3.Connection) -> None:
        super()._prepare(connection)
        rows = connection.execute("SELECT name, value FROM facts")
        self.facts = {name: json.loads(value) for name, value in rows}

    async def _in_thread(self, job: Callable[[], T]) -> T:
        """Run a job in the store's own thread; it is completed even if its caller is cancelled."""
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, job))

    def _handle(self, error: Exception) -> None:
        raise StoreBroken(
            f"{self.path}, the answers of the run, can't be used: {error}; repair it, or move it away: repeated calls "
            "then cost again"
        ) from error
