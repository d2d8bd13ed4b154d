"""Selection of one of several runs in a file.

A file contains several runs if a column of `RUN_COLUMNS` has several values, and a problem has samples with more than
one of them. Runs are never mixed, since a pass@k over two models would be the score of neither.
"""

import fnmatch
from collections.abc import Mapping, Sequence

from alpha_codium.data.samples.reading import Row
from alpha_codium.errors import DatasetError, nearest

RUN_COLUMNS = (
    *("run", "run_id", "run_name", "experiment", "model", "model_name", "model_id", "system", "method", "approach"),
    *("strategy", "setting", "config", "variant", "temperature", "top_p", "prompt_type", "language"),
)
MOST_SHOWN = 12


def selected(rows: Sequence[Row], selections: Mapping[str, str], where: str) -> list[Row]:
    """Return the rows whose columns have the selected values.

    A value may be given in full, as a pattern with `*` and `?`, or by a part that only one value contains. Raises
    DatasetError if a column or value doesn't exist, if several values match, or if the rows belong to several runs.
    """
    kept = list(rows)
    for column, wanted in selections.items():
        value = _value(kept, column, wanted, where)
        kept = [row for row in kept if _text(row, column) == value]
    for column, values in runs_of(kept).items():
        raise DatasetError(
            f"{where} holds several runs: the column {column!r} has the values {_shown(values)}; "
            f"choose one with `select` {column}=VALUE (a part of the value will do)"
        )
    return kept


def parse_selections(texts: Sequence[str]) -> dict[str, str]:
    """Return `COLUMN=VALUE` texts as a mapping; raises DatasetError if one is invalid, or a column is repeated."""
    selections: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise DatasetError(f"`select` {text!r} must have the form COLUMN=VALUE")
        if key in selections:
            raise DatasetError(f"`select` names {key!r} twice: choose one value")
        selections[key] = value
    return selections


def _value(rows: Sequence[Row], column: str, wanted: str, where: str) -> str:
    """Return the value of `column` that `wanted` refers to."""
    values = list(dict.fromkeys(text for row in rows if (text := _text(row, column)) is not None))
    if not values:
        columns = {name for row in rows for name in row.values or {}}
        raise DatasetError(f"{where} has no column {column!r} to select by{nearest(column, columns)}")
    if wanted in values:
        return wanted
    fitting = [value for value in values if fnmatch.fnmatchcase(value, wanted)]
    fitting = fitting or [value for value in values if wanted in value]
    if len(fitting) == 1:
        return fitting[0]
    why = f"fits {len(fitting)} values: {_shown(fitting)}" if fitting else f"fits no value: there is {_shown(values)}"
    raise DatasetError(f"`select` {column}={wanted} {why}")


def runs_of(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the columns that tell several runs in a file apart, each with its values; empty if the file is one run."""
    found = {}
    for column in RUN_COLUMNS:
        tasks: dict[str, set[str | int]] = {}
        for row in rows:
            if (value := _text(row, column)) is not None:
                tasks.setdefault(value, set()).add(row.task)
        if sum(map(len, tasks.values())) > len(set().union(*tasks.values())):
            found[column] = list(tasks)
    return found


def _text(row: Row, column: str) -> str | None:
    """Return a column's value as text, or None if the row has no text or number in it."""
    value = (row.values or {}).get(column)
    return str(value) if isinstance(value, str | int | float) else None


def _shown(values: Sequence[str]) -> str:
    return ", ".join(values[:MOST_SHOWN]) + (", ..." if len(values) > MOST_SHOWN else "")
