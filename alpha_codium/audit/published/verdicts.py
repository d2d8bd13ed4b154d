"""The verdicts that a file of samples has itself.

A row has its verdict in the first of `VERDICT_COLUMNS`: a truth value, a score that is 1 if all tests passed, a word,
or a list of these with one for each of the row's programs. MapCoder, Reflexion and LDB say `is_solved`, human-eval
`passed`, EvalPlus `base_status`, LiveCodeBench `graded_list`.
"""

from collections.abc import Sequence
from typing import Any

from alpha_codium.data.samples.reading import Row
from alpha_codium.errors import DatasetError, nearest
from alpha_codium.wording import counted

VERDICT_COLUMNS = (
    *("published_passed", "is_solved", "passed", "plus_status", "base_status", "graded_list", "graded", "is_passing"),
    *("solved", "correct", "pass@1", "success", "status", "result"),
)
PASSED, FAILED = ("pass", "passed", "accepted", "ac", "true"), ("fail", "failed", "timeout", "timed out", "false")


def verdict_column(rows: Sequence[Row], asked: str = "") -> str:
    """Return the column with the file's own verdicts; raises DatasetError if there is none."""
    columns = {name for row in rows for part in (row.values or {}, *row.parts) for name in part}
    if asked:
        if asked not in columns:
            raise DatasetError(f"no row has a column {asked!r}{nearest(asked, columns)}")
        return asked
    found = next((name for name in VERDICT_COLUMNS if name in columns), None)
    if found is None:
        raise DatasetError("the samples have no verdicts of their own: name their column as `verdict_column`")
    return found


def verdicts_of(row: Row, column: str) -> list[bool | None]:
    """Return the verdicts of a row's programs, None for one without; raises DatasetError for what is no verdict."""
    value = [part.get(column) for part in row.parts] if row.parts else (row.values or {}).get(column)
    values = value if isinstance(value, list | tuple) else [value] * len(row.texts)
    if len(values) != len(row.texts):
        raise DatasetError(
            f"{row.where}: {column} has {counted(len(values), 'verdict')} for {counted(len(row.texts), 'program')}"
        )
    return [_passed(each, f"{row.where}: {column}") for each in values]


def _passed(value: Any, where: str) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float) and 0 <= value <= 1:
        return value == 1
    word = value.strip().lower() if isinstance(value, str) else ""
    if word in PASSED or word.startswith(FAILED):
        return word in PASSED
    raise DatasetError(f"{where} must be true or false, a score up to 1, or pass or fail, not {str(value)[:40]!r}")
