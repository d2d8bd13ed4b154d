"""Requests that clients really send and that are odd: each has an answer of its own, and is no fault of the server."""

import base64
import io
import json
import zipfile
from typing import Any

import httpx
import pytest

from alpha_codium.problem import Problem
from tests.serve.test_malformed import CONFIG, JUDGED, PISTON, PROGRAM, RUN_CODE, SUBMISSION

TESTS = JUDGED["tests"]
JAVA = "public class Main { public static void main(String[] a) { System.out.println(1); } }"
JAVA_PROGRAM = {"language": "java", "files": {"Main.java": JAVA}, "main": "Main.java"}
SIDE = {"program": PROGRAM.to_json()}
LIMITS = [
    *({"time_limit_seconds": each} for each in (-1, 1e9, 1e300, float("nan"), float("inf"))),
    *({"memory_limit_bytes": each} for each in (-1, 2**45, 2**70)),
    {"input_file": "\ud800"},
    {"execution": {"kind": "stdin", "setup_code": "x = ("}},
]


def posted(client: httpx.Client, path: str, body: Any) -> httpx.Response:
    headers = {"content-type": "application/json"}
    return client.post(path, content=json.dumps(body).encode(), headers=headers, timeout=60)


@pytest.mark.parametrize("fields", LIMITS)
def test_a_problem_that_no_program_can_be_judged_by_is_refused(client: httpx.Client, fields: dict[str, Any]) -> None:
    item = {"program": "print(1)", "problem": {"private_tests": TESTS} | fields}
    answer = posted(client, "/v1/judge", item)
    assert (answer.status_code, "detail" in answer.json()) == (422, True)
    (line, found), reason = batch(client, [item, {"program": "print(1)", "tests": TESTS}]), answer.json()["detail"]
    assert line == {"index": 0, "answer": None, "error": reason, "fault": "data"}
    assert (found["index"], found["answer"]["accepted"], found["fault"]) == (1, True, "")


