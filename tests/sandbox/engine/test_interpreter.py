"""What of an interpreter's modules programs can see."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.engine import interpreter
from alpha_codium.sandbox.engine.interpreter import inspect_interpreter, packages_of

LOOK = """
import os
for path in PATHS:
    try:
        print(os.listdir(path) if os.path.isdir(path) else open(path).read())
    except OSError as error:
        print(type(error).__name__)
"""


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with a package, with our own, and with a project beside it that a .pth file adds."""
    folder = tmp_path_factory.mktemp("interpreter")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    (packages,) = (folder / "venv").glob("lib/python3*/site-packages")
    for name in ("project/data", f"{packages}/alpha_codium", f"{packages}/useful"):
        (folder / name).mkdir(parents=True)
    (folder / "project/data/tests.json").write_text("EXPECTED")
    (packages / "alpha_codium/tests.json").write_text("EXPECTED")
    (packages / "useful/__init__.py").write_text("x = 5\n")
    (packages / "project.pth").write_text(f"{folder}/project\n")
    return folder


def test_the_packages_that_programs_can_import_have_their_versions(venv: Path) -> None:
    python = str(venv / "venv/bin/python")
    (packages,) = (venv / "venv").glob("lib/python3*/site-packages")
    for name in ("useful-1.2.dist-info", "old_style-0.3-py3.11.egg-info", "alpha_codium-9.dist-info"):
        (packages / name).mkdir()
    assert packages_of(python) == ("old_style==0.3", "useful==1.2")
    (packages / "useful-1.2.dist-info").rename(packages / "useful-1.3rc1.dist-info")
    assert packages_of(python) == ("old_style==0.3", "useful==1.3rc1")


def test_our_own_packages_are_those_that_python_finds() -> None:
    found = dict(each.split("==") for each in packages_of(sys.executable))
    assert found["numpy"] == version("numpy")
    assert found["sortedcontainers"] == version("sortedcontainers")


def test_what_pth_files_add_is_not_on_the_path_of_programs(venv: Path) -> None:
    found = inspect_interpreter(str(venv / "venv/bin/python"))
    assert str(venv / "project") not in found.path
    assert any(path.endswith("site-packages") for path in found.path)


async def test_programs_see_installed_packages_but_neither_projects_nor_ours(venv: Path) -> None:
    (packages,) = (venv / "venv").glob("lib/python3*/site-packages")
    paths = [str(venv / "project/data/tests.json"), str(packages / "alpha_codium/tests.json"), str(venv)]
    try:
        async with open_sandbox("local", workers=1, interpreter=str(venv / "venv/bin/python")) as sandbox:
            look = await sandbox.run(f"PATHS = {paths!r}\n{LOOK}", [""])
            use = await sandbox.run("import useful\nprint(useful.x)", [""])
    except SandboxError as error:
        pytest.skip(str(error))
    assert look.executions[0].stdout.split() == ["FileNotFoundError", "FileNotFoundError", "PermissionError"]
    assert use.executions[0].stdout == "5\n"


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("echo hello", "doesn't respond: Expecting value"),
        ("exit 3", "doesn't respond: exit status 3$"),
        ("echo no; echo 'first\nno library' >&2; exit 1", r"doesn't respond: exit status 1 \(no library\)$"),
        ("exec sleep 60", "doesn't respond within 0.5 s$"),
    ],
)
def test_an_interpreter_that_is_none_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, told: str
) -> None:
    if "sleep" in does:
        monkeypatch.setattr(interpreter, "ANSWER_SECONDS", 0.5)
    fake = tmp_path / "python"
    fake.write_text(f"#!/bin/sh\n{does}\n")
    fake.chmod(0o755)
    with pytest.raises(SandboxError, match=told) as caught:
        inspect_interpreter(str(fake))
    assert "\n" not in str(caught.value)
