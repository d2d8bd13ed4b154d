"""`gencode bench sandbox`, as small as it gets."""

import json
from pathlib import Path

from alpha_codium.sandbox.portable.isolation import namespaces_command
from tests.support import gencode

OURS = ("-o", "code_tester.tester_type=portable") + (
    () if namespaces_command() else ("-o", "code_tester.sandbox=false")
)
SMALL = ("--workload", "a", "--rounds", 1, "--seconds", 0.001, "--tests", 2, *OURS)


def test_the_table_goes_to_stdout_and_the_figures_to_the_file(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = gencode("bench", "sandbox", "--contenders", "ours,floor", *SMALL, "--json", out, home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "workload a: print(input())" in done.stdout
    result = json.loads(out.read_text())
    assert [(line["contender"], line["all_right"]) for line in result["table"]] == [
        ("ours", True), ("ours", True), ("floor", True),
    ]  # fmt: skip
    assert result["machine"]["cores"] >= 1


def test_scaling_and_memory_take_the_tables_place(tmp_path: Path) -> None:
    done = gencode("bench", "sandbox", "--scaling", "--memory", "--candidates", 2, *SMALL, "--json", "-", home=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert "table" not in result
    assert len(result["scaling"]) == 3
    assert result["memory"]["right"] == 4


def test_a_mistyped_contender_is_one_line_and_exit_status_2(tmp_path: Path) -> None:
    done = gencode("bench", "sandbox", "--contenders", "colt", home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: there is no contender 'colt' (did you mean 'cold'?)\n"


def test_a_sandbox_that_is_not_there_is_one_line_and_exit_status_2(tmp_path: Path) -> None:
    done = gencode("bench", "sandbox", "--scaling", "-o", "code_tester.tester_type=portabel", home=tmp_path)
    assert done.returncode == 2
    assert "did you mean 'portable'" in done.stderr
    assert "Traceback" not in done.stderr
