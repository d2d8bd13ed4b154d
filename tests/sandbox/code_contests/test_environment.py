"""Installing the C++ sandbox, finding its python, and the folders that programs need."""

import json
import sys
from pathlib import Path

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.paths import home
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.code_contests import environment
from alpha_codium.sandbox.code_contests.environment import WHEEL, find_python39, install, is_installed
from alpha_codium.sandbox.code_contests.libraries import library_folders, outermost
from tests.sandbox.code_contests.environment import home_with_it
from tests.support import gencode

OURS = f"CPython {sys.version_info[0]}.{sys.version_info[1]}"


def test_it_is_kept_where_gencode_keeps_things(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path / "own"))
    assert environment.default_folder() == home() / "environments" / "code_contests"
    monkeypatch.delenv("GENCODE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert environment.default_folder() == home() / "environments" / "code_contests"


@pytest.mark.thorough
def test_a_python_that_is_no_39_is_refused_in_one_line_that_says_how_to_get_one(tmp_path: Path) -> None:
    for wrong, said in ((sys.executable, OURS), (tmp_path / "python", "no python")):
        done = gencode("sandbox", "install", "code_contests", "--python", wrong, home=tmp_path)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert said in done.stderr and "pyenv install 3.9" in done.stderr


def test_a_machine_without_a_39_is_told_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match=r"there is none here: get one with `pyenv install 3\.9`"):
        find_python39()


def test_the_newest_39_of_pyenv_is_taken_and_one_that_does_not_start_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for version, said in (("3.9.2", "CPython 3.9"), ("3.9.18", "CPython 3.9"), ("3.9.20", "no such version")):
        binary = tmp_path / "versions" / version / "bin" / "python3.9"
        binary.parent.mkdir(parents=True)
        binary.write_text(f"#!/bin/sh\necho {said}\n")
        binary.chmod(0o755)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert find_python39() == str(tmp_path / "versions/3.9.18/bin/python3.9")


def test_another_kind_of_machine_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(SandboxError, match="x86_64 only, and this is linux on aarch64"):
        install(tmp_path / "environment")


def test_an_installation_that_was_cut_off_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    assert not is_installed(tmp_path)
    (tmp_path / "installed").write_text(f"{WHEEL}\n")
    assert is_installed(tmp_path)
    (tmp_path / "installed").write_text("code-contests-tester==0.1.5\n")
    assert not is_installed(tmp_path)


def test_a_second_installation_does_nothing_and_says_so(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = gencode("sandbox", "install", "code-contests", "--json", out, home=home_with_it())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("already installed: ") and done.stderr == ""
    assert json.loads(out.read_text())["installed"] is False


def test_what_can_not_be_installed_is_named(tmp_path: Path) -> None:
    done = gencode("sandbox", "install", "code_contest", home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean 'code_contests'?" in done.stderr


async def test_a_sandbox_that_is_not_installed_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))
    with pytest.raises(SandboxError, match="run `gencode sandbox install code_contests`"):
        async with open_sandbox("code_contests"):
            pass


def test_the_folders_hold_the_standard_library_the_packages_and_the_c_library() -> None:
    folders = [Path(folder) for folder in library_folders(sys.executable)]
    seen = {path.name for folder in folders for path in folder.iterdir()}
    assert any(name.startswith(("ld-linux", "ld64")) for name in seen), "the dynamic loader"
    for file in (Path(json.__file__), Path(pytest.__file__)):
        assert any(folder in file.parents for folder in folders), file


def test_no_folder_of_ours_lies_on_the_way_of_a_program() -> None:
    """An editable installation puts the project on the path, and with it the tests and their answers."""
    project = Path(__file__).resolve().parents[3]
    assert not any(folder in (project, *project.parents) for folder in map(Path, library_folders(sys.executable)))


def test_folders_within_others_are_not_named_twice(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    given = [str(inner), f"{tmp_path}/a/", str(tmp_path / "a"), str(tmp_path / "none"), "", "relative"]
    assert outermost(given) == (str(tmp_path / "a"),)


def test_an_interpreter_that_does_not_answer_is_said(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="doesn't respond"):
        library_folders(str(tmp_path / "python"))
