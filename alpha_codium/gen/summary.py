"""What a run comes to, in numbers: as it goes, and at its end."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from alpha_codium.llm.prices import in_dollars
from alpha_codium.solution import Candidate


@dataclass
class Tally:
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


def summary_of(candidates: Sequence[Candidate], n_problems: int) -> dict[str, Any]:
    """What a run came to, in numbers."""
    solved = {c.task_name for c in candidates if c.solved_public}
    costs = [c.cost for c in candidates]
    return {
        "problems": n_problems,
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
