"""Every answered call of a run, so that none is made twice.

1. The key is what was asked, of which model, with which parameters, and for which sample: k samples stay k different
   samples. A sample that asks the same thing twice gets a second key for the second time, so it can be answered
   differently.
2. Over a cache, what the run doesn't have is looked up there and copied; what it asks for is put into both. The run's
   own file alone is enough to go on with the run and to replay it.
3. `find` and `keep` do their work in one thread of the store's own: no file blocks the event loop, and no call waits
   behind what else runs in threads. What the cache takes isn't waited for.
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
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

from alpha_codium.errors import UserError
from alpha_codium.log import SECRET_NAME
from alpha_codium.runs.cache import AnswerCache
from alpha_codium.runs.store import AnswerFile, StoredAnswer

# `taken` holds the keys of what came from the cache; `facts` what else decided the questions.
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS taken (key TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
)
# A refusal costs nothing that is known of.
PAID = """SELECT COUNT(*), COUNT(price), COALESCE(SUM(price), 0.0) FROM (
    SELECT CASE WHEN json_extract(answer, '$.refusal') IS NULL THEN json_extract(answer, '$.cost') ELSE 0 END AS price
    FROM answers WHERE key NOT IN (SELECT key FROM taken))"""
# Tokens of a text, such as `eos_token`: those decide an answer.
TEXT_TOKEN = re.compile(r"\b(eos|bos|pad|unk|sep|cls|mask|stop|start|begin|end|eot|eom)[-_]?token$", re.IGNORECASE)
NOWHERE = Path(":memory:")
# The columns that each table must have, where it is there.
COLUMNS = {"answers": {"key", "answer"}, "taken": {"key"}, "facts": {"name", "value"}}
T = TypeVar("T")


class StoreBroken(UserError):
    """A run's file of answers can't be read or written."""


@dataclass(frozen=True, slots=True)
class Key:
    """Where an answer stands: in the run's store, and in the cache; empty for one that stays out of it."""

    run: str
    shared: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """Answers that a run asked for, those it took from the cache, and the US dollars it paid; None: unknown."""

    asked: int
    from_cache: int
    cost: float | None


def answer_key(question: dict[str, Any], sample: str, occurrence: int = 0) -> str:
    """The key of one call: SHA-256 over the canonical JSON of all that decides its answer."""
    return key_of(question_text(question, sample), occurrence)


def question_text(question: dict[str, Any], sample: str) -> str:
    """The canonical JSON of all that decides an answer, but for how often it was asked before."""
    return json.dumps([question, sample], sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def key_of(text: str, occurrence: int) -> str:
    """The key of a call by its `question_text`."""
    return hashlib.sha256(f"{text[:-1]},{occurrence}]".encode()).hexdigest()


def without_secrets(value: Any) -> Any:
    """Parameters for a provider without those, at any depth, that bear a secret's name: they decide no answer."""
    if not isinstance(value, dict):
        return [without_secrets(item) for item in value] if isinstance(value, list | tuple) else value
    return {key: without_secrets(inner) for key, inner in value.items() if not _is_secret(str(key), inner)}


def without_user(address: str) -> str:
    """An address without the user, the password and the query that may stand in it."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _is_secret(name: str, value: Any) -> bool:
    if TEXT_TOKEN.search(name) or (isinstance(value, int | float) and name.lower().endswith("token")):
        return False
    return bool(SECRET_NAME.search(name.replace("-", "_"))) or name.lower().endswith("authorization")


class AnswerStore(AnswerFile):
    """The answers of a run at `path`, over `cache` if there is one; a context manager, used from any thread.

    `NOWHERE` as path keeps them for as long as the store is open. Every method raises StoreBroken where the file
    can't be read or written.
    """

    schema = SCHEMA
    columns = COLUMNS

    def __init__(self, path: Path, cache: AnswerCache | None = None) -> None:
        super().__init__(path)
        self.cache = cache
        self.facts: dict[str, Any] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="answers")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file, after what was still to be written, be it of calls that were cut off."""
        self._thread.shutdown()
        self._close()

    async def find(self, keys: Sequence[Key]) -> list[StoredAnswer | None]:
        """What the run, else the cache, holds under each key; what comes from the cache is the run's, too."""
        return await self._in_thread(lambda: [self.get(key.run) or self._take(key) for key in keys])

    async def keep(self, outcomes: Sequence[tuple[Key, StoredAnswer]], model: str) -> None:
        """Store what came of calls to `model`; those of a run are on the disk when this returns, all or none."""
        rows = [(key.run, outcome) for key, outcome in outcomes]
        try:
            await self._in_thread(lambda: self._put_all(rows))
        finally:  # the cache's too where the caller is cancelled
            if (cache := self.cache) is not None:
                shared = [(key.shared, outcome) for key, outcome in outcomes if key.shared]
                self._thread.submit(cache.put, shared, model)

    def note(self, name: str, value: Any) -> None:
        """Keep a fact that decides questions, so that they can be asked the same way again; returns at once."""
        if self.facts.get(name) != value:
            self.facts[name] = value
            row = (name, json.dumps(value))
            self._thread.submit(self._write, ("INSERT OR REPLACE INTO facts VALUES (?, ?)", [row]))

    def put(self, key: str, answer: StoredAnswer) -> None:
        """Store an answer; the first one stays."""
        self._put_all([(key, answer)])

    def spent(self) -> Spent:
        """What the run asked for and paid, over all the times that it was gone on with."""
        with self._using() as connection:
            taken = connection.execute("SELECT COUNT(*) FROM taken").fetchone()[0]
            asked, known, cost = connection.execute(PAID).fetchone()
        return Spent(asked, taken, cost if known == asked else None)

    def __len__(self) -> int:
        with self._using() as connection:
            return connection.execute("SELECT COUNT(*) FROM answers").fetchone()[0]

    def _take(self, key: Key) -> StoredAnswer | None:
        """What the cache holds under the key, copied into the run."""
        found = self.cache.get(key.shared) if self.cache is not None and key.shared else None
        if found is not None:
            self._put_all([(key.run, found)], taken=True)
        return found

    def _put_all(self, answers: Sequence[tuple[str, StoredAnswer]], taken: bool = False) -> None:
        with self._faults_handled():
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
        """What a job gives in the store's own thread; it is done even where its caller is cancelled."""
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, job))

    def _handle(self, error: Exception) -> None:
        raise StoreBroken(
            f"{self.path}, the answers of the run, can't be used: {error}; mend it, or move it away, and what is "
            "asked again is paid for again"
        ) from error
