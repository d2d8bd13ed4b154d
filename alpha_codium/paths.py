"""Where gencode keeps things: `$GENCODE_HOME`, else `~/.cache/gencode`."""

import os
from pathlib import Path

from alpha_codium.errors import UserError


def home() -> Path:
    """The folder of everything gencode keeps, made when it is first asked for; raises UserError if unwritable."""
    chosen = os.environ.get("GENCODE_HOME")
    return _writable(Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "gencode")


def datasets_folder() -> Path:
    """Where datasets are stored under their names."""
    return _writable(home() / "datasets")


def runs_folder() -> Path:
    """Where runs are recorded."""
    return _writable(home() / "runs")


def models_folder() -> Path:
    """Where local models are kept."""
    return _writable(home() / "models")


def cache_folder() -> Path:
    """Where the answers of all runs are kept."""
    return _writable(home() / "cache")


def _writable(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{folder} can't be made ({error.strerror}): set GENCODE_HOME to a folder you can write"
        ) from error
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise UserError(f"{folder} can't be read and written: set GENCODE_HOME to a folder you can write")
    return folder
