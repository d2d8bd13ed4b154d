"""The errors that users can fix: their tree, and how they name options."""

import ast
import re
from pathlib import Path

import alpha_codium
from alpha_codium import errors

PACKAGE = Path(alpha_codium.__file__).parent
# Where options of other programs stand, those of gencode at their fields, and what an earlier version has recorded.
ELSEWHERE = ("sandbox/", "languages/", "llm/vllm.py", "llm/local/", "repository/", "rewards/", "app/options/",
             "data/filters.py", "app/run_folders.py", "app/resuming.py")  # fmt: skip
# A line of the documentation, and the command that judges a run's candidates, which its results.json has to be typed.
KNOWN = ("config/sources.py:1: --config", "app/generation.py:")


def sources() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(PACKAGE / "cli")]


def test_the_tree_of_errors_names_each_that_a_user_can_fix() -> None:
    bases = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    }
    found = {"UserError"}
    while more := {name for name, of in bases.items() if of & found} - found:
        found |= more
    drawn = set(re.findall(r"^[ |`-]*(\w+) {2,}", errors.__doc__ or "", re.MULTILINE)) - {"ModelError"}
    assert found == drawn


def test_no_message_below_the_command_line_names_an_option_of_gencode() -> None:
    named = [
        f"{name}:{node.lineno}: {option[0]}"
        for path in sources()
        if not (name := path.relative_to(PACKAGE).as_posix()).startswith(ELSEWHERE)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if (option := re.search(r"(?<![\w-])--[a-z]\w+", node.value))
    ]
    assert [each for each in named if not each.startswith(KNOWN)] == []
