"""APPS in a file whose records say which split they are of: it holds those splits, and all of it as `all`.

Both splits count their problems from 0. A score over `test` with the problems of `train` in it would be of neither.
"""

from collections.abc import Mapping
from typing import Any

from alpha_codium.data.benchmarks import apps
from alpha_codium.data.benchmarks.raw import Raw

NAME = "apps_splits"
HUB_ID = ""
SPLITS = apps.SPLITS
convert = apps.convert


def matches(record: Mapping[str, Any]) -> bool:
    """Whether a record has APPS' columns, and says which split it is of."""
    return apps.matches(record) and bool(apps.split_told(record))


def split_of(record: Mapping[str, Any], where: str) -> str:
    """The split that a record belongs to; raises DatasetError where it says none, and the first of its file does."""
    raw = Raw(record, where, "problem_id")
    return apps.split_told(record) or raw.fail("split", f"must be {' or '.join(SPLITS)}, as in the first record")
