"""How programs are built on machines without namespaces."""

from pathlib import Path

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.languages.tools import Build
from alpha_codium.sandbox.engine.scratch import unused_user
from alpha_codium.sandbox.engine.toolchains import is_reachable, walled


def build_with(*readable: Path) -> Build:
    prepared = Build(("/bin/true",), "header", {}, "1")
    return Build(("/bin/true",), "program", {}, "1", tuple(map(str, readable)), prepared=prepared)


@pytest.fixture
def shut(tmp_path: Path) -> Path:
    if not unused_user(0):
        pytest.skip("only root takes another user for programs")
    (tmp_path / "shut" / "bin").mkdir(parents=True)
    (tmp_path / "shut").chmod(0o700)
    return tmp_path / "shut" / "bin"


def test_tools_that_another_user_cannot_reach_are_refused(shut: Path) -> None:
    with pytest.raises(SandboxError, match=rf"^programs in rust need {shut}, which can't be shown to them"):
        walled(build_with(shut), "rust")


def test_without_a_folder_that_another_user_can_reach_nothing_is_prepared(
    shut: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENCODE_HOME", str(shut))
    assert walled(build_with(Path("/usr/bin"), Path("/missing")), "cpp").prepared is None
    assert is_reachable(Path("/usr/bin")) and is_reachable(Path("/missing"))
