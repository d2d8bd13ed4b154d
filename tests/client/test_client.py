"""The client, with real servers; and in a process in which what only Linux has can't be imported."""

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from alpha_codium.client import Judge, JudgeError, RequestRefused
from alpha_codium.rewards import CodeReward
from tests.serve.serving import started
from tests.support import ROOT

ADD = "print(sum(map(int, input().split())))"
TESTS = [{"input": "1 2", "output": "3"}, {"input": "4 5", "output": "9"}]
PAIRS = [[test["input"], test["output"]] for test in TESTS]
ANSWERS = [f"```python\n{ADD}\n```", f"```python\n{ADD.replace('sum', 'max')}\n```", "I give up."]
NOBODY = "http://127.0.0.1:9"
pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with started() as (address, _):
        yield address


def test_programs_are_judged_alone_and_many_at_a_time_in_the_order_of_the_requests(url):
    judge = Judge([url, NOBODY])
    answer = judge.judge(ADD, TESTS)
    assert (answer["verdict"], answer["tests_passed"]) == ("accepted", 2)
    requests = [{"program": f"print({number})", "tests": [{"input": "", "output": "7"}]} for number in range(20)]
    found = judge.judge_many(requests)
    assert [each and each["accepted"] for each in found] == [number == 7 for number in range(20)]


def test_rewards_are_those_of_the_package(url):
    tests = [PAIRS, PAIRS, PAIRS]
    for options in ({}, {"scheme": "share"}, {"scheme": "continuous", "length_penalty": 1.0}):
        ours = [scored.reward for scored in CodeReward(**options).score(ANSWERS, tests)]
        assert Judge(url).rewards(ANSWERS, tests, **options) == ours
    call = {"inputs": ["1\n2"], "outputs": ["3"], "fn_name": "add"}
    assert Judge(url).rewards(["def add(a, b):\n    return a + b"] * 2, [call, json.dumps(call)]) == [1.0, 1.0]


def test_rewards_count_in_the_measures_of_the_server(url):
    def tests_run() -> float:
        text = httpx.get(f"{url}/metrics").text
        return float(re.search(r"^gencode_tests_total (.*)$", text, re.MULTILINE)[1])

    before = tests_run()
    assert Judge(url).rewards(ANSWERS[:1], [PAIRS]) == [1.0]
    assert tests_run() == before + len(PAIRS)


async def test_a_loop_that_runs_may_use_both_forms(url):
    assert (await Judge(url).judge_async(ADD, TESTS))["accepted"] and Judge(url).judge(ADD, TESTS)["accepted"]


def test_a_row_without_usable_tests_has_no_reward_and_says_whose_fault_it_is(url):
    right, empty, broken = Judge(url).scores([ANSWERS[0]] * 3, [PAIRS, [], [[1, 2]]])
    assert right and empty and broken
    assert (right["reward"], right["fault"]) == (1.0, "")
    assert (empty["reward"], empty["fault"], empty["message"]) == (None, "data", "there are no tests")
    assert (broken["reward"], broken["fault"]) == (None, "data")


def test_a_row_that_is_no_json_has_no_reward_and_the_others_have_theirs(url):
    answers, tests = [*ANSWERS[:1] * 3, b"1"], [{1, 2}, PAIRS, [[b"1", "2"]], PAIRS]
    assert Judge(url).rewards(answers, tests) == [None, 1.0, None, None]
    score = Judge(url).scores(answers, tests)[0]
    assert score and score["fault"] == "data"
    assert (
        score["message"]
        == "the answer and its tests can't be sent as JSON: Object of type set is not JSON serializable"
    )


def test_why_an_answer_has_no_reward_is_logged_and_what_has_no_tests_is_asked_for_once(url, caplog):
    assert Judge(url).rewards(ANSWERS[:1] * 3, [PAIRS, [], [[1, 2]]]) == [1.0, None, None]
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "2 of 3 have no reward; answer 1: there are no tests"
    ]
    caplog.clear()
    assert Judge(url).judge_many([{"program": ADD, "tests": []}]) == [None]
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "a program couldn't be judged: there are no tests"
    ]
    with pytest.raises(JudgeError, match="couldn't be judged: there are no tests"):
        Judge(url).judge(ADD, [])


def test_arguments_that_cannot_be_meant_are_errors(url):
    with pytest.raises(ValueError, match="1 answers have tests for 2: each needs its own"):
        Judge(url).rewards(ANSWERS[:1], [PAIRS, PAIRS])
    with pytest.raises(ValueError, match="name a server"):
        Judge([])


def test_an_invalid_request_is_refused_and_a_server_that_is_none_is_an_error(url):
    with pytest.raises(RequestRefused, match="scheme: "):
        Judge(url).rewards(ANSWERS[:1], [PAIRS], scheme="most")
    with pytest.raises(RequestRefused, match="language: there is no 'cobol'"):
        Judge(url).judge(ADD, TESTS, language="cobol")
    with pytest.raises(JudgeError, match=f"no server answers: {NOBODY}"):
        Judge(NOBODY).judge(ADD, TESTS)


