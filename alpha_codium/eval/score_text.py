"""A score as lines of text."""

from collections.abc import Iterator, Mapping
from typing import Any

from alpha_codium.eval.known import JudgeError
from alpha_codium.eval.rates import rates_text
from alpha_codium.eval.scoring import Score


def score_lines(result: Score) -> Iterator[str]:
    """The verdicts, pass@k with its intervals (or its bounds, if the result is incomplete), and the other facts."""
    candidates = sum(len(problem.candidates) for problem in result.problems)
    yield f"{len(result.problems)} problems, {candidates} programs"
    yield from (f"  {verdict:<24}{count:>7}" for verdict, count in result.verdicts.most_common())
    for name, value in result.pass_at_k.items():
        score = f"n/a ({result.reasons[name]})" if value is None else _with_interval(value, result.intervals[name])
        yield f"{name:<8} {score}"
    for low, high in result.bounds:
        if low.value is not None and high.value is not None:
            yield f"pass@{low.k} lies between {low.value:.4f} and {high.value:.4f}"
    yield from _fact_lines(result.extra)


def _fact_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    if rates := facts.get("rates"):
        yield f"samples      {rates_text(rates)}"
        if missing := rates["problems_without_samples"]:
            yield f"{missing} problems have no sample: they count as failed"
    yield f"judge error  {JudgeError(**facts['judge_error'])}"
    if agreed := facts.get("agreement"):
        yield f"correct solutions accepted    {agreed['correct_accepted']} of {agreed['correct_total']}"
        yield f"incorrect solutions rejected  {agreed['incorrect_rejected']} of {agreed['incorrect_total']}"
    if facts.get("skipped_solutions"):
        yield f"not run (not python3)         {facts['skipped_solutions']}"


def _with_interval(value: float, bounds: list[float] | None) -> str:
    return f"{value:.4f}" + (f"  95 % interval {bounds[0]:.4f} to {bounds[1]:.4f}" if bounds else "")
