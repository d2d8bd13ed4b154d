"""The dialect of Piston, asked over HTTP at a server in a process of its own."""

import base64
import platform
import shutil
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from alpha_codium.serve.dialects.piston.runtimes import RUNTIMES, find_runtime, fulfils
from tests.languages.available import require

ADD = "print(sum(map(int, input().split())))"
FOREVER = "while True: pass"


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{address}/api/v2", timeout=60) as client:
        yield client


def execute(client: httpx.Client, *files: dict, **fields: object) -> dict:
    body = {"language": "python", "version": "*", "files": list(files)} | fields
    answer = client.post("/execute", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_program_is_executed(client):
    code = "import sys; print(sys.argv[1:], repr(sys.stdin.read())); print('e', file=sys.stderr)"
    answer = execute(client, {"name": "main.py", "content": code}, stdin="a", args=["x", "y"])
    run = answer["run"]
    assert (answer["language"], answer["version"]) == ("python", platform.python_version())
    assert "compile" not in answer
    assert (run["stdout"], run["stderr"]) == ("['x', 'y'] 'a\\n'\n", "e\n")
    assert run["output"] == run["stdout"] + run["stderr"]
    assert (run["code"], run["signal"], run["status"], run["message"]) == (0, None, None, None)
    assert run["wall_time"] >= 0 and run["memory"] > 1 << 20


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("code", "end"),
    [
        ("import sys; sys.exit(3)", (3, None, "RE")),
        ("def f(:", (1, None, "RE")),
        ("import os; os.kill(os.getpid(), 11)", (None, "SIGSEGV", "SG")),
        (FOREVER, (None, "SIGKILL", "TO")),
        ("import time; time.sleep(60)", (None, "SIGKILL", "TO")),
        ("import os\nwhile True: os.write(1, b'x' * 100000)", (None, "SIGKILL", "OL")),
    ],
)
def test_the_end_of_a_program_has_a_status(client, code, end):
    run = execute(client, {"content": code}, run_timeout=500)["run"]
    assert (run["code"], run["signal"], run["status"]) == end
    assert run["message"]


def test_other_files_are_beside_the_program(client):
    files = [
        {"content": base64.b64encode(b"\xff\x00").decode(), "name": "raw", "encoding": "base64"},
        {"content": "import helper; print(helper.x, open('raw', 'rb').read(), open('hex').read())"},
        {"content": "x = 7", "name": "helper.py", "encoding": "utf8"},
        {"content": "6869", "name": "hex", "encoding": "hex"},
    ]
    assert execute(client, *files)["run"]["stdout"] == "7 b'\\xff\\x00' hi\n"


def test_of_a_language_with_two_versions_the_newest_that_fits_is_run(client):
    python3 = next(runtime for runtime in RUNTIMES if runtime.aliases == ("py", "py3", "python3"))
    python2 = next(runtime for runtime in RUNTIMES if runtime.ours == "python2")
    both = [replace(python2, version="2.7.18"), replace(python3, version="3.11.7")]
    chosen = [find_runtime(both, *wanted).ours for wanted in (("python", "*"), ("python", "2.x"), ("python2", "*"))]
    assert chosen == ["python3", "python2", "python2"]


def test_the_languages_are_listed(client):
    listed = {each["language"]: each for each in client.get("/runtimes").json()}
    assert listed["python"] == {
        "language": "python",
        "version": platform.python_version(),
        "aliases": ["py", "py3", "python3"],
    }
    assert listed.keys() >= {"python", "cf_python3"}
    package = {"language": "python", "language_version": platform.python_version(), "installed": True}
    assert package in client.get("/packages").json()
    assert client.post("/packages", json={"language": "go", "version": "*"}).status_code == 400


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is missing")
def test_programs_in_cpp_have_a_stage_for_the_compiler(client):
    right = execute(client, {"content": '#include <cstdio>\nint main() { std::puts("hi"); }'}, language="c++")
    assert (right["compile"]["code"], right["run"]["stdout"]) == (0, "hi\n")
    wrong = execute(client, {"content": "int main() { x }"}, language="cpp")
    assert wrong["compile"]["code"] == wrong["run"]["code"] == 1
    assert "error" in wrong["compile"]["stderr"]
    adding = "#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b; }"
    files = {"main.cpp": adding, "input.txt": "1 2", "correct_output.txt": "3"}
    listed = [{"name": name, "content": text} for name, text in files.items()]
    judged = execute(client, *listed, language="c++17", run_timeout=12_000)
    assert (judged["compile"]["code"], judged["run"]["stdout"]) == (0, "1\n")


FILE = {"content": "print(1)"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"language": None}, "language is required as a string"),
        ({"version": 3}, "version is required as a string"),
        ({"files": "print(1)"}, "files is required as an array"),
        ({"files": [FILE, {"content": 1}]}, "files[1].content is required as a string"),
        ({"files": []}, "files must include at least one utf8 encoded file"),
        ({"files": [{"content": "eA==", "encoding": "base64"}]}, "files must include at least one utf8 encoded file"),
        ({"files": [FILE, {"content": "x", "encoding": "hex"}]}, "files[1].content isn't hex"),
        ({"files": [FILE, FILE | {"name": "../x"}]}, "the path of a program's file must be relative"),
        ({"language": "cobol"}, "cobol-* runtime is unknown"),
        ({"version": "1"}, "python-1 runtime is unknown"),
        ({"run_timeout": "1"}, "If specified, run_timeout must be a number"),
        ({"run_timeout": 10**9}, "run_timeout cannot exceed the configured limit of 600000"),
        ({"compile_cpu_time": -1}, "compile_cpu_time must be non-negative"),
        ({"args": "x"}, "If specified, args must be an array of strings"),
    ],
)
def test_an_invalid_request_gets_a_message(client, fields, message):
    body = {"language": "python", "version": "*", "files": [FILE]} | fields
    answer = client.post("/execute", json=body)
    assert answer.status_code == 400
    assert answer.json()["message"].startswith(message)


