"""What a completion gets, and that faults of the judge are no verdicts."""

import asyncio
import json
import math
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import alpha_codium as ac
from alpha_codium.problem import CheckerSpec
from alpha_codium.rewards import CodeReward, rates
from tests.rewards.faulty import FaultySandbox
from tests.serve.serving import started

TESTS = [("1", "2"), ("21", "42"), ("4", "8"), ("0", "0")]
RIGHT = "It doubles:\n```python\nprint(2 * int(input()))\n```"
CONSTANT = "```python\nprint(2)\n```"
REFUSAL = "I can't solve this."
MANY = [(str(number), str(2 * number)) for number in range(30)]
LATE = "```python\nx = int(input())\nprint(2 * x if x < 25 else 0)\n```"


def rewards(answers, tests, sandbox, **options):
    scored = CodeReward(sandbox=sandbox, **options).score(answers, [tests] * len(answers))
    return [each.reward for each in scored]


@pytest.mark.parametrize(
    ("scheme", "expected"), [("all", [1.0, 0.0, 0.0]), ("share", [1.0, 0.25, 0.0]), ("continuous", [1.0, 0.25, 0.0])]
)
def test_a_program_is_paid_for_all_tests_or_for_its_share(sandbox, scheme, expected):
    assert rewards([RIGHT, CONSTANT, REFUSAL], TESTS, sandbox, scheme=scheme) == expected


def test_of_many_tests_the_continuous_reward_counts_ten_and_full_reward_needs_all(sandbox):
    half = LATE.replace("25", "5")
    assert rewards([RIGHT, LATE, half], MANY, sandbox, scheme="continuous") == [1.0, 0.9, 0.5]
    assert rewards([RIGHT, LATE, half], MANY, sandbox, scheme="share") == [1.0, 25 / 30, 5 / 30]


@pytest.mark.parametrize(("scheme", "runs"), [("all", 1), ("continuous", 10), ("share", 30)])
def test_tests_that_cannot_change_the_reward_do_not_run(scheme, runs):
    with FaultySandbox(workers=2) as counting:
        assert rewards(["```python\nprint('no')\n```"], MANY, counting, scheme=scheme) == [0.0]
        assert counting.sandbox.asked == runs


def test_a_penalty_takes_less_than_the_whole_reward(sandbox):
    long = RIGHT + " " * (2000 - len(RIGHT))
    assert rewards([long, CONSTANT], TESTS, sandbox, length_penalty=0.5) == [0.5, 0.0]
    slow = "```python\nimport time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n"
    slow += "print(2 * int(input()))\n```"
    fast, slower = rewards([RIGHT, slow], TESTS[:1], sandbox, time_penalty=1.0)
    assert 0.5 < slower < 0.8 < fast < 1.0


@pytest.mark.thorough
def test_the_judge_is_asked_again_for_what_it_could_not_judge_and_no_reward_is_another(sandbox):
    answers = [RIGHT, CONSTANT, LATE, REFUSAL]
    with FaultySandbox(0.1, workers=2) as faulty:
        for scheme in ("all", "share", "continuous"):
            expected = rewards(answers, MANY, sandbox, scheme=scheme)
            assert rewards(answers, MANY, faulty, scheme=scheme, retries=5) == expected
        assert faulty.sandbox.lost > 0


def test_what_still_fails_has_no_reward_and_never_0(warnings):
    with FaultySandbox(never={"4"}, workers=2) as faulty:
        reward = CodeReward(sandbox=faulty)
        right, wrong = reward.score([RIGHT, CONSTANT], [TESTS] * 2)
        assert faulty.sandbox.lost == 1 + reward.retries
        shares = rewards([RIGHT, CONSTANT], TESTS, faulty, scheme="share")
        assert rewards([RIGHT], TESTS, faulty, unjudged=0.5) == [0.5]
    assert (right.reward, right.judged, right.message) == (None, False, "the worker was lost")
    assert (right.tests_passed, right.tests_total) == (2, 4)
    assert (wrong.reward, wrong.judged) == (0.0, True), "it fails another test"
    assert shares == [None, None]
    assert (right.fault, wrong.fault) == ("infra", "")
    said = "".join(warnings)
    assert "1 completion of 2 couldn't be judged (such reasons are logged once); completion 0: the worker was" in said
    assert said.count("the worker was lost") == 1


