"""The numbers of a run: its progress, and the summary at its end."""

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alpha_codium.config import Settings
from alpha_codium.eval.shards import Shard
from alpha_codium.gen.budgets import Account
from alpha_codium.gen.sample import StageProgress
from alpha_codium.runs.events import finished_transcripts
from alpha_codium.runs.folder import found_by
from alpha_codium.solution import Candidate
from alpha_codium.values import JsonValue
from alpha_codium.wording import counted, in_dollars

# The share of answers that were cut off above which a run says so.
MANY_TRUNCATED = 0.1


@dataclass
class RunProgress:
    """The numbers of a run so far, for its display; `account` is the run's, which counts unfinished samples, too.

    `tested`: whether a candidate had public tests. `stages` are those of unfinished samples. `to_try_again` is the
    number of samples that ended through no fault of the model, such as those for which no budget was left.
    """

    samples: int
    account: Account
    passing: int = 0
    tested: bool = False
    by_problem: Counter[str] = field(default_factory=Counter)
    problems: int = 0
    to_try_again: int = 0
    stages: dict[tuple[str, int], str] = field(default_factory=dict)

    def begin(self, at: StageProgress) -> None:
        """Note the stage of a sample."""
        self.stages[at.sample] = at.kind

    def add(self, candidate: Candidate, _problem: str = "") -> None:
        """Count one candidate."""
        self.stages.pop((candidate.task_name, candidate.sample_index), None)
        self.by_problem[candidate.task_name] += 1
        self.to_try_again += not candidate.is_final
        self.problems += self.by_problem[candidate.task_name] == self.samples
        self.passing += candidate.solved_public
        self.tested = self.tested or candidate.public_tests_total > 0

    def status(self) -> str:
        """Return the text next to the progress bar."""
        ended = counted(self.by_problem.total() - self.to_try_again, "candidate")
        again = f", {self.to_try_again} to be tried again" if self.to_try_again else ""
        passing = f"{self.passing} of {ended} passed the public tests{again}" if self.tested else f"{ended}{again}"
        done = f"{counted(self.problems, 'problem')} done, {passing}"
        at = ", ".join(f"{count} in {kind}" for kind, count in Counter(self.stages.values()).items())
        return f"{done}, {self.account.usage.tokens_and_cost()}{f'; {at}' if at else ''}"


@dataclass(frozen=True, slots=True)
class RunSummary(JsonValue):
    """The numbers of a finished run, and the paths of its results.

    `cost` is the cost of all answers, `spent` what this run paid, over all resumes, in US dollars; None if a price is
    unknown. `unfinished` samples ended through no fault of the model, and are tried again on resume. `ended_by_budget`
    is the number of samples ended by each budget of the run or a problem, `lost_by_budget` of those of them that have
    no program; `ended_by_own_budget` is the number ended by each setting of a sample's budget. `seconds` is the time
    since the start or the last resume. `solved_public` is the number of problems of which a sample passes the public
    tests, `tested_public` of those that have any. `next_command` judges the candidates.
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
    lost_by_budget: dict[str, int] = field(default_factory=dict)
    ended_by_own_budget: dict[str, int] = field(default_factory=dict)
    tested_public: int = 0
    next_command: str = ""
    shard: str = ""

    @property
    def complete(self) -> bool:
        """Whether every sample has succeeded or failed, without unfinished samples and spent budgets."""
        return not self.unfinished and not self.ended_by_budget

    def hints(self) -> Iterator[str]:
        """Lines on samples that were ended by budgets or aren't finished, and how to finish them."""
        for setting, samples in self.ended_by_own_budget.items():
            yield f"{counted(samples, 'sample')} ended by {setting}: each counts with the program that it had"
        if self.truncated_answers > MANY_TRUNCATED * self.llm_calls:
            cut = f"{self.truncated_answers} of {counted(self.llm_calls, 'answer')}"
            yield f"{cut} were cut off before their end: allow longer ones by `config.max_tokens`"
        for budget, samples in self.ended_by_budget.items():
            ended = f"{budget} is spent and ended {counted(samples, 'sample')}"
            if lost := self.lost_by_budget.get(budget):
                yield f"{ended}, {lost} of them without a program: raise it and try again with `resume` {self.name}"
            else:
                yield f"{ended}: each counts with the program that it had"
        if others := self.unfinished - sum(self.lost_by_budget.values()):
            ended = f"{counted(others, 'sample')} ended because of errors other than the model's"
            yield f"{ended}: try again with `resume` {self.name}"

    @property
    def name(self) -> str:
        """What to type for the run: its name, or its path if it isn't in the folder of runs."""
        return shlex.quote(found_by(Path(self.run_folder)))

    def closing(self) -> str:
        """Return the score on the public tests, the cost and the next command, as the last lines of a run."""
        public = f"{self.solved_public} of {counted(self.tested_public, 'problem')} solved by the public tests"
        score = public if self.tested_public else "the problems have no public tests"
        if self.shard:
            whole = Shard.of(self.shard, {}).whole_name(self.run)
            return f"part {self.shard}; when all parts are done: gencode runs merge {whole}"
        compare = f"gencode compare {self.name} OTHER_RUN"
        return f"{score}, cost {in_dollars(self.spent)}\nnext: {self.next_command}\n  or: {compare}"


def ended_by_own_budget(folder: Path, candidates: Sequence[Candidate], settings: Settings) -> dict[str, int]:
    """Return the number of samples that were ended by each setting of a sample's budget, from the run's transcripts."""
    solve = settings.solve
    if not (solve.max_calls or solve.max_tokens or solve.max_cost or solve.max_seconds):
        return {}
    by_key = {(c.task_name, c.sample_index): c for c in candidates}
    ends = (transcript.budget_end for transcript in finished_transcripts(folder, by_key))
    return dict(Counter(end.setting for end in ends if end is not None and end.is_own))


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
        "lost_by_budget": dict(Counter(c.spent_budget.budget for c in candidates if c.spent_budget)),
        **{name: sum(getattr(c, name) for c in candidates) for name in sums},
        "cost": None if None in costs else sum(c or 0 for c in costs),
    }
