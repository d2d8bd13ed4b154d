"""What docs/repository.md shows: its commands are run, and its tables and recipe are those of the code."""

import re
import shlex
from pathlib import Path

import pytest

from alpha_codium.repository.recipes import RECIPES, read_recipe
from tests.app.test_repository_building import shop
from tests.gen.running import Done, home, run_cli
from tests.servers.scripted import ScriptedServer
from tests.support import ROOT

__all__ = ["home", "shop"]

PAGE = (ROOT / "docs" / "repository.md").read_text("utf-8")
ANSWER = "```python\ndef net(self):\n    return self.amount * self.percent // 100\n```"
# Commands whose programs are subcommands of gencode, too.
PROGRAMS = {"gencode": [], "get-resources": ["repo", "get-resources"], "run-multiturn": ["repo", "run"]}


def commands(heading: str) -> list[list[str]]:
    """The words of the commands of gencode in the first block below a heading."""
    block = re.search(rf"^## {heading}\n.*?```console\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
    assert block is not None
    words = [shlex.split(line.removeprefix("$ ")) for line in block[1].splitlines()]
    return [each for each in words if each[0] in PROGRAMS]


def run(words: list[str]) -> Done:
    done = run_cli(*PROGRAMS[words[0]], *words[1:])
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.thorough
def test_the_commands_of_the_page_go_from_nothing_to_a_score(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-page")
    model, build, resources, multiturn = commands("From nothing to a score")
    assert model[:3] == ["gencode", "model", "get"]
    replaced = {"django": "shop", "utils_tests": "test_prices"}
    run([*(replaced.get(word, word) for word in build), "--checkout", str(shop), "--repeats", "1"])
    run(resources)
    with ScriptedServer(lambda _: ANSWER) as server:
        here = ["--repo=shop", "-o", "inference.model=openai/scripted", "-o", f"inference.api_base={server.api_base}"]
        done = run([*multiturn, *here])
    assert "method_gen_multiturn, openai/scripted: 1 task" in done.stdout and "| 1 | 1.000" in done.stdout


@pytest.mark.slow
def test_the_same_with_django_and_the_embedded_model(home: Path) -> None:
    for words in commands("From nothing to a score"):
        done = run(words)
    assert re.search(r"method_gen_multiturn, local/\S+: 5 tasks", done.stdout)
    assert "without a verdict" not in done.stdout


def test_the_page_counts_the_labels_of_the_recipes() -> None:
    django, sympy = (len(set(RECIPES[name].labels)) for name in ("django", "sympy"))
    assert f"the {django} of Django and the {sympy} of SymPy" in PAGE


def test_the_recipe_of_the_page_is_valid(tmp_path: Path) -> None:
    text = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert text is not None
    (tmp_path / "attrs.toml").write_text(text[1])
    assert read_recipe(tmp_path / "attrs.toml").distribution == "attrs"
