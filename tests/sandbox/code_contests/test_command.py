"""`tester_type = "code_contests"` on the command line, with the problem that is shipped."""

import json
from pathlib import Path

import pytest

from alpha_codium.sandbox import BACKENDS
from tests.sandbox.code_contests.environment import home_with_it
from tests.support import ROOT, gencode

OVERRIDE = ("-o", "code_tester.tester_type=code_contests")


@pytest.mark.thorough
def test_the_shipped_problem_is_judged_with_it(tmp_path: Path) -> None:
    (tmp_path / "environments").symlink_to(home_with_it() / "environments")
    imported = gencode("data", "import", ROOT / "examples/jars.json", "--output_dataset_name", "jars", home=tmp_path)
    assert imported.returncode == 0, imported.stderr
    done = gencode(
        "eval", "eval_cc_solutions", "--dataset_name", "jars", "--evaluation_test_type", "private_tests",
        "--solutions", "both", "--k", 1, "--json", tmp_path / "out.json", *OVERRIDE, home=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "out.json").read_text())
    agreement = result["agreement"]
    assert agreement["correct_accepted"] == agreement["correct_total"] > 0
    assert agreement["incorrect_rejected"] == agreement["incorrect_total"] > 0


@pytest.mark.thorough
def test_check_says_what_programs_are_kept_from(tmp_path: Path) -> None:
    done = gencode("sandbox", "check", *OVERRIDE, "--json", tmp_path / "out.json", home=home_with_it())
    assert done.returncode == 0, done.stderr
    facts = json.loads((tmp_path / "out.json").read_text())
    assert (facts["network"], facts["other_processes"], facts["host_files"]) == ("no", "no", "no")
    assert {layer["name"] for layer in facts["layers"] if layer["used"]} >= {"sandbox2"}


def test_an_evaluation_without_it_is_refused_in_one_line(tmp_path: Path) -> None:
    done = gencode("sandbox", "check", *OVERRIDE, home=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "run `gencode sandbox install code_contests`" in done.stderr


def test_every_backend_is_offered_by_its_name() -> None:
    assert set(BACKENDS) == {"local", "portable", "code_contests", "gvisor", "oci", "remote"}
