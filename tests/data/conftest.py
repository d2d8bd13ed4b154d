from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a GENCODE_HOME of its own."""
    folder = tmp_path / "home"
    monkeypatch.setenv("GENCODE_HOME", str(folder))
    return folder
