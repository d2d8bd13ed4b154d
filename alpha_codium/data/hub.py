"""Problems on the Hugging Face hub, streamed.

1. One request asks for the dataset's commit; it is not tried again, so that an unreachable hub is an error within
   seconds (`HF_HUB_ETAG_TIMEOUT`). That commit is then read, whatever is pushed meanwhile.
2. The splits are streamed through `datasets`; a dropped connection is tried again a few times, not for minutes.
3. `HF_ENDPOINT`, `HF_TOKEN`, `HF_HUB_OFFLINE` mean what they mean to `huggingface_hub`.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from alpha_codium.data.files import ROWS_AT_A_TIME, one_line
from alpha_codium.data.origin import Origin, Record
from alpha_codium.errors import DatasetError

HUB_ID = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*")
# Over and above the retries of huggingface_hub itself; the default of `datasets`, 20, waits for ten minutes.
READ_RETRIES = 2


class HubSource:
    """A dataset of the hub, by its id `org/name`."""

    any_split = False

    def __init__(self, dataset_id: str) -> None:
        self.dataset_id = dataset_id

    @cached_property
    def origin(self) -> Origin:
        """The dataset's id and its commit; raises DatasetError where the hub doesn't give it."""
        import huggingface_hub
        from huggingface_hub import constants

        with _hub_errors(self.dataset_id, f"there is no file or folder {self.dataset_id}, and the dataset of that id"):
            info = huggingface_hub.HfApi().dataset_info(self.dataset_id, timeout=constants.HF_HUB_ETAG_TIMEOUT)
        return Origin(self.dataset_id, "hub", self.dataset_id, info.sha)

    def splits(self) -> tuple[str, ...]:
        """The names of the splits."""
        return tuple(self._streams)

    def records(self, split: str) -> Iterator[Record]:
        """The rows of one split, as they arrive."""
        stream = self._streams[split]
        with _hub_errors(self.dataset_id):
            yield from stream

    @cached_property
    def _streams(self) -> dict[str, Any]:
        import datasets

        revision = self.origin.revision
        for setting in ("STREAMING_READ_MAX_RETRIES", "STREAMING_OPEN_MAX_RETRIES"):
            setattr(datasets.config, setting, READ_RETRIES)
        with _hub_errors(self.dataset_id):
            builder = datasets.load_dataset_builder(self.dataset_id, revision=revision)
            _read_little_at_a_time(builder.config)
            streams: Any = builder.as_streaming_dataset()
            return dict(streams)


def _read_little_at_a_time(config: Any) -> None:
    """Keep the Parquet reader of `datasets` from decoding whole row groups, and from reading ahead."""
    from pyarrow.dataset import ParquetFragmentScanOptions

    if hasattr(config, "batch_size") and hasattr(config, "fragment_scan_options"):
        config.batch_size = ROWS_AT_A_TIME
        config.fragment_scan_options = ParquetFragmentScanOptions(pre_buffer=False)


@contextmanager
def _hub_errors(dataset_id: str, subject: str = "") -> Iterator[None]:
    """Turn what the hub's libraries raise into one line; `subject` is what can't be read."""
    import httpx
    from datasets.exceptions import DatasetsError
    from huggingface_hub import constants, errors

    try:
        yield
    except errors.OfflineModeIsEnabled as error:
        raise DatasetError(f"{dataset_id} is on the hub, and HF_HUB_OFFLINE is set") from error
    except errors.GatedRepoError as error:
        raise DatasetError(f"{dataset_id} is gated: ask for access on its page and set HF_TOKEN") from error
    except errors.RepositoryNotFoundError as error:
        raise DatasetError(
            f"there is no dataset {dataset_id!r}: no such path, no such stored dataset, and "
            f"{constants.ENDPOINT} has none of that id that may be read (a private one needs HF_TOKEN)"
        ) from error
    except (httpx.HTTPError, DatasetsError, OSError, ValueError, RuntimeError) as error:
        what = f"{type(error).__name__}: {one_line(error)}"
        raise DatasetError(
            f"{subject or dataset_id} can't be read from the hub {constants.ENDPOINT} ({what})"
        ) from error
