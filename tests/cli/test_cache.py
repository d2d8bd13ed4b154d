import json
import time

import pytest

from alpha_codium.runs import AnswerCache
from tests.gen.running import assert_refused, model_arguments, run_cli, write_problems
from tests.servers.scripted import ScriptedServer

ANSWER = {"text": "x" * 3000, "model": "m", "prompt_tokens": 3, "completion_tokens": 2, "cost": 0.5}


@pytest.fixture
def path(home):
    (home / "cache").mkdir(parents=True)
    return home / "cache" / "answers.sqlite"


@pytest.fixture
def filled(path):
    """A cache of three answers of one model, one of them of old, and one of another."""
    with AnswerCache(path) as cache:
        cache.put([(str(number), ANSWER) for number in range(3)], "openai/big")
        cache.put([("other", ANSWER | {"cost": None})], "openai/small")
        assert cache._connection is not None
        cache._connection.execute("UPDATE answers SET created = ? WHERE key = '0'", (int(time.time()) - 40 * 86400,))
    return path


def cache(*arguments):
    """The result of `gencode cache ...`, and what it says."""
    done = run_cli("cache", *arguments, "--json", "-")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_there_is_nothing_in_a_cache_that_was_never_used(home):
    result, said = cache("stats")
    assert (result["answers"], result["bytes"], result["oldest"], result["models"]) == (0, 0, None, {})
    assert "0 answers" in said
    assert cache("clear", "--all")[0]["answers"] == 0


@pytest.mark.thorough
def test_stats_say_what_a_run_left_and_what_the_next_one_saved(home, tmp_path):
    price = "prices.models={'openai/scripted' = {input = 1000.0, output = 1000.0}}"
    with ScriptedServer(lambda _body: "```python\nprint(input())\n```") as server:
        job = ["--dataset_name", write_problems(tmp_path, 2), "--flow", "baseline", "-o", price]
        for _ in range(3):
            done = run_cli("gen", "solve_set", *job, *model_arguments(server), "--json", "-")
            assert done.returncode == 0, done.stderr
    run = json.loads(done.stdout)
    result, said = cache("stats")
    assert (result["answers"], result["hits"]) == (2, 4)
    assert result["saved_tokens"] == 2 * (run["prompt_tokens"] + run["completion_tokens"])
    assert result["saved_cost"] == pytest.approx(2 * run["cost"])
    assert list(result["models"]) == ["openai/scripted"]
    assert "used again 4 times" in said


def test_clear_without_saying_what_forgets_nothing(filled):
    assert_refused(run_cli("cache", "clear"), "give --model or --older_than", "--all")
    assert_refused(run_cli("cache", "clear", "--all", "--model", "openai/big"), "give --model or --older_than")
    assert_refused(run_cli("cache", "clear", "--older_than", "nan"), "--older_than", "'nan' is not a number")
    assert cache("stats")[0]["answers"] == 4


def test_clear_by_model_and_by_age(filled):
    result, said = cache("clear", "--model", "openai/big", "--older_than", "30")
    assert result["answers"] == 1
    assert result["bytes"] >= 0
    assert "deleted 1 answer," in said
    assert cache("clear", "--older-than", "30")[0]["answers"] == 0
    assert cache("clear", "--model", "openai/small")[0]["answers"] == 1
    assert cache("stats")[0]["models"]["openai/big"]["answers"] == 2
    result, _ = cache("clear", "--all")
    assert result["answers"] == 2
    assert result["bytes"] > 0


def test_a_model_that_has_no_answers_is_met_with_the_nearest(filled):
    assert_refused(run_cli("cache", "clear", "--model", "openai/bigg"), "no answers of", "did you mean 'openai/big'")


def test_a_file_that_is_no_cache_is_refused_in_one_line_and_made_anew_by_all(path):
    path.write_text("something else " * 20)
    assert_refused(run_cli("cache", "stats"), "file is not a database", "gencode cache clear")
    assert_refused(run_cli("cache", "clear", "--older_than", "0"), "file is not a database")
    result, said = cache("clear", "--all")
    assert result["answers"] is None
    assert "deleted an invalid cache file" in said
    assert cache("stats")[0]["answers"] == 0
