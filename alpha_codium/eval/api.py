"""Scoring from Python: one call for all of it, and the `evaluate` interface."""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

from alpha_codium.errors import UserError
from alpha_codium.eval.known import DEFAULT_KNOWN, split_known, with_known
from alpha_codium.eval.prepare import EvaluationSet, prepare_for_evaluation
from alpha_codium.eval.rates import rates_of
from alpha_codium.eval.running import run_evaluation
from alpha_codium.eval.scoring import Score, labels_of, score
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
    known_solutions: int = DEFAULT_KNOWN,
    ignore_fingerprint: bool = False,
) -> Score:
    """Judge the candidates of a Solutions dataset and score them over all problems of the split.

    `solutions` and `problems` are datasets or their names. So many `known_solutions` of each kind a problem are judged
    beside the candidates: `extra["judge_error"]` says how often the judge was wrong on them (0: don't).
    `extra["rates"]` says how many samples were truncated, held no program, or didn't compile.

    Raises UserError where `k` is no list of numbers above 0, where a dataset can't be read, or where the two don't
    belong together, by the names of problems or by the fingerprint. Must be called outside a running event loop.
    """
    ks = _checked(k)
    if isinstance(problems, str):
        from alpha_codium.data import load_problems

        problems = load_problems(problems, split)
    if isinstance(solutions, str):
        from alpha_codium.data import load_solutions

        solutions = load_solutions(solutions)
    rows = list(solutions)
    if not ignore_fingerprint:
        _refuse_other_problems(rows, problems)
    evaluation_set = prepare_for_evaluation(rows, problems, test_type)
    return asyncio.run(_judge_and_score(evaluation_set, sandbox, ks, rules, known_solutions, rows))


def calculate_metrics(
    evaluation_set: EvaluationSet, k: Sequence[int] = DEFAULT_KS, sandbox: str | Sandbox = "local"
) -> tuple[dict[str, float | None], list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """`(pass_at_k, inputs, results)`: the scores, what was judged, and each problem's candidates' results by name."""
    result = asyncio.run(_judge_and_score(evaluation_set, sandbox, _checked(k), None))
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


def _checked(k: Any) -> tuple[int, ...]:
    """The k of pass@k, checked before an hour of judging rather than after it."""
    ks = tuple(k) if isinstance(k, Iterable) and not isinstance(k, str) else ()
    if not ks or not all(isinstance(each, Integral) and int(each) >= 1 for each in ks):
        raise UserError(f"k must be a list of numbers above 0, such as [1, 5, 10], not {k!r}")
    return tuple(map(int, ks))


def _refuse_other_problems(rows: Sequence[Mapping[str, Any]], problems: Sequence[Problem]) -> None:
    from alpha_codium.data.load import ProblemSet
    from alpha_codium.data.solutions import refuse_other_problems

    # A plain list of problems has no fingerprint: whose they are is the caller's business.
    if isinstance(problems, ProblemSet):
        refuse_other_problems(rows, problems)


def _judge_and_score(
    evaluation_set: EvaluationSet,
    sandbox: str | Sandbox,
    ks: Sequence[int],
    rules: Rules | None,
    known: int = 0,
    rows: Sequence[Mapping[str, Any]] | None = None,
) -> Coroutine[Any, Any, Score]:
    backend = sandbox if isinstance(sandbox, str) else type(sandbox).__name__

    async def run() -> Score:
        async with open_sandbox(sandbox) if isinstance(sandbox, str) else sandbox as opened:
            tasks = with_known(evaluation_set, known)
            results, error = split_known(await run_evaluation(tasks, Judge(opened, rules or Rules())), backend, known)
            rates = rates_of(evaluation_set.predictions if rows is None else rows, results)
            facts = {"judge_error": error.to_json(), "rates": rates.to_json()}
            return score(results, ks, facts, labels_of(evaluation_set))

    return run()
