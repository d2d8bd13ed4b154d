"""What one run came to: its scores, what became of its samples, and what they took.

Calls, tokens and money are those of finished samples, as if each call had been made anew: what a method takes, not what
a cache saved. A sum that holds an unknown price is unknown.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from alpha_codium.eval.comparing.judging import Verdicts
from alpha_codium.eval.comparing.records import RunRecord
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.eval.scoring import Score, score
from alpha_codium.solution import Candidate
from alpha_codium.statistics import Interval
from alpha_codium.statistics.intervals import BOOTSTRAP
from alpha_codium.verdict import Verdict

NEVER_MADE = "the sample was never made"
RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Costs:
    """Calls, tokens (read and written) and US dollars; `dollars` is None where a price is unknown."""

    calls: float
    tokens: float
    dollars: float | None

    def per(self, count: int) -> "Costs | None":
        """The share of each of `count`; None where there is none."""
        if not count:
            return None
        return Costs(self.calls / count, self.tokens / count, None if self.dollars is None else self.dollars / count)

    def to_json(self) -> dict[str, float | None]:
        """As `--json` writes it."""
        return {"calls": self.calls, "tokens": self.tokens, "dollars": self.dollars}


@dataclass(frozen=True, slots=True)
class Figures:
    """One run in numbers: of `asked` samples, `finished` count; the others were lost or never made.

    `solved` problems have a sample that passes. `truncated` samples had an answer cut off, `no_program` ones ended
    without a program through the model's fault; both are of the finished ones. `solved_intervals` are those of what a
    solved problem took, by the names of `Costs`; none of a sum that is unknown.
    """

    record: RunRecord
    score: Score
    asked: int
    finished: int
    solved: int
    truncated: int
    no_program: int
    costs: Costs
    solved_intervals: dict[str, Interval]

    @property
    def name(self) -> str:
        """The run's name."""
        return self.record.name

    @property
    def unfinished(self) -> int:
        """Samples that the run still owes: `--resume` makes them."""
        return self.asked - self.finished

    @property
    def one_sample(self) -> bool:
        """Whether each problem has one sample, so that it is solved or not."""
        return all(len(problem.candidates) == 1 for problem in self.score.problems)

    @property
    def per_sample(self) -> Costs | None:
        """What a finished sample took; None where there is none."""
        return self.costs.per(self.finished)

    @property
    def per_problem(self) -> Costs | None:
        """What the samples of a problem took together."""
        return self.costs.per(len(self.score.problems))

    @property
    def per_solved(self) -> Costs | None:
        """What a solved problem took, with those that weren't solved paid for; None where none is solved."""
        return self.costs.per(self.solved)

    def to_json(self) -> dict[str, Any]:
        """As `--json` writes it."""
        result = self.score.to_json()
        kept = ("pass_at_k", "complete", "reasons", "intervals", "interval_method", "interval_reasons", "pass_hat_k")
        return {
            "run": self.name,
            "flow": self.record.flow,
            "models": list(self.record.models),
            "problems": len(self.score.problems),
            "samples": self.record.samples,
            **{key: result[key] for key in (*kept, "verdicts", *(("bounds",) if "bounds" in result else ()))},
            "solved": self.solved,
            "asked": self.asked,
            "finished": self.finished,
            "unfinished": self.unfinished,
            "truncated": _rate(self.truncated, self.finished),
            "no_program": _rate(self.no_program, self.finished),
            "costs": self.costs.to_json(),
            "per_sample": _shown(self.per_sample),
            "per_problem": _shown(self.per_problem),
            "per_solved": _shown(self.per_solved),
            "per_solved_intervals": {unit: _finite(interval) for unit, interval in self.solved_intervals.items()},
            "by_problem": {p.name: [c.verdict.value for c in p.candidates] for p in self.score.problems},
        }


def figures_of(record: RunRecord, names: Sequence[str], verdicts: Verdicts, ks: Sequence[int]) -> Figures:
    """The figures of a run that was to solve the problems `names`, as its programs were judged."""
    results = [_problem_result(record, name, verdicts) for name in names]
    solved = [any(c.verdict is Verdict.ACCEPTED for c in result.candidates) for result in results]
    made = [record.candidates[key] for name in names for key in _keys(record, name) if key in record.candidates]
    finished = [candidate for candidate in made if candidate.is_final]
    by_problem = {name: list[Candidate]() for name in names}
    for candidate in finished:
        by_problem[candidate.task_name].append(candidate)
    return Figures(
        record,
        score(results, ks),
        asked=len(names) * record.samples,
        finished=len(finished),
        solved=sum(solved),
        truncated=sum(candidate.truncated_answers > 0 for candidate in finished),
        no_program=sum(candidate.error is not None for candidate in finished),
        costs=_costs(finished),
        solved_intervals=_intervals([_costs(of_it) for of_it in by_problem.values()], solved),
    )


