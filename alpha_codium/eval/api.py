"""Scoring from Python: one call for all of it, and the `evaluate` interface."""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any

from alpha_codium.eval.prepare import EvaluationSet, prepare_for_evaluation
from alpha_codium.eval.running import run_evaluation
from alpha_codium.eval.scoring import Score, score
from alpha_codium.judge import Judge, Rules
from alpha_codium.problem import Problem, TestCase, TestType
from alpha_codium.sandbox import Sandbox, open_sandbox

DEFAULT_KS = (1, 5, 10)


def evaluate(
    solutions: str | Iterable[Mapping[str, Any]],
    problems: str | Sequence[Problem],
    test_type: str | Iterable[str] = TestType.PRIVATE,
    sandbox: str | Sandbox = "local",
    k: Sequence[int] = DEFAULT_KS,
    *,
    rules: Rules | None = None,
    split: str | None = None,
) -> Score:
    """Judge the candidates of a Solutions dataset and score them over all problems of the split.

    `solutions` and `problems` are datasets or their names. Raises UserError where one can't be read or the two
    don't belong together. Must be called outside a running event loop.
    """
    if isinstance(problems, str):
        from alpha_codium.data import load_problems

        problems = load_problems(problems, split)
    if isinstance(solutions, str):
        from alpha_codium.data import load_solutions

        solutions = load_solutions(solutions)
    evaluation_set = prepare_for_evaluation(solutions, problems, test_type)
    return asyncio.run(_judge_and_score(evaluation_set, sandbox, k, rules))


def calculate_metrics(
    evaluation_set: EvaluationSet, k: Sequence[int] = DEFAULT_KS, sandbox: str | Sandbox = "local"
) -> tuple[dict[str, float | None], list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """`(pass_at_k, inputs, results)`: the scores, what was judged, and each problem's candidates' results by name."""
    result = asyncio.run(_judge_and_score(evaluation_set, sandbox, k, None))
    by_name = {problem.name: problem.to_json()["candidates"] for problem in result.problems}
    return result.pass_at_k, evaluation_set.predictions, by_name


class Metric:
    """Candidates and tests by themselves, as the `evaluate` interface passes them."""

    def __init__(self, sandbox: str = "local") -> None:
        self.sandbox = sandbox

    def compute(
        self,
        predictions: Sequence[Mapping[str, Any]],
        references: Sequence[Mapping[str, Any]],
        k: Sequence[int] = DEFAULT_KS,
    ) -> tuple[dict[str, float | None], list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
        """Score `predictions` `{task_name, solution_candidates}` by `references` `{tests_inputs, tests_outputs}`."""
        if len(predictions) != len(references):
            raise ValueError(f"{len(predictions)} predictions and {len(references)} references don't pair up")
        problems = [_problem_of(p, r) for p, r in zip(predictions, references, strict=True)]
        return calculate_metrics(prepare_for_evaluation(predictions, problems, TestType.PRIVATE), k, self.sandbox)


def _problem_of(prediction: Mapping[str, Any], reference: Mapping[str, Any]) -> Problem:
    pairs = zip(reference["tests_inputs"], reference["tests_outputs"], strict=True)
    return Problem(prediction["task_name"], private_tests=tuple(TestCase(i, o) for i, o in pairs))


def _judge_and_score(
    evaluation_set: EvaluationSet, sandbox: str | Sandbox, ks: Sequence[int], rules: Rules | None
) -> Coroutine[Any, Any, Score]:
    async def run() -> Score:
        async with open_sandbox(sandbox) if isinstance(sandbox, str) else sandbox as opened:
            return score(await run_evaluation(evaluation_set, Judge(opened, rules or Rules())), ks)

    return run()