def test_requests_must_be_json(client):
    assert client.post("/execute", content="{}").status_code == 415
    for body in ("{", "[]", "[" * 100_000):
        answer = client.post("/execute", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 400
        assert answer.json()["message"]


def cf(client: httpx.Client, program: str, *more: tuple[str, str], **config: object) -> dict:
    lines = {"TIME_LIMIT": 0.5, "MEMORY_LIMIT": 256.0, "INPUT_MODE": "stdio"} | config
    files = {
        "main.python": program,
        "input.txt": "1 2\r\n",
        "grader_config": "\n".join(f"{name}={value}" for name, value in lines.items()),
    } | dict(more)
    listed = [{"name": name, "content": text} for name, text in files.items()]
    answer = execute(client, *listed, language="cf_python3", run_timeout=10_500)
    assert answer["compile"]["code"] == 0
    return answer["run"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("program", "answer", "stdout", "code"),
    [
        (ADD, "3\n", "1\n", 0),
        (ADD, "\n 3\r\n\n", "1\n", 0),
        ("print('Yes')", "YES", "1\n", 0),
        ("print('a')", "A", "0\n", 0),
        ("print(3, 4)", "3", "0\n", 0),
        ("1 / 0", "3", "0\n", 1),
        ("def f(:", "3", "0\n", 1),
        (FOREVER, "3", "0\n", 124),
        ("x = bytes(900 << 20)", "3", "0\n", 134),
        ("import os; os.abort()", "3", "0\n", 134),
    ],
)
def test_a_program_is_judged_as_open_r1_asks_for(client, program, answer, stdout, code):
    run = cf(client, program, ("correct_output.txt", answer))
    assert (run["stdout"], run["code"]) == (stdout, code)


def test_a_program_may_use_files_instead_of_its_streams(client):
    program = "print(open('input.txt').read().split()[1], file=open('output.txt', 'w')); print('noise')"
    run = cf(client, program, ("correct_output.txt", "2"), INPUT_MODE="file")
    assert (run["stdout"], run["code"]) == ("1\n", 0)


def test_without_an_answer_the_output_itself_is_returned(client):
    assert cf(client, "print(input()); print(); print(2)")["stdout"] == "1 2\n2\n"


CHECKER = """
import sys
given, answer, output = (open(path).read() for path in sys.argv[1:])
assert given == "1 2\\n" and answer == "3\\n"
print(100 if int(output) > 2 else 0)
"""


@pytest.mark.parametrize(("program", "stdout"), [("print(5)", "1\n"), ("print(1)", "0\n"), ("print('x')", "0\n")])
def test_a_checker_decides(client, program, stdout):
    run = cf(client, program, ("correct_output.txt", "3\n"), ("checker.py", CHECKER))
    assert (run["stdout"], run["code"]) == (stdout, 0)


def test_a_checker_that_fails_on_the_right_answer_is_a_fault_not_a_verdict(client):
    files = {"main.python": "print(3)", "input.txt": "", "correct_output.txt": "3", "checker.py": "1 / 0"}
    listed = [{"name": name, "content": text} for name, text in files.items()]
    answer = client.post("/execute", json={"language": "cf_python3", "version": "*", "files": listed})
    assert answer.status_code == 500
    assert "the checker was ended by signal 6: ZeroDivisionError" in answer.json()["message"]


@pytest.mark.parametrize("value", ["0", "nan", "x", "-1", "1e9"])
def test_limits_that_make_no_sense_are_refused(client, value):
    files = [{"content": ADD}, {"name": "grader_config", "content": f"TIME_LIMIT={value}"}]
    answer = client.post("/execute", json={"language": "cf_python3", "version": "*", "files": files})
    assert answer.status_code == 400
    assert "TIME_LIMIT" in answer.json()["message"]


@pytest.mark.parametrize(
    ("wanted", "fulfilled"),
    [
        ("*", True),
        ("3", True),
        ("3.11", True),
        ("3.11.4", True),
        ("3.11.5", False),
        ("3.1", False),
        ("3.x", True),
        ("3.11.x", True),
        ("^3.9", True),
        ("^3.12", False),
        ("^2", False),
        ("~3.11.2", True),
        ("~3.10", False),
        (">=3.9 <4", True),
        (">=3.9 <3.11", False),
        ("> 3.11", False),
        ("<=3.11", True),
        ("2 || 3", True),
        ("2 || 4", False),
        ("python", False),
        ("", False),
        ("3.11.4.1", False),
        ("9" * 1000, False),
    ],
)
def test_versions_are_matched_as_in_semantic_versioning(wanted, fulfilled):
    assert fulfils((3, 11, 4), wanted) is fulfilled


@pytest.mark.thorough
def test_the_first_class_of_a_java_program_runs_as_in_the_original(client):
    require("java")
    main = 'public static void main(String[] a) {{ System.out.println("{}"); }}'
    program = f"class First {{ {main.format('first')} }} class Main {{ {main.format('Main')} }}"
    assert execute(client, {"content": program}, language="java")["run"]["stdout"] == "first\n"