def batch(client: httpx.Client, programs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines of the answer to a batch."""
    answer = posted(client, "/v1/judge/batch", {"programs": programs})
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def test_a_problem_may_have_a_part_of_a_byte_of_memory(client: httpx.Client) -> None:
    made = {"name": "p", "private_tests": TESTS, "memory_limit_bytes": 268435456.5}
    for problem in (made, Problem.from_json(made).to_json()):
        assert posted(client, "/v1/judge", {"program": "print(1)", "problem": problem}).json()["accepted"]


def test_programs_of_a_batch_that_cannot_be_prepared_have_lines_of_their_own(client: httpx.Client) -> None:
    right = {"program": "print(1)", "tests": TESTS}
    odd = [
        right | {"language": "\ud800"},
        right | {"checker": {"name": "no"}},
        right | {"kind": "call", "entry_point": "1"},
        right | {"time_limit_seconds": -1},
        right | {"time_limit": 3},
        right | {"problem": "unknown"},
        {"tests": TESTS},
        None,
    ]
    lines = batch(client, [right, *odd, right])
    refused, judged = lines[: len(odd)], lines[len(odd) :]
    assert [line["index"] for line in refused] == list(range(1, len(odd) + 1))
    places = ["language:", "problem", "problem", "time_limit_seconds:", "time_limit:", "body:", "program:", "body:"]
    assert [line["error"].split()[0] for line in refused] == places
    assert {line["fault"] for line in refused} == {"data"}
    assert [line["answer"]["verdict"] for line in judged] == ["accepted"] * 2


def test_an_answer_says_whose_fault_it_is_that_a_test_has_no_verdict(client: httpx.Client) -> None:
    malformed = {"program": "print(1)", "tests": [{"input": "\ud800", "output": "1"}]}
    requests = [malformed, {"program": "print(1)", "tests": []}, {"program": "print(1)", "tests": TESTS}]
    answers = [posted(client, "/v1/judge", each).json() for each in requests]
    assert [each["fault"] for each in answers] == ["data", "data", ""]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/judge", {"program": "", "problem": {"private_tests": TESTS, "\ud800": 1}}),
        ("/v1/judge", {"program": "", "tests": TESTS, "checker": {"name": "tokens", "arguments": {"\ud800": 1}}}),
        ("/v1/execute", {"program": PROGRAM.to_json(), "inputs": [""], "\ud800": 1}),
    ],
)
def test_a_refusal_that_repeats_broken_text_is_one(client: httpx.Client, path: str, body: dict[str, Any]) -> None:
    answer = posted(client, path, body)
    assert answer.status_code == 422, answer.text
    assert "\ud800" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/execute", {"program": PROGRAM.to_json() | {"language": "ada"}, "inputs": [""]}),
        ("/v1/execute", {"program": PROGRAM.to_json(), "inputs": [""], "limits": {"open_files": 3}}),
        ("/v1/execute", {"program": PROGRAM.to_json(), "inputs": [""], "driver": "\ud800"}),
        ("/v1/execute_pair", {"left": {"program": PROGRAM.to_json(), "driver": "\ud800"}, "right": SIDE}),
        *(
            ("/v1/execute", {"program": {"language": language, "files": dict.fromkeys(files, ""), "main": files[0]}})
            for language, files in (
                ("python3", ["a.py", "b.py"]),
                ("cpp", ["a.cpp", "b.cpp"]),
                ("cpp", ["a.cpp", "a.cpp/b"]),
                ("cpp", ["\ud800.cpp"]),
                ("cpp", ["a" * 300]),
            )
        ),
        ("/v1/execute", {"program": JAVA_PROGRAM, "inputs": [""], "driver": "x"}),
        ("/v1/execute_pair", {"left": SIDE, "right": {"program": PROGRAM.to_json() | {"language": "ruby"}}}),
        ("/v1/rewards", {"answers": [{"answer": "", "tests": TESTS}], "length_penalty": float("inf")}),
    ],
)
def test_what_the_server_does_not_have_is_refused(client: httpx.Client, path: str, body: dict[str, Any]) -> None:
    assert posted(client, path, body).status_code == 422


def test_the_names_of_types_have_no_case(client: httpx.Client) -> None:
    headers = {"content-type": "Application/JSON"}
    for path, body in (("/submissions?wait=true", SUBMISSION), ("/api/v2/execute", PISTON), ("/v1/judge", JUDGED)):
        assert client.post(path, content=json.dumps(body).encode(), headers=headers).is_success


CHECKED_BY = {"files": {"check.py": "import sys; sys.exit(42)"}}


@pytest.mark.parametrize(
    "arguments", [CHECKED_BY | {"flags": "\ud800"}, {"files": {"a.py": "", "a.py/b": ""}}, {"files": {"\ud800.py": ""}}]
)
def test_a_checker_program_that_cannot_be_stored_takes_no_verdict_from_others(
    client: httpx.Client, arguments: dict[str, Any]
) -> None:
    checker = {"name": "program", "arguments": arguments}
    odd, right = ({"program": "print(1)", "tests": TESTS} | more for more in ({"checker": checker}, {}))
    assert posted(client, "/v1/judge", odd).status_code == 422
    refused, judged = batch(client, [odd, right])
    assert (refused["fault"], judged["answer"]["verdict"]) == ("data", "accepted")


@pytest.mark.parametrize(
    ("path", "body", "printed"),
    [
        ("/submissions?wait=true", SUBMISSION | {"memory_limit": 2048}, "stdout"),
        ("/submissions?wait=true", {"source_code": JAVA, "language_id": 62, "memory_limit": 64000}, "stdout"),
        ("/run_code", RUN_CODE | {"memory_limit_MB": 1}, "run_result"),
        ("/api/v2/execute", PISTON | {"run_memory_limit": 1}, "run"),
        ("/submissions?wait=true", SUBMISSION | {"stdin": "\ud800", "command_line_arguments": "\udfff"}, "stdout"),
        ("/run_code", RUN_CODE | {"stdin": "\ud800", "files": {"\ud800": "eA=="}}, "run_result"),
        ("/api/v2/execute", PISTON | {"stdin": "\ud800", "args": ["\ud800"]}, "run"),
    ],
)
def test_a_program_runs_with_too_little_memory_and_with_broken_text(
    client: httpx.Client, path: str, body: dict[str, Any], printed: str
) -> None:
    answer = posted(client, path, body)
    assert answer.status_code in (200, 201), answer.text
    found = answer.json()[printed]
    assert (found if isinstance(found, str) else found["stdout"]) == "1\n"


def test_each_test_of_open_instruct_has_a_result_of_its_own(client: httpx.Client) -> None:
    tests = ["assert f(1) == 2", "assert (", "", "import math", "assert await f(1)", "\ud800", "assert f(1) == 3"]
    body = {"program": "def f(x): return 2 * x", "tests": tests, "max_execution_time": 1}
    assert posted(client, "/test_program", body).json()["results"] == [1, 0, 1, 1, 0, 0, 0]
    assert posted(client, "/test_program", body | {"tests": ["assert ("]}).json()["results"] == [0]


def test_a_test_in_invalid_unicode_is_the_clients_fault(client: httpx.Client) -> None:
    test = {"input": {"stdin": "\ud800"}, "output": {"stdout": "1"}}
    config = CONFIG | {"provided_data": {"test": [test]}}
    body = {"dataset": "x", "id": 1, "completion": "```python\nprint(1)\n```", "config": config}
    assert posted(client, "/submit", body).status_code == 400


def test_an_archive_whose_lzma_data_are_broken_is_refused(client: httpx.Client) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("words.txt", "word " * 1000)
    broken = bytearray(data.getvalue())
    broken[45:60] = b"\xff" * 15
    body = SUBMISSION | {"additional_files": base64.b64encode(broken).decode()}
    answer = posted(client, "/submissions?wait=true", body)
    assert (answer.status_code, "additional_files" in answer.json()) == (422, True)


def test_each_odd_answer_or_row_has_no_reward_and_the_others_have_theirs(client: httpx.Client) -> None:
    right, pairs = "```python\nprint(1)\n```", [["", "1"]]
    chat = [{"role": "user", "content": "?"}, {"role": "assistant", "content": right}]
    rows = [(right, pairs), (None, pairs), (5, pairs), (chat, pairs), ({"content": right}, pairs), ({}, 7)]
    rows += [(right, pairs * 10_001), (right, pairs)]
    answers = [{"answer": answer, "tests": tests} for answer, tests in rows]
    scores = posted(client, "/v1/rewards", {"answers": answers}).json()["scores"]
    assert [each["reward"] for each in scores] == [1.0, 0.0, None, 1.0, 1.0, None, None, 1.0]
    assert [each["fault"] for each in scores] == ["", "", "data", "", "", "data", "data", ""]
    assert scores[6]["message"] == "the row has 10001 tests: 10000 are the most"


def test_a_test_may_have_a_very_long_integer(client: httpx.Client) -> None:
    digits = "1" * 50_000
    answer = "```python\ndef f(n): return n + 1\n```"
    tests = f'[{{"input": [{digits}], "output": {digits[:-1]}2, "fn_name": "f"}}]'
    body = f'{{"answers": [{{"answer": {json.dumps(answer)}, "tests": {tests}}}]}}'
    headers = {"content-type": "application/json"}
    for kind in (body, body.replace(tests, json.dumps(tests))):
        found = client.post("/v1/rewards", content=kind.encode(), headers=headers)
        assert found.status_code == 200, found.text
        assert found.json()["scores"][0]["reward"] == 1.0


def test_rewards_that_are_no_numbers_are_left_out_of_their_mean(client: httpx.Client) -> None:
    rewards = [{"reward": each} for each in (1.0, 0.5, 10**400, float("nan"), "x")]
    metrics = posted(client, "/aggregate_metrics", {"verify_responses": rewards}).json()["key_metrics"]
    assert metrics == {"mean/reward": 0.75}
