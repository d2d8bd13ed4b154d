"""Copies of the configuration and the prompts of the repository benchmark, for users to edit."""

from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from alpha_codium.errors import UserError
from alpha_codium.runs.folder import write_atomically

RESOURCES = resources.files("alpha_codium.repository.resources")
SUFFIX = ".yaml"


def copy_resources(folder: Path) -> list[Path]:
    """Copy the files to a folder, and return their paths; raises UserError if one is there already."""
    files = {folder / name: file for name, file in _files(RESOURCES)}
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


def _files(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    """Yield the YAML files in a folder, with their paths in it."""
    for each in sorted(folder.iterdir(), key=lambda each: each.name):
        if each.is_dir():
            yield from _files(each, f"{prefix}{each.name}/")
        elif each.name.endswith(SUFFIX):
            yield prefix + each.name, each
