"""The folders in which gencode stores things, below `$GENCODE_HOME` or `~/.cache/gencode`."""

import os
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from alpha_codium.errors import UserError


def home() -> Path:
    """Return gencode's folder, which is created if missing; raises UserError if it isn't writable."""
    chosen = os.environ.get("GENCODE_HOME")
    return _writable(Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "gencode")


def datasets_folder() -> Path:
    """Return the folder of datasets that were saved under a name."""
    return _writable(home() / "datasets")


def runs_folder() -> Path:
    """Return the folder of runs."""
    return _writable(home() / "runs")


def models_folder() -> Path:
    """Return the folder of local models."""
    return _writable(home() / "models")


def shared_cache() -> Path:
    """Return the path of the cache of answers, which all runs share."""
    return _writable(home() / "cache") / "answers.sqlite"


def programs_folder() -> Path:
    """Return the folder of programs that compilers made."""
    return _writable(home() / "cache" / "programs")


def bait_folder() -> str | None:
    """Return a folder for files that no program in a sandbox should reach; None means the default for temporary files.

    It isn't /tmp, since a sandbox may give programs a /tmp of their own and still show them all other files.
    """
    return "/var/tmp" if os.access("/var/tmp", os.W_OK) else None  # noqa: S108 - for files with random names


def shipped_folder(name: str) -> Path:
    """Return the folder of `settings` or `prompts`: in the installed package, or beside that of a clone."""
    if find_spec(f"alpha_codium.{name}"):
        return Path(str(resources.files(f"alpha_codium.{name}")))
    return Path(__file__).parents[1] / name


def _writable(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{folder} can't be created ({error.strerror}): set GENCODE_HOME to a folder you can write"
        ) from error
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise UserError(f"{folder} can't be read and written: set GENCODE_HOME to a folder you can write")
    return folder
