"""The tool that freezes the judge's verdicts: what it calls a difference, and a freeze that was cut off."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.verdicts.comparing import compared
from benchmarks.verdicts.rows import STOP_EARLY, Frozen
from tests.support import ROOT

PROGRAM = {
    "set": "edges", "problem": "p", "program": "0" * 16, "program_index": 0, "mode": "full", "verdict": "accepted",
    "compilation": "finished", "executions_run": 1, "cpu_limit": 4.0, "cpu_seconds": 0.1, "message": "",
}  # fmt: skip
TEST = {key: PROGRAM[key] for key in ("set", "problem", "program", "program_index", "mode", "cpu_limit")} | {
    "test_index": 0, "verdict": "accepted", "status": "finished", "trust": "outside", "stdout_sha256": "1",
    "stderr_sha256": "2", "cpu_seconds": 0.1,
}  # fmt: skip


def frozen(folder: Path, name: str, *rows: dict[str, Any]) -> Frozen:
    path = folder / name
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ({"about": {}}, *rows)))
    return Frozen.read(path)


@pytest.mark.parametrize(
    ("row", "change"),
    [
        (TEST, {"verdict": "wrong_answer"}),
        (TEST, {"status": "runtime_error"}),
        (TEST, {"trust": "in_process"}),
        (TEST, {"stdout_sha256": "other"}),
        (TEST, {"cpu_limit": 5.0}),
        (PROGRAM, {"verdict": "wrong_answer"}),
        (PROGRAM, {"compilation": "compilation_error"}),
        (PROGRAM, {"executions_run": 2}),
    ],
)
def test_a_moved_field_is_a_difference(tmp_path: Path, row: dict[str, Any], change: dict[str, Any]) -> None:
    before, after = frozen(tmp_path, "a", row), frozen(tmp_path, "b", row | change)
    result = compared([before], after)
    assert [fields for _, _, fields in result.differences] == [list(change)]
    assert not result.near_limit and not result.unsettled
    assert not compared([before], before).differences


def test_a_missing_row_is_a_difference(tmp_path: Path) -> None:
    whole, part = frozen(tmp_path, "a", TEST, PROGRAM), frozen(tmp_path, "b", PROGRAM)
    assert len(compared([whole], part).differences) == len(compared([part], whole).differences) == 1


def test_a_verdict_that_flips_near_its_limit_stands_apart_and_another_field_does_not(tmp_path: Path) -> None:
    near = TEST | {"cpu_seconds": 3.7}
    before, flipped = frozen(tmp_path, "a", near), frozen(tmp_path, "b", near | {"verdict": "time_limit_exceeded"})
    assert (len(compared([before], flipped).near_limit), compared([before], flipped).differences) == (1, [])
    ran_more = frozen(tmp_path, "c", PROGRAM | {"cpu_seconds": 3.7, "executions_run": 2})
    assert compared([frozen(tmp_path, "d", PROGRAM)], ran_more).differences
    early = PROGRAM | {"mode": STOP_EARLY, "cpu_seconds": 3.7}
    stopped_later = frozen(tmp_path, "e", early | {"executions_run": 2})
    assert not compared([frozen(tmp_path, "f", early)], stopped_later).differences


def test_a_field_on_which_the_baselines_disagree_is_named_and_not_compared(tmp_path: Path) -> None:
    one, other = frozen(tmp_path, "a", TEST), frozen(tmp_path, "b", TEST | {"stdout_sha256": "other"})
    moved = frozen(tmp_path, "c", TEST | {"stdout_sha256": "third"})
    result = compared([one, other], moved)
    assert [fields for _, fields in result.unsettled] == [["stdout_sha256"]]
    assert not result.differences
    assert compared([one, other], frozen(tmp_path, "d", TEST | {"verdict": "wrong_answer"})).differences


def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "benchmarks.verdicts", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.thorough
def test_a_freeze_that_was_cut_off_goes_on_and_the_same_code_says_the_same(tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    freeze = ("freeze", "--data", tmp_path, "--sets", "edges", "--limit", 12, "--workers", 2, "--output")
    assert run(*freeze, first).returncode == 0
    assert run(*freeze, second).returncode == 0
    whole = second.read_text()
    second.write_text(whole[: len(whole) // 2])
    again = run(*freeze, second)
    assert again.returncode == 0
    assert not again.stderr.startswith("0 of 12 are in the file already")
    same = run("compare", first, second)
    assert same.returncode == 0, same.stdout
    second.write_text(second.read_text().replace('"verdict": "accepted"', '"verdict": "wrong_answer"', 1))
    assert run("compare", first, second).returncode == 1
