"""`gencode sandbox check`."""

import json
from pathlib import Path

import pytest

from alpha_codium.sandbox.portable.isolation import namespaces_command
from tests.support import gencode

needs_namespaces = pytest.mark.skipif(not namespaces_command(), reason="this machine gives no namespaces")


@pytest.mark.thorough
@needs_namespaces
def test_check_says_what_programs_are_kept_from(tmp_path: Path) -> None:
    done = gencode("sandbox", "check", "--json", tmp_path / "out.json", home=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = json.loads((tmp_path / "out.json").read_text())
    assert (facts["network"], facts["other_processes"]) == ("no", "no")
    assert facts["host_files"] == "no"
    assert {layer["name"] for layer in facts["layers"] if layer["used"]} >= {"namespaces", "seccomp"}
    for layer in facts["layers"]:
        assert layer["name"] in done.stdout
        assert layer["used"] or layer["how"] in done.stdout


@pytest.mark.thorough
def test_check_tells_of_the_portable_backend_that_it_does_not_isolate_files(tmp_path: Path) -> None:
    override = ["-o", "code_tester.tester_type=portable"]
    done = gencode("sandbox", "check", *override, "--json", tmp_path / "out.json", home=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = json.loads((tmp_path / "out.json").read_text())
    assert (facts["network"], facts["host_files"]) == ("no", "YES")
    assert [layer["name"] for layer in facts["layers"]] == ["namespaces", "private folders"]


@pytest.mark.thorough
def test_check_says_that_no_sandbox_is_none_and_warns(tmp_path: Path) -> None:
    done = gencode("sandbox", "check", "-o", "code_tester.sandbox=false", "--json", tmp_path / "o.json", home=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = json.loads((tmp_path / "o.json").read_text())
    assert (facts["network"], facts["other_processes"]) == ("YES", "YES")
    assert "UNSAFE" in done.stderr


@pytest.mark.thorough
def test_a_run_without_isolation_says_so_however_quiet_it_is_and_in_its_results(tmp_path: Path) -> None:
    tests = {"input": ["1"], "output": ["2"]}
    (tmp_path / "p.json").write_text(json.dumps([{"name": "p", "description": "d", "private_tests": tests}]))
    (tmp_path / "s.jsonl").write_text(json.dumps({"task_id": "p", "solution": "print(2)"}) + "\n")
    done = gencode(
        "eval", "score", tmp_path / "s.jsonl", "--dataset_name", tmp_path / "p.json", "--k", 1, "--run", "r", "-qq",
        "--recheck_near_limit", "-o", "code_tester.sandbox=false", home=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "UNSAFE" in done.stderr
    results = json.loads((tmp_path / "runs/r/results.json").read_text())
    assert results["unsafe"].startswith("sandbox = false")
    assert results["near_limit"] == {"programs": 0, "rechecked": 0}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("override", "said"),
    [
        (['code_tester.sandbox="strict"', "code_tester.tester_type=portable"], "complete isolation"),
        (["code_tester.tester_type=locl"], "did you mean 'local'"),
    ],
)
def test_what_can_not_be_had_is_one_line_and_exit_status_2(tmp_path: Path, override: list[str], said: str) -> None:
    done = gencode("sandbox", "check", *(part for each in override for part in ("-o", each)), home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
