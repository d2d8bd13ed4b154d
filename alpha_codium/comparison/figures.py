"""The figures of one run: its scores, the outcomes of its samples, and their costs.

Calls, tokens and money are those of finished samples, without savings from a cache: the cost of the method. A sum that
contains an unknown price is unknown.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar

from alpha_codium.comparison.judging import Verdicts
from alpha_codium.comparison.records import RunRecord
from alpha_codium.eval.rates import Share, rate_of
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.eval.scoring import NUMBERS, Score, score
from alpha_codium.solution import Candidate
from alpha_codium.statistics import Interval
from alpha_codium.statistics.intervals import BOOTSTRAP
from alpha_codium.values import JsonValue, named
from alpha_codium.verdict import Verdict

NEVER_MADE = "the sample was never made"
RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Costs(JsonValue):
    """Calls, tokens (read and written) and US dollars; `dollars` is None where a price is unknown."""

    calls: float
    tokens: float
    dollars: float | None

    def per(self, count: int) -> "Costs | None":
        """The share of each of `count`; None if `count` is 0."""
        if not count:
            return None
        return Costs(self.calls / count, self.tokens / count, None if self.dollars is None else self.dollars / count)


@dataclass(frozen=True, slots=True)
class Figures(JsonValue):
    """The figures of one run. Of `asked` samples, `finished` count; the others were lost or never made.

    `solved` problems have a sample that passes. Of the finished samples, `truncated` had an answer cut off, and
    `no_program` ended without a program through the model's fault. `solved_intervals` are those of the cost of a solved
    problem, by the names of `Costs`, except for unknown sums.
    """

    in_json: ClassVar[Mapping[str, str]] = {
        **{name: f"score.{name}" for name in (*NUMBERS, "verdicts", "near_limit")},
        **named(bounds="score.bounds_at_k", run="name", flow="record.flow", models="record.models"),
        **named(problems="score.n_problems", samples="record.samples"),
        **named("solved", "asked", "finished", "unfinished", "costs", "per_sample", "per_problem", "per_solved"),
        **named("per_solved_intervals", "by_problem", "truncated", "no_program"),
    }
    optional: ClassVar[Sequence[str]] = ("bounds",)

    record: RunRecord
    score: Score
    asked: int
    finished: int
    solved: int
    truncated: Share
    no_program: Share
    costs: Costs
    solved_intervals: dict[str, Interval]

    @property
    def name(self) -> str:
        """The run's name."""
        return self.record.name

    @property
    def programs(self) -> dict[tuple[str, int], str]:
        """The program of each sample that has one, by the problem's name and the sample's index."""
        return {key: c.program for key, c in self.record.candidates.items() if c.program}

    @property
    def unfinished(self) -> int:
        """Samples that the run still has to make, when it is resumed."""
        return self.asked - self.finished

    @property
    def per_sample(self) -> Costs | None:
        """The cost of a finished sample; None if there is none."""
        return self.costs.per(self.finished)

    @property
    def per_problem(self) -> Costs | None:
        """The cost of all samples of a problem together."""
        return self.costs.per(len(self.score.problems))

    @property
    def per_solved(self) -> Costs | None:
        """The cost of all problems per solved one; None if none is solved."""
        return self.costs.per(self.solved)

    @property
    def per_solved_intervals(self) -> dict[str, tuple[float | None, float | None] | None]:
        """The bounds of the cost of a solved problem, by unit: None for one that is infinite."""
        return {unit: _finite(interval) for unit, interval in self.solved_intervals.items()}

    @property
    def by_problem(self) -> dict[str, list[Verdict]]:
        """The verdicts of each problem's samples."""
        return {problem.name: [c.verdict for c in problem.candidates] for problem in self.score.problems}

    def rows(self) -> list[dict[str, Any]]:
        """Each pass@k as a row of the comparison's table; of an unfinished run, `low` and `high` are its bounds."""
        values = self.to_json()
        common = {name: values[name] for name in ("run", "flow", "problems", "samples", "solved")}
        common |= {"models": ", ".join(self.record.models)}
        common |= {f"{unit}_per_sample": amount for unit, amount in (values["per_sample"] or {}).items()}
        ranges = self.score.intervals | values.get("bounds", {})
        rows = []
        for measure, value in self.score.pass_at_k.items():
            low, high = ranges[measure] or (None, None)
            reason = self.score.reasons.get(measure) or self.score.interval_reasons.get(measure)
            interval = {"low": low, "high": high, "method": None if low is None else self.score.interval_method}
            rows.append(common | {"measure": measure, "value": value, "reason": reason} | interval)
        return rows


