"""Policies of the user's own: how they reach the jail, wherever they were defined."""

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from alpha_codium.errors import UserError
from tests.metrics.restricted import text_of, texts_of
from tests.support import ROOT

RestrictedPython = pytest.importorskip("RestrictedPython", reason="RestrictedPython isn't installed")
pytestmark = pytest.mark.usefixtures("shared_sandbox")
ANNOTATED = ("x: int = 3\ndef f(): return x", "assert f() == 3")
IN_PLACE = ("def f(x):\n    x[0] += 1\n    return x", "assert f([1]) == [2]")
WORD = "forbidden"


def shouted(text: str) -> str:
    return text.upper()


class Annotating(RestrictedPython.RestrictingNodeTransformer):
    """With annotated assignments, and without a word; it uses what its module has."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        return self.node_contents_visit(node)

    def check_name(self, node: Any, name: str | None, allow_magic_methods: bool = False) -> None:
        super().check_name(node, name, allow_magic_methods)
        if name == WORD:
            self.error(node, shouted(f"the name {WORD}"))


@pytest.mark.thorough
def test_a_policy_of_a_test_module_is_followed() -> None:
    assert text_of(*ANNOTATED) != "passed"
    given = texts_of([ANNOTATED, ("forbidden = 1", "assert forbidden"), IN_PLACE], policy=Annotating)
    assert given[0] == "passed"
    assert "THE NAME FORBIDDEN" in given[1]
    assert "Augmented assignment" in given[2]


def test_a_policy_that_is_made_in_a_function_is_followed() -> None:
    hint = "not here"

    class Local(RestrictedPython.RestrictingNodeTransformer):
        def visit_While(self, node: ast.While) -> None:
            self.error(node, f"while: {hint}")

    assert "Line 1: while: not here" in text_of("while False: pass\nx = 1", "assert x", policy=Local)
    assert text_of("for i in [1]: x = i", "assert x", policy=Local) == "passed"


def test_a_policy_of_a_module_beside_the_users_script_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.joinpath("base_policies.py").write_text("WORDS = ['secret']\n")
    tmp_path.joinpath("my_policies.py").write_text(
        "from base_policies import WORDS\n"
        "from RestrictedPython import RestrictingNodeTransformer\n"
        "class NoSecrets(RestrictingNodeTransformer):\n"
        "    def visit_Name(self, node):\n"
        "        if node.id in WORDS: self.error(node, 'no ' + node.id)\n"
        "        return super().visit_Name(node)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    policy = importlib.import_module("my_policies").NoSecrets
    try:
        given = texts_of([("secret = 1", "assert secret"), ("public = 1", "assert public")], policy=policy)
    finally:
        for name in ("my_policies", "base_policies"):
            sys.modules.pop(name, None)
    assert "no secret" in given[0]
    assert given[1] == "passed"


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["a script", "standard input", "exec, as a notebook does"])
def test_a_policy_of_main_is_followed(way: str, tmp_path: Path) -> None:
    script = (
        "from RestrictedPython import RestrictingNodeTransformer\n"
        "from alpha_codium.metrics.restrictedpython_code_eval import compute\n"
        "MESSAGE = 'no sets'\n"
        "class NoSets(RestrictingNodeTransformer):\n"
        "    def visit_Set(self, node): self.error(node, MESSAGE)\n"
        "_, results = compute([['x = {1}', 'x = [1]']], ['assert x'], k=[1], policy=NoSets)\n"
        "print([result['result'] for _, result in results[0]])\n"
    )
    if way.startswith("exec"):
        script = f"exec(compile({script!r}, '<ipython-input-1>', 'exec'), globals())\n"
    file = tmp_path / "script.py"
    file.write_text(script)
    command = [sys.executable, *([] if way == "standard input" else [str(file)])]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    given = script if way == "standard input" else ""
    ended = subprocess.run(command, input=given, capture_output=True, text=True, timeout=120, env=env, check=False)
    assert "no sets" in ended.stdout, ended.stderr
    assert "'passed'" in ended.stdout


def test_a_policy_and_names_with_an_underscore_go_together() -> None:
    cases = [("_x: int = 3\ndef _f(): return _x", "assert _f() == 3"), ("_print = 3", "assert _print")]
    given = texts_of(cases, policy=Annotating, allow_underscore_variable_names=True)
    assert given[0] == "passed"
    assert "_print" in given[1]


def test_a_policy_that_cannot_be_sent_is_told_in_one_line() -> None:
    frame = sys._getframe()

    class Holding(RestrictedPython.RestrictingNodeTransformer):
        held = frame

    with pytest.raises(UserError, match="'policy' can't be sent to the sandbox") as raised:
        text_of(*ANNOTATED, policy=Holding)
    assert "\n" not in str(raised.value)


def test_a_policy_that_fails_itself_fails_the_candidate() -> None:
    class Failing(RestrictedPython.RestrictingNodeTransformer):
        def visit_Module(self, node: ast.Module) -> None:
            if node.body:
                raise LookupError("not thought of")

    assert "not thought of" in text_of(*ANNOTATED, policy=Failing)
