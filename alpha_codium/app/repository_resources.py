"""Copies of the configuration and the prompts of the repository benchmark, for users to edit."""

from pathlib import Path

from alpha_codium.errors import UserError
from alpha_codium.repository.running.config import RESOURCES
from alpha_codium.runs.folder import write_atomically


def copy_resources(folder: Path) -> list[Path]:
    """Copy the files to a folder, and return their paths; raises UserError if one is there already."""
    shipped = Path(str(RESOURCES))
    files = {folder / file.relative_to(shipped): file for file in sorted(shipped.rglob("*.yaml"))}
    there = [path for path in files if path.exists()]
    if there:
        raise UserError(f"{there[0]} exists already: choose another folder, or delete it")
    try:
        for path, file in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, file.read_bytes())
    except OSError as error:
        raise UserError(f"{folder} can't be written: {error.strerror}") from error
    return list(files)
