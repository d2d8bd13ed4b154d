"""Where gencode keeps things."""

from pathlib import Path

import pytest

from alpha_codium.errors import UserError
from alpha_codium.paths import datasets_folder, home, models_folder, runs_folder


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path / "home"))


def test_home_is_where_the_environment_says_and_is_made_when_asked_for():
    assert home().is_dir()
    assert {datasets_folder(), runs_folder(), models_folder()} == {home() / n for n in ("datasets", "runs", "models")}


def test_home_is_in_the_cache_of_the_user_where_the_environment_says_nothing(tmp_path, monkeypatch):
    monkeypatch.delenv("GENCODE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home() == tmp_path / ".cache" / "gencode"


def test_a_home_that_can_not_be_made_is_the_users_to_mend(tmp_path: Path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(UserError, match="GENCODE_HOME"):
        home()
