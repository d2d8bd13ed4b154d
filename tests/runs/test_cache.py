import asyncio
import contextlib
import json
import multiprocessing
import random
import sqlite3
from pathlib import Path

import pytest

from alpha_codium.errors import UserError
from alpha_codium.runs import AnswerCache, AnswerStore
from alpha_codium.runs.answers import AnswerKey, Spent, StoreBroken
from alpha_codium.runs.cache_maintenance import stats_of
from tests.runs.cached import ANSWER, REFUSAL, filled, spoilt
from tests.support import NOWHERE


def test_answers_and_refusals_are_found_by_the_next_run(path):
    filled(path, ("k", ANSWER), ("r", REFUSAL))
    with AnswerCache(path) as cache:
        assert [cache.get(key) for key in ("k", "r", "other")] == [ANSWER, REFUSAL, None]


def test_the_first_answer_of_a_key_stays(path):
    filled(path, ("k", ANSWER), ("k", ANSWER | {"text": "second"}))
    with AnswerCache(path) as cache:
        assert cache.get("k") == ANSWER


def test_the_key_depends_on_the_scope_and_on_the_providers_own_addresses(path):
    def key(scope="", model="openai/m", **environment):
        return AnswerCache(path, scope, environment).key_of("k", model)

    keys = [key(), key("http://here"), key(OPENAI_API_BASE="http://x"), key(OPENAI_BASE_URL="http://x")]
    assert len(set(keys)) == len(keys)
    assert key() == key(AZURE_API_BASE="http://x")


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("text-completion-openai/m", "OPENAI_API_BASE"),
        ("ollama_chat/m", "OLLAMA_API_BASE"),
        ("gpt-4o", "OPENAI_BASE_URL"),
        ("claude-haiku-4-5", "ANTHROPIC_API_BASE"),
    ],
)
def test_the_address_is_part_of_the_key_if_the_model_names_no_provider(path, model, variable):
    here, there = (AnswerCache(path, "", {variable: f"http://{host}"}).key_of("k", model) for host in ("a", "b"))
    assert here != there


def test_a_store_copies_answers_from_and_to_the_cache(tmp_path, path):
    async def use():
        with AnswerCache(path) as cache, AnswerStore(tmp_path / "run1", cache) as store:
            assert await store.find([AnswerKey("a", "A"), AnswerKey("b")]) == [None, None]
            await store.keep([(AnswerKey("a", "A"), ANSWER), (AnswerKey("b"), ANSWER)], "m")
        with AnswerCache(path) as cache, AnswerStore(tmp_path / "run2", cache) as store:
            assert await store.find([AnswerKey("a", "A"), AnswerKey("b", "B")]) == [ANSWER, None]
            await store.keep([(AnswerKey("b", "B"), ANSWER)], "m")
            assert store.spent() == Spent(asked=1, from_cache=1, spent=0.5)
        with AnswerStore(tmp_path / "run2") as alone:
            assert await alone.find([AnswerKey("a", "A"), AnswerKey("b")]) == [ANSWER, ANSWER]

    asyncio.run(use())
    assert stats_of(path).to_json()["models"]["m"]["answers"] == 2
    assert stats_of(path).models[0].hits == 1


def test_spending_is_unknown_if_a_price_is_and_a_refusal_costs_nothing(tmp_path):
    with AnswerStore(NOWHERE) as store:
        assert store.spent() == Spent(0, 0, 0.0)
        store.put("a", ANSWER)
        store.put("r", REFUSAL)
        assert store.spent() == Spent(2, 0, 0.5)
        store.put("b", ANSWER | {"cost": None})
        assert store.spent() == Spent(3, 0, None)


def test_facts_are_stored_with_the_answers(tmp_path):
    with AnswerStore(tmp_path / "run") as store:
        store.note("supports", False)
        assert store.facts == {"supports": False}
    with AnswerStore(tmp_path / "run") as store:
        assert store.facts == {"supports": False}


def test_a_store_of_an_earlier_version_is_usable(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "run")) as connection, connection:
        connection.execute("CREATE TABLE answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL) WITHOUT ROWID")
        connection.execute("INSERT INTO answers VALUES ('k', ?)", (json.dumps(ANSWER),))
    with AnswerStore(tmp_path / "run") as store:
        assert store.get("k") == ANSWER
        assert store.spent() == Spent(1, 0, 0.5)


FAULTS = ["text", "torn", "noise", "foreign", "newer", "folder", "other table"]


@pytest.mark.parametrize("how", FAULTS)
def test_an_invalid_cache_is_one_warning_and_no_answer_is_lost(tmp_path, path, warnings, how):
    spoilt(path, how)

    async def use():
        with AnswerCache(path) as cache, AnswerStore(tmp_path / "run", cache) as store:
            for number in range(40):
                key = AnswerKey(str(number), f"k{number}")
                if await store.find([key]) == [None]:
                    await store.keep([(key, ANSWER)], "m")
            assert len(store) == 40

    asyncio.run(use())
    assert len(warnings) == 1, warnings
    assert str(path) in warnings[0]


