"""The dialect of Judge0, asked over HTTP at a server in a process of its own."""

import base64
import io
import json
import platform
import re
import shutil
import time
import zipfile

import httpx
import pytest

from alpha_codium.serve.dialects.judge0.store import Store
from tests.serve.serving import started

ADD = "print(sum(map(int, input().split())))"
FOREVER = "while True: pass"
PYTHON = 71
JSON = {"Content-Type": "application/json"}


def run(client: httpx.Client, source: str, fields: str = "", **body: object) -> dict:
    params = {"wait": "true", "fields": fields}
    answer = client.post("/submissions", params=params, json={"source_code": source, "language_id": PYTHON} | body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def result_of(client: httpx.Client, token: str, **params: str) -> dict:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if client.get(f"/submissions/{token}", params={"fields": "status_id"}).json()["status_id"] > 2:
            return client.get(f"/submissions/{token}", params=params).json()
        time.sleep(0.05)
    raise AssertionError("the submission isn't done")


def test_a_client_may_wait_for_the_result(client):
    answer = run(client, ADD + "; import sys; print('e', file=sys.stderr)", stdin="1 2", expected_output="3")
    assert answer.keys() == {
        "token",
        "time",
        "memory",
        "stdout",
        "stderr",
        "compile_output",
        "message",
        "status",
    }
    assert (answer["stdout"], answer["stderr"], answer["compile_output"], answer["message"]) == (
        "3\n",
        "e\n",
        None,
        None,
    )
    assert answer["status"] == {"id": 3, "description": "Accepted"}
    assert float(answer["time"]) >= 0
    assert answer["memory"] > 1000
    assert result_of(client, answer["token"]) == answer


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("source", "status", "message"),
    [
        ("print(4)", 4, None),
        (FOREVER, 5, "Time limit exceeded"),
        ("import time; time.sleep(60)", 5, "Time limit exceeded"),
        ("import os; os.kill(os.getpid(), 11)", 7, "Caught fatal signal 11"),
        ("import os\nwhile True: os.write(1, b'x' * 100000)", 8, None),
        ("import os; os.kill(os.getpid(), 8)", 9, "Caught fatal signal 8"),
        ("import os; os.abort()", 10, "Caught fatal signal 6"),
        ("1 / 0", 11, "Exited with error status 1"),
        ("def f(:", 11, "Exited with error status 1"),
        ("import os; os.kill(os.getpid(), 9)", 12, "Caught fatal signal 9"),
    ],
)
def test_the_end_of_a_program_has_a_status(client, source, status, message):
    answer = run(client, source, expected_output="3", cpu_time_limit=0.3, wall_time_limit=1)
    assert answer["status"]["id"] == status
    if message:
        assert answer["message"] == message


@pytest.mark.parametrize(
    ("printed", "expected", "status"),
    [
        ("a \nb\n\n", "a\nb", 3),
        ("a\nb", "a\n\nb", 4),
        (" a", "a", 4),
        ("A", "a", 4),
        ("", "", 3),
        ("", "\n", 3),
        ("a", None, 3),
    ],
)
def test_outputs_are_compared_without_white_space_at_the_ends_of_lines(client, printed, expected, status):
    answer = run(client, f"print({printed!r}, end='')", expected_output=expected)
    assert answer["status"]["id"] == status
    assert answer["stdout"] == (printed or None)


def test_a_client_may_ask_for_the_result_later(client):
    answer = client.post("/submissions/", json={"source_code": ADD, "language_id": str(PYTHON), "stdin": "1 2"})
    assert answer.status_code == 201
    assert answer.json().keys() == {"token"}
    found = result_of(client, answer.json()["token"], fields="stdout,status_id,language_id,language")
    name = f"Python ({platform.python_version()})"
    assert found == {"stdout": "3\n", "status_id": 3, "language_id": 71, "language": {"id": 71, "name": name}}
    everything = result_of(client, answer.json()["token"], fields="*")
    assert everything["source_code"] == ADD
    assert everything["cpu_time_limit"] == 5
    assert everything["created_at"] <= everything["finished_at"]


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_bytes_that_are_not_utf_8_are_kept_in_base64_and_compared(client):
    params = {"base64_encoded": "true", "wait": "true"}
    source = encoded("import sys; sys.stdout.buffer.write(bytes([0xff, 0x41]))")
    for byte, status in ((b"\xff", 3), (b"\xfe", 4)):
        expected = base64.b64encode(byte + b"A").decode()
        body = {"source_code": source, "language_id": 71, "expected_output": expected}
        answer = client.post("/submissions", params=params, json=body).json()
        assert (base64.b64decode(answer["stdout"]), answer["status"]["id"]) == (b"\xffA", status)
    shown = client.get(f"/submissions/{answer['token']}").json()
    assert shown["stdout"] == "\ufffdA"


