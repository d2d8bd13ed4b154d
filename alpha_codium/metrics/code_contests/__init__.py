"""pass@k of programs by their tests' inputs and outputs: rows of candidates beside rows of tests.

    predictions = [{"task_name": "double", "solution_candidates": ["print(2 * int(input()))"]}]
    references = [{"tests_inputs": ["1", "21"], "tests_outputs": ["2", "42"]}]
    pass_at_k, inputs, results = compute(predictions, references, tester_type="local", k=[1])

`evaluate.load` of this folder gives the same as a module of `evaluate`, with `tester_type` as the configuration's name.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from alpha_codium.errors import UserError
from alpha_codium.eval.metric import DEFAULT_KS, Metric
from alpha_codium.metrics.assertion_runs import run_outside_of_loops

COLUMNS = {"predictions": ("task_name", "solution_candidates"), "references": ("tests_inputs", "tests_outputs")}


def compute(
    predictions: Sequence[Mapping[str, Any]],
    references: Sequence[Mapping[str, Any]],
    tester_type: str = "local",
    k: Sequence[int] = DEFAULT_KS,
) -> tuple[dict[str, float | None], list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """`(pass_at_k, inputs, results)`: the scores, the rows that were judged, and by name what came of each candidate.

    `tester_type` is the name of a sandbox. A row without candidates counts as failed, one without tests is never
    passed. A k above the number of candidates of a row that has some is None.

    Raises UserError where rows lack a column, don't pair up, or bear one name twice, or where there is no such sandbox.
    May be called inside a running event loop, too.
    """
    _check(predictions, references)
    metric = Metric(tester_type)
    return run_outside_of_loops(asyncio.to_thread(metric.compute, predictions, references, k))


def _check(predictions: Sequence[Mapping[str, Any]], references: Sequence[Mapping[str, Any]]) -> None:
    if len(predictions) != len(references):
        raise UserError(f"{len(predictions)} predictions and {len(references)} references don't pair up")
    for what, rows in (("predictions", predictions), ("references", references)):
        for place, row in enumerate(rows):
            missing = [column for column in COLUMNS[what] if column not in row]
            if missing:
                raise UserError(f"{what}[{place}] has no {missing[0]!r}: it needs {' and '.join(COLUMNS[what])}")
            for column in COLUMNS[what]:
                if column != "task_name" and not _is_list_of_texts(row[column]):
                    raise UserError(f"{what}[{place}]: {column} must be a list of texts")
    for place, row in enumerate(references):
        lengths = [len(row[column]) for column in COLUMNS["references"]]
        if lengths[0] != lengths[1]:
            raise UserError(f"references[{place}] has {lengths[0]} tests_inputs and {lengths[1]} tests_outputs")


def _is_list_of_texts(value: Any) -> bool:
    """Whether a value is a list of texts; a text would be taken for a list of its letters."""
    return not isinstance(value, str) and isinstance(value, Sequence) and all(isinstance(each, str) for each in value)