def _problem_result(record: RunRecord, name: str, verdicts: Verdicts) -> ProblemResult:
    return ProblemResult(name, tuple(_result(record.candidates.get(key), key, verdicts) for key in _keys(record, name)))


def _result(candidate: Candidate | None, key: tuple[str, int], verdicts: Verdicts) -> CandidateResult:
    """A sample's result; one that was lost or never made has no verdict."""
    name, index = key
    if candidate is None or not candidate.is_final:
        why = NEVER_MADE if candidate is None else str(candidate.error)
        return CandidateResult(index, "generated", Verdict.INTERNAL_ERROR, 0, 0, error=why)
    judged = verdicts.result(name, candidate.to_program())
    return CandidateResult(
        index, judged.group, judged.verdict, judged.tests_passed, judged.tests_total, error=judged.error
    )


def _keys(record: RunRecord, name: str) -> list[tuple[str, int]]:
    return [(name, sample) for sample in range(record.samples)]


def _costs(candidates: Sequence[Candidate]) -> Costs:
    def total(part: Callable[[Candidate], float]) -> float:
        return sum(map(part, candidates))

    unknown = any(candidate.cost is None for candidate in candidates)
    return Costs(
        total(lambda c: c.llm_calls),
        total(lambda c: c.prompt_tokens + c.completion_tokens),
        None if unknown else total(lambda c: c.cost or 0.0),
    )


def _intervals(by_problem: Sequence[Costs], solved: Sequence[bool]) -> dict[str, Interval]:
    """Of what a solved problem took, by unit; of the units whose sums are known."""
    columns = {unit: [costs.to_json()[unit] for costs in by_problem] for unit in Costs.__dataclass_fields__}
    known = {unit: [v for v in values if v is not None] for unit, values in columns.items()}
    return {unit: ratio_interval(values, solved) for unit, values in known.items() if len(values) == len(columns[unit])}


def _rate(count: int, of: int) -> dict[str, Any]:
    return {"count": count, "rate": count / of if of else None}


def _shown(costs: Costs | None) -> dict[str, float | None] | None:
    return None if costs is None else costs.to_json()


def _finite(interval: Interval) -> list[float | None] | None:
    """The bounds as JSON has them: null for one that is infinite."""
    return [bound if math.isfinite(bound) else None for bound in interval.bounds] if interval.bounds else None


def ratio_interval(costs: Sequence[float], solved: Sequence[bool], resamples: int = RESAMPLES) -> Interval:
    """The percentile interval, at 95 %, of the sum of `costs` by the number `solved`, by resampling problems.

    Each problem's cost and whether it is solved stay together (Efron and Tibshirani 1993, "An Introduction to the
    Bootstrap", chapter 13). A resample in which nothing is solved costs infinitely much; where that is among the
    highest fortieth, the upper bound is infinite; what costs nothing costs nothing, however little is solved. There is
    none where nothing is solved, for fewer than two problems, or where all are alike. The same problems, in any order,
    give the same interval.
    """
    pairs = sorted(zip(costs, solved, strict=True))
    if not any(solved):
        return Interval(None, BOOTSTRAP, reason="no problem is solved")
    if not any(costs):
        return Interval((0.0, 0.0), BOOTSTRAP)
    if len(set(pairs)) == 1:
        return Interval(None, BOOTSTRAP, reason="no two problems differ, so resampling them shows no spread")
    random, n = Random(0), len(pairs)
    ratios = sorted(_ratio(random.choices(pairs, k=n)) for _ in range(resamples))
    cut = math.floor((resamples + 1) * 0.025)
    return Interval((ratios[cut - 1], ratios[-cut]), BOOTSTRAP)


def _ratio(pairs: Sequence[tuple[float, bool]]) -> float:
    solved = sum(is_solved for _, is_solved in pairs)
    return sum(cost for cost, _ in pairs) / solved if solved else math.inf
