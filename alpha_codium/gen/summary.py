"""What a run comes to, in numbers: as it goes, and at its end."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from alpha_codium.llm.prices import in_dollars
from alpha_codium.solution import Candidate


@dataclass
class RunProgress:
    """What a run has come to so far, for its display; kept as it goes, since the display asks for it often."""

    samples: int
    passing: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    by_problem: Counter[str] = field(default_factory=Counter)
    problems: int = 0

    def add(self, candidate: Candidate) -> None:
        """Count one candidate."""
        self.by_problem[candidate.task_name] += 1
        self.problems += self.by_problem[candidate.task_name] == self.samples
        self.passing += candidate.solved_public
        self.tokens += candidate.prompt_tokens + candidate.completion_tokens
        self.cost = None if self.cost is None or candidate.cost is None else self.cost + candidate.cost

    def status(self) -> str:
        """The line beside the bar."""
        passing = f"{self.passing} candidates pass the public tests"
        return f"{self.problems} problems done, {passing}, {self.tokens} tokens, cost {in_dollars(self.cost)}"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run came to: counts of problems, samples, calls and tokens, and where its candidates are.

    `cost` is that of all answers, `spent` what this run paid itself, over all resumes, in US dollars; None where a
    price isn't known. `unfinished` samples ended through no fault of the model, and are tried again on resume.
    `ended_by_budget` counts the samples that each budget ended. `seconds` are those since the run or its resume began.
    """

    problems: int
    samples: int
    programs: int
    failed_samples: int
    unfinished: int
    solved_public: int
    llm_calls: int
    prompt_tokens: int
    completion_tokens: int
    truncated_answers: int
    cost: float | None
    asked: int
    from_cache: int
    spent: float | None
    ended_by_budget: dict[str, int]
    seconds: float
    run: str
    run_folder: str
    solutions: str

    @property
    def complete(self) -> bool:
        """Whether every sample is a success or failure of the model's."""
        return not self.unfinished and not self.ended_by_budget

    def to_json(self) -> dict[str, Any]:
        """The summary as `results.json` and `--json` hold it."""
        return asdict(self)


def counts_of(candidates: Sequence[Candidate]) -> dict[str, Any]:
    """The counts of a run's candidates, by the names of `RunSummary`."""
    solved = {c.task_name for c in candidates if c.solved_public}
    costs = [c.cost for c in candidates]
    return {
        "samples": len(candidates),
        "programs": sum(c.error is None for c in candidates),
        "failed_samples": sum(c.error is not None and c.is_final for c in candidates),
        "unfinished": sum(not c.is_final for c in candidates),
        "solved_public": len(solved),
        "llm_calls": sum(c.llm_calls for c in candidates),
        "prompt_tokens": sum(c.prompt_tokens for c in candidates),
        "completion_tokens": sum(c.completion_tokens for c in candidates),
        "truncated_answers": sum(c.truncated_answers for c in candidates),
        "cost": None if None in costs else sum(c or 0 for c in costs),
    }
