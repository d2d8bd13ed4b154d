"""The backend `remote` against real servers on loopback."""

import asyncio
import contextlib
import hashlib
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import httpx
import pytest

from alpha_codium.client import servers as balancing
from alpha_codium.errors import SandboxError
from alpha_codium.judge import Judge, Rules
from alpha_codium.judge.executors import LocalPool, Task
from alpha_codium.judge.many import judge_all
from alpha_codium.problem import ExecutionSpec, Problem, TestCase
from alpha_codium.program import Job, Program
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.sandbox.remote import backend, servers
from alpha_codium.sandbox.remote.inputs import StoredInputs
from alpha_codium.verdict import JUDGING_RULES, Execution, Identity, Judgement, Report, Status, Verdict
from tests.judge.checkers import CPP_FILES, needs_compiler, problem
from tests.judge.checkers import TESTS as CHECKED
from tests.judge.interactors import GUESSES, IN_CPP, IN_PYTHON
from tests.judge.interactors import TESTS as GUESSED
from tests.serve.serving import started
from tests.support import ROOT

SUITE = ROOT / "alpha_codium" / "sandbox" / "conformance"
PARTS = ("test_jobs.py", "test_programs.py", "test_pairs.py", "test_dialogues.py", "test_drivers.py")
SLOWLY = "import sys, hashlib\nfor _ in range(20000): hashlib.sha256(sys.argv[0].encode())\nprint(int(input()) ** 2)"


@pytest.fixture(scope="module")
def urls() -> Iterator[list[str]]:
    with started() as (left, _), started() as (right, _):
        yield [left, right]


