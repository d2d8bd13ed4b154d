"""What the cache of answers holds, and making it smaller."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha_codium.errors import UserError, nearest
from alpha_codium.runs.cache import AnswerCache, NoCache, unusable

DAY_SECONDS = 24 * 3600
STATS = """SELECT model, COUNT(*), MIN(created), MAX(created), SUM(prompt_tokens), SUM(completion_tokens), SUM(hits),
SUM(hits * (prompt_tokens + completion_tokens)), SUM(hits * COALESCE(cost, 0)), SUM(hits > 0 AND cost IS NULL)
FROM answers GROUP BY model ORDER BY model"""
# What isn't given is no condition.
CLEAR = "DELETE FROM answers WHERE (:model IS NULL OR model = :model) AND (:until IS NULL OR created <= :until)"


@dataclass(frozen=True, slots=True)
class ModelStats:
    """The answers of one model: `oldest` and `newest` in Unix seconds, `saved_cost` in US dollars, None: unknown."""

    model: str
    answers: int
    oldest: int
    newest: int
    prompt_tokens: int
    completion_tokens: int
    hits: int
    saved_tokens: int
    saved_cost: float | None


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache holds, by model, and the size of its file in bytes."""

    path: Path
    bytes: int
    models: tuple[ModelStats, ...] = ()

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return sum(each.answers for each in self.models)

    @property
    def saved_cost(self) -> float | None:
        """US dollars that hits saved; None where a price is unknown."""
        costs = [each.saved_cost for each in self.models]
        return None if None in costs else sum(cost or 0 for cost in costs)

    def to_json(self) -> dict[str, Any]:
        """The numbers, in all and by model."""
        by_model = {each.model: {name: getattr(each, name) for name in each.__slots__[1:]} for each in self.models}
        sums = {name: sum(getattr(m, name) for m in self.models) for name in ("hits", "saved_tokens")}
        return {
            "path": str(self.path),
            "bytes": self.bytes,
            "answers": self.answers,
            "oldest": min((each.oldest for each in self.models), default=None),
            "newest": max((each.newest for each in self.models), default=None),
            **sums,
            "saved_cost": self.saved_cost,
            "models": by_model,
        }


def stats_of(path: Path) -> CacheStats:
    """What the cache at `path` holds; raises CacheUnusable where it can't be read."""
    if not _is_there(path):
        return CacheStats(path, 0)
    with _opened(path) as connection:
        rows = connection.execute(STATS).fetchall()
    return CacheStats(path, size_of(path), tuple(map(_model_stats, rows)))


def _model_stats(row: tuple[Any, ...]) -> ModelStats:
    *numbers, cost, unpriced = row
    return ModelStats(*numbers, saved_cost=None if unpriced else cost)


def clear(path: Path, model: str | None = None, older_than: float | None = None) -> int:
    """Forget the answers of `model` that are older than so many days, by default all; how many those were.

    Raises UserError for a model without answers, and CacheUnusable where the file can't be used.
    """
    if not _is_there(path):
        return 0
    with _opened(path) as connection:
        known = [row[0] for row in connection.execute("SELECT DISTINCT model FROM answers")]
        if model is not None and model not in known:
            raise UserError(f"the cache has no answers of {model!r}{nearest(model, known)}")
        until = None if older_than is None else time.time() - older_than * DAY_SECONDS
        gone = connection.execute(CLEAR, {"model": model, "until": until}).rowcount
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return gone


def clear_all(path: Path) -> int | None:
    """Forget all answers; how many those were, None where the file was no cache and was deleted."""
    try:
        return clear(path)
    except NoCache:
        for each in _files(path):
            each.unlink(missing_ok=True)
        return None


def size_of(path: Path) -> int:
    """The bytes of the cache's files."""
    return sum(each.stat().st_size for each in _files(path) if each.exists())


def _is_there(path: Path) -> bool:
    """Whether there is a cache, be it a link to nowhere; raises CacheUnusable where its folder can't be searched."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise unusable(path, error) from error
    return True


def _files(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in ("", "-wal", "-shm")]


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with contextlib.closing(AnswerCache(path).connect()) as connection:
            yield connection
    except (sqlite3.Error, OSError) as error:
        raise unusable(path, error) from error
