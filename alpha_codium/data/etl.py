"""Extract, transform, load: from any source to a stored dataset in one schema."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from loguru import logger

from alpha_codium.data.benchmarks import benchmark_of, in_our_schema
from alpha_codium.data.files import FileSource
from alpha_codium.data.filters import Filters, check_rate, in_sample
from alpha_codium.data.folders import FolderSource
from alpha_codium.data.hub import HubSource
from alpha_codium.data.origin import Record, Source, choose_split
from alpha_codium.data.reader import RecordReader
from alpha_codium.data.schema import COLUMNS, DATE_COLUMNS, VALIDATION_COLUMNS, RecordCounts, features, stored_record
from alpha_codium.data.sources import find_source, output_path
from alpha_codium.data.store import (
    SplitWriter,
    check_split_name,
    check_target,
    put_splits,
    read_info,
    refuse_replacing,
    temporary_folder,
)
from alpha_codium.errors import DatasetError
from alpha_codium.values import JsonValue
from alpha_codium.wording import counted

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class SplitReport(JsonValue):
    """The result of one split; `counts` is a `SplitCounts.as_record`.

    `without_tests` is the number of stored problems without any tests, which no program can pass.
    """

    split: str
    records_in: int
    problems_out: int
    dropped_columns: tuple[str, ...]
    fingerprint: str
    counts: RecordCounts
    without_tests: int = 0


@dataclass(frozen=True, slots=True)
class EtlReport(JsonValue):
    """The name, path and splits of the dataset that an ETL stored."""

    name: str
    path: Path
    splits: tuple[SplitReport, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """The choice of the problems of each split to store."""

    filters: Filters
    sample_rate: float
    seed: int


def run_etl(
    source: str | Source,
    output: str,
    split_names: Sequence[str] = (),
    filters: Filters | None = None,
    *,
    sample_rate: float = 1.0,
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress = lambda _count: None,
) -> EtlReport:
    """Store the given splits of a source (by default all) as the dataset `output`, a name or a folder.

    Existing splits of the same names are replaced with `overwrite`, others are kept. `progress` is called with the
    number of records read so far, of all splits. Raises DatasetError if the source can't be read, a record is
    malformed, no problem would be stored, or the dataset can't be written.
    """
    check_rate(sample_rate)
    selection = Selection(filters or Filters(), sample_rate, seed)
    source = find_source(source) if isinstance(source, str) else source
    target = output_path(output)
    check_target(target)
    splits = _choose_splits(source, split_names)
    if not overwrite:
        refuse_replacing(splits, target)
    if isinstance(source, HubSource) and not split_names and len(splits) > 1:
        how = "read from the cache" if source.cached else "downloaded"
        logger.info("{}: all splits are {}: {}; `split_names` chooses one", source.text, how, ", ".join(splits))
    with temporary_folder(target) as built:
        reports, infos = [], {}
        for split in splits:
            before = sum(report.records_in for report in reports)
            report, infos[split] = _etl_split(source, split, built, selection, progress, before)
            reports.append(report)
        _refuse_empty(reports, source.origin.text, selection)
        put_splits(built, infos, target, overwrite=overwrite)
    return EtlReport(output, target, tuple(reports))


def _choose_splits(source: Source, asked: Sequence[str]) -> tuple[str, ...]:
    if isinstance(source, FileSource) and (not asked or len(source.parts()) > 1):
        return tuple(dict.fromkeys(asked)) or source.parts()
    if len(asked) > 1 and source.any_split:
        raise DatasetError(f"{source.origin.text} has only one split: give one of `split_names`, not {len(asked)}")
    return tuple(choose_split(source, split) for split in dict.fromkeys(asked)) or source.splits()


def _etl_split(
    source: Source, split: str, built: Path, selection: Selection, progress: Progress, before: int
) -> tuple[SplitReport, dict[str, Any]]:
    """Write one split; return its report and its entry for `etl.json`. `before` records were read of other splits."""
    label = f"{source.origin.text}[{split}]"
    check_split_name(split)
    records, dates = _date_columns(source.records(split))
    if selection.filters.need_dates and not dates:
        raise DatasetError(f"{label} has no date column ({', '.join(DATE_COLUMNS)}): remove `date_from` and `date_to`")
    stored = read_info(source.path).get(split, {}) if isinstance(source, FolderSource) else {}
    validation = stored.get("validation")
    if selection.filters.validity and not validation:
        raise DatasetError(f"{label} has not been validated: store it again with `gencode data validate` first")
    added = VALIDATION_COLUMNS if validation else ()
    dropped, number = set[str](), 0
    with SplitWriter(built / split, features(dates, validated=bool(validation))) as writer:
        for number, raw in enumerate(records, start=1):
            where = f"{label}, record {number}"
            record = _converted(raw, where, dates)
            kept = _transform(record, where, selection, dates, added)
            dropped.update(record.keys() - {*COLUMNS, *dates, *added})
            if kept is not None:
                writer.add(kept)
            progress(before + number)
        facts = writer.finish()
    columns = tuple(sorted(dropped))
    info = {
        "origin": asdict(source.origin),
        "source_split": None if source.any_split else split,
        "filters": selection.filters.as_record(),
        "sampling": {"rate": selection.sample_rate, "seed": selection.seed},
        **({"validation": validation} if validation else {}),
        "records_in": number,
        "dropped_columns": list(columns),
    }
    counts, without_tests = facts["counts"], facts["without_tests"]
    report = SplitReport(split, number, counts["problems"], columns, facts["fingerprint"], counts, without_tests)
    _warn(report, label)
    return report, info | facts


def _refuse_empty(reports: Sequence[SplitReport], source: str, selection: Selection) -> None:
    if any(report.problems_out for report in reports):
        return
    total = sum(report.records_in for report in reports)
    if not total:
        raise DatasetError(f"{source} has no problems")
    causes = [f"sample_rate {selection.sample_rate:g} with seed {selection.seed}"] * (selection.sample_rate < 1)
    causes += [f"the filters ({', '.join(selection.filters.as_record())})"] * bool(selection.filters.as_record())
    raise DatasetError(
        f"none of {counted(total, 'problem')} of {source} would be stored: left out by {' and '.join(causes)}"
    )


def _warn(report: SplitReport, label: str) -> None:
    if report.dropped_columns:
        logger.info("{}: dropped columns that aren't in the schema: {}", label, ", ".join(report.dropped_columns))
    if not report.problems_out:
        logger.warning("{}: none of {} is stored", label, counted(report.records_in, "problem"))
    if report.counts["repeated_names"]:
        logger.warning(
            "{}: {} with the name of an earlier one", label, counted(report.counts["repeated_names"], "problem")
        )
    if report.without_tests:
        logger.warning(
            "{}: {} without tests, which no program can pass", label, counted(report.without_tests, "problem")
        )


def _converted(record: Record, where: str, dates: Sequence[str]) -> Record:
    """Return the record in our schema, with its original date columns."""
    if not isinstance(record, Mapping) or benchmark_of(record) is None:
        return record
    return {**in_our_schema(record, where), **{column: record.get(column) for column in dates}}


def _transform(
    record: Record, where: str, selection: Selection, dates: Sequence[str], added: Sequence[str]
) -> Record | None:
    """Return the record to store with its `added` columns, or None if the selection excludes it.

    Raises DatasetError if the record is malformed.
    """
    if not in_sample(RecordReader(record, where).name(), selection.sample_rate, selection.seed):
        return None
    stored = stored_record(record, where, dates) | {column: record.get(column) for column in added}
    return selection.filters.keep_solutions(stored) if selection.filters.keeps_problem(stored) else None


def _date_columns(records: Iterator[Record]) -> tuple[Iterator[Record], tuple[str, ...]]:
    """Return the records, and the date columns of the first one."""
    first = list(islice(records, 1))
    dates = tuple(column for column in DATE_COLUMNS if first and isinstance(first[0], dict) and column in first[0])
    return chain(first, records), dates
