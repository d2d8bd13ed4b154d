"""What type checkers and editors know of the public API: misspelt names and wrong arguments are found."""

import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

import alpha_codium as ac

USES = """\
import asyncio

import alpha_codium as ac

judgement = ac.judge_program("print(1)", [("", "1")])
print(judgement.verdict, judgement.tests[0].execution.stdout)
many: list[ac.Judgement] = ac.judge_programs([("print(1)", [("", "1")])])
with ac.open_sandbox("local", workers=1) as sandbox:
    print(sandbox.run("print(1)", [""]).executions[0].stdout)
score = asyncio.run(ac.evaluate_async("answers", ac.load_problems("jars"), k=[1]))
print(score.pass_at_k)
"""
MISTAKES = """\
import alpha_codium as ac

ac.evalaute("answers", "jars")
ac.evaluate("answers", "jars", tset_type="private_tests")
ac.judge_program(1, [("", "1")])
ac.judge_program("print(1)", [("", "1")]).verdit
ac.Problem("a", private_tests=[ac.TestCase("", "1")])
"""
CHECKERS = {
    "pyrefly": ["check", "--preset=default", "--output-format=min-text", "--python-interpreter-path"],
    "pyright": ["--pythonpath"],
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment in which the package is installed; type checkers don't see an editable one."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv", symlinks=True)
    (packages,) = folder.glob("venv/lib/python*/site-packages")
    (packages / "alpha_codium").symlink_to(Path(ac.__file__).parent)
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "venv" / "bin" / "python"


def lines_with_errors(checker: str, python: Path, file: Path) -> list[int]:
    """The numbers of the lines in which a type checker finds an error."""
    pytest.importorskip(checker)
    command = [Path(sys.executable).with_name(checker), *CHECKERS[checker], python, file.name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=file.parent, timeout=240)
    said = done.stdout + done.stderr
    if not re.search(r"\d+ errors?\b", said):
        pytest.skip(f"{checker} doesn't run here: {said[-300:]}")
    return sorted({int(number) for number in re.findall(rf"{file.name}:(\d+):", said)})


@pytest.mark.parametrize("checker", ["pyrefly", pytest.param("pyright", marks=pytest.mark.thorough)])
def test_type_checkers_find_misspelt_names_and_wrong_arguments_and_nothing_else(
    checker: str, installed: Path, tmp_path: Path
) -> None:
    wrong, right = tmp_path / "wrong.py", tmp_path / "right.py"
    wrong.write_text(MISTAKES)
    right.write_text(USES)
    assert lines_with_errors(checker, installed, wrong) == [3, 4, 5, 6, 7]
    assert lines_with_errors(checker, installed, right) == []


def test_the_names_for_type_checkers_are_the_public_names() -> None:
    source = Path(ac.__file__).read_text("utf-8")
    imports = re.findall(r"^    from ([\w.]+) import (\w+) as \2$", source, re.MULTILINE)
    assert {name: module for module, name in imports} == ac._HOMES
    assert len(imports) == len(ac._HOMES)
