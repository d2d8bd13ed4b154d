"""Checks that runs can be compared, and notes on their other differences."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from alpha_codium.comparison.records import RunRecord
from alpha_codium.config import Settings
from alpha_codium.config.base import Changes, unchanging
from alpha_codium.data.load import ProblemSet, load_problems
from alpha_codium.errors import DatasetError, UserError
from alpha_codium.runs import RunFolder
from alpha_codium.wording import counted

# Settings that change no sample; models have a note of their own.
IGNORED = {f"{section}.{name}" for section, names in unchanging(Changes.SAMPLES, Settings).items() for name in names}
IGNORED |= {"config.model"}


def refuse_twins(folders: Sequence[RunFolder]) -> None:
    """Raise UserError if a run is given twice."""
    for place, folder in enumerate(folders):
        if any(folder.path.samefile(other.path) for other in folders[:place]):
            raise UserError(f"run {folder.name!r} is given twice: compare it with another one")


def refuse_unlike(records: Sequence[RunRecord]) -> None:
    """Raise UserError if two runs have different problems."""
    first = records[0]
    for record in records:
        if record.fingerprint != first.fingerprint:
            one, other = _source(first), _source(record)
        elif record.subset != first.subset:
            one, other = _part_text(first), _part_text(record)
        else:
            continue
        raise UserError(
            f"run {first.name!r} is of {one}, run {record.name!r} of {other}: only runs of the same problems can be "
            "compared"
        )


def problems_of(records: Sequence[RunRecord], dataset: str | None = None) -> ProblemSet:
    """Return the problems of the runs, from `dataset` or else from the dataset that a run names.

    Raises DatasetError if none of these can be read, or the content has changed since the runs.
    """
    first = records[0]
    problems = _loaded(records, dataset)
    if problems.fingerprint != first.fingerprint:
        raise DatasetError(
            f"the problems of {problems.label} (fingerprint {problems.fingerprint[:12]}) "
            f"aren't those that run {first.name!r} was made for ({_source(first)}): give them as `dataset`"
        )
    return first.subset.choose(problems)


def notes_on(records: Sequence[RunRecord]) -> list[str]:
    """Return notes on differences between runs other than their flows: models and settings."""
    notes = []
    if len({record.models for record in records}) > 1:
        each = "; ".join(f"{record.name}: {', '.join(record.models)}" for record in records)
        notes.append(
            f"the runs were made by different models ({each}): a difference may be due to the models, not the flows"
        )
    notes += _on_flows(records)
    flat = [dict(_leaves(record.settings)) for record in records]
    keys = sorted({key for values in flat for key in values} - IGNORED)
    for key in keys:
        values = [values.get(key) for values in flat]
        if any(value != values[0] for value in values):
            each = "; ".join(f"{r.name}: {v!r}" for r, v in zip(records, values, strict=True))
            notes.append(f"the runs differ in {key} ({each})")
    return notes


def _on_flows(records: Sequence[RunRecord]) -> Iterator[str]:
    """Yield notes on flows that changed between runs, and on samples that were ended by a budget."""
    for flow in dict.fromkeys(record.flow for record in records):
        of_it = [record for record in records if record.flow == flow]
        if len({record.flow_fingerprint for record in of_it}) > 1:
            names = ", ".join(record.name for record in of_it)
            yield f"flow {flow} was changed between {names}: its prompts or stages aren't the same"
    for record in records:
        for end, samples in record.cut_short.items():
            what = f"{counted(samples, 'finished sample')} of {record.name}"
            verb = "was" if samples == 1 else "were"
            yield f"{what} {verb} ended by {end.setting} ({end.shown_amount}): each counts with the program that it had"


def _loaded(records: Sequence[RunRecord], dataset: str | None) -> ProblemSet:
    """Return the first dataset named by a run that can be read; paths may be relative to another folder."""
    named = [(dataset, records[0].split)] if dataset else list(dict.fromkeys((r.dataset, r.split) for r in records))
    for name, split in named[:-1]:
        with contextlib.suppress(DatasetError):
            return load_problems(name, split)
    try:
        return load_problems(*named[-1])
    except DatasetError as error:
        raise DatasetError(f"{error}; if the problems have moved, give their location as `dataset`") from error


def _source(record: RunRecord) -> str:
    return f"{record.dataset}[{record.split}] (fingerprint {record.fingerprint[:12]})"


def _part_text(record: RunRecord) -> str:
    return "the whole split" if record.subset.is_whole else f"a part of it ({record.subset})"


def _leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested settings as pairs of a dotted key and a value."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