def figures_of(record: RunRecord, names: Sequence[str], verdicts: Verdicts, ks: Sequence[int]) -> Figures:
    """The figures of a run on the problems `names`, by the verdicts on its programs."""
    keys = {name: [(name, sample) for sample in range(record.samples)] for name in names}
    results = [ProblemResult(name, tuple(_result(record, key, verdicts) for key in keys[name])) for name in names]
    solved = [any(c.verdict is Verdict.ACCEPTED for c in result.candidates) for result in results]
    by_problem = [
        [c for c in (record.candidates.get(key) for key in keys[name]) if c is not None and c.is_final]
        for name in names
    ]
    finished = [candidate for candidates in by_problem for candidate in candidates]
    return Figures(
        record,
        score(results, ks),
        asked=len(names) * record.samples,
        finished=len(finished),
        solved=sum(solved),
        truncated=rate_of(sum(c.truncated_answers > 0 for c in finished), len(finished)),
        no_program=rate_of(sum(c.error is not None for c in finished), len(finished)),
        costs=costs_of(finished),
        solved_intervals=_intervals([costs_of(candidates) for candidates in by_problem], solved),
    )


def _result(record: RunRecord, key: tuple[str, int], verdicts: Verdicts) -> CandidateResult:
    """A sample's result; one that was lost or never made has no verdict."""
    candidate = record.candidates.get(key)
    if candidate is None or not candidate.is_final:
        why = NEVER_MADE if candidate is None else str(candidate.error)
        return CandidateResult(key[1], "generated", Verdict.INTERNAL_ERROR, 0, 0, error=why)
    return replace(verdicts.result(key[0], candidate.to_program()), index=key[1], tests=())


def costs_of(candidates: Sequence[Candidate]) -> Costs:
    """The sums over candidates."""
    unknown = any(candidate.cost is None for candidate in candidates)
    return Costs(
        sum(c.llm_calls for c in candidates),
        sum(c.prompt_tokens + c.completion_tokens for c in candidates),
        None if unknown else sum(c.cost or 0.0 for c in candidates),
    )


def _intervals(by_problem: Sequence[Costs], solved: Sequence[bool]) -> dict[str, Interval]:
    """The intervals of the cost of a solved problem, by unit, for the units whose sums are known."""
    columns = {unit: [costs.to_json()[unit] for costs in by_problem] for unit in Costs.__dataclass_fields__}
    return {unit: ratio_interval(values, solved) for unit, values in columns.items() if None not in values}


def _finite(interval: Interval) -> tuple[float | None, float | None] | None:
    if interval.bounds is None:
        return None
    low, high = (bound if math.isfinite(bound) else None for bound in interval.bounds)
    return low, high


def ratio_interval(costs: Sequence[float], solved: Sequence[bool], resamples: int = RESAMPLES) -> Interval:
    """Return the 95 % percentile interval of the sum of `costs` divided by the number `solved`, by the bootstrap.

    Each problem's cost and whether it is solved stay together (Efron and Tibshirani 1993, "An Introduction to the
    Bootstrap", chapter 13). A resample in which nothing is solved has an infinite ratio; if these reach the upper
    2.5 %, the upper bound is infinite. If all costs are 0, the interval is 0 to 0. There is none if nothing is solved,
    for fewer than two problems, or if all are alike. The order of the problems makes no difference.
    """
    pairs = sorted(zip(costs, solved, strict=True))
    if not any(solved):
        return Interval(None, BOOTSTRAP, reason="no problem is solved")
    if not any(costs):
        return Interval((0.0, 0.0), BOOTSTRAP)
    if len(set(pairs)) == 1:
        return Interval(None, BOOTSTRAP, reason="all problems have the same value, so resampling them shows no spread")
    random, n = Random(0), len(pairs)
    ratios = sorted(_ratio(random.choices(pairs, k=n)) for _ in range(resamples))
    cut = math.floor((resamples + 1) * 0.025)
    return Interval((ratios[cut - 1], ratios[-cut]), BOOTSTRAP)


def _ratio(pairs: Sequence[tuple[float, bool]]) -> float:
    solved = sum(is_solved for _, is_solved in pairs)
    return sum(cost for cost, _ in pairs) / solved if solved else math.inf
