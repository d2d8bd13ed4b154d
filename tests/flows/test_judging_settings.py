"""Every setting changes what happens: here `[code_tester]`, with real programs in the real sandbox."""

import os
import sys
from pathlib import Path

import pytest

from alpha_codium.app.judgements import judge_program
from alpha_codium.errors import SandboxError, UserError
from alpha_codium.judge import Judge, Rules
from alpha_codium.judge.executors import EXECUTORS, LocalPool
from alpha_codium.problem import Problem, TestCase
from alpha_codium.sandbox import sandbox_of
from alpha_codium.verdict import Verdict
from tests.flows.scripted_flow import settings_of
from tests.flows.switches import changes

BUSY = "import time\nwhile time.process_time() < 0.45: pass\nprint(1)"
LARGE = "x = bytearray(200 << 20)\nprint(1)"
ONE = (TestCase("", "1\n"),)


def with_code_tester(**values):
    return settings_of({f"code_tester.{key}": value for key, value in values.items()})


def code_tester(**values):
    return with_code_tester(**values).code_tester


async def verdict_of(bench, code, tests=ONE, problem=None, **values):
    """A program's verdict under these settings."""
    judge = Judge(bench.sandbox, Rules.of(code_tester(**values)))
    return (await judge.for_problem(problem or Problem("P")).judge(code, tests)).verdict


@pytest.mark.thorough
@changes("code_tester.timeout")
async def test_timeout_is_the_cpu_time_of_a_test_and_wins_over_the_problems_own(bench):
    assert await verdict_of(bench, BUSY) is Verdict.ACCEPTED
    assert await verdict_of(bench, BUSY, timeout=0.2) is Verdict.TIME_LIMIT_EXCEEDED
    strict = Problem("P", time_limit_seconds=0.05)
    assert await verdict_of(bench, BUSY, problem=strict, timeout=5) is Verdict.ACCEPTED


@pytest.mark.thorough
@changes("code_tester.time_limit_factor")
async def test_time_limit_factor_stretches_the_problems_own_limit(bench):
    problem = Problem("P", time_limit_seconds=0.1)
    assert await verdict_of(bench, BUSY, problem=problem) is Verdict.TIME_LIMIT_EXCEEDED
    assert await verdict_of(bench, BUSY, problem=problem, time_limit_factor=50) is Verdict.ACCEPTED


@changes("code_tester.memory_bytes")
async def test_memory_bytes_bounds_the_memory_of_a_test(bench):
    assert await verdict_of(bench, LARGE) is Verdict.ACCEPTED
    assert await verdict_of(bench, LARGE, memory_bytes=120 << 20) is Verdict.MEMORY_LIMIT_EXCEEDED


@changes("code_tester.delta")
@pytest.mark.parametrize(
    ("expected", "printed", "close"),
    [("0.5", "0.50001", True), ("0.5", "0.6", False), ("1000000007", "1000000000", False), ("1 2 3", "12 3", False)],
)
async def test_delta_takes_floats_that_are_close_and_nothing_else(bench, expected, printed, close):
    tests = (TestCase("", expected),)
    wanted = Verdict.ACCEPTED if close else Verdict.WRONG_ANSWER
    assert await verdict_of(bench, f"print('{printed}')", tests) is Verdict.WRONG_ANSWER
    assert await verdict_of(bench, f"print('{printed}')", tests, delta=0.001) is wanted


@changes("code_tester.order_matters")
async def test_order_matters_unless_it_is_switched_off(bench):
    tests = (TestCase("", "1\n2\n"),)
    assert await verdict_of(bench, "print(2); print(1)", tests) is Verdict.WRONG_ANSWER
    assert await verdict_of(bench, "print(2); print(1)", tests, order_matters=False) is Verdict.ACCEPTED


@changes("code_tester.stop_on_first_failure")
@pytest.mark.parametrize(("stop", "judged"), [(False, 3), (True, 2)])
async def test_stop_on_first_failure_leaves_out_the_tests_after_it(bench, stop, judged):
    tests = [TestCase("1", "1"), TestCase("2", "x"), TestCase("3", "3")]
    judge = Judge(bench.sandbox, Rules.of(code_tester(stop_on_first_failure=stop))).for_problem(Problem("P"))
    judgement = await judge.judge("print(input())", tests)
    assert (judgement.verdict, len(judgement.tests), judgement.tests_total) == (Verdict.WRONG_ANSWER, judged, 3)


@changes("code_tester.tester_type")
def test_tester_type_names_the_sandbox():
    assert sandbox_of(with_code_tester(tester_type="local"))
    with pytest.raises(UserError, match=r"'locl' .did you mean 'local'"):
        sandbox_of(with_code_tester(tester_type="locl"))


@changes("code_tester.interpreter")
async def test_interpreter_runs_the_programs(tmp_path):
    other = tmp_path / "other-python"
    other.write_text(f'#!/bin/sh\nexport WHO=another\nexec "{sys.executable}" "$@"\n')
    other.chmod(0o755)
    printed = []
    for interpreter in ("", str(other)):
        async with sandbox_of(with_code_tester(interpreter=interpreter, workers=1)) as sandbox:
            report = await sandbox.run("import os\nprint(os.environ.get('WHO'))", [""])
            printed.append(report.executions[0].stdout.strip())
    assert printed == ["None", "another"]


