"""Extract, transform, load: from any source to a stored dataset in one schema."""

import datetime
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path
from typing import Any

from alpha_codium.data.benchmarks import benchmark_of, in_our_schema
from alpha_codium.data.counts import SplitCounts
from alpha_codium.data.files import FileSource
from alpha_codium.data.filters import Filters, check_rate, in_sample
from alpha_codium.data.origin import Record, Source, choose_split
from alpha_codium.data.reader import RecordReader
from alpha_codium.data.schema import COLUMNS, DATE_COLUMNS, TEST_COLUMNS, features, stored_record
from alpha_codium.data.sources import find_source, output_path
from alpha_codium.data.store import SplitWriter, check_target, put_splits, workshop
from alpha_codium.data.validated import VALIDATION_COLUMNS, validated_features, validation_of
from alpha_codium.errors import DatasetError

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class SplitReport:
    """What became of one split; `counts` as `SplitCounts.as_record` gives them.

    `without_tests` counts the problems stored that have no test of any kind: no program of theirs can pass.
    """

    split: str
    records_in: int
    problems_out: int
    dropped_columns: tuple[str, ...]
    fingerprint: str
    counts: dict[str, Any]
    without_tests: int = 0


@dataclass(frozen=True, slots=True)
class EtlReport:
    """What an ETL stored, and where."""

    name: str
    path: Path
    splits: tuple[SplitReport, ...]

    def as_record(self) -> dict[str, Any]:
        """The report as JSON."""
        return {"name": self.name, "path": str(self.path), "splits": [asdict(split) for split in self.splits]}


@dataclass(frozen=True, slots=True)
class Selection:
    """What an ETL takes of each split."""

    filters: Filters
    sample_rate: float
    seed: int


def run_etl(
    source: str | Source,
    output_name: str,
    split_names: Sequence[str] = (),
    filters: Filters | None = None,
    *,
    sample_rate: float = 1.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> EtlReport:
    """Store the splits of a source (all, where none is named) as the dataset `output_name`, a name or a folder.

    Splits that the dataset has already stay, or are replaced. `progress` is called with the number of records read
    of the split at hand. Raises DatasetError for what can't be read, is malformed, or can't be written.
    """
    check_rate(sample_rate)
    selection = Selection(filters or Filters(), sample_rate, seed)
    source = find_source(source) if isinstance(source, str) else source
    target = output_path(output_name)
    check_target(target)
    splits = _choose_splits(source, split_names)
    with workshop(target) as built:
        reports = [_etl_split(source, split, built, selection, progress or (lambda _count: None)) for split in splits]
        put_splits(built, {report.split: _info(source, report, selection) for report in reports}, target)
    return EtlReport(output_name, target, tuple(reports))


def _choose_splits(source: Source, asked: Sequence[str]) -> tuple[str, ...]:
    if isinstance(source, FileSource) and (not asked or len(source.parts()) > 1):
        return tuple(dict.fromkeys(asked)) or source.parts()
    if len(asked) > 1 and source.any_split:
        raise DatasetError(f"{source.origin.text} is one split: name one, not {len(asked)}")
    return tuple(choose_split(source, split) for split in dict.fromkeys(asked)) or source.splits()


def _etl_split(source: Source, split: str, built: Path, selection: Selection, progress: Progress) -> SplitReport:
    label = f"{source.origin.text}[{split}]"
    records, dates = _date_columns(source.records(split))
    if selection.filters.need_dates and not dates:
        raise DatasetError(f"{label} has no column of dates ({', '.join(DATE_COLUMNS)}): leave out the filter by date")
    added = VALIDATION_COLUMNS if validation_of(source, split) else ()
    if selection.filters.validity and not added:
        raise DatasetError(f"{label} isn't validated: use `gencode data validate` first, with --output_dataset_name")
    counts, dropped, number, without_tests = SplitCounts(), set[str](), 0, 0
    types = validated_features(dates) if added else features(dates)
    with SplitWriter(_split_folder(built, split), types) as writer:
        for number, raw in enumerate(records, start=1):
            record = _converted(raw, f"{label}, record {number}", dates)
            kept = _transform(record, f"{label}, record {number}", selection, dates, added)
            dropped.update(record.keys() - {*COLUMNS, *dates, *added})
            if kept is not None:
                writer.add(kept)
                counts.add(kept)
                without_tests += not _has_tests(kept)
            progress(number)
        writer.finish()
    fingerprint = writer.fingerprint.hex
    report = SplitReport(
        split, number, counts.problems, tuple(sorted(dropped)), fingerprint, counts.as_record(), without_tests
    )
    _tell(report, label)
    return report


def _tell(report: SplitReport, label: str) -> None:
    """Say of a split what its user should know."""
    from loguru import logger

    if report.dropped_columns:
        logger.info("{}: left out columns of another schema: {}", label, ", ".join(report.dropped_columns))
    if not report.problems_out:
        logger.warning("{}: none of {} problems passed the filters", label, report.records_in)
    if report.counts["repeated_names"]:
        logger.warning("{}: {} problems bear the name of an earlier one", label, report.counts["repeated_names"])
    if report.without_tests:
        logger.warning("{}: {} problems have no tests: no program of theirs can pass", label, report.without_tests)


def _converted(record: Record, where: str, dates: Sequence[str]) -> Record:
    """The record in our schema, with the dates that it had in its own."""
    if not isinstance(record, Mapping) or benchmark_of(record) is None:
        return record
    return {**in_our_schema(record, where), **{column: record.get(column) for column in dates}}


def _has_tests(stored: Record) -> bool:
    execution = stored["execution"] or {}
    return bool((execution.get("test_code") or "").strip()) or any(stored[column]["input"] for column in TEST_COLUMNS)


def _transform(
    record: Record, where: str, selection: Selection, dates: Sequence[str], added: Sequence[str]
) -> Record | None:
    """The record to store, its columns `added` too, or None where it is left out; DatasetError where malformed."""
    if not in_sample(RecordReader(record, where).name(), selection.sample_rate, selection.seed):
        return None
    stored = stored_record(record, where, dates) | {column: record.get(column) for column in added}
    return selection.filters.keep_solutions(stored) if selection.filters.keeps_problem(stored) else None


def _date_columns(records: Iterator[Record]) -> tuple[Iterator[Record], tuple[str, ...]]:
    """The records, and the date columns that the first of them has."""
    first = list(islice(records, 1))
    dates = tuple(column for column in DATE_COLUMNS if first and isinstance(first[0], dict) and column in first[0])
    return chain(first, records), dates


def _split_folder(built: Path, split: str) -> Path:
    if not re.fullmatch(r"\w+(\.\w+)*", split):  # what `datasets` takes
        raise DatasetError(f"{split!r} can't be the name of a split: use letters, digits and '_'")
    return built / split


def _info(source: Source, report: SplitReport, selection: Selection) -> dict[str, Any]:
    validation = validation_of(source, report.split)
    return {
        "origin": source.origin.as_record(),
        "source_split": None if source.any_split else report.split,
        "filters": selection.filters.as_record(),
        "sampling": {"rate": selection.sample_rate, "seed": selection.seed},
        **({"validation": validation} if validation else {}),
        "records_in": report.records_in,
        "problems_out": report.problems_out,
        "dropped_columns": list(report.dropped_columns),
        "counts": report.counts,
        "without_tests": report.without_tests,
        "fingerprint": report.fingerprint,
        "when": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": {name: version(name) for name in ("alpha_codium", "datasets", "pyarrow")},
    }
