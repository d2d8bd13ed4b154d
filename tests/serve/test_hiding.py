"""No answer has a path of the machine, and without a token none has anything."""

import json
import re
import site
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from alpha_codium.serve.hiding import Hiding, without_paths
from alpha_codium.verdict import Execution, Status
from tests.serve.serving import started
from tests.serve.test_malformed import RIGHT
from tests.support import ROOT

FAILING = (
    "import json; json.loads('{')",
    "def f(:",
    "raise OSError(2, 'x', 'y')",
    "import numpy.nothing",
    "open('/etc/shadow')",
    "import os; os.abort()",
    "import traceback, sys; traceback.print_stack(); sys.exit(1)",
    "while True: pass",
)


def paths() -> set[str]:
    """The folders of the machine that an answer could tell."""
    return {str(ROOT), str(Path.home()), sys.prefix, sys.base_prefix, *site.getsitepackages()} - {"/usr"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def client(home: Path) -> Iterator[httpx.Client]:
    with started(GENCODE_HOME=str(home)) as (address, _), httpx.Client(base_url=address, timeout=120) as client:
        yield client


def replaced(value: object, program: str) -> object:
    """Return a request with another program in place of `print(1)`."""
    return json.loads(json.dumps(value).replace(json.dumps("print(1)")[1:-1], json.dumps(program)[1:-1]))


@pytest.mark.thorough
@pytest.mark.parametrize("dialect", RIGHT)
def test_answers_and_errors_have_no_path_of_the_machine(client, home, dialect):
    hidden = {*paths(), str(home)}
    for path, body, _ in RIGHT[dialect]:
        for program in FAILING[:2] if dialect != "native" else FAILING:
            text = client.post(path, json=replaced(body, program)).text
            assert not (found := [each for each in hidden if each in text]), (path, program, found, text)
        for wrong in (b"{", b"[]", b"\xff", json.dumps(dict.fromkeys(body)).encode()):
            answer = client.post(path, content=wrong, headers={"Content-Type": "application/json"})
            assert not [each for each in hidden if each in answer.text], answer.text


def test_what_describes_the_server_has_no_path_of_the_machine(client, home):
    for path in ("/v1/info", "/metrics", "/openapi.json", "/docs", "/nothing", "/v1/problems/x"):
        text = client.get(path).text
        assert not [each for each in (*paths(), str(home)) if each in text], (path, text)


def test_tracebacks_name_modules(client):
    request = {"program": FAILING[0], "tests": [{"input": "", "output": ""}]}
    text = client.post("/v1/judge", json=request).json()["tests"][0]["stderr"]
    files = re.findall(r'File "(.*?)"', text)
    assert files == ["program.py", "json/__init__.py", "json/decoder.py", "json/decoder.py"]


def test_what_a_client_sent_is_quoted_with_its_paths(client):
    test = {"input": '"/home/user/data"', "output": "1"}
    request = {"program": "def f(x): return 1", "tests": [test], "kind": "call", "entry_point": "f"}
    answer = client.post("/v1/judge", json=request).json()
    said = "the input of a call must be a JSON list of arguments, not '\"/home/user/data\"'"
    assert (answer["message"], answer["tests"][0]["stderr"]) == (said, said)
    rewards = {"answers": [{"answer": f"```python\n{request['program']}\n```", "tests": {"/home/user/data": 1}}]}
    (score,) = client.post("/v1/rewards", json=rewards).json()["scores"]
    assert "/home/user/data" in score["message"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cannot open /work/x/box.sock: refused", "cannot open box.sock: refused"),
        ("'/a/b-1/c.d', /x", "'c.d', /x"),
        ("see http://127.0.0.1:80/a/b", "see http://127.0.0.1:80/a/b"),
        ("1/2/3 a/b/c ../x/y", "1/2/3 a/b/c ../x/y"),
    ],
)
def test_errors_keep_the_names_of_files_alone(text, shown):
    assert without_paths(text) == shown


def test_only_stderr_is_changed():
    hiding = Hiding(("/opt/python/lib/python3.11/site-packages", "/opt/python/lib/python3.11", "/opt/python"))
    text = "/opt/python/lib/python3.11/site-packages/a.py /opt/python/lib/python3.11/b.py /other/c.py"
    execution = hiding.execution(Execution(Status.FINISHED, text, text))
    assert (execution.stdout, execution.stderr) == (text, "a.py b.py /other/c.py")
    assert hiding.execution(Execution(Status.INTERNAL_ERROR, "", text)).stderr == "a.py b.py c.py"


@pytest.mark.thorough
def test_without_the_token_nothing_runs(tmp_path):
    with started(GENCODE_SERVE_TOKEN="secret") as (address, process):
        before = descendants(process)
        with httpx.Client(base_url=address, timeout=60) as client:
            for requests in RIGHT.values():
                for path, body, _ in requests:
                    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "secret"}):
                        answer = client.post(path, json=body, headers=headers)
                        assert (answer.status_code, list(answer.json())) == (401, ["detail"]), path
            right = {"Authorization": "Bearer secret"}
            info, metrics = client.get("/v1/info", headers=right).json(), client.get("/metrics", headers=right).text
        assert info["queued"] == 0
        assert "gencode_tests_total 0.0" in metrics
        assert "gencode_verdicts_total{" not in metrics
        assert descendants(process) == before


def descendants(process: "subprocess.Popen[str]") -> set[str]:
    """The processes that a process and its children have started."""
    found, new = set[str](), {str(process.pid)}
    while new:
        found |= new
        lists = [path.read_text().split() for pid in new for path in Path(f"/proc/{pid}/task").glob("*/children")]
        new = {pid for pids in lists for pid in pids} - found
    return found