@changes("code_tester.sandbox")
async def test_sandbox_false_is_no_isolation_and_true_is_some():
    shown = []
    for isolation in (True, False):
        try:
            async with sandbox_of(with_code_tester(sandbox=isolation, workers=1)) as sandbox:
                report = await sandbox.run("import os\nprint(os.readlink('/proc/self/ns/net'))", [""])
        except SandboxError as error:
            pytest.skip(str(error))
        shown.append(report.executions[0].stdout.strip())
    assert shown[0] != shown[1] == str(Path("/proc/self/ns/net").readlink())


@changes("code_tester.preload")
@pytest.mark.parametrize(("preload", "loaded"), [([], False), (["colorsys"], True)])
async def test_preload_names_modules_that_are_there_when_a_program_imports_them(preload, loaded):
    program = "import sys\nprint('colorsys' in sys.modules)\nimport colorsys"
    async with sandbox_of(with_code_tester(preload=preload, workers=1)) as sandbox:
        report = await sandbox.run(program, [""])
    assert report.executions[0].stdout == f"{loaded}\n"


@changes("code_tester.executor")
def test_executor_names_what_judges_programs(monkeypatch, bench):
    judged = []

    class Elsewhere(LocalPool):
        def __init__(self, sandbox, workers, _settings):
            super().__init__(sandbox, workers)

        async def judge(self, tasks):
            judged.extend(task.program.source for task in tasks)
            return await LocalPool.judge(self, tasks)

    monkeypatch.setitem(EXECUTORS, "elsewhere", Elsewhere)
    for name, expected in (("local", []), ("elsewhere", ["print(1)"])):
        judgement = judge_program("print(1)", [("", "1")], settings=with_code_tester(executor=name))
        assert (judgement.verdict, judged) == (Verdict.ACCEPTED, expected)
    with pytest.raises(UserError, match=r"there is no executor 'elsewher' \(did you mean 'elsewhere'"):
        judge_program("print(1)", [("", "1")], settings=with_code_tester(executor="elsewher"))


@changes("code_tester.ray_address")
def test_ray_address_names_the_cluster():
    settings = with_code_tester(executor="ray", ray_address="nowhere")
    with pytest.raises(UserError, match="'nowhere': must be HOST:PORT of a head node"):
        judge_program("print(1)", [("", "1")], settings=settings)


@changes("code_tester.workers")
@pytest.mark.parametrize("workers", [1, 3])
def test_workers_is_how_many_programs_run_at_a_time(workers):
    assert sandbox_of(with_code_tester(workers=workers)).workers == workers
    assert sandbox_of(with_code_tester()).workers == os.cpu_count()


@changes("sandbox.oci.image", "sandbox.oci.engine", "sandbox.oci.runtime", "sandbox.oci.options")
def test_the_oci_backend_is_opened_with_its_section():
    values = {"image": "mine", "engine": "podman --root=/x", "runtime": "runsc", "options": "--cpus=1 --label='a b'"}
    settings = settings_of({f"sandbox.oci.{key}": value for key, value in values.items()})
    sandbox = sandbox_of(settings.model_copy(update={"code_tester": code_tester(tester_type="oci")}))
    assert (sandbox.image, sandbox.wanted_engine, sandbox.runtime) == ("mine", "podman --root=/x", "runsc")
    assert sandbox.options == ("--cpus=1", "--label=a b")


@changes("sandbox.gvisor.runsc", "sandbox.gvisor.platform")
def test_the_gvisor_backend_is_opened_with_its_section():
    values = {"sandbox.gvisor.runsc": "/opt/runsc", "sandbox.gvisor.platform": "kvm"}
    sandbox = sandbox_of(settings_of({"code_tester.tester_type": "gvisor", **values}))
    assert (sandbox.runsc, sandbox.platform) == ("/opt/runsc", "kvm")


@changes("sandbox.remote.urls", "sandbox.remote.token_file", "sandbox.remote.token_env")
def test_the_remote_backend_is_opened_with_its_section():
    values = {"urls": ["http://a", "http://b"], "token_file": "/token", "token_env": "TOKEN"}
    settings = {"code_tester.tester_type": "remote"} | {f"sandbox.remote.{key}": value for key, value in values.items()}
    sandbox = sandbox_of(settings_of(settings))
    assert (sandbox.urls, sandbox.token_file, sandbox.token_env) == (("http://a", "http://b"), "/token", "TOKEN")


@changes("sandbox.code_contests.environment")
async def test_the_cpp_sandbox_is_looked_for_in_the_folder_of_its_section(tmp_path):
    values = {"code_tester.tester_type": "code_contests", "sandbox.code_contests.environment": str(tmp_path)}
    with pytest.raises(SandboxError, match=f"not installed in {tmp_path}"):
        async with sandbox_of(settings_of(values)):
            pass
