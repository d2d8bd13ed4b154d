"""Benchmarks with schemas of their own, as records in ours: told by a record's columns, wherever it came from.

Each module of this package has `NAME`, `HUB_ID` (empty where the hub has none in this schema), `matches(record)`, which
looks at the columns only, and `convert(record, where)`, which gives a raw record in the CodeContests schema or raises
DatasetError. The first that matches converts. One whose splits are told by the record has `SPLITS` and
`split_of(record, where)`, too; one that has a single split says `ONLY_SPLIT`.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from alpha_codium.data.benchmarks import apps, apps_splits, evalplus, humaneval, livecodebench, mbpp, multipl_e

BENCHMARKS: dict[str, ModuleType] = {
    module.NAME: module for module in (evalplus, multipl_e, humaneval, mbpp, apps_splits, apps, livecodebench)
}
# What people call a dataset of the hub: its id there.
ALIASES: dict[str, str] = {
    **{name: module.HUB_ID for name, module in BENCHMARKS.items() if module.HUB_ID},
    "openai_humaneval": humaneval.HUB_ID,
    "humanevalplus": "evalplus/humanevalplus",
    "mbppplus": "evalplus/mbppplus",
}


def benchmark_of(record: Mapping[str, Any]) -> ModuleType | None:
    """The benchmark that has records with these columns; None where the record is in our own schema, or in none."""
    return next((benchmark for benchmark in BENCHMARKS.values() if benchmark.matches(record)), None)


def in_our_schema(record: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """The record as it is, or, where it is one of a benchmark known here, converted."""
    benchmark = benchmark_of(record)
    return record if benchmark is None else benchmark.convert(record, where)