def test_what_is_not_judged_by_the_deadline_has_none(url):
    endless = [{"program": "while True: pass", "tests": TESTS, "time_limit_seconds": 60}]
    assert Judge(url, deadline=1.0).judge_many(endless) == [None]
    end = time.monotonic() + 30
    while httpx.get(f"{url}/v1/info").json()["queued"]:  # the server ends what nobody waits for
        assert time.monotonic() < end
        time.sleep(0.05)


def test_programs_that_were_judged_before_the_deadline_have_their_verdicts(url):
    quick = [{"program": ADD, "tests": TESTS}] * 3
    endless = {"program": "while True: pass", "tests": TESTS, "time_limit_seconds": 60}
    found = Judge(url, deadline=5.0).judge_many([*quick, endless])
    assert [each and each["accepted"] for each in found] == [True, True, True, None]
    answers = [ANSWERS[0], "```python\nwhile True: pass\n```", ANSWERS[0]]
    assert Judge(url, deadline=3.0).rewards(answers, [PAIRS] * 3) == [1.0, None, 1.0]


def test_a_program_that_cannot_be_judged_has_its_reason_and_the_others_their_verdicts(url, caplog):
    odd = [
        {"id": b"1"},
        {"language": "cobol"},
        {"checker": {"name": "flaot"}},
        {"kind": "assertions", "setup_code": "x = ("},
        {"time_limit_seconds": 1e9},
        {"time_limit": 3},
        {"problem": "unknown"},
    ]
    requests = [{"program": ADD, "tests": TESTS} | fields for fields in ({}, *odd, {})]
    assert [each and each["accepted"] for each in Judge(url).judge_many(requests)] == [True, *[None] * len(odd), True]
    logged = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    reasons = [
        "bytes is not JSON serializable",
        "there is no 'cobol'",
        "there is no checker 'flaot'",
        "its setup code isn't Python",
        "time_limit_seconds: Input should be less than",
        "time_limit: Extra inputs",
        "a request with a problem has no tests",
    ]
    assert [reason in line for reason, line in zip(reasons, logged, strict=True)] == [True] * len(odd)
    for fields, reason in zip(odd, reasons, strict=True):
        with pytest.raises(RequestRefused, match=reason):
            Judge(url).judge(ADD, TESTS, **fields)


def test_tests_that_no_program_can_be_judged_by_are_sent_once(url, caplog):
    with pytest.raises(JudgeError, match="the test is invalid Unicode"):
        Judge(url).judge(ADD, [{"input": "\ud800", "output": "1"}])
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1


def test_a_server_that_ends_is_no_loss_and_programs_have_none_when_all_have_ended(url, monkeypatch):
    from alpha_codium.client import servers

    slow = [{"program": f"import time; time.sleep(0.2)\n{ADD}", "tests": TESTS}] * 24

    async def while_ending(urls, process) -> list:
        judging = asyncio.create_task(Judge(urls, retries=0).judge_many_async(slow))
        await asyncio.sleep(1)
        process.kill()
        return await judging

    monkeypatch.setattr(servers, "PATIENCE_SECONDS", 1.0)
    with started() as (other, process):
        found = asyncio.run(while_ending([url, other], process))
    assert all(each and each["accepted"] for each in found)
    with started() as (other, process):
        found = asyncio.run(while_ending([other], process))
    assert len(found) == 24 and None in found


BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in ("fcntl", "resource", "pwd", "grp", "termios", "alpha_codium"):
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Blocked())
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules.pop(name, None)
import socket
del socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL
from gencode_client import Judge
judge = Judge(sys.argv[1])
print(judge.judge(sys.argv[2], [{"input": "1 2", "output": "3"}])["verdict"])
print(judge.rewards([sys.argv[2]], [[["1 2", "3"]]]))
print(sorted({name.partition(".")[0] for name in sys.modules} & {"fcntl", "resource", "pwd", "alpha_codium", "loguru"}))
"""


def test_it_works_without_what_only_linux_has_and_without_the_package(url):
    command = [sys.executable, "-c", BLOCKED, url, ADD]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT / "client")
    assert done.stdout.splitlines() == ["accepted", "[1.0]", "[]"], done.stderr


def test_the_distribution_has_the_same_files_and_needs_only_httpx(tmp_path):
    import tomllib

    assert (ROOT / "alpha_codium" / "client").resolve() == (ROOT / "client" / "gencode_client").resolve()
    project = tomllib.loads(Path(ROOT, "client", "pyproject.toml").read_text())["project"]
    assert [need.partition(">")[0] for need in project["dependencies"]] == ["httpx"]
