"""What the adapters take from a trainer and give back, without the trainer; `test_foreign` runs the trainers."""

import asyncio
import json
import math
from types import SimpleNamespace

import pytest

import alpha_codium as ac
from alpha_codium.rewards import lm_eval_filter, lm_eval_metric, trl_reward, trl_reward_async, verifiers_reward
from alpha_codium.rewards.openrlhf import _answer
from alpha_codium.rewards.verl import compute_score

TESTS = [["1", "2"], ["21", "42"]]
RIGHT, WRONG = "```python\nprint(2 * int(input()))\n```", "```python\nprint(2)\n```"


def chat(content):
    return [{"role": "assistant", "content": content}]


@pytest.mark.parametrize(
    "completions",
    [
        [RIGHT, WRONG],
        [chat(RIGHT), [*chat(RIGHT), {"role": "user", "content": "Sure?"}, *chat(WRONG)]],
        [chat([{"type": "text", "text": RIGHT}]), chat(None)],
    ],
)
def test_trl_gets_a_reward_for_texts_and_chats(sandbox, completions):
    given = {"prompts": ["Double."] * 2, "completions": completions, "trainer_state": None}
    assert trl_reward(sandbox=sandbox)(**given, tests=[TESTS] * 2) == [1.0, 0.0]
    assert asyncio.run(trl_reward_async(sandbox=sandbox)(**given, tests=[TESTS] * 2)) == [1.0, 0.0]


def test_trl_logs_how_many_completions_were_judged(sandbox):
    logged = {}
    reward = trl_reward(sandbox=sandbox)
    given = {"prompts": ["p"] * 4, "completions": [RIGHT] * 4, "log_metric": logged.__setitem__}
    assert reward(**given, tests=[[["1", 1]], TESTS, TESTS, TESTS]) == [None, 1.0, 1.0, 1.0]
    assert logged["code_reward/asked"] == 4
    assert logged["code_reward/data_failed_rate"] == 0.25


def test_trl_s_column_of_tests_is_found_or_named(sandbox):
    reward = trl_reward(sandbox=sandbox)
    assert reward(["p"], [RIGHT], verification_info=[{"test_cases": [{"input": "1", "output": "2"}]}]) == [1.0]
    assert trl_reward(sandbox=sandbox, column="mine")(["p"], [RIGHT], tests=[[]], mine=[TESTS]) == [1.0]
    with pytest.raises(ac.UserError, match=r"no column tests or test_cases or .*, but answers"):
        reward(["p"], [RIGHT], answers=[1])


@pytest.mark.parametrize(
    ("truth", "code", "score"),
    [
        ({"inputs": ["1", "21"], "outputs": ["2", "42"]}, RIGHT, 1.0),
        ({"inputs": ["1", "21"], "outputs": ["2", "42"]}, WRONG, 0.5),
        (json.dumps({"inputs": ["1\n2"], "outputs": ["3"], "fn_name": "add"}), "def add(a, b): return a + b", 1.0),
        ({"assert_case": ["assert add(1, 2) == 3"]}, "def add(a, b): return a - b", 0.0),
        ({"inputs": [], "outputs": []}, RIGHT, None),
    ],
)
def test_verl_gets_a_score_for_each_shape_of_its_ground_truth(sandbox, truth, code, score):
    options = {"sandbox": sandbox, "scheme": "continuous"}
    found = asyncio.run(compute_score("apps", code, truth, extra_info={}, **options))
    assert (found["score"], found["acc"], found["judged"]) == (score, float(score == 1.0), score is not None)


def test_verifiers_gets_a_number_or_an_exception(sandbox):
    reward = verifiers_reward(sandbox=sandbox)
    trace = SimpleNamespace(last_reply=RIGHT)
    assert asyncio.run(reward(SimpleNamespace(tests=TESTS), trace)) == 1.0
    with pytest.raises(RuntimeError, match="couldn't be judged: there are no tests"):
        asyncio.run(reward(SimpleNamespace(tests=[]), trace))


def test_lm_eval_gets_rewards_in_place_of_answers_and_nan_where_there_is_none(sandbox):
    rewards = lm_eval_filter(sandbox=sandbox)([[RIGHT, WRONG], [RIGHT]], [{"tests": TESTS}, {"tests": []}])
    assert rewards[0] == [1.0, 0.0]
    assert math.isnan(rewards[1][0])
    assert lm_eval_metric(predictions=[rewards[0]], references=[""]) == 0.5
    assert math.isnan(lm_eval_metric(predictions=[rewards[1]], references=[""]))


def test_a_document_without_tests_costs_its_own_answers_only(sandbox):
    rewards = lm_eval_filter(sandbox=sandbox)([[RIGHT], [RIGHT], [RIGHT]], [{"tests": TESTS}, {"test": TESTS}, None])
    assert rewards[0] == [1.0]
    assert [math.isnan(each) for (each,) in rewards[1:]] == [True, True]
    with pytest.raises(KeyError):
        lm_eval_filter(field="tset", sandbox=sandbox)([[RIGHT]], [{"tests": TESTS}])


@pytest.mark.parametrize(
    ("query", "prompt", "answer"), [("ab", "a", "b"), ("ab", "", "ab"), ("ab", "x", "ab"), (None, "a", None)]
)
def test_openrlhfs_answer_is_what_follows_the_prompt(query, prompt, answer):
    assert _answer(query, prompt) == answer


def test_lm_eval_makes_tests_of_a_document_by_a_function(sandbox):
    rewards = lm_eval_filter(field=lambda doc: doc["rows"][:1], sandbox=sandbox)
    assert rewards([[RIGHT, WRONG]], [{"rows": [["1", "2"], ["no number", "2"]]}]) == [[1.0, 1.0]]
