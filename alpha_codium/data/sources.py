"""From one text to the source of problems that it means.

`NAME:TEXT` where a plug-in is called NAME; else a path, where there is a file or a dataset's folder; else the name
of a stored dataset; else what a benchmark of the hub is called (`mbpp`), or an id of the hub, either with the name of
a configuration after a colon (`mbpp:sanitized`).
"""

from importlib.metadata import entry_points
from pathlib import Path

from alpha_codium.data.benchmarks import ALIASES
from alpha_codium.data.files import SUFFIXES, FileSource
from alpha_codium.data.folders import FolderSource, is_dataset_folder, is_free_or_dataset
from alpha_codium.data.hub import HUB_ID, HubSource
from alpha_codium.data.origin import Source
from alpha_codium.errors import DatasetError, nearest
from alpha_codium.paths import datasets_folder
from alpha_codium.plugins import find_plugin

GROUP = "alpha_codium.sources"


def find_source(text: str) -> Source:
    """The source that a text means; raises DatasetError that names the nearest stored dataset where there is none."""
    path = Path(text).expanduser()
    plugin, colon, rest = text.partition(":")
    if colon and not path.exists() and plugin in entry_points(group=GROUP).names:
        return find_plugin(GROUP, plugin, {})(rest)
    if path.is_file():
        return FileSource(path, text)
    if path.is_dir() and (is_dataset_folder(path) or looks_like_path(text)):
        return FolderSource(path, text)
    stored = stored_path(text)
    if stored is not None:
        return FolderSource(stored, text)
    repository, _, configuration = text.partition(":")
    repository = ALIASES.get(repository, repository)
    if HUB_ID.fullmatch(repository) and is_configuration(configuration) and not text.lower().endswith(SUFFIXES):
        return HubSource(repository, configuration, text)
    if looks_like_path(text) or text.lower().endswith(SUFFIXES):
        raise DatasetError(f"there is no file or folder {text}")
    if is_plain_name(text) and (datasets_folder() / text).is_dir():
        return FolderSource(datasets_folder() / text, text)  # which says what it lacks
    raise DatasetError(
        f"there is no dataset {text!r}{nearest(text, [*stored_names(), *ALIASES])}; "
        "a dataset of the hub is given as org/name"
    )


def stored_names() -> list[str]:
    """The names of stored datasets, in alphabetical order."""
    return sorted(path.name for path in datasets_folder().iterdir() if _is_stored(path))


def stored_path(name: str) -> Path | None:
    """The folder of the dataset stored as `name`, or None."""
    if not is_plain_name(name):
        return None
    path = datasets_folder() / name
    return path if _is_stored(path) else None


def output_path(text: str) -> Path:
    """Where `--output_dataset_name` puts a dataset: a path if it is spelt as one, else under its name.

    A plain name is a folder, too, where that is a dataset or empty. Raises DatasetError where a name can't be one.
    """
    if looks_like_path(text) or (text and is_free_or_dataset(Path(text)) and Path(text).exists()):
        return Path(text).expanduser()
    if not is_plain_name(text):
        raise DatasetError(f"{text!r} can't be the name of a dataset: use letters, digits, '-', '_' and '.'")
    return datasets_folder() / text


def looks_like_path(text: str) -> bool:
    """Whether a text is spelt as a path: it holds a `/` or begins with `.` or `~`."""
    return "/" in text or text.startswith((".", "~"))


def is_plain_name(text: str) -> bool:
    """Whether a text can be the name of a stored dataset."""
    return bool(text) and not text.startswith(".") and all(c.isalnum() or c in "-_.+" for c in text)


def is_configuration(text: str) -> bool:
    """Whether a text can name a configuration of a dataset of the hub; the empty one means the default."""
    return not text or is_plain_name(text)


def _is_stored(path: Path) -> bool:
    return not path.name.startswith(".") and path.is_dir() and is_dataset_folder(path)
