"""What is installed: all files that the package needs, under one version."""

import runpy
from pathlib import Path
from typing import Any

import pytest
import setuptools

import alpha_codium
from alpha_codium.paths import shipped_folder
from tests.support import ROOT


@pytest.fixture
def packaging(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    found: dict[str, Any] = {}
    monkeypatch.setattr(setuptools, "setup", lambda **values: found.update(values))
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(ROOT / "setup.py"))
    return found


def test_every_file_that_is_not_python_is_installed(packaging: dict[str, Any]) -> None:
    folders = {name: ROOT / folder for name, folder in packaging["package_dir"].items()}
    listed = {
        path
        for package, patterns in packaging["package_data"].items()
        for pattern in patterns
        for path in folders.get(package, ROOT / package.replace(".", "/")).glob(pattern)
    }
    there = {path for name in ("alpha_codium", "prompts", "settings") for path in (ROOT / name).rglob("*")}
    tools = ("ruff.toml", ".ruff_cache")
    left_out = {path for path in there if path.suffix in {".py", ".pyc"} or not {*tools}.isdisjoint(path.parts)}
    data = {path for path in there - left_out if path.is_file()}
    assert sorted(data - listed) == []


def test_every_folder_with_python_files_is_a_package(packaging: dict[str, Any]) -> None:
    folders = {path.parent for path in (ROOT / "alpha_codium").rglob("*.py")}
    names = {".".join(folder.relative_to(ROOT).parts) for folder in folders}
    data = ("attackers", "modes")  # programs of the conformance suite, which are data
    assert {name for name in names if not name.endswith(data)} - set(packaging["packages"]) == set()


def test_the_version_is_that_of_the_package_and_of_the_changelog(packaging: dict[str, Any]) -> None:
    assert packaging["version"] == alpha_codium.__version__
    assert f"\n## {alpha_codium.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"\nversion: {alpha_codium.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


@pytest.mark.parametrize("name", ["settings", "prompts"])
def test_in_a_clone_settings_and_prompts_are_beside_the_package(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alpha_codium.paths.find_spec", lambda _: None)
    assert shipped_folder(name) == Path(alpha_codium.__file__).parents[1] / name
    assert list(shipped_folder(name).rglob("*.toml"))
