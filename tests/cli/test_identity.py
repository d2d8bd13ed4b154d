"""Verdicts of two sandboxes don't mix when an evaluation is resumed."""

import sys
from pathlib import Path

import pytest

from alpha_codium.sandbox.engine.interpreter import inspect_interpreter
from tests.cli.test_eval import eval_gen, of_json, problems, row, solutions_file
from tests.eval.splits import RIGHT
from tests.judge.pythons import OTHER_PYTHONS

__all__ = ["problems"]  # a fixture


@pytest.mark.thorough
def test_verdicts_of_two_interpreters_do_not_mix(home: Path, tmp_path: Path, problems: Path) -> None:
    """The interpreter's path stays the same, and another version stands there now."""
    others = [path for path in OTHER_PYTHONS if Path(path).exists()]
    if not others:
        pytest.skip("there is no second interpreter on this machine")
    python = tmp_path / "python3"
    python.symlink_to(Path(sys.executable).resolve())
    solutions = solutions_file(tmp_path, row("a", RIGHT), row("b", RIGHT))
    options = ("--k", 1, "-o", f"code_tester.interpreter={python}")
    first = eval_gen(home, solutions, problems, *options, "--run", "r", "--json", tmp_path / "result.json")
    assert first.returncode == 0, first.stderr
    version = ".".join(map(str, sys.version_info[:3]))
    assert of_json(tmp_path / "result.json")["sandbox"]["interpreter"] == f"CPython {version}"
    assert f'interpreter = "CPython {version}"' in (home / "runs" / "r" / "run.toml").read_text()
    again = eval_gen(home, solutions, problems, *options, "--resume", "r")
    assert again.returncode == 0, again.stderr
    python.unlink()
    python.symlink_to(Path(others[0]).resolve())
    inspect_interpreter.cache_clear()
    mixed = eval_gen(home, solutions, problems, *options, "--resume", "r")
    assert mixed.returncode == 2
    assert f"run 'r' was made with sandbox.interpreter = 'CPython {version}', not" in mixed.stderr
