"""The scripted server keeps what it promises: other tests lean on it."""

import json
import urllib.error
import urllib.request

import pytest

from tests.servers.scripted import (
    Cut,
    FaultOnce,
    OneOfOnce,
    ScriptedServer,
    Status,
    Text,
    WithProbability,
    scripted_process,
)


def post(url: str, text: str, path: str = "/v1/chat/completions") -> str:
    body = json.dumps({"model": "x", "messages": [{"role": "user", "content": text}]}).encode()
    call = urllib.request.Request(url + path, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(call, timeout=20) as response:
        answer = json.load(response)
    if "choices" in answer:
        return answer["choices"][0]["message"]["content"]
    return answer["message"]["content"] if "message" in answer else answer["content"][0]["text"]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/api/chat"])
def test_it_answers_by_a_table_in_each_format(path):
    with ScriptedServer([(r"\btwo\b", "2"), (r"\bthree\b", Text("3"))]) as server:
        assert post(server.url, "what is three?", path) == "3"
        assert post(server.url, "what is two?", path) == "2"
        assert [seen.path for seen in server.requests] == [path, path]


def test_a_request_without_a_rule_is_refused():
    with ScriptedServer([("two", "2")]) as server, pytest.raises(urllib.error.HTTPError, match="400"):
        post(server.url, "four?")


def test_a_fault_affects_each_distinct_request_once():
    with ScriptedServer(faults=[FaultOnce(Status(500), Cut())]) as server:
        for text in "ab":
            with pytest.raises(urllib.error.HTTPError, match="500"):
                post(server.url, text)
            with pytest.raises(Exception, match=r"IncompleteRead|Remote end closed"):
                post(server.url, text)
            assert post(server.url, text) == f"echo: {text}"
        assert [seen.times_before for seen in server.requests] == [0, 1, 2, 0, 1, 2]
        server.wait_for_answers(2)


@pytest.mark.parametrize("rule", [OneOfOnce, None])
def test_random_faults_are_reproducible(rule):
    def met(seed):
        faults = [rule([Status(500)], 0.5, seed) if rule else WithProbability(0.5, Status(500), seed=seed)]
        with ScriptedServer(faults=faults) as server:
            return [answered(server, str(number)) for number in range(20)]

    def answered(server, text):
        try:
            return bool(post(server.url, text))
        except urllib.error.HTTPError:
            return False

    first = met(1)
    assert first == met(1) != met(2)
    assert 0 < sum(first) < 20


def test_a_server_in_a_process_journals_each_answer(tmp_path):
    script, journal = tmp_path / "script.py", tmp_path / "journal.jsonl"
    script.write_text(
        "from tests.servers.scripted import FaultOnce, Status, Text, last_user\n"
        "faults = [FaultOnce(Status(503))]\n"
        "def script(body):\n    return Text(last_user(body)[::-1])\n"
    )
    with scripted_process(script, "--journal", str(journal)) as address:
        with pytest.raises(urllib.error.HTTPError, match="503"):
            post(address, "abc")
        assert not journal.exists()
        assert post(address, "abc") == "cba"
        assert post(address, "abc") == "cba"
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [line["event"] for line in lines] == ["answering", "answered"] * 2
    assert [line["number"] for line in lines] == [2, 2, 3, 3]
    assert len({line["digest"] for line in lines}) == 1


def test_a_table_can_come_from_a_json_file(tmp_path):
    script = tmp_path / "script.json"
    script.write_text(json.dumps([["hello", "good day"], ["", "what?"]]))
    with scripted_process(script) as address:
        assert post(address, "well, hello") == "good day"
        assert post(address, "mumble") == "what?"