def test_without_tests_or_with_a_malformed_one_there_is_no_reward(sandbox):
    program = "def f(x):\n    return x"
    assert rewards([program, REFUSAL], [], sandbox) == [None, None]
    assert rewards([program], ["assert f(1) == 1", "assert f(1) == "], sandbox) == [None]


def test_what_only_the_programs_own_process_can_decide_is_not_paid(sandbox):
    program = "class P:\n    def __init__(self, x): self.x = x\n    def __eq__(self, other): return True\n"
    tests = ["assert P(1) == P(2)"]
    scored = CodeReward(sandbox=sandbox).score([program], [tests])[0]
    assert scored.reward is None and "forge" in scored.message
    assert rewards([program], tests, sandbox, in_process=True) == [1.0]


ODD_ROWS = [
    [["1", 2]],
    [(1, 2)],
    {"inputs": None, "outputs": None},
    {"inputs": ["1", "2"], "outputs": ["2"]},
    {"inputs": ["1"], "outputs": [None]},
    {"inputs": ["1"], "outputs": ["[1, "], "fn_name": "f"},
    {"inputs": ["1"], "outputs": ["1"], "fn_name": 7},
    {"inputs": {1}, "outputs": {2}},
    {"test_cases": {"test_cases": None}},
    {"stdin": []},
    None,
    float("nan"),
    b"x",
    "",
    [],
    '{"inputs":',
    "[" * 100_000,
    ["assert ("],
    ["x = 1"],
    [["\ud800", "1"]],
    ["def test_f(database): assert f(database)"],
    ac.Problem("p", private_tests=(ac.TestCase("1", "2"),), checker=ac.CheckerSpec("nothing")),
    ac.Problem("p", private_tests=(ac.TestCase("1", "2"),), execution=ac.ExecutionSpec("dance")),
    object(),
]


def test_a_row_that_cannot_be_judged_is_the_datas_fault_and_ends_no_batch(sandbox, warnings):
    rows = [each for row in ODD_ROWS for each in (TESTS, row)]
    scores = CodeReward(sandbox=sandbox, retries=0).score([RIGHT] * len(rows), rows)
    assert [each.reward for each in scores[::2]] == [1.0] * len(ODD_ROWS)
    assert [(each.reward, each.fault) for each in scores[1::2]] == [(None, "data")] * len(ODD_ROWS)
    assert all(each.message for each in scores[1::2])
    found = rates(scores)
    assert (found["asked"], found["judged"], found["data_failed"], found["infra_failed"]) == (
        len(rows),
        len(ODD_ROWS),
        len(ODD_ROWS),
        0,
    )
    assert found["data_failed_rate"] == 0.5
    assert "completion 1: the tests can't be read: tests[0] must be a pair of texts" in "".join(warnings)


def test_each_kind_of_reason_is_logged_once(sandbox, warnings):
    odd = {"inputs": ["1", "2", "3"], "outputs": ["2"], "once": 1}
    for _ in range(3):
        CodeReward(sandbox=sandbox).score([RIGHT] * 3, [TESTS, odd, odd])
    assert "".join(warnings).count("must have as many outputs") == 1


@pytest.mark.parametrize(
    "fields",
    [
        *({"time_limit_seconds": each} for each in (-1, float("nan"), float("inf"), 1e300)),
        *({"memory_limit_bytes": each} for each in (-1, 1, 2**63)),
        {"checker": ac.CheckerSpec("none_such")},
        {"input_file": "\ud800"},
        {"execution": ac.ExecutionSpec("stdin", setup_code="x = (")},
    ],
)
def test_a_problem_with_an_odd_field_costs_its_own_row_only(sandbox, fields):
    odd = ac.Problem("odd", private_tests=(ac.TestCase("1", "2"),), **fields)
    row, other = CodeReward(sandbox=sandbox).score([RIGHT, RIGHT], [odd, TESTS])
    assert (row.reward, row.fault, other.reward) == (None, "data", 1.0)


def test_limits_may_be_numbers_of_numpy(sandbox):
    limits = {"memory_limit_bytes": np.int64(2**30), "time_limit_seconds": np.float32(2)}
    problem = ac.Problem("p", private_tests=(ac.TestCase("1", "2"),), **limits)
    assert rewards([RIGHT], problem, sandbox, rules={"memory_bytes": np.int64(2**30)}) == [1.0]
    assert problem == ac.Problem.from_json(json.loads(json.dumps(problem.to_json())))


