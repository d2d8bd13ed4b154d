"""Scores of candidates and tests as the `evaluate` interface passes them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

from alpha_codium.config.sections import CodeTesterSection, Settings
from alpha_codium.coroutines import run_blocking
from alpha_codium.errors import UserError
from alpha_codium.eval.judging import open_judge
from alpha_codium.eval.prepare import EvaluationSet, prepare_for_evaluation
from alpha_codium.eval.scoring import Score
from alpha_codium.problem import Problem, TestCase, TestType
from alpha_codium.sandbox.blocking import AnySandbox

if TYPE_CHECKING:
    from datasets import Dataset

DEFAULT_KS = (1, 5, 10)
Metrics = tuple[dict[str, float | None], list[dict[str, Any]], dict[str, list[dict[str, Any]]]]


def calculate_metrics(
    evaluation_set: "EvaluationSet | Dataset", k: Sequence[int] = DEFAULT_KS, sandbox: str | AnySandbox = "local"
) -> Metrics:
    """`(pass_at_k, inputs, results)`: the scores, the programs judged with their tests, and the results by problem.

    `evaluation_set` may be a `datasets.Dataset` with the columns `predictions` and `references`, such as one that
    `EvaluationSet.save_to_disk` wrote. Raises UserError if it has other columns.
    """
    ks = checked_ks(k)
    if not isinstance(evaluation_set, EvaluationSet):
        evaluation_set = _evaluation_set_of(evaluation_set)
    name = sandbox if isinstance(sandbox, str) else "local"
    settings = Settings(code_tester=CodeTesterSection(tester_type=name, known_solutions=0))

    async def run() -> Score:
        async with open_judge(settings, None if isinstance(sandbox, str) else sandbox) as judge:
            return await judge.score(evaluation_set, ks)

    result = run_blocking(run())
    by_name = {problem.name: problem.to_json()["candidates"] for problem in result.problems}
    inputs = [{**p, **r} for p, r in zip(evaluation_set.predictions, evaluation_set.references, strict=True)]
    return result.pass_at_k, inputs, by_name


@dataclass(frozen=True, slots=True)
class Metric:
    """pass@k of candidates by their tests, in the form that the `evaluate` interface uses."""

    sandbox: str = "local"

    def compute(
        self,
        predictions: Sequence[Mapping[str, Any]],
        references: Sequence[Mapping[str, Any]],
        k: Sequence[int] = DEFAULT_KS,
    ) -> Metrics:
        """Score `predictions` `{task_name, solution_candidates}` by `references` `{tests_inputs, tests_outputs}`."""
        if len(predictions) != len(references):
            raise ValueError(f"predictions and references differ in number: {len(predictions)} and {len(references)}")
        return calculate_metrics(_evaluation_set(predictions, references), k, self.sandbox)


def _evaluation_set_of(dataset: "Dataset") -> EvaluationSet:
    columns = getattr(dataset, "column_names", None)
    if not isinstance(columns, list) or not {"predictions", "references"} <= set(columns):
        what = f"a dataset with the columns {columns}" if columns else type(dataset).__name__
        raise UserError(
            f"expected an evaluation set, or a Dataset with the columns predictions and references: not {what}"
        )
    return _evaluation_set(list(dataset["predictions"]), list(dataset["references"]))


def _evaluation_set(predictions: Sequence[Mapping[str, Any]], references: Sequence[Mapping[str, Any]]) -> EvaluationSet:
    problems = [_problem_of(p, r) for p, r in zip(predictions, references, strict=True)]
    return prepare_for_evaluation(predictions, problems, TestType.PRIVATE)


def _problem_of(prediction: Mapping[str, Any], reference: Mapping[str, Any]) -> Problem:
    _require(prediction, "predictions", ("task_name", "solution_candidates"))
    _require(reference, "references", ("tests_inputs", "tests_outputs"))
    pairs = zip(reference["tests_inputs"], reference["tests_outputs"], strict=True)
    return Problem(prediction["task_name"], private_tests=tuple(TestCase(i, o) for i, o in pairs))


def _require(row: Mapping[str, Any], rows: str, names: Sequence[str]) -> None:
    """Raise UserError unless a row has these entries."""
    if not isinstance(row, Mapping) or any(name not in row for name in names):
        has = f"one with {', '.join(map(str, row))}" if isinstance(row, Mapping) else type(row).__name__
        raise UserError(f"each of {rows} must be a dict with {' and '.join(names)}, not {has}")


def checked_ks(k: Any) -> tuple[int, ...]:
    """The values of k for pass@k; raises UserError if they aren't positive integers."""
    ks = tuple(k) if isinstance(k, Iterable) and not isinstance(k, str) else ()
    if not ks or not all(isinstance(each, Integral) and int(each) >= 1 for each in ks):
        raise UserError(f"k must be a list of numbers above 0, such as [1, 5, 10], not {k!r}")
    return tuple(map(int, ks))
