"""Runs of the repository benchmark, compared task by task."""

import json
from pathlib import Path

import pytest

from alpha_codium.repository.running.comparison import ScoredRun, compared
from tests.gen.running import home, run_cli
from tests.repository.running.shop_runs import TASKS, buggy, config, right_at_last, run
from tests.repository.shop import NET, task_of_shop
from tests.servers.scripted import ScriptedServer

__all__ = ["config", "home"]


@pytest.mark.thorough
def test_runs_of_several_benchmarks_are_compared_task_by_task(config: Path) -> None:
    with ScriptedServer(right_at_last) as server:
        run(config, server, "-o", "paths.format_run_name=generated")
    right = ("--config", config, "-o", "inference.check_ground_truth=true")
    for name in ("completion", "program_repair"):
        run_cli("repo", "run", *right, "--benchmark", name, "-o", f"paths.format_run_name={name}")
    names = [f"outputs/{name}" for name in ("generated", "completion", "program_repair")]
    done = run_cli("compare", *names, "--baseline", names[0], "--json", "found.json")
    shown = done.stdout + done.stderr
    assert "3 tasks in all runs; 0 without a verdict in some\n" in shown
    assert "A  generated: method_gen_multiturn, by openai/scripted\n" in shown
    said = [line.split() for line in shown.splitlines()]
    assert ["A", "0.667"] in said and "C - B" not in shown
    assert ["B", "-", "A", "+0.333", "+0.000", "to", "+1.000", "1", "0", "1"] in said
    assert ["solved", "solved", "solved", "2"] in said and ["-", "solved", "solved", "1"] in said
    assert json.loads(Path("found.json").read_text())["differences"][1]["better"] == [TASKS[2].dp_id]
    Path("tasks.jsonl").write_text(json.dumps(buggy(task_of_shop("Sale.__init__", (NET,))).row(0)) + "\n")
    run_cli("repo", "run", *right, "-o", "paths.format_run_name=b")
    assert "no task has a verdict in all of completion, b: " in run_cli("compare", names[1], "outputs/b").stderr


def test_more_runs_than_letters_are_told_apart() -> None:
    runs = [ScoredRun(f"run {number}", "completion", "m", {"task": 1.0}) for number in range(30)]
    lines = "\n".join(compared(runs, baseline=True).lines())
    assert "Z  run 25: " in lines and "AA  run 26: " in lines and "AD - A" in lines