def test_answers_are_not_read_after_the_deadline(sandbox):
    scores = CodeReward(sandbox=sandbox, deadline=1e-9).score([RIGHT] * 2, [TESTS] * 2)
    assert [(each.reward, each.fault) for each in scores] == [(None, "infra")] * 2


@pytest.mark.parametrize("completion", [None, [], ["x"], b"x", [{"role": "assistant", "content": None}]])
def test_a_completion_without_a_program_gets_nothing(sandbox, completion):
    assert rewards([completion, RIGHT], TESTS, sandbox) == [0.0, 1.0]


def test_the_text_of_a_completion_may_be_in_a_chat_or_a_message(sandbox):
    message = {"role": "assistant", "content": RIGHT}
    parts = [{"type": "text", "text": RIGHT}]
    forms = [[message], message, SimpleNamespace(content=RIGHT), np.array([message]), RIGHT.encode()]
    forms += [{"content": each} for each in (parts, parts[0], [RIGHT])]
    assert rewards(forms, TESTS, sandbox) == [1.0] * len(forms)


@pytest.mark.parametrize("completion", [7, 1.5, object(), [7], {"content": 7}])
def test_a_completion_that_is_no_text_is_not_rewarded(sandbox, completion):
    wrong, right = CodeReward(sandbox=sandbox).score([completion, RIGHT], [TESTS] * 2)
    assert (wrong.reward, wrong.fault, right.reward) == (None, "data", 1.0)
    assert wrong.message.startswith("the answer can't be read: it must be a text")


def test_what_is_not_judged_at_the_deadline_has_no_reward(sandbox):
    slow = "```python\nimport time\ntime.sleep(3)\n```"
    scores = CodeReward(sandbox=sandbox, deadline=1.0).score([RIGHT, slow, REFUSAL], [TESTS] * 3)
    assert [each.reward for each in scores] == [1.0, None, 0.0]
    assert (scores[1].fault, scores[1].message) == (
        "infra",
        "it wasn't judged within 1 s, the deadline of its batch",
    )
    assert rewards([RIGHT], TESTS, sandbox) == [1.0]


@pytest.mark.thorough
def test_faults_and_malformed_rows_change_no_other_reward(sandbox):
    answers = [RIGHT, CONSTANT, LATE, REFUSAL] * 100
    rows = [TESTS if place % 20 else ODD_ROWS[place // 20] for place in range(len(answers))]
    with FaultySandbox(0.05, workers=2) as faulty:
        found = CodeReward(sandbox=faulty, retries=5).score(answers, rows)
        assert faulty.sandbox.lost > 10
    without = CodeReward(sandbox=sandbox).score(answers, rows)
    assert [each.reward for each in found] == [each.reward for each in without]
    assert rates(found)["data_failed"] == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "most"}, "scheme must be one of all, share, continuous, not 'most'"),
        ({"language": "cobol"}, "cobol"),
        ({"length_penalty": -1.0}, "length_penalty must be at least 0 and finite, not -1.0"),
        ({"time_penalty": float("nan")}, "time_penalty must be at least 0 and finite"),
        ({"deadline": float("inf")}, "deadline must be at least 0 and finite"),
        ({"workers": -1}, "workers must be at least 0 and finite"),
        ({"rules": {"cpu_seconds": -1}}, "rules: its limits: cpu_seconds must be above 0"),
        ({"rules": {"cpu_seconds": "2"}}, "rules: its limits"),
        ({"rules": {"seconds": 2}}, "rules: .* unexpected keyword argument 'seconds'"),
    ],
)
def test_an_invalid_option_is_an_error_at_once(options, message):
    with pytest.raises(ac.UserError, match=message):
        CodeReward(**options)


def test_it_is_awaited_in_any_event_loop_and_called_from_threads(sandbox):
    async def both():
        reward = CodeReward(sandbox=sandbox, rules={"cpu_seconds": 1.0})
        found = await asyncio.gather(
            reward.score_async([RIGHT], [TESTS]), reward.score_async([CONSTANT], [TESTS]),
            asyncio.to_thread(reward.score, [RIGHT], [TESTS]),
        )  # fmt: skip
        return [scored.reward for (scored,) in found]

    assert asyncio.run(both()) == [1.0, 0.0, 1.0]