@pytest.mark.slow
def test_it_passes_the_conformance_suite(urls: list[str]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "alpha_codium.sandbox.conformance.plugin"]
    options = ["-p", "no:cacheprovider", "--backend", "remote", "--backend-option", f"urls={urls}"]
    done = subprocess.run(
        [*command, *options, *(SUITE / part for part in PARTS)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.thorough
async def test_reports_and_identity_are_those_of_the_servers_and_of_local(urls: list[str]) -> None:
    async with open_sandbox("remote", urls=urls) as remote, open_sandbox("local", workers=1) as local:
        assert remote.workers == 4
        assert await remote.identity() == replace(await local.identity(), rules=JUDGING_RULES)
        for program in ("print(input()[::-1])", "print(1 / int(input()))", "print("):
            job = Job(Program.from_source("python3", program), [str(number) for number in range(30)])
            assert outputs(await report_of(remote, job)) == outputs(await report_of(local, job))


@needs_compiler
@pytest.mark.thorough
async def test_checkers_and_interactors_in_cpp_are_compiled_by_the_servers(urls: list[str]) -> None:
    async with open_sandbox("remote", urls=urls) as remote:
        divides = Judge(remote).for_problem(problem(CPP_FILES))
        talks = Judge(remote).for_problem(IN_CPP)
        found = [
            await divides.judge("n = int(input())\nprint(n // 2)", CHECKED),
            await divides.judge("print(1)", CHECKED),
            await talks.judge(GUESSES, GUESSED),
            await talks.judge(GUESSES.replace('"higher"', '"lower"'), GUESSED),
        ]
    assert [each.verdict.value for each in found] == ["accepted", "wrong_answer"] * 2, found


def outputs(report: Report) -> list[tuple[Status, str, str]]:
    return [(each.status, each.stdout, each.stderr) for each in (report.compilation, *report.executions)]


PROGRAMS = (
    SLOWLY,
    "print(int(input()) ** 2)",
    "print(int(input()) + 1)",
    "import sys\nn = int(input())\nprint(n ** 2)\nsys.exit(n % 2)",
    "print('x' * 100000, 1 // int(input()))",
    "n = int(input())\nwhile n == 2: pass\nprint(n ** 2)",
    "x = bytearray(300 << 20)",
    "def f(:",
)
KILLED_AFTER = 8


@pytest.mark.thorough
async def test_judging_goes_on_as_locally_when_one_of_three_servers_is_killed() -> None:
    tests = tuple(TestCase(str(n), str(n**2)) for n in range(4))
    problem = Problem("squares", private_tests=tests)
    rules = Rules(cpu_seconds=0.3, memory_bytes=128 << 20)
    programs = [f"# {number}\n{program}" for number in range(3) for program in PROGRAMS]
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(started()) for _ in range(3)]
        async with open_sandbox("remote", urls=[url for url, _ in found]) as remote:
            judge, done = Judge(remote, rules).for_problem(problem), 0

            async def judged(program: str) -> Judgement:
                nonlocal done
                judgement = await judge.judge(program, tests)
                done += 1
                if done == KILLED_AFTER:
                    found[1][1].kill()
                return judgement

            there = await asyncio.gather(*map(judged, programs))
        assert found[1][1].wait(10) == -signal.SIGKILL
    async with open_sandbox("local", workers=2) as local:
        judge = Judge(local, rules).for_problem(problem)
        here = await asyncio.gather(*(judge.judge(program, tests) for program in programs))
    assert [facts(judgement) for judgement in there] == [facts(judgement) for judgement in here]
    assert {judgement.verdict for judgement in here} == {
        Verdict.ACCEPTED,
        Verdict.WRONG_ANSWER,
        Verdict.RUNTIME_ERROR,
        Verdict.TIME_LIMIT_EXCEEDED,
        Verdict.MEMORY_LIMIT_EXCEEDED,
        Verdict.COMPILATION_ERROR,
    }


def facts(judgement: Judgement) -> tuple[object, ...]:
    """The verdicts, and each test's verdict, status, exit and digests of its outputs, in order."""
    tests = [
        (test.verdict, run.status, run.exit_code, run.signal, digest(run.stdout), digest(run.stderr))
        for test in judgement.tests
        for run in [test.execution]
    ]
    return judgement.verdict, judgement.failed, judgement.tests_total, tests


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@pytest.mark.thorough
async def test_inputs_that_several_programs_run_on_are_stored_at_each_server(urls: list[str]) -> None:
    inputs = tuple(f"{number} {'x' * 3000}" for number in range(30))
    programs = [f"print(int(input().split()[0]) + {number})" for number in range(12)]
    async with open_sandbox("remote", urls=urls) as sandbox:
        first = await sandbox.run(programs[0], inputs)
        stored = f"/v1/problems/{StoredInputs(inputs).digest}"
        assert [httpx.get(url + stored).status_code for url in urls] == [404, 404]
        reports = [first, *await asyncio.gather(*(sandbox.run(program, inputs) for program in programs[1:]))]
    expected = [[f"{number + more}\n" for number in range(30)] for more in range(12)]
    assert [[each.stdout for each in report.executions] for report in reports] == expected
    assert [httpx.get(url + stored).status_code for url in urls] == [200, 200]


@pytest.mark.thorough
async def test_inputs_are_sent_along_where_a_server_has_no_room_to_store_them() -> None:
    with started("--max_problem_bytes", "10000") as (url, _):
        async with open_sandbox("remote", urls=[url]) as sandbox:
            for number in range(3):
                report = await sandbox.run(f"print(len(input()) + {number})", ["x" * 20_000])
                assert report.last.stdout == f"{20_000 + number}\n"


@pytest.mark.thorough
async def test_a_server_with_another_sandbox_is_refused(urls: list[str]) -> None:
    with started("-o", "code_tester.tester_type=portable") as (other, _):
        with pytest.raises(SandboxError, match="has another sandbox than the others"):
            await open_sandbox("remote", urls=[*urls, other]).__aenter__()


async def test_a_server_with_other_judging_rules_is_refused(urls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "JUDGING_RULES", JUDGING_RULES + 1)
    with pytest.raises(SandboxError, match=f"has version {JUDGING_RULES} of the judging rules, and this gencode has"):
        await open_sandbox("remote", urls=urls).__aenter__()


async def test_what_a_server_cannot_run_is_an_error_and_the_next_job_is_run(urls: list[str]) -> None:
    async with open_sandbox("remote", urls=urls) as sandbox:
        with pytest.raises(SandboxError, match="runs programs of one file"):
            await report_of(sandbox, Job(Program("python3", {"a.py": "", "b.py": ""}, "a.py"), [""]))
        assert (await sandbox.run("print(2)", [""])).last.stdout == "2\n"


@pytest.mark.thorough
async def test_a_job_that_servers_refuse_has_no_verdict_and_ends_no_others(urls: list[str]) -> None:
    squares = Problem("squares", private_tests=(TestCase("2", "4"),))
    too_large = replace(squares, memory_limit_bytes=2**40)
    test = TestCase("assert x == 1", "")
    asserts = replace(too_large, private_tests=(test,), execution=ExecutionSpec("assertions"))
    async with open_sandbox("remote", urls=urls) as sandbox:
        pool = LocalPool(sandbox)
        program = Program.from_source("python3", PROGRAMS[1])
        tasks = [
            *(Task(program, each, each.private_tests) for each in (squares, too_large, squares)),
            Task(program, squares, squares.private_tests, Rules(wall_seconds=5000)),
            Task(Program.from_source("python3", "x = 1"), asserts, asserts.private_tests),
            Task(Program.from_source("python3", "x = 2"), asserts, asserts.private_tests),
            Task(Program.from_source("python3", GUESSES), replace(IN_PYTHON, memory_limit_bytes=2**40), GUESSED),
        ]
        found = await judge_all(tasks, pool)
    assert [each.verdict.value for each in found] == ["accepted", "internal_error"] * 2 + ["internal_error"] * 3
    assert ["limits.memory_bytes" in found[1].message, "limits.wall_seconds" in found[3].message] == [True, True]


async def test_an_interactor_has_time_beyond_the_longest_of_a_program(urls: list[str]) -> None:
    async with open_sandbox("remote", urls=urls) as sandbox:
        talks = Judge(sandbox, Rules(wall_seconds=1802)).for_problem(IN_PYTHON)
        assert (await talks.judge(GUESSES, GUESSED)).accepted


async def test_inputs_are_sent_in_groups_of_a_size_that_servers_take(
    urls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "MOST_CHARACTERS", 1000)
    monkeypatch.setattr(backend, "MOST_INPUTS", 4)
    sent: list[int] = []
    async with open_sandbox("remote", urls=urls) as sandbox:
        ask = sandbox._open.ask

        async def counted(path: str, request: dict[str, list[str]]) -> object:
            sent.append(len(request["inputs"]))
            return await ask(path, request)

        monkeypatch.setattr(sandbox._open, "ask", counted)
        inputs = [*("x" * 400 for _ in range(6)), "x" * 5000, *("x" for _ in range(6))]
        report = await sandbox.run("print(len(input()))", inputs)
    assert [int(each.stdout) for each in report.executions] == list(map(len, inputs))
    assert sent == [1, 2, 2, 1, 1, 4, 2]


@pytest.mark.thorough
async def test_a_token_comes_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text("right\n")
    monkeypatch.setenv("MY_TOKEN", "right")
    with started(GENCODE_SERVE_TOKEN="right") as (url, _):
        for source in ({"token_file": str(tmp_path / "token")}, {"token_env": "MY_TOKEN"}):
            async with open_sandbox("remote", urls=[url], **source) as sandbox:
                assert (await sandbox.run("print(1)", [""])).last.stdout == "1\n"
        with pytest.raises(SandboxError, match="Bearer TOKEN"):
            await open_sandbox("remote", urls=[url]).__aenter__()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "remote needs the addresses of servers"),
        ({"urls": ["localhost:80"]}, "'localhost:80' is no address such as"),
        ({"urls": ["http://127.0.0.1:9"]}, "no server answers: http://127.0.0.1:9"),
        ({"urls": ["http://127.0.0.1:9"], "token_env": "NO_SUCH"}, "there is no environment variable NO_SUCH"),
        ({"urls": ["http://127.0.0.1:9"], "token_file": "/no/such"}, "token_file: .*No such file"),
        ({"urls": ["http://127.0.0.1:9"], "interpreter": "python3"}, "servers choose the isolation and the interp"),
    ],
)
async def test_wrong_settings_are_refused(options: dict, message: str) -> None:
    with pytest.raises(SandboxError, match=message):
        await open_sandbox("remote", **options).__aenter__()


