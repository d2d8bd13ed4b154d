"""A check of a file for training: which of its rows have tests that can't be judged. Nothing is run."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypedDict

from alpha_codium.app.tests_of import NO_TESTS, Shape, problem_of, why_not
from alpha_codium.config import Settings, load_settings
from alpha_codium.data.origin import choose_split
from alpha_codium.data.sources import find_source
from alpha_codium.errors import UserError, nearest
from alpha_codium.judge import Rules
from alpha_codium.problem import TestType
from alpha_codium.program import PYTHON
from alpha_codium.values import JsonValue
from alpha_codium.wording import counted


class RowFault(TypedDict):
    """Why the tests of a row can't be judged."""

    row: int
    reason: str


@dataclass(frozen=True, slots=True)
class RowReport(JsonValue):
    """The number of rows, and why the tests of some can't be judged, by the index of the row."""

    rows: int
    faults: tuple[RowFault, ...]

    def lines(self) -> Iterator[str]:
        """Yield the lines of the report."""
        yield f"{counted(self.rows, 'row')}, of which {len(self.faults)} can't be judged"
        yield from ("  rows[{row}]: {reason}".format(**fault) for fault in self.faults)


def check_rows(dataset: str, column: str, split: str | None = None, settings: Settings | None = None) -> RowReport:
    """Return what is wrong with the tests of a dataset's rows.

    `column` has the tests, in any of the shapes of `tests_of`. Raises UserError if the dataset can't be read, or has no
    such column.
    """
    settings = settings or load_settings()
    rules = Rules.of(settings.code_tester, settings.languages.time_limit_factors)
    source = find_source(dataset)
    faults, number = list[RowFault](), 0
    for number, row in enumerate(source.records(choose_split(source, split)), 1):
        if number == 1 and column not in row:
            raise UserError(f"{dataset} has no column {column!r}{nearest(column, row)}")
        if fault := _fault_of(row.get(column), rules):
            faults.append(RowFault(row=number - 1, reason=fault))
    if not number:
        raise UserError(f"{dataset} has no rows")
    return RowReport(number, tuple(faults))


def _fault_of(tests: Shape | None, rules: Rules) -> str:
    """Return why the tests of a row can't be judged; empty if they can."""
    try:
        problem = problem_of(tests)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with a row, it must not end the others
        return f"the tests can't be read: {error}"
    return why_not(problem, rules, PYTHON) if problem.tests(tuple(TestType)) else NO_TESTS
