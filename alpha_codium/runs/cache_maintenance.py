"""Statistics of the cache of answers, and deletion of answers."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from alpha_codium.errors import UserError, nearest
from alpha_codium.runs.cache import AnswerCache, NotACache, unusable
from alpha_codium.values import JsonValue, named
from alpha_codium.wording import counted, in_dollars, size_text

DAY_SECONDS = 24 * 3600
STATS = """SELECT model, COUNT(*), MIN(created), MAX(created), SUM(prompt_tokens), SUM(completion_tokens), SUM(hits),
SUM(hits * (prompt_tokens + completion_tokens)),
CASE WHEN SUM(hits > 0 AND cost IS NULL) THEN NULL ELSE SUM(hits * COALESCE(cost, 0)) END
FROM answers GROUP BY model ORDER BY model"""
# A parameter of NULL is ignored.
CLEAR = "DELETE FROM answers WHERE (:model IS NULL OR model = :model) AND (:until IS NULL OR created <= :until)"


@dataclass(frozen=True, slots=True)
class ModelStats(JsonValue):
    """The answers of one model; `oldest` and `newest` are Unix seconds, `saved_cost` US dollars or None if unknown."""

    in_json: ClassVar[Mapping[str, str]] = named(
        *("answers", "oldest", "newest", "prompt_tokens", "completion_tokens", "hits", "saved_tokens", "saved_cost")
    )

    model: str
    answers: int
    oldest: int | None
    newest: int | None
    prompt_tokens: int
    completion_tokens: int
    hits: int
    saved_tokens: int
    saved_cost: float | None

    def line(self) -> str:
        """Return the statistics in one line."""
        days = " to ".join(f"{datetime.fromtimestamp(each or 0, UTC):%Y-%m-%d}" for each in (self.oldest, self.newest))
        tokens = counted(self.prompt_tokens + self.completion_tokens, "token")
        cost = "an unknown amount" if self.saved_cost is None else in_dollars(self.saved_cost)
        saved = f"used again {counted(self.hits, 'time')}, which saved {counted(self.saved_tokens, 'token')} and {cost}"
        return f"{counted(self.answers, 'answer')} from {days}, {tokens}; {saved}"


@dataclass(frozen=True, slots=True)
class CacheStats(JsonValue):
    """Statistics of a cache by model; `bytes` is the size of its files."""

    in_json: ClassVar[Mapping[str, str]] = named("path", "bytes", "total", models="by_model")
    beside: ClassVar[Sequence[str]] = ("total",)

    path: Path
    bytes: int
    models: tuple[ModelStats, ...] = ()

    @property
    def answers(self) -> int:
        """The number of answers."""
        return sum(each.answers for each in self.models)

    @property
    def total(self) -> ModelStats:
        """The statistics of all models together."""
        days = [day for each in self.models for day in (each.oldest, each.newest) if day is not None]
        costs = [each.saved_cost for each in self.models]
        names = ("prompt_tokens", "completion_tokens", "hits", "saved_tokens")
        sums = {name: sum(getattr(each, name) for each in self.models) for name in names}
        cost = None if None in costs else sum(cost or 0 for cost in costs)
        return ModelStats("", self.answers, min(days, default=None), max(days, default=None), **sums, saved_cost=cost)

    @property
    def by_model(self) -> dict[str, ModelStats]:
        """The statistics of each model."""
        return {each.model: each for each in self.models}

    def lines(self) -> list[str]:
        """Return the statistics as text: a line in total, and one for each model."""
        width = max((len(each.model) for each in self.models), default=0)
        total = f"{counted(self.answers, 'answer')}, {size_text(self.bytes)} in {self.path}"
        return [total, *(f"  {each.model:{width}}  {each.line()}" for each in self.models)]


def stats_of(path: Path) -> CacheStats:
    """Return the statistics of the cache `path`; raises CacheUnusable if it can't be read."""
    if not os.path.lexists(path):
        return CacheStats(path, 0)
    with _opened(path) as connection:
        rows = connection.execute(STATS).fetchall()
    return CacheStats(path, size_of(path), tuple(ModelStats(*row) for row in rows))


def clear(path: Path, model: str | None = None, older_than: float | None = None) -> int:
    """Delete answers, by default all: those of `model`, or older than `older_than` days; return their number.

    Raises UserError for a model without answers, and CacheUnusable if the file can't be used.
    """
    if not os.path.lexists(path):
        return 0
    with _opened(path) as connection:
        known = [row[0] for row in connection.execute("SELECT DISTINCT model FROM answers")]
        if model is not None and model not in known:
            raise UserError(f"the cache has no answers of {model!r}{nearest(model, known)}")
        until = None if older_than is None else time.time() - older_than * DAY_SECONDS
        deleted = connection.execute(CLEAR, {"model": model, "until": until}).rowcount
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return deleted


def clear_all(path: Path) -> int | None:
    """Delete all answers and return their number; a file that isn't a cache is deleted, and None returned."""
    try:
        return clear(path)
    except NotACache:
        for each in _files(path):
            each.unlink(missing_ok=True)
        return None


def size_of(path: Path) -> int:
    """Return the size of the cache's files in bytes."""
    return sum(each.stat().st_size for each in _files(path) if each.exists())


def _files(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")]


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with contextlib.closing(AnswerCache(path).connect()) as connection:
            yield connection
    except (sqlite3.Error, OSError) as error:
        raise unusable(path, error) from error