@pytest.mark.thorough
async def test_if_no_server_is_left_that_is_an_error_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balancing, "PATIENCE_SECONDS", 0.3)
    with started() as (url, process):
        async with open_sandbox("remote", urls=[url]) as sandbox:
            process.kill()
            process.wait()
            with pytest.raises(SandboxError, match="no server has answered"):
                await sandbox.run("print(1)", [""])


class Scripted(BaseHTTPRequestHandler):
    """Answers with the next of `answers`, each a status and a body."""

    answers: ClassVar[list[tuple[int, dict[str, object]]]] = []

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        status, body = self.answers.pop(0)
        self.send_response(status)
        self.send_header("retry-after", "1")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextlib.contextmanager
def scripted(*answers: tuple[int, dict[str, object]]) -> Iterator[str]:
    handler = type("Handler", (Scripted,), {"answers": list(answers)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


JUDGE = Identity("local", "1", "CPython 3.11.7", rules=JUDGING_RULES)
INFO = (200, {"sandbox": JUDGE.to_json(), "tools": {"python3": ""}, "workers": 2})
BUSY = (429, {"detail": "the queue is full"})


@pytest.mark.thorough
async def test_a_server_that_is_only_busy_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balancing, "PATIENCE_SECONDS", 0.5)
    done = Report(Execution(Status.FINISHED), (Execution(Status.FINISHED, "1\n"),)).to_json()
    with scripted(INFO, BUSY, BUSY, (200, done)) as url:
        async with open_sandbox("remote", urls=[url]) as sandbox:
            assert (await sandbox.run("print(1)", [""])).last.stdout == "1\n"


@pytest.mark.thorough
async def test_a_server_that_fails_when_it_is_asked_what_it_is_does_not_answer() -> None:
    with scripted((500, {"detail": "broken"})) as url:
        with pytest.raises(SandboxError, match="no server answers"):
            await open_sandbox("remote", urls=[url]).__aenter__()
