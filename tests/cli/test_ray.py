"""The same evaluation on a Ray cluster of two nodes, which are lost and come back: the same results as here."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from alpha_codium.config import load_settings
from alpha_codium.errors import UserError
from alpha_codium.judge.executors import Task
from alpha_codium.judge.many import judge_all
from alpha_codium.judge.on_ray.cluster import RayCluster
from alpha_codium.judge.on_ray.node import NodeJudge
from alpha_codium.problem import Problem, TestCase
from alpha_codium.program import as_program
from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.verdict import Identity, Judgement
from tests.cli.test_shards import RIGHT, WRONG, journal, results
from tests.gen.running import assert_refused, run_cli, write_problems
from tests.jobs import WrappedSandbox

cluster_utils = pytest.importorskip("ray.cluster_utils", reason="Ray isn't installed")
pytestmark = [pytest.mark.thorough, pytest.mark.timeout(1800)]
NODE = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}
PROBLEMS, PROGRAMS = 4, 240
PATIENCE = 900.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of one CPU."""
    with pytest.MonkeyPatch.context() as patch:
        running = cluster_utils.Cluster(initialize_head=True, head_node_args=NODE)
        try:
            running.add_node(num_cpus=1, object_store_memory=80 << 20)
            patch.setenv("RAY_ADDRESS", running.address)
            yield running
        finally:
            running.shutdown()


@pytest.fixture
def job(home: Path, tmp_path: Path) -> tuple[str, ...]:
    """A command that scores programs, some of which are wrong, end with an error, or occur twice."""
    problems, samples = write_problems(tmp_path, PROBLEMS), tmp_path / "samples.jsonl"
    kinds = (RIGHT, WRONG, "1 / 0", f"{RIGHT}  # again")
    programs = [f"{kinds[i % 4]}\n# {i // 4 * 4}" for i in range(PROGRAMS)]
    rows = ({"task_id": f"echo {n}", "solution": each} for n in range(PROBLEMS) for each in programs)
    samples.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ("eval", "score", str(samples), "--dataset_name", str(problems), "--k", "1,2")


def started(job: tuple[str, ...], *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "alpha_codium", *job, *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it didn't happen"
        time.sleep(0.05)


def judging_processes() -> list[int]:
    """The actors on this machine."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cmdline").read_bytes().startswith(b"ray::NodeJudge"):
                found.append(int(process.name))
    return found


def lines_of(run: Path) -> int:
    return (run / "journal.jsonl").read_bytes().count(b"\n") if (run / "journal.jsonl").exists() else 0


def test_a_run_that_loses_a_worker_and_a_node_has_the_results_of_a_run_here(
    cluster: Any, job: tuple[str, ...], home: Path
) -> None:
    runs = home / "runs"
    here = run_cli(*job, "--run", "here")
    assert here.returncode == 0, here.stderr
    lost = cluster.add_node(num_cpus=1, object_store_memory=80 << 20)
    run = started(job, "--run", "there", "--executor", "ray")
    wait_until(lambda: lines_of(runs / "there"))
    os.kill(judging_processes()[0], signal.SIGKILL)
    cluster.remove_node(lost, allow_graceful=False)
    out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, err
    assert out == here.stdout.replace("runs show here", "runs show there")
    assert journal(runs / "there") == journal(runs / "here")
    assert results(runs / "there") == results(runs / "here")
    machines = json.loads((runs / "there/machines.json").read_text())
    assert sum(each["programs"] for each in machines) >= PROBLEMS * PROGRAMS // 2
    assert sum(each["lost"] for each in machines) >= 1
    assert not judging_processes()


@pytest.mark.parametrize("end", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_an_interrupted_run_leaves_no_process_and_goes_on_here(
    cluster: Any, job: tuple[str, ...], home: Path, end: signal.Signals
) -> None:
    runs = home / "runs"
    assert run_cli(*job, "--run", "here").returncode == 0
    run = started(job, "--run", "there", "--executor", "ray")
    wait_until(lambda: lines_of(runs / "there"))
    run.send_signal(end)
    run.communicate(timeout=PATIENCE)
    assert run.returncode == (130 if end is signal.SIGINT else -end)
    wait_until(lambda: not judging_processes())
    assert 0 < lines_of(runs / "there") < PROBLEMS * PROGRAMS
    done = run_cli("eval", "score", "--resume", "there", "--executor", "local")
    assert done.returncode == 0, done.stderr
    assert journal(runs / "there") == journal(runs / "here")
    assert results(runs / "there") == results(runs / "here")


class Another(WrappedSandbox):
    """A sandbox with a package that the nodes don't have."""

    async def identity(self) -> Identity:
        return replace(await self.sandbox.identity(), packages=("unheard_of==1",))


async def test_a_node_that_judges_by_another_sandbox_is_refused_and_named(cluster: Any) -> None:
    async with open_sandbox("local") as opened:
        another: Sandbox = Another(opened)
        with pytest.raises(UserError, match=r"^node [\d.]+ of the Ray cluster: it judges by another sandbox: packages"):
            async with RayCluster(another, 0, load_settings()):
                pass
    wait_until(lambda: not judging_processes())


async def test_a_program_that_ends_its_workers_has_no_verdict_and_is_named_and_all_others_are_judged(
    cluster: Any, monkeypatch: pytest.MonkeyPatch, warnings: list[str]
) -> None:
    class Fragile(NodeJudge):
        async def judge(self, groups: Any, tools: Any) -> list[Judgement]:
            if any("deadly" in program.source for group in groups for program in group.programs):
                os._exit(1)
            return await super().judge(groups, tools)

    monkeypatch.setattr("alpha_codium.judge.on_ray.cluster.NodeJudge", Fragile)
    problem = Problem("echo", private_tests=(TestCase("1\n", "1\n"),))
    programs = ["print(input())", "deadly", "print(2)", "print(int(input()))"]
    tasks = [Task(as_program(program), problem, problem.private_tests) for program in programs]
    async with open_sandbox("local") as opened, RayCluster(opened, 0, load_settings()) as executor:
        judgements = await judge_all(tasks, executor)
    assert [each.verdict.value for each in judgements] == [
        "accepted", "internal_error", "wrong_answer", "accepted",
    ]  # fmt: skip
    assert "was lost 3 times while it judged nothing but this program" in judgements[1].message
    assert any("a batch of 4 programs was lost 3 times" in line and "echo" in line for line in warnings)


def test_a_cluster_that_is_not_there_is_one_line(job: tuple[str, ...]) -> None:
    refused = run_cli(*job, "--executor", "ray", "-o", "code_tester.ray_address=127.0.0.1:1")
    assert_refused(refused, "the Ray cluster at 127.0.0.1:1 can't be reached: Connection refused")
    assert_refused(run_cli(*job, "--executor", "rya"), "there is no executor 'rya' (did you mean 'ray'?)")