def test_a_row_that_is_no_json_is_one_warning_and_no_cache(path, warnings):
    filled(path, ("k", ANSWER))
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE answers SET answer = 'no JSON'")
    with AnswerCache(path) as cache:
        assert cache.get("k") is None
        assert not cache.is_on
    assert len(warnings) == 1


def test_a_locked_cache_is_one_warning_and_no_cache(path, warnings, monkeypatch):
    filled(path, ("k", ANSWER))
    monkeypatch.setattr("alpha_codium.runs.answer_file.BUSY_SECONDS", 0.05)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other, AnswerCache(path) as cache:
        other.execute("BEGIN IMMEDIATE")
        assert cache.get("k") == ANSWER  # who reads needn't wait
        cache.put([("l", ANSWER)], "m")
        assert not cache.is_on
        assert cache.get("k") is None
    assert len(warnings) == 1
    assert "locked" in warnings[0]


def test_a_full_disk_is_one_warning_and_the_run_keeps_its_answers(tmp_path, path, warnings):
    async def use():
        with AnswerCache(path) as cache, AnswerStore(tmp_path / "run", cache) as store:
            # What SQLite says when a file can't grow is the same for a full disk.
            cache._connection.execute("PRAGMA max_page_count=4")
            for number in range(100):
                await store.keep([(AnswerKey(str(number), str(number)), ANSWER | {"text": "x" * 1000})], "m")
            assert len(store) == 100

    asyncio.run(use())
    assert len(warnings) == 1
    assert "full" in warnings[0]


def test_answers_of_a_run_that_cannot_be_stored_are_an_error(tmp_path):
    (tmp_path / "run").write_text("no database " * 20)
    with pytest.raises(StoreBroken, match="the answers of the run, can't be used"), AnswerStore(tmp_path / "run"):
        pass
    assert issubclass(StoreBroken, UserError)
    with AnswerStore(tmp_path / "full") as store:
        store._connection.execute("PRAGMA max_page_count=8")
        with pytest.raises(StoreBroken, match="full"):
            for number in range(100):
                store.put(str(number), ANSWER | {"text": "x" * 1000})
        assert store.get("0") is not None


def test_a_log_cut_off_anywhere_leaves_the_first_answers_and_no_others(tmp_path):
    """A kill or a full disk may cut what SQLite hasn't moved to its file yet."""
    with AnswerStore(tmp_path / "run") as store:
        for number in range(12):
            store.put(f"{number:02}", {"text": "x" * 1500, "model": str(number)})
        log, file = (tmp_path / "run-wal").read_bytes(), (tmp_path / "run").read_bytes()
    found = set()
    for cut in random.Random(5).sample(range(len(log)), 60):
        (tmp_path / "torn").write_bytes(file)
        (tmp_path / "torn-wal").write_bytes(log[:cut])
        with AnswerStore(tmp_path / "torn") as store:
            count = len(store)
            assert [store.get(f"{number:02}")["model"] for number in range(count)] == list(map(str, range(count)))
            store.put("after", ANSWER)
        found.add(count)
        for each in tmp_path.glob("torn*"):
            each.unlink()
    assert len(found) > 5


def use_from_a_process(path: str, name: int, count: int, begin) -> None:
    begin.wait()
    with AnswerCache(Path(path)) as cache:
        for number in range(count):
            cache.put([(f"{name}-{number}", ANSWER), (f"both-{number}", ANSWER | {"text": str(name)})], "m")
            assert cache.get(f"both-{number}") is not None
        assert cache.is_on


@pytest.mark.thorough
def test_processes_use_one_new_cache_at_once_and_nothing_is_lost(path):
    context = multiprocessing.get_context("spawn")
    begin = context.Barrier(3)
    users = [context.Process(target=use_from_a_process, args=(str(path), name, 150, begin)) for name in range(3)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert [user.exitcode for user in users] == [0, 0, 0]
    found = stats_of(path)
    assert found.answers == 4 * 150
    assert found.models[0].hits == 3 * 150
    assert found.models[0].saved_cost == 3 * 150 * 0.5
    assert found.models[0].saved_tokens == 3 * 150 * 5


@pytest.mark.parametrize("statements", range(8))
def test_a_process_killed_while_creating_the_cache_leaves_a_usable_one(path, monkeypatch, statements):
    done: list[str] = []

    class Dying(sqlite3.Connection):
        """Makes so many statements only."""

        def execute(self, *arguments):
            if len(done) == statements:
                raise KeyboardInterrupt
            done.append(arguments[0])
            return super().execute(*arguments)

    real = sqlite3.connect
    with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        patch.setattr(sqlite3, "connect", lambda *a, **k: real(*a, **k, factory=Dying))
        AnswerCache(path).connect().close()
    assert len(done) == min(statements, 7)
    filled(path, ("k", ANSWER))
    with AnswerCache(path) as opened:
        assert opened.get("k") == ANSWER
