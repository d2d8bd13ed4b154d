"""From verdicts to scores: pass@k with what makes it incomplete, and agreement with known labels."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from alpha_codium.eval.prepare import CORRECT, INCORRECT
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.statistics import Estimate, mean_pass_at_k
from alpha_codium.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Score:
    """The scores of a split.

    `estimates` are pass@k by k. Where a program got no verdict (`unjudged` > 0: a fault of the provider or of ours)
    the result is incomplete and `bounds` hold pass@k with all of those failed and all of them passed.
    """

    problems: tuple[ProblemResult, ...]
    estimates: tuple[Estimate, ...]
    unjudged: int = 0
    bounds: tuple[tuple[Estimate, Estimate], ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every program got a verdict."""
        return self.unjudged == 0

    @property
    def pass_at_k(self) -> dict[str, float | None]:
        """`{"pass@1": 0.5}`; None where the estimate is undefined or the result incomplete."""
        return {f"pass@{e.k}": e.value if self.complete else None for e in self.estimates}

    @property
    def reasons(self) -> dict[str, str]:
        """Why a pass@k is None."""
        if not self.complete:
            why = f"{self.unjudged} programs got no verdict"
            return {f"pass@{e.k}": e.reason or why for e in self.estimates}
        return {f"pass@{e.k}": e.reason for e in self.estimates if e.value is None}

    @property
    def verdicts(self) -> Counter[str]:
        """How many programs got which verdict."""
        return Counter(c.verdict.value for p in self.problems for c in p.candidates)

    def to_json(self) -> dict[str, Any]:
        """The whole result as `--json` writes it."""
        values: dict[str, Any] = {
            "pass_at_k": self.pass_at_k,
            "n_problems": len(self.problems),
            "complete": self.complete,
            "reasons": self.reasons,
            "verdicts": dict(sorted(self.verdicts.items())),
        }
        if not self.complete:
            values["bounds"] = {f"pass@{low.k}": [low.value, high.value] for low, high in self.bounds}
        values |= self.extra
        return values | {"problems": [problem.to_json() for problem in self.problems]}


def score(problems: Sequence[ProblemResult], ks: Sequence[int], extra: Mapping[str, Any] | None = None) -> Score:
    """pass@k over all problems for each k; `extra` is what else the result shall say."""
    low = [_counts(problem, Verdict.ACCEPTED) for problem in problems]
    high = [_counts(problem, Verdict.ACCEPTED, Verdict.INTERNAL_ERROR) for problem in problems]
    unjudged = sum(c.verdict is Verdict.INTERNAL_ERROR for p in problems for c in p.candidates)
    estimates = tuple(mean_pass_at_k(low, k) for k in ks)
    bounds = tuple((estimate, mean_pass_at_k(high, estimate.k)) for estimate in estimates)
    return Score(tuple(problems), estimates, unjudged, bounds if unjudged else (), dict(extra or {}))


def human_facts(problems: Sequence[ProblemResult]) -> dict[str, Any]:
    """What is said of human solutions beside their scores."""
    return {"agreement": agreement(problems), "skipped_solutions": sum(problem.skipped for problem in problems)}


def agreement(problems: Sequence[ProblemResult]) -> dict[str, int]:
    """How often the judge agrees with the labels of human solutions; what got no verdict is not counted."""
    candidates = [
        c for p in problems for c in p.candidates if c.verdict not in (Verdict.INTERNAL_ERROR, Verdict.NO_TESTS)
    ]

    def count(group: str, accepted: bool | None = None) -> int:
        return sum(
            c.group == group and (accepted is None or (c.verdict is Verdict.ACCEPTED) is accepted) for c in candidates
        )

    return {
        "correct_accepted": count(CORRECT, accepted=True),
        "correct_total": count(CORRECT),
        "incorrect_rejected": count(INCORRECT, accepted=False),
        "incorrect_total": count(INCORRECT),
    }


def _counts(problem: ProblemResult, *passing: Verdict) -> tuple[int, int]:
    def passes(candidate: CandidateResult) -> bool:
        return candidate.verdict in passing

    return len(problem.candidates), sum(map(passes, problem.candidates))
