"""Lookup of the source of problems for a dataset name.

A name is tried as `NAME:TEXT` for a plug-in called NAME, the path of a file, of a dataset's folder or of a folder of
statements, the name of a stored dataset, and a benchmark (`mbpp`) or hub id, which may be followed by a colon and a
configuration (`mbpp:sanitized`).
"""

from importlib.metadata import entry_points
from pathlib import Path

from alpha_codium.data.benchmarks import ALIASES, files_of
from alpha_codium.data.files import SUFFIXES, FileSource, SplitFilesSource, split_files
from alpha_codium.data.folders import FolderSource, is_dataset_folder, is_free_or_dataset
from alpha_codium.data.hub import HUB_ID, HubSource
from alpha_codium.data.origin import Source
from alpha_codium.data.statements import StatementsSource, statement_files
from alpha_codium.errors import DatasetError, did_you_mean, some_of
from alpha_codium.paths import datasets_folder
from alpha_codium.plugins import find_plugin

GROUP = "alpha_codium.sources"


def find_source(text: str) -> Source:
    """Return the source for a name; raises DatasetError with the nearest stored dataset if there is none."""
    path = Path(text).expanduser()
    plugin, colon, rest = text.partition(":")
    if colon and not path.exists() and plugin in entry_points(group=GROUP).names:
        return find_plugin(GROUP, plugin, {})(rest)
    if path.is_file() and not statement_files(path):
        return FileSource(path, text)
    if path.is_dir() and is_dataset_folder(path):
        return FolderSource(path, text)
    if path.is_dir() and split_files(path):
        return SplitFilesSource(path, text)
    stored = stored_path(text)
    if statement_files(path) and stored is None:
        return StatementsSource(path, text)
    if path.is_dir() and looks_like_path(text) and not HUB_ID.fullmatch(text):
        return FolderSource(path, text)  # raises
    if stored is not None:
        return FolderSource(stored, text)
    repository, _, configuration = text.partition(":")
    repository = ALIASES.get(repository, repository)
    if (
        HUB_ID.fullmatch(repository)
        and (not configuration or is_plain_name(configuration))
        and not text.lower().endswith(SUFFIXES)
    ):
        return HubSource(repository, configuration, text, files_of(repository, configuration))
    if looks_like_path(text) or text.lower().endswith(SUFFIXES):
        raise DatasetError(f"there is no file or folder {text}")
    if is_plain_name(text) and (datasets_folder() / text).is_dir():
        return FolderSource(datasets_folder() / text, text)  # raises
    stored = stored_names()
    there_are = f" (stored: {some_of(stored) or 'none'}; on the hub: {some_of(ALIASES.keys() - set(stored))})"
    hint = did_you_mean(text, [*stored, *ALIASES]) or there_are
    raise DatasetError(f"there is no dataset {text!r}{hint}; for a dataset on the hub, use org/name")


def stored_names() -> list[str]:
    """Return the names of stored datasets, in alphabetical order."""
    return sorted(path.name for path in datasets_folder().iterdir() if _is_stored(path))


def stored_path(name: str) -> Path | None:
    """Return the folder of the dataset stored as `name`, or None."""
    if not is_plain_name(name):
        return None
    path = datasets_folder() / name
    return path if _is_stored(path) else None


def output_path(text: str) -> Path:
    """Return the path of an output: a path unchanged, a name in the folder of datasets.

    A plain name is also a path if an empty folder or a dataset exists there. Raises DatasetError for an invalid name.
    """
    if looks_like_path(text) or (text and is_free_or_dataset(Path(text)) and Path(text).exists()):
        return Path(text).expanduser()
    if not is_plain_name(text):
        raise DatasetError(f"{text!r} isn't a valid dataset name: use letters, digits, '-', '_' and '.'")
    return datasets_folder() / text


def looks_like_path(text: str) -> bool:
    """Return whether a text is written as a path: it contains a `/`, or begins with `.` or `~`."""
    return "/" in text or text.startswith((".", "~"))


def is_plain_name(text: str) -> bool:
    """Return whether a text can be the name of a stored dataset."""
    return bool(text) and not text.startswith(".") and all(c.isalnum() or c in "-_.+" for c in text)


def _is_stored(path: Path) -> bool:
    return not path.name.startswith(".") and path.is_dir() and is_dataset_folder(path)
