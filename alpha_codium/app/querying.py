"""Queries in SQL over the tables of finished runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loguru import logger

from alpha_codium.app.stored_runs import folder_of
from alpha_codium.errors import UserError
from alpha_codium.eval.tables import CANDIDATES, EXECUTIONS
from alpha_codium.paths import runs_folder

# The tables, by the names of their files in the folder of a run.
TABLES = {"candidates": CANDIDATES, "executions": EXECUTIONS}


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows that a query selects, with the names of their columns."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def to_json(self) -> list[dict[str, Any]]:
        """The rows as JSON."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def query_runs(sql: str, runs: Sequence[str] = ()) -> QueryResult:
    """Return what a query in DuckDB's SQL selects from the tables `candidates` and `executions`.

    These have the rows of all finished evaluations in the folder of runs, or of `runs` only, and a column `run` besides
    those of the files (docs/runs.md). Raises UserError if DuckDB isn't installed, a run has no tables, or the query is
    invalid.
    """
    try:
        import duckdb
    except ImportError:
        raise UserError("queries need DuckDB: pip install -e '.[query]'") from None
    with duckdb.connect() as database:
        for table, file in TABLES.items():
            files = [str(path) for path in _files(file, runs) if _can_be_read(path, runs)]
            rows = database.read_parquet(files, filename=True, union_by_name=True)
            rows.select("parse_path(filename)[-2] AS run, * EXCLUDE filename").create_view(table)
        try:
            found = database.sql(sql)
            return QueryResult((), []) if found is None else QueryResult(tuple(found.columns), found.fetchall())
        except duckdb.Error as error:
            raise UserError(f"the query can't be run: {str(error).splitlines()[0]}") from error


def _can_be_read(path: Path, runs: Sequence[str]) -> bool:
    """Whether a table is whole; raises UserError if it isn't that of a run which is asked for."""
    from pyarrow import ArrowException, parquet

    try:
        parquet.read_metadata(path)
    except (OSError, ArrowException) as error:
        why = f"{path} can't be read as Parquet: resume its run to write it anew"
        if runs:
            raise UserError(why) from error
        logger.warning("run {} is left out: {}", path.parent.name, why)
        return False
    return True


def _files(name: str, runs: Sequence[str]) -> list[Path]:
    """Return the files of a table; raises UserError if there are none, or a run has none."""
    for run in runs:
        folder_of(run)  # raises if there is none
    paths = [runs_folder() / run / name for run in runs] or sorted(runs_folder().glob(f"*/{name}"))
    missing = [path.parent.name for path in paths if not path.exists()]
    if missing:
        raise UserError(f"run {missing[0]!r} has no tables: only finished evaluations have some")
    if not paths:
        raise UserError("no finished evaluation is stored yet")
    return paths
