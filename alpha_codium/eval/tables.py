"""The results of an evaluation as tables: Parquet files beside `results.json`, for queries and data frames.

`candidates.parquet` has a row for each program, `executions.parquet` one for each test that was run, both in the order
of the results. docs/runs.md describes the columns.
"""

import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.verdict import IN_PROCESS, OUTSIDE

CANDIDATES, EXECUTIONS = "candidates.parquet", "executions.parquet"
# Rows that are in memory at a time.
ROWS_AT_ONCE = 10_000
# `group` and `index` would have to be quoted in SQL.
PLACE = {"problem": "string", "kind": "string", "sample": "int64", "program": "string"}
USED = {"cpu_seconds": "float64", "wall_seconds": "float64", "max_rss_bytes": "int64"}
CANDIDATE_COLUMNS = (
    PLACE
    | {"verdict": "string", "tests_passed": "int64", "tests_total": "int64"}
    | USED
    | {"trust": "string", "near_limit": "bool", "rechecked": "bool", "error": "string", "failed_test": "int64"}
    | dict.fromkeys(("input", "expected", "actual", "assertion", "stderr"), "string")
)
EXECUTION_COLUMNS = PLACE | {"test": "int64", "verdict": "string"} | USED | {"trust": "string", "near_limit": "string"}


def write_tables(folder: Path, results: Sequence[ProblemResult]) -> None:
    """Write the tables of an evaluation; raises OSError."""
    programs = [(problem.name, result) for problem in results for result in problem.candidates]
    write_table(folder / CANDIDATES, CANDIDATE_COLUMNS, (_candidate_row(*each) for each in programs))
    write_table(folder / EXECUTIONS, EXECUTION_COLUMNS, (row for each in programs for row in _execution_rows(*each)))


def write_table(path: Path, columns: dict[str, str], rows: Iterable[dict[str, Any]]) -> None:
    """Write a Parquet file with columns of these Arrow types, whole or not at all; raises OSError."""
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema([(name, pyarrow.type_for_alias(kind)) for name, kind in columns.items()])
    partial, rows = path.with_name(f".{path.name}.{os.getpid()}"), iter(rows)
    try:
        with parquet.ParquetWriter(partial, schema, compression="zstd") as writer:
            while some := list(itertools.islice(rows, ROWS_AT_ONCE)):
                writer.write_table(pyarrow.Table.from_pylist(some, schema))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _candidate_row(problem: str, result: CandidateResult) -> dict[str, Any]:
    failure = result.failure.to_json() if result.failure is not None else {}
    used = {
        "cpu_seconds": sum(test["cpu_seconds"] for test in result.tests),
        "wall_seconds": sum(test["wall_seconds"] for test in result.tests),
        "max_rss_bytes": max((test["max_rss_bytes"] for test in result.tests), default=0),
    }
    inside = any(test.get("trust") == IN_PROCESS for test in result.tests)
    shown = {name: failure.get(name) for name in ("input", "expected", "actual", "assertion", "stderr")}
    return _place(problem, result) | shown | used | {
        "verdict": result.verdict.value, "tests_passed": result.tests_passed, "tests_total": result.tests_total,
        "trust": IN_PROCESS if inside else OUTSIDE, "near_limit": result.near_limit, "rechecked": result.rechecked,
        "error": result.error or None, "failed_test": failure.get("test"),
    }  # fmt: skip


def _place(problem: str, result: CandidateResult) -> dict[str, Any]:
    return {"problem": problem, "kind": result.group, "sample": result.index, "program": result.program}


def _execution_rows(problem: str, result: CandidateResult) -> Iterator[dict[str, Any]]:
    place = _place(problem, result)
    for number, test in enumerate(result.tests):
        limits = {"trust": test.get("trust", OUTSIDE), "near_limit": ",".join(test.get("near_limit", ())) or None}
        yield place | {"test": number} | test | limits
