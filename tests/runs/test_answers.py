import asyncio
import contextlib
import hashlib
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.runs import AnswerStore, without_secrets
from alpha_codium.runs.answers import AnswerKey, StoreBroken, key_of, question_text

QUESTION = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "temperature": 0.2, "seed": None}


def answer_key(question, sample, occurrence=0):
    return key_of(question_text(question, sample), occurrence)


@pytest.mark.parametrize(
    "other",
    [
        answer_key(QUESTION, "p#1"),
        answer_key(QUESTION, "p#0", 1),
        answer_key(QUESTION | {"model": "n"}, "p#0"),
        answer_key(QUESTION | {"temperature": 0.3}, "p#0"),
        answer_key(QUESTION | {"seed": 0}, "p#0"),
        answer_key(QUESTION | {"messages": [{"role": "system", "content": "hi"}]}, "p#0"),
    ],
    ids=["sample", "occurrence", "model", "temperature", "seed", "messages"],
)
def test_keys_differ_by_whatever_decides_the_answer(other):
    assert other != answer_key(QUESTION, "p#0")


def test_a_key_is_what_it_was_in_earlier_versions():
    """Else no run could be gone on with after an update, and every cache would be empty."""
    text = json.dumps([QUESTION, "p#0", 3], sort_keys=True, separators=(",", ":"))
    assert answer_key(QUESTION, "p#0", 3) == hashlib.sha256(text.encode()).hexdigest()


def test_a_key_does_not_depend_on_the_order_of_the_question():
    assert answer_key(dict(reversed(QUESTION.items())), "p#0") == answer_key(QUESTION, "p#0")


@given(st.text(), st.text())
def test_samples_of_different_names_have_different_keys(one, other):
    assert (answer_key(QUESTION, one) == answer_key(QUESTION, other)) == (one == other)


def test_answers_are_found_when_the_store_is_opened_again(tmp_path):
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        store.put("k", {"text": "half \ud800 a pair, \u2028"})
        assert store.get("other") is None
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        assert store.get("k") == {"text": "half \ud800 a pair, \u2028"}
        assert len(store) == 1


def test_the_first_answer_of_a_key_stays(tmp_path):
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        store.put("k", {"text": "first"})
        store.put("k", {"text": "second"})
        assert store.get("k") == {"text": "first"}


def test_an_answer_is_on_the_disk_when_put_returns(tmp_path):
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        store.put("k", {"text": "first"})
        other = sqlite3.connect(tmp_path / "answers.sqlite")
        assert other.execute("SELECT COUNT(*) FROM answers").fetchone() == (1,)
        other.close()


def test_many_threads_can_use_one_store(tmp_path):
    with AnswerStore(tmp_path / "answers.sqlite") as store, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: store.put(str(number), {"text": str(number)}), range(200)))
        assert list(pool.map(lambda number: store.get(str(number)), range(200))) == [
            {"text": str(number)} for number in range(200)
        ]


def test_a_store_can_be_closed_while_threads_use_it(tmp_path):
    def use(store):
        with contextlib.suppress(AssertionError):  # it is closed
            for number in range(10_000):
                store.put(str(number % 50), {"text": "x" * 1000})
                store.get(str(number % 50))

    for _ in range(20):
        with ThreadPoolExecutor(4) as pool:
            with AnswerStore(tmp_path / "answers.sqlite") as store:
                users = [pool.submit(use, store) for _ in range(4)]
                store.put("k", {})
            assert [user.result() for user in users] == [None] * 4


def test_parameters_with_a_secrets_name_are_left_out_at_any_depth():
    given_parameters = {
        "reasoning_effort": "low",
        "api_key": "sk-1",
        "extra_headers": {"x-api-key": "sk-2", "Authorization": "Bearer sk-3", "x-team": "a"},
        "tools": [{"token": "sk-4", "name": "t"}],
    }
    assert without_secrets(given_parameters) == {
        "reasoning_effort": "low",
        "extra_headers": {"x-team": "a"},
        "tools": [{"name": "t"}],
    }


@pytest.mark.parametrize("given_parameters", [{"eos_token": "</s>"}, {"stop-token": "END"}, {"logprobs_per_token": 2}])
def test_text_tokens_are_no_secrets(given_parameters):
    assert without_secrets(given_parameters) == given_parameters


def test_another_kind_of_database_is_refused_and_unchanged(tmp_path):
    path = tmp_path / "answers.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE answers (question TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreBroken, match=r"answers\.sqlite.*another kind of database"), AnswerStore(path):
        pass
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["answers.sqlite"]


@pytest.mark.parametrize("text", ["{", "", "nought"])
def test_a_row_that_is_no_json_is_an_error(tmp_path, text):
    path = tmp_path / "answers.sqlite"
    with AnswerStore(path) as store:
        store.put("key", {"text": "x"})
        store.note("fact", 1)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE answers SET answer = ?", (text,))
    with AnswerStore(path) as store, pytest.raises(StoreBroken, match=r"answers\.sqlite"):
        store.get("key")
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE facts SET value = ?", (text,))
    with pytest.raises(StoreBroken, match=r"answers\.sqlite"), AnswerStore(path):
        pass


async def test_an_answer_is_kept_if_its_caller_is_cancelled(tmp_path):
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        keeping = asyncio.create_task(store.keep([(AnswerKey("k"), {"text": "x"})], "m"))
        await asyncio.sleep(0)
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        assert store.get("k") == {"text": "x"}


async def test_a_busy_store_does_not_block_the_event_loop(tmp_path):
    with AnswerStore(tmp_path / "answers.sqlite") as store, store._lock:
        finding = asyncio.create_task(store.find([AnswerKey("k")]))
        await asyncio.sleep(0.01)
        assert not finding.done()
        store._lock.release()
        assert await finding == [None]
        store._lock.acquire()