@pytest.mark.thorough
def test_servers_give_the_same_rewards(sandbox, monkeypatch):
    calls = ac.Problem(
        "add", private_tests=(ac.TestCase("[1, 2]", "3"),), execution=ac.ExecutionSpec("call", entry_point="add")
    )
    cases = [
        (RIGHT, TESTS), (CONSTANT, TESTS), (LATE, MANY), (REFUSAL, TESTS), (RIGHT, []),
        ("def add(a, b): return a + b", calls), ("def add(a, b): return a - b", calls),
        ("def add(a, b): return a + b", ["assert add(1, 2) == 3"]), ("print(1 / 3)", [("", "0.333")]),
        ("print(open('in').read())", ac.Problem("file", private_tests=(ac.TestCase("1", "1"),), input_file="in")),
    ]  # fmt: skip
    answers, tests = zip(*cases, strict=True)
    monkeypatch.setenv("TOKEN_OF_THE_TEST", "secret")
    with started(GENCODE_SERVE_TOKEN="secret") as (address, _):
        for options in ({}, {"scheme": "share"}, {"scheme": "continuous"}, {"rules": {"delta": 0.01}}):
            here = CodeReward(sandbox=sandbox, **options).score(answers, tests)
            there = CodeReward(urls=address, token_env="TOKEN_OF_THE_TEST", **options).score(answers, tests)
            assert there == here
        assert [each.reward for each in here] == [1.0, 0.0, 0.0, 0.0, None, 1.0, 0.0, 1.0, 1.0, 1.0]
        with pytest.raises(ac.UserError, match="NOT_SET"):
            CodeReward(urls=address, token_env="NOT_SET").score([RIGHT], [TESTS])


@pytest.mark.thorough
def test_a_row_that_cannot_be_sent_or_is_refused_takes_no_reward_from_others(sandbox):
    assertions, code = ["assert f(1) == 2"], "def f(x): return 2 * x"
    test = ac.TestCase("1", "2")
    broken = ac.ExecutionSpec("assertions", setup_code="x = (")
    rows = [
        *({"time_limit_seconds": each} for each in (-1.0, math.nan, math.inf, 10_000.0)),
        *({"memory_limit_bytes": each} for each in (-1, 2**40)),
        {"checker": CheckerSpec("tokens", {"case_sensitive": {1}})},
        {"private_tests": (ac.TestCase("assert f(1) == 2", ""),), "execution": broken},
    ]
    odd = [ac.Problem("odd", **{"private_tests": (test,)} | row) for row in rows]
    with started() as (address, _):
        answers = [RIGHT, code, *[RIGHT] * len(rows[:-1]), code, code, RIGHT]
        found = CodeReward(urls=address).score(answers, [TESTS, assertions, *odd, assertions, TESTS])
    assert [each.reward for each in found] == [1.0, 1.0, *[None] * len(odd), 1.0, 1.0]
    assert all(address not in each.message for each in found)


@pytest.mark.thorough
def test_servers_give_the_same_reasons_for_rows_that_cannot_be_judged(sandbox):
    code = "def f(x): return 2 * x"
    call = ac.ExecutionSpec("call", entry_point="f")
    malformed = ac.Problem("row", private_tests=(ac.TestCase("[1]", "2"), ac.TestCase("1", "2")), execution=call)
    tests = [["x = 1"], ["assert f('\ud800') == 1"], malformed, [], 5]
    with started() as (address, _):
        for scheme in ("all", "share"):
            here, there = (
                CodeReward(scheme, **judges).score([code] * len(tests), tests)
                for judges in ({"sandbox": sandbox}, {"urls": address})
            )
            assert there == here
            assert [each.fault for each in here] == ["data"] * len(tests)


def test_a_server_that_does_not_answer_at_first_is_an_error():
    with pytest.raises(ac.UserError, match="no server answers"):
        CodeReward(urls=["http://127.0.0.1:9"]).score([RIGHT], [TESTS])


def test_importing_the_package_imports_no_trainer_and_nothing_heavy():
    code = "import sys, alpha_codium.rewards as r; assert len(dir(r)) > 4; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    heavy = {"trl", "verl", "openrlhf", "verifiers", "inspect_ai", "lm_eval", "torch", "httpx", "pydantic", "yaml"}
    assert heavy & set(done.stdout.split()) == set()