def test_texts_may_be_in_base64(client):
    body = {"source_code": encoded("print(input() * 2)"), "language_id": PYTHON, "stdin": encoded("ä")}
    params = {"base64_encoded": "true", "wait": "true"}
    answer = client.post("/submissions", params=params, json=body | {"expected_output": encoded("ää")[:-1]}).json()
    assert (base64.b64decode(answer["stdout"]).decode(), answer["status"]["id"]) == ("ää\n", 3)
    assert result_of(client, answer["token"])["stdout"] == "ää\n"
    broken = client.post("/submissions", params=params, json=body | {"stdin": "abcde"})
    assert (broken.status_code, broken.json()) == (422, {"stdin": ["isn't in base64"]})


def test_a_batch_has_a_token_for_each_valid_submission(client):
    right = {"source_code": ADD, "language_id": PYTHON, "stdin": "1 2"}
    batch = [right, right | {"language_id": 123456789}, right | {"source_code": ""}, right | {"stdin": "2 2"}]
    answer = client.post("/submissions/batch", json={"submissions": batch})
    assert answer.status_code == 201
    first, unknown, empty, last = answer.json()
    assert unknown == {"language_id": ["language with id 123456789 doesn't exist"]}
    assert empty == {"source_code": ["can't be blank"]}
    tokens = [first["token"], "nothing", last["token"]]
    for token in (first["token"], last["token"]):
        result_of(client, token)
    params = {"tokens": ",".join(tokens), "fields": "stdout"}
    found = client.get("/submissions/batch", params=params).json()
    assert found == {"submissions": [{"stdout": "3\n"}, None, {"stdout": "4\n"}]}
    assert client.get("/submissions/batch", headers={"tokens": tokens[0]}).json()["submissions"][0]["stdout"] == "3\n"


@pytest.mark.parametrize("submissions", [[], None, [{}] * 21])
def test_a_batch_has_1_to_20_submissions(client, submissions):
    answer = client.post("/submissions/batch", json={"submissions": submissions})
    assert answer.status_code == 400
    assert "submission" in answer.json()["error"]
    assert client.get("/submissions/batch", params={"tokens": ",".join("x" * 21)}).status_code == 400
    assert client.post("/submissions/batch", json={"submissions": [{}]}).status_code == 422


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({"source_code": None}, {"source_code": ["can't be blank"]}),
        ({"source_code": ["x"]}, {"source_code": ["must be a string", "can't be blank"]}),
        ({"language_id": None}, {"language_id": ["can't be blank"]}),
        ({"language_id": {}}, {"language_id": ["language with id {} doesn't exist"]}),
        ({"cpu_time_limit": 10**6}, {"cpu_time_limit": ["must be less than or equal to 600"]}),
        ({"wall_time_limit": 0.5}, {"wall_time_limit": ["must be greater than or equal to 1"]}),
        ({"memory_limit": "much"}, {"memory_limit": ["is not a number"]}),
        ({"memory_limit": float("nan")}, {"memory_limit": ["is not a number"]}),
        ({"number_of_runs": 21}, {"number_of_runs": ["must be less than or equal to 20"]}),
        ({"enable_network": True}, {"enable_network": ["enabling network is not allowed"]}),
        ({"callback_url": "http://127.0.0.1"}, {"callback_url": ["setting callback is not allowed"]}),
        ({"compiler_options": "-O3"}, {"compiler_options": ["setting compiler options is not allowed"]}),
        ({"additional_files": "eA=="}, {"additional_files": ["isn't a zip archive in base64: File is not a zip file"]}),
    ],
)
def test_an_invalid_submission_gets_messages_by_fields(client, fields, errors):
    body = json.dumps({"source_code": ADD, "language_id": PYTHON} | fields)
    answer = client.post("/submissions", content=body, headers=JSON)
    assert (answer.status_code, answer.json()) == (422, errors)


def archive(**files: str) -> str:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as written:
        for name, text in files.items():
            written.writestr(name.replace("__", "/"), text)
    return base64.b64encode(buffer.getvalue()).decode()


