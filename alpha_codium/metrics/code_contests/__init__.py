"""pass@k of programs by their tests' inputs and outputs: rows of candidates beside rows of tests.

    predictions = [{"task_name": "double", "solution_candidates": ["print(2 * int(input()))"]}]
    references = [{"tests_inputs": ["1", "21"], "tests_outputs": ["2", "42"]}]
    pass_at_k, inputs, results = compute(predictions, references, tester_type="local", k=[1])

`evaluate.load` of this folder gives the same as a module of `evaluate`, with `tester_type` as the configuration's name.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from alpha_codium.errors import UserError
from alpha_codium.eval.metric import DEFAULT_KS, Metric, Metrics
from alpha_codium.eval.results import CandidateResult
from alpha_codium.metrics.shared import is_texts, warn_near_limit

COLUMNS = {"predictions": ("task_name", "solution_candidates"), "references": ("tests_inputs", "tests_outputs")}


def compute(
    predictions: Sequence[Mapping[str, Any]],
    references: Sequence[Mapping[str, Any]],
    tester_type: str = "local",
    k: Sequence[int] = DEFAULT_KS,
) -> Metrics:
    """`(pass_at_k, inputs, results)`: the scores, the rows that were judged, and each candidate's result by name.

    `tester_type` is the name of a sandbox. A row without candidates counts as failed, one without tests is never
    passed. A k above the number of candidates of a row that has some is None. A test that used between 80 % and 120 %
    of a limit has `near_limit`.

    Raises UserError if rows lack a column, don't pair up, or have the same name, or if there is no such sandbox. May be
    called inside a running event loop, too.
    """
    if len(predictions) != len(references):
        raise UserError(f"predictions and references differ in number: {len(predictions)} and {len(references)}")
    for what, rows in (("predictions", predictions), ("references", references)):
        for place, row in enumerate(rows):
            _check(f"{what}[{place}]", row, COLUMNS[what])
    pass_at_k, inputs, results = Metric(tester_type).compute(predictions, references, k)
    judged = (CandidateResult.from_json(candidate) for candidates in results.values() for candidate in candidates)
    warn_near_limit(sum(candidate.near_limit for candidate in judged))
    return pass_at_k, inputs, results


def _check(where: str, row: Mapping[str, Any], columns: Sequence[str]) -> None:
    for column in columns:
        if column not in row:
            raise UserError(f"{where} has no {column!r}: it needs {' and '.join(columns)}")
        if column != "task_name" and not is_texts(row[column]):
            raise UserError(f"{where}: {column} must be a list of strings")
    if columns == COLUMNS["references"] and len(row[columns[0]]) != len(row[columns[1]]):
        raise UserError(f"{where} has {len(row[columns[0]])} tests_inputs and {len(row[columns[1]])} tests_outputs")
