"""The numbers of a run: its progress, and the summary at its end."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from alpha_codium.llm.prices import in_dollars
from alpha_codium.solution import Candidate
from alpha_codium.wording import counted


@dataclass
class RunProgress:
    """The numbers of a run so far, for its display."""

    samples: int
    passing: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    by_problem: Counter[str] = field(default_factory=Counter)
    problems: int = 0

    def add(self, candidate: Candidate, _problem: str = "") -> None:
        """Count one candidate."""
        self.by_problem[candidate.task_name] += 1
        self.problems += self.by_problem[candidate.task_name] == self.samples
        self.passing += candidate.solved_public
        self.tokens += candidate.prompt_tokens + candidate.completion_tokens
        self.cost = None if self.cost is None or candidate.cost is None else self.cost + candidate.cost

    def status(self) -> str:
        """Return the text next to the progress bar."""
        passing = f"{self.passing} of {counted(self.by_problem.total(), 'candidate')} passed the public tests"
        done = f"{counted(self.problems, 'problem')} done, {passing}"
        return f"{done}, {counted(self.tokens, 'token')}, cost {in_dollars(self.cost)}"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The numbers of a finished run, and the paths of its results.

    `cost` is the cost of all answers, `spent` what this run paid, over all resumes, in US dollars; None if a price is
    unknown. `unfinished` samples ended through no fault of the model, and are tried again on resume. `ended_by_budget`
    is the number of samples ended by each budget. `seconds` is the time since the start or the last resume.
    `solved_public` is the number of problems of which a sample passes the public tests, `tested_public` of those that
    have any. `next_command` judges the candidates.
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
    tested_public: int = 0
    next_command: str = ""

    @property
    def complete(self) -> bool:
        """Whether every sample has succeeded or failed, without unfinished samples and spent budgets."""
        return not self.unfinished and not self.ended_by_budget

    def hints(self) -> Iterator[str]:
        """Lines on the samples that aren't finished, and how to finish them."""
        for budget, samples in self.ended_by_budget.items():
            ended = f"{budget} is spent and ended {counted(samples, 'sample')}"
            yield f"{ended}: raise it and resume with --resume {self.run}"
        if self.unfinished:
            ended = f"{counted(self.unfinished, 'sample')} ended because of errors other than the model's"
            yield f"{ended}: try them again with --resume {self.run}"

    def closing(self) -> str:
        """Return the score on the public tests, the cost and the next command, as the last lines of a run."""
        public = f"{self.solved_public} of {counted(self.tested_public, 'problem')} solved by the public tests"
        score = public if self.tested_public else "the problems have no public tests"
        return f"{score}, cost {in_dollars(self.spent)}\nnext: {self.next_command}"

    def to_json(self) -> dict[str, Any]:
        """Return the summary for `results.json` and `--json`."""
        return asdict(self)


def counts_of(candidates: Sequence[Candidate]) -> dict[str, Any]:
    """Return the counts of a run's candidates, by the names in `RunSummary`."""
    costs = [c.cost for c in candidates]
    sums = ("llm_calls", "prompt_tokens", "completion_tokens", "truncated_answers")
    return {
        "samples": len(candidates),
        "programs": sum(c.error is None for c in candidates),
        "failed_samples": sum(c.error is not None and c.is_final for c in candidates),
        "unfinished": sum(not c.is_final for c in candidates),
        "solved_public": len({c.task_name for c in candidates if c.solved_public}),
        "tested_public": len({c.task_name for c in candidates if c.public_tests_total}),
        **{name: sum(getattr(c, name) for c in candidates) for name in sums},
        "cost": None if None in costs else sum(c or 0 for c in costs),
    }
