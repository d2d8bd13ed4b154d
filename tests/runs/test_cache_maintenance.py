"""What is in the cache, and forgetting it."""

import contextlib
import sqlite3

import pytest

from alpha_codium.errors import UserError
from alpha_codium.runs import AnswerCache
from alpha_codium.runs.cache import CacheUnusable, NotACache
from alpha_codium.runs.cache_maintenance import clear, clear_all, stats_of
from tests.runs.cached import ANSWER, aged, filled, spoilt


def test_stats_have_models_days_tokens_and_unknown_prices(path):
    filled(path, ("a", ANSWER), ("b", ANSWER))
    filled(path, ("c", ANSWER | {"cost": None}), model="n")
    aged(path, "a", 3)
    found = stats_of(path)
    one, other = found.models
    assert (one.model, one.answers, one.prompt_tokens, one.completion_tokens) == ("m", 2, 6, 4)
    assert one.newest - one.oldest == pytest.approx(3 * 86400, abs=5)
    assert (other.model, other.saved_cost) == ("n", 0)
    with AnswerCache(path) as cache:
        cache.get("c")
    assert stats_of(path).to_json()["saved_cost"] is None
    assert stats_of(path).bytes > 0


def test_clear_deletes_the_chosen_answers_and_nothing_else(path):
    filled(path, *((key, ANSWER | {"text": "x" * 4000}) for key in ("old", "new")))
    filled(path, ("other", ANSWER), model="n")
    aged(path, "old", 10)
    aged(path, "other", 10)
    before = stats_of(path).bytes
    assert clear(path, "m", 5) == 1
    assert stats_of(path).bytes < before
    with pytest.raises(UserError, match=r"no answers of 'mm' .did you mean 'm'"):
        clear(path, "mm")
    with AnswerCache(path) as cache:
        assert [cache.get(key) is None for key in ("old", "new", "other")] == [True, False, False]
    assert clear(path, older_than=5) == 1
    assert clear(path, "m") == 1
    assert stats_of(path).answers == 0


def test_clear_does_not_disturb_a_run_that_uses_the_cache(path):
    with AnswerCache(path) as cache:
        cache.put([("k", ANSWER)], "m")
        assert clear_all(path) == 1
        cache.put([("k", ANSWER)], "m")
        assert cache.get("k") == ANSWER


@pytest.mark.parametrize("how", ["text", "noise", "foreign", "newer"])
def test_clear_all_recreates_an_invalid_cache_and_other_commands_refuse_it(path, how):
    spoilt(path, how)
    for refused in (lambda: stats_of(path), lambda: clear(path, "m")):
        with pytest.raises(NotACache, match="gencode cache clear"):
            refused()
    assert clear_all(path) is None
    filled(path, ("k", ANSWER))
    assert stats_of(path).answers == 1


def test_clear_all_does_not_delete_a_locked_file(path, monkeypatch):
    filled(path, ("k", ANSWER))
    monkeypatch.setattr("alpha_codium.runs.answer_file.BUSY_SECONDS", 0.05)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CacheUnusable, match="locked"):
            clear_all(path)
        other.execute("ROLLBACK")
    assert stats_of(path).answers == 1
