"""The command behind `make bench`, as small as it gets."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from alpha_codium.sandbox.portable.isolation import namespaces_command
from tests.support import ROOT

OURS = ("-o", "code_tester.tester_type=portable") + (
    () if namespaces_command() else ("-o", "code_tester.sandbox=false")
)
SMALL = ("--workload", "a", "--rounds", "1", "--seconds", "0.001", "--tests", "2", *OURS)


def bench(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.sandbox", *arguments]
    env = os.environ | {"GENCODE_HOME": str(home)}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=240, check=False)


@pytest.mark.thorough
def test_the_table_goes_to_stdout_and_the_figures_to_the_file(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = bench("--contenders", "ours,floor", *SMALL, "--json", str(out), home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "workload a: print(input())" in done.stdout
    result = json.loads(out.read_text())
    assert [(line["contender"], line["all_right"]) for line in result["table"]] == [
        ("ours", True), ("ours", True), ("floor", True),
    ]  # fmt: skip
    assert result["machine"]["cores"] >= 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [(("--contenders", "colt"), "did you mean 'cold'"),
     (("--scaling", "-o", "code_tester.tester_type=portabel"), "did you mean 'portable'")],
)  # fmt: skip
def test_a_mistake_is_one_line_and_exit_status_2(tmp_path: Path, arguments: tuple[str, ...], remedy: str) -> None:
    done = bench(*arguments, home=tmp_path)
    assert done.returncode == 2
    assert remedy in done.stderr
    assert "Traceback" not in done.stderr