def test_arguments_and_files_are_given_to_the_program(client):
    source = "import sys, helper; print(sys.argv[1:], helper.x, open('data/y').read())"
    files = archive(**{"helper.py": "x = 1", "data__y": "2"})
    answer = run(client, source, command_line_arguments="a 'b c' $d", additional_files=files)
    assert answer["stdout"] == "['a', 'b c', 'd'] 1 2\n"


def test_archives_are_unpacked_within_limits(client):
    body = {"source_code": ADD, "language_id": PYTHON}
    for files in (archive(x="0" * (11 << 20)), archive(**{"..__x": ""})):
        answer = client.post("/submissions", json=body | {"additional_files": files})
        assert answer.status_code == 422
        assert answer.json().keys() == {"additional_files"}


def test_a_program_may_run_several_times(client):
    answer = run(client, ADD, "time,status_id,exit_code", stdin="1 2", expected_output="3", number_of_runs=3)
    assert (answer["status_id"], answer["exit_code"]) == (3, 0)


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is missing")
def test_programs_in_cpp_may_not_compile(client):
    program = '#include <cstdio>\nint main() { std::puts("hi"); }'
    assert run(client, program, language_id=54, expected_output="hi")["status"]["id"] == 3
    wrong = run(client, "int main() { x }", language_id=54, expected_output="hi")
    assert (wrong["status"]["id"], wrong["stdout"]) == (6, None)
    assert "error" in wrong["compile_output"]


def test_unknown_tokens_and_fields_are_refused(client):
    assert client.get("/submissions/nothing").status_code == 404
    token = run(client, ADD)["token"]
    answer = client.get(f"/submissions/{token}", params={"fields": "stdout,size,age"})
    assert (answer.status_code, answer.json()) == (400, {"error": "invalid fields: [size, age]"})
    assert client.delete(f"/submissions/{token}").json() == {"error": "delete not allowed"}
    assert client.post("/submissions", content="{", headers=JSON).status_code == 400
    assert client.post("/submissions", content="{}").status_code == 415


def test_the_server_tells_what_it_is(client):
    listed = client.get("/languages").json()
    names = {each["id"]: each["name"].partition(".")[0] for each in listed}
    assert re.fullmatch(r"C\+\+ \(GCC \d+", names[54]), names
    assert {"id": 71, "name": f"Python ({platform.python_version()})"} in listed
    assert client.get("/languages/71").json()["id"] == 71
    assert client.get("/languages/43").status_code == 404
    assert len(client.get("/languages/all").json()) == len(listed)
    assert client.get("/statuses").json()[2] == {"id": 3, "description": "Accepted"}
    assert client.get("/about").json()["version"] == "1.13.1"
    config = client.get("/config_info").json()
    assert (config["cpu_time_limit"], config["max_cpu_time_limit"], config["max_submission_batch_size"]) == (5, 600, 20)
    (workers,) = client.get("/workers").json()
    assert workers["queue"] == "default"


@pytest.mark.thorough
def test_a_submission_beyond_the_queue_is_refused_with_503():
    with started("--max_queue", "3") as (address, _), httpx.Client(base_url=address, timeout=60) as client:
        body = {"source_code": FOREVER, "language_id": PYTHON, "cpu_time_limit": 2}
        twice = body | {"number_of_runs": 2}
        batch = client.post("/submissions/batch", json={"submissions": [body, body, twice]}).json()
        assert [each.keys() for each in batch] == [{"token"}, {"token"}, {"error"}]
        for params in ({"wait": "true"}, {}):
            answer = client.post("/submissions", json=twice, params=params)
            assert (answer.status_code, answer.json()) == (503, {"error": "queue is full"})
        answer = client.post("/submissions/batch", json={"submissions": [twice]})
        assert (answer.status_code, answer.json()) == (503, {"error": "queue is full"})
        assert result_of(client, batch[0]["token"])["status"]["id"] == 5


class Sized:
    """A submission of a size."""

    def __init__(self, token: str, size: int) -> None:
        self.token, self.size, self.size_given = token, size, size


def test_the_oldest_results_are_dropped():
    store = Store(most=2, most_bytes=100)
    submissions = [Sized(str(number), size) for number, size in enumerate((10, 10, 10, 95, 500))]
    for submission in submissions:
        store.add(submission)  # pyrefly: ignore[bad-argument-type]
    assert store.is_full
    assert store.unfinished == 5
    kept = []
    for submission in submissions:
        store.finish(submission)  # pyrefly: ignore[bad-argument-type]
        kept.append([each.token for each in submissions if each.token in store._done])
    assert kept == [["0"], ["0", "1"], ["1", "2"], ["3"], ["4"]]
    assert not store.is_full
    assert store.get("0") is None
