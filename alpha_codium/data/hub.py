"""Problems on the Hugging Face hub, streamed.

1. One request gets the dataset's commit. It isn't retried, so that an unreachable hub is reported within seconds
   (`HF_HUB_ETAG_TIMEOUT`). All reads use that commit.
2. `datasets` streams the splits; a lost connection is retried a few times. Dataset scripts (APPS) aren't run: their
   repository's JSON lines are read instead, and a file's name decides its split.
3. A dataset that `datasets.load_dataset` has stored in its cache is read from there, without a request.
4. `HF_ENDPOINT`, `HF_TOKEN` and `HF_HUB_OFFLINE` work as in `huggingface_hub`.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alpha_codium.data.files import ROWS_AT_A_TIME, first_line, guess_split, read_json_lines
from alpha_codium.data.folders import read_arrow
from alpha_codium.data.origin import Origin, Record
from alpha_codium.errors import DatasetError
from alpha_codium.http_errors import http_errors

if TYPE_CHECKING:
    from huggingface_hub import DatasetInfo

COMMIT = re.compile(r"[0-9a-f]{40}")
HUB_ID = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
# In addition to the retries of huggingface_hub. The default of `datasets`, 20, would wait for ten minutes.
READ_RETRIES = 2
SCRIPT_REFUSED = "Dataset scripts are no longer supported"


class HubSource:
    """A dataset on the hub: its id `org/name` and, if it has several, the name of a configuration.

    Where only a script knows the configuration, `files` are those with its rows.
    """

    any_split = False

    def __init__(self, repository: str, configuration: str = "", text: str = "", files: Sequence[str] = ()) -> None:
        self.repository, self.configuration, self.files = repository, configuration, files
        # The stored copy has this name, with `--` for the slash.
        self.dataset_id = f"{repository}+{configuration}" if configuration else repository
        self.text = text or self.dataset_id

    @cached_property
    def cached(self) -> "CachedDataset | None":
        """The dataset in the cache of `datasets`, if it is there."""
        return _find_cached(self.repository, self.configuration)

    @cached_property
    def origin(self) -> Origin:
        """The dataset's id and commit; raises DatasetError if the hub can't be reached."""
        return Origin(self.text, "hub", self.dataset_id, self.cached.revision if self.cached else self._info.sha)

    def splits(self) -> tuple[str, ...]:
        """Return the names of the splits."""
        return tuple(self.cached.files if self.cached else self._streams)

    def records(self, split: str) -> Iterator[Record]:
        """Yield the rows of one split as they are downloaded, or from the cache."""
        if self.cached:
            for path in self.cached.files[split]:
                yield from read_arrow(path)
            return
        streams = self._streams
        with _hub_errors(self.repository):
            if isinstance(streams[split], list):
                yield from self._downloaded(streams[split])
            else:
                yield from streams[split]

    @cached_property
    def _info(self) -> "DatasetInfo":
        import huggingface_hub
        from huggingface_hub import constants

        with _hub_errors(self.repository, f"there is no file or folder {self.text}, and the dataset of that id"):
            return huggingface_hub.HfApi().dataset_info(self.repository, timeout=constants.HF_HUB_ETAG_TIMEOUT)

    @cached_property
    def _streams(self) -> dict[str, Any]:
        """By split, the rows as `datasets` streams them, or a list of names of files with JSON lines."""
        import datasets

        revision = self._info.sha
        for setting in ("STREAMING_READ_MAX_RETRIES", "STREAMING_OPEN_MAX_RETRIES"):
            setattr(datasets.config, setting, READ_RETRIES)
        with _hub_errors(self.repository):
            try:
                builder = datasets.load_dataset_builder(self.repository, self.configuration or None, revision=revision)
            except RuntimeError as error:
                if SCRIPT_REFUSED not in str(error):
                    raise
                return self._json_lines()
            _read_little_at_a_time(builder.config)
            streams: Any = builder.as_streaming_dataset()
            return dict(streams)

    def _downloaded(self, names: Sequence[str]) -> Iterator[Record]:
        """Yield the rows of the repository's files of these names, each downloaded when it is read."""
        import huggingface_hub

        for name in names:
            path = huggingface_hub.hf_hub_download(self.repository, name, repo_type="dataset", revision=self._info.sha)
            yield from read_json_lines(Path(path))

    def _json_lines(self) -> dict[str, list[str]]:
        """Return the names of the JSON lines in the repository, by split; raises DatasetError if it has none."""
        names = sorted(file.rfilename for file in self._info.siblings or () if file.rfilename.endswith(".jsonl"))
        names = [name for name in names if name in self.files or not self.files]
        if not names:
            raise DatasetError(
                f"{self.repository} needs a script, which gencode doesn't run: download its files and give their path"
            )
        splits: dict[str, list[str]] = {}
        for name in names:
            splits.setdefault(guess_split(name), []).append(name)
        return splits


