"""The dialect of SandboxFusion, asked over HTTP at a server in a process of its own."""

import base64
import json
import shutil

import httpx
import pytest

from alpha_codium.serve.dialects.sandbox_fusion.common_oj import extracted
from tests.languages.available import require

ADD = "print(sum(map(int, input().split())))"
TESTS = [
    {"input": {"stdin": "1 2"}, "output": {"stdout": "3"}},
    {"input": {"stdin": "4 5"}, "output": {"stdout": "9"}},
]


def run(client: httpx.Client, code: str, **fields: object) -> dict:
    answer = client.post("/run_code", json={"code": code, "language": "python"} | fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_program_that_ends_with_0_is_a_success(client):
    answer = run(client, "import sys; print(input()); print('e', file=sys.stderr)", stdin="a\n")
    result = answer.pop("run_result")
    assert answer == {
        "status": "Success",
        "message": "",
        "compile_result": None,
        "executor_pod_name": None,
        "files": {},
    }
    assert result.pop("execution_time") > 0
    assert result == {"status": "Finished", "return_code": 0, "stdout": "a\n", "stderr": "e\n"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("code", "status", "return_code"),
    [
        ("import sys; sys.exit(3)", "Finished", 3),
        ("1 / 0", "Finished", 1),
        ("def f(:", "Finished", 1),
        ("import os; os.kill(os.getpid(), 9)", "Finished", -9),
        ("print('begin', flush=True)\nwhile True: pass", "TimeLimitExceeded", None),
        ("import time; print('begin', flush=True); time.sleep(60)", "TimeLimitExceeded", None),
        ("import sys\nwhile True: sys.stdout.write('x' * 100000)", "Finished", 1),
    ],
)
def test_a_program_that_ends_otherwise_has_failed(client, code, status, return_code):
    answer = run(client, code, run_timeout=0.5)
    assert (answer["status"], answer["message"]) == ("Failed", "")
    assert (answer["run_result"]["status"], answer["run_result"]["return_code"]) == (status, return_code)
    if "begin" in code:
        assert answer["run_result"]["stdout"] == "begin\n"


def test_a_program_that_sleeps_beyond_its_time_is_ended_as_one_that_computes(client):
    answer = run(client, "import time; time.sleep(0.6)", run_timeout=0.3)
    assert (answer["status"], answer["run_result"]["status"]) == ("Failed", "TimeLimitExceeded")


def test_large_outputs_are_complete(client):
    assert len(run(client, "print('x' * 10_000_000)")["run_result"]["stdout"]) == 10_000_001


def test_memory_is_limited_to_what_the_request_says(client):
    code = "print(len(bytes(200 << 20)))"
    assert run(client, code)["status"] == "Success"
    assert run(client, code, memory_limit_MB=100)["status"] == "Failed"


def test_files_are_beside_the_program(client):
    files = {"helper.py": "word = 'right'", "data/x.txt": "7"}
    encoded = {path: base64.b64encode(text.encode()).decode() for path, text in files.items()}
    code = "import helper; print(helper.word, open('data/x.txt').read(), input())"
    answer = run(client, code, files=encoded | {"none": None}, stdin="in")
    assert answer["run_result"]["stdout"] == "right 7 in\n"


@pytest.mark.parametrize("files", [{"../x": "eA=="}, {"/x": "eA=="}, {"x": "e"}, {"a": "", "a/b": ""}])
def test_files_that_cannot_be_beside_the_program_are_refused(client, files):
    answer = client.post("/run_code", json={"code": "", "language": "python", "files": files})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("files: ")


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is missing")
def test_programs_in_cpp_have_a_result_of_the_compiler(client):
    program = "#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b; }"
    answer = run(client, program, language="cpp", stdin="1 2")
    assert (answer["status"], answer["compile_result"]["return_code"]) == ("Success", 0)
    assert answer["run_result"]["stdout"] == "3"
    wrong = run(client, "int main() { x }", language="cpp")
    assert (wrong["status"], wrong["run_result"], wrong["message"]) == ("Failed", None, "")
    assert (wrong["compile_result"]["status"], wrong["compile_result"]["return_code"]) == ("Finished", 1)


def test_what_the_server_does_not_do_is_an_error_of_the_sandbox(client):
    for fields in ({"language": "racket"}, {"fetch_files": ["x"]}):
        answer = run(client, "print(1)", **fields)
        assert (answer["status"], answer["run_result"]) == ("SandboxError", None)
        assert answer["message"].startswith("this server")
    notebook = client.post("/run_jupyter", json={"cells": ["1"]}).json()
    assert (notebook["status"], notebook["cells"]) == ("SandboxError", [])


def test_an_invalid_request_is_answered_in_detail(client):
    answer = client.post("/run_code", json={"code": "", "language": "cobol"})
    assert answer.status_code == 422
    (detail,) = answer.json()["detail"]
    assert detail["loc"] == ["body", "language"]


def test_the_server_answers_a_ping(client):
    assert client.get("/v1/ping").json() == "pong"
    assert client.get("/list_datasets").json() == []


def submit(client: httpx.Client, completion: str, tests: object = TESTS, **extra: object) -> dict:
    config = {
        "dataset_type": "CommonOJDataset",
        "language": "python",
        "run_timeout": 1,
        "provided_data": {"id": 1, "content": "add", "labels": {}, "test": tests},
        "extra": extra,
    }
    body = {"dataset": "mine", "id": 1, "completion": completion, "config": config}
    answer = client.post("/submit", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_an_answer_is_judged_by_the_tests_of_its_problem(client):
    answer = submit(client, f"Add:\n```python\n{ADD}\n```\n")
    assert (answer["id"], answer["accepted"], answer["extracted_code"]) == (1, True, ADD)
    assert [test["passed"] for test in answer["tests"]] == [True, True]
    assert answer["tests"][1]["test_info"] == TESTS[1]
    assert answer["tests"][1]["exec_info"]["run_result"]["stdout"] == "9\n"
    assert submit(client, f"```\n{ADD}\n```", json.dumps(TESTS))["accepted"]


@pytest.mark.thorough
@pytest.mark.parametrize("code", ["print(3)", "1 / 0", "def f(:", "while True: pass", ""])
def test_the_first_failure_ends_it_unless_all_tests_are_asked_for(client, code):
    completion = f"```python\n{code}\n```"
    first = [code == "print(3)"]
    assert [test["passed"] for test in submit(client, completion)["tests"]] == first + [False] * first[0]
    answer = submit(client, completion, run_all_cases=True)
    assert [test["passed"] for test in answer["tests"]] == [*first, False]
    assert not answer["accepted"]


@pytest.mark.parametrize(
    "config",
    [
        {"dataset_type": "HumanEvalDataset"},
        {"language": None},
        {"custom_extract_logic": "submit_code_blocks([])"},
        {"provided_data": None},
        {"provided_data": {"test": []}},
        {"provided_data": {"test": "[" * 100_000}},
        {"provided_data": {"test": [{"input": {"file": ""}, "output": {"stdout": ""}}]}},
        {"language": "lean"},
    ],
)
def test_what_cannot_be_judged_is_refused(client, config):
    right = {"dataset_type": "CommonOJDataset", "language": "python", "provided_data": {"test": TESTS}}
    body = {"dataset": "mine", "id": 1, "completion": "", "config": right | config}
    answer = client.post("/submit", json=body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["detail"]


@pytest.mark.parametrize(
    ("completion", "language", "code"),
    [
        ("```python\na\n```\n```python\nb\n```", "python", "a"),
        ("```\na\n```\n```py\nb\n```", "python", "b"),
        ("```text\na\n```\n```cpp\nb\n  ```", "python", "a"),
        ("```python\na\n```\n```python\nb", "python", "a"),
        ("so ```python\na\nb", "python", "a\nb"),
        ("```python\n```\n```python\na\n```", "python", ""),
        ("print(1)", "python", ""),
        ("```", "python", ""),
    ],
)
def test_the_program_is_the_first_block_in_its_language(completion, language, code):
    assert extracted(completion, language) == code


@pytest.mark.parametrize("text", ["`" * 1_000_000, "```\n" * 250_000, "\n" * 1_000_000, "```\n" + " \n" * 500_000])
def test_long_answers_are_read_in_linear_time(text):
    extracted(text, "python")


@pytest.mark.thorough
def test_assertions_of_java_fire_and_types_of_typescript_are_not_checked_as_in_the_original(client):
    require("java")
    asserting = (
        'public class Main { public static void main(String[] a) { assert 1 == 2; System.out.println("ran"); } }'
    )
    answer = run(client, asserting, language="java")
    assert (answer["status"], answer["run_result"]["return_code"]) == ("Failed", 1)
    assert "AssertionError" in answer["run_result"]["stderr"]
    assert run(client, asserting.replace("1 == 2", "1 == 1"), language="java")["status"] == "Success"
    require("typescript")
    assert run(client, "const x: number = 'a'; console.log(x)", language="typescript")["run_result"]["stdout"] == "a\n"
