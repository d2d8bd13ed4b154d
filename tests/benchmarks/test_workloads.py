"""The workloads: their programs and functions give the outputs that are expected."""

import subprocess
import sys
from pathlib import Path

import pytest

from alpha_codium.errors import UserError
from benchmarks.sandbox.workloads import WORKLOADS, Batch, Workload, expected_output, find_workloads


def texts(folder: Path) -> list[str]:
    return [path.read_text() for path in sorted(folder.iterdir())]


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=list(WORKLOADS))
def test_the_program_prints_what_is_expected(workload: Workload, tmp_path: Path) -> None:
    Batch(workload, 1, 2).write(tmp_path)
    program = tmp_path / "programs" / "00000"
    for text, output in zip(texts(tmp_path / "inputs"), texts(tmp_path / "outputs"), strict=True):
        done = subprocess.run([sys.executable, program], input=text, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == (output, "")


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=list(WORKLOADS))
def test_the_function_returns_what_the_program_prints(workload: Workload, tmp_path: Path) -> None:
    Batch(workload, 1, 1).write(tmp_path)
    (text,) = texts(tmp_path / "inputs")
    scope: dict = {}
    exec((tmp_path / "functions" / "00000").read_text(), scope)
    assert scope["solve"](text) + "\n" == expected_output(workload, text)


def test_nothing_in_two_batches_can_be_answered_from_a_cache(tmp_path: Path) -> None:
    for number in (0, 1):
        Batch(WORKLOADS["b"], 3, 3, number).write(tmp_path / str(number))
    for kind in ("programs", "functions", "inputs"):
        found = texts(tmp_path / "0" / kind) + texts(tmp_path / "1" / kind)
        assert len(set(found)) == len(found) == 6


def test_an_input_has_about_a_hundred_bytes(tmp_path: Path) -> None:
    Batch(WORKLOADS["b"], 1, 20).write(tmp_path)
    assert all(80 <= len(text) <= 120 for text in texts(tmp_path / "inputs"))


def test_a_mistyped_workload_is_the_users_mistake() -> None:
    with pytest.raises(UserError, match="there is no workload 'd'"):
        find_workloads("a,d")