@dataclass(frozen=True)
class CachedDataset:
    """A dataset in the cache of `datasets`: the commit, if known, and the Arrow files of each split."""

    revision: str | None
    files: dict[str, list[Path]]


def _find_cached(repository: str, configuration: str) -> CachedDataset | None:
    """Return the newest complete copy of a dataset in the cache of `datasets`, or None."""
    import datasets

    root = Path(datasets.config.HF_DATASETS_CACHE) / repository.replace("/", "___")
    infos = sorted(root.glob(f"{configuration or '*'}/*/*/dataset_info.json"), key=lambda path: path.stat().st_mtime)
    if not configuration and len({path.relative_to(root).parts[0] for path in infos}) > 1:
        infos = [path for path in infos if path.relative_to(root).parts[0] == "default"]
    found = [copy for path in reversed(infos) if (copy := _cached_copy(path))]
    return found[0] if found else None


def _cached_copy(info: Path) -> CachedDataset | None:
    try:
        splits = json.loads(info.read_bytes())["splits"]
        files = {name: _arrow_files(info.parent, split) for name, split in splits.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
    if not files or not all(path.is_file() for paths in files.values() for path in paths):
        return None
    revision = info.parent.name if COMMIT.fullmatch(info.parent.name) else None
    return CachedDataset(revision, files)


def _arrow_files(folder: Path, split: dict[str, Any]) -> list[Path]:
    name, shards = f"{split['dataset_name']}-{split['name']}", len(split.get("shard_lengths") or ())
    if shards < 2:
        return [folder / f"{name}.arrow"]
    return [folder / f"{name}-{number:05}-of-{shards:05}.arrow" for number in range(shards)]


def _read_little_at_a_time(config: Any) -> None:
    """Make the Parquet reader of `datasets` decode a few rows at a time, without reading ahead."""
    from pyarrow.dataset import ParquetFragmentScanOptions

    if hasattr(config, "batch_size") and hasattr(config, "fragment_scan_options"):
        config.batch_size = ROWS_AT_A_TIME
        config.fragment_scan_options = ParquetFragmentScanOptions(pre_buffer=False)


@contextmanager
def _hub_errors(dataset_id: str, subject: str = "") -> Iterator[None]:
    """Raise errors of the hub's libraries as DatasetError; `subject` replaces the dataset's id in the message."""
    from datasets.exceptions import DatasetsError
    from huggingface_hub import constants, errors

    try:
        yield
    except errors.OfflineModeIsEnabled as error:
        raise DatasetError(
            f"{dataset_id} is on the hub, not in the cache of `datasets`, and HF_HUB_OFFLINE is set"
        ) from error
    except errors.GatedRepoError as error:
        raise DatasetError(f"{dataset_id} is gated: ask for access on its page and set HF_TOKEN") from error
    except errors.RepositoryNotFoundError as error:
        raise DatasetError(
            f"there is no dataset {dataset_id!r}: no such path, no such stored dataset, and "
            f"{constants.ENDPOINT} has none of that id that may be read (a private one needs HF_TOKEN)"
        ) from error
    except (*http_errors("HTTPError"), DatasetsError, OSError, ValueError, RuntimeError) as error:
        what = f"{type(error).__name__}: {first_line(error)}"
        raise DatasetError(
            f"{subject or dataset_id} can't be read from the hub {constants.ENDPOINT} ({what})"
        ) from error
