"""A run gone through again without a model, from the answers that it kept.

1. The run's file of answers is copied to a place of its own, so that no file of the run changes; a run that is in use
   is not replayed. What the copy lacks may come from the cache of all runs.
2. Each sample runs as it did, with the run's settings, its flow and a sandbox. In place of a model stands one that has
   no answer: who gets to it misses a call, and the sample ends there. The others go on.
3. Where time, or a budget shared with other samples, ended a sample or left it a part of what it wanted, it gets the
   same part again, as the file of answers tells it, else (a run of an earlier version) ends after as many calls as it
   had made: what else there was at the time can't be had again.
4. With the run's own flow and settings every candidate must be, bit for bit, the one of the journal.
"""

import asyncio
import contextlib
import json
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from alpha_codium.config import BudgetSection, Settings
from alpha_codium.gen.budgets import Account, Budget, BudgetSpent, Ledger, SampleBudget, Turn, Usage
from alpha_codium.gen.fitting import check_fit
from alpha_codium.gen.loop import Job, file_name, finished_samples, refuse_twins
from alpha_codium.gen.recorded import BY_SCHEMA, PARTS, Parts
from alpha_codium.gen.sample import Solver
from alpha_codium.llm.errors import ModelError
from alpha_codium.llm.messages import Answer, ChatRequest
from alpha_codium.problem import Problem
from alpha_codium.runs import AnswerCache, AnswerStore, RunFolder
from alpha_codium.solution import Candidate

ANSWERS = "answers.sqlite"
# What `str` of a BudgetSpent looks like.
ENDED = re.compile(r"the (?P<whose>\w+) (?P<how>.*?\bits) (?P<amount>.*)")


class AnswerMissing(ModelError):
    """The call was never answered, and a replay asks nobody."""


@dataclass(frozen=True, slots=True)
class MissingCalls:
    """Where a sample ended for want of answers: the prompt by its name, and how many calls it had begun."""

    problem: str
    sample: int
    prompt: str
    calls: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A candidate that isn't the journal's, and in which of its fields."""

    problem: str
    sample: int
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay came to; `compared` counts the candidates that were held against the journal's."""

    candidates: list[Candidate]
    missing: list[MissingCalls] = field(default_factory=list)
    differing: list[Difference] = field(default_factory=list)
    compared: int = 0


class SilentModel:
    """A `ChatModel` that has no answers, and counts what it was asked."""

    def __init__(self, name: str, facts: Mapping[str, Any]) -> None:
        self.name, self._facts = name, facts
        self.asked = 0

    @property
    def supports_json_schema(self) -> bool:
        """As it was in the run; False where no call was answered then."""
        return self.supports_json_schema_of("")

    def supports_json_schema_of(self, model: str) -> bool:
        """The same of a model that a request names."""
        return self._facts.get(BY_SCHEMA + (model or self.name), False)

    def takes_n(self, model: str) -> bool:
        """Whether `model` can be asked for several answers: none can be asked."""
        return False

    async def ask(self, request: ChatRequest) -> Answer:
        """Raise AnswerMissing."""
        self.asked += 1
        raise AnswerMissing(f"{request.model or self.name} was not asked this, or its answer was not kept")

    async def ask_many(self, request: ChatRequest, n: int) -> list[Answer]:
        """Raise AnswerMissing."""
        self.asked += n - 1
        return [await self.ask(request)]


async def replay(
    job: Job, solver: Solver, folder: RunFolder, *, same: bool = True, cache: AnswerCache | None = None
) -> Replay:
    """Go through the job again with what `folder` holds, else `cache`; the solver's model isn't asked.

    `same` says that flow and settings are the run's: then the journal decides where samples were ended, and is compared
    with. Raises UserError where the run is in use.
    """
    refuse_twins(job.names)
    check_fit(solver.flow, job.problems)
    journal = finished_samples(folder.journal, final_only=False) if same else {}
    with _copied_answers(folder) as answers, AnswerStore(answers, cache) as store:
        samples = _Samples(replace(solver, store=store, fits=True), folder, journal)
        work = ((problem, sample) for problem in job.problems for sample in range(job.samples))

        async def run_some() -> None:
            for problem, sample in work:
                await samples.run(problem, sample)

        async with asyncio.TaskGroup() as group:
            for _ in range(job.concurrency):
                group.create_task(run_some())
    keys = [(name, sample) for name in job.names for sample in range(job.samples)]
    candidates = [samples.candidates[key] for key in keys]
    compared = [key for key in keys if key in journal and key not in samples.missing and journal[key].is_final]
    return Replay(
        candidates,
        [samples.missing[key] for key in keys if key in samples.missing],
        [found for key in compared if (found := _difference(journal[key], samples.candidates[key])) is not None],
        len(compared),
    )


@dataclass
class _Samples:
    """Runs samples, and keeps what came of them."""

    solver: Solver
    folder: RunFolder
    journal: Mapping[tuple[str, int], Candidate]
    candidates: dict[tuple[str, int], Candidate] = field(default_factory=dict)
    missing: dict[tuple[str, int], MissingCalls] = field(default_factory=dict)

    async def run(self, problem: Problem, sample: int) -> None:
        key = (problem.name, sample)
        store = self.solver.store
        model = SilentModel(self.solver.model_name, store.facts if store is not None else {})
        ledger = _PastLedger(_without_clocks(self.solver.settings))
        ledger.end = await asyncio.to_thread(self._end_of, key)
        if store is not None and key in self.journal:
            ledger.parts = dict(store.facts.get(f"{PARTS}{problem.name}#{sample}", {}))
        solver = replace(self.solver, model=model, ledger=ledger)
        candidate, transcript = await solver.solve(problem, sample)
        self.candidates[key] = candidate
        if model.asked:
            prompts = [event["stage"] for event in transcript["events"] if "failed" in event]
            self.missing[key] = MissingCalls(*key, prompts[-1] if prompts else "", model.asked)

    def _end_of(self, key: tuple[str, int]) -> "_PastEnd | None":
        """The budget that ended the sample, as its transcript has it."""
        path = self.folder.path / "transcripts" / file_name(key[0]) / f"{key[1]}.json"
        if key not in self.journal or not path.exists():
            return None
        events = json.loads(path.read_text("utf-8"))["events"]
        ends = [event["ended"] for event in events if event.get("stage") == "budget" and "ended" in event]
        known = ENDED.fullmatch(str(ends[0])) if ends else None
        if known is None:
            return None
        calls = self.journal[key].llm_calls
        return _PastEnd(calls=calls, whose=known["whose"], spent=(known["how"], known["amount"]))


@dataclass(frozen=True, slots=True)
class _PastEnd(Budget):
    """A budget that ends where an earlier one did, in its words."""

    spent: tuple[str, str] = ("", "")

    def check(self, usage: Usage, in_flight: int = 0) -> None:
        if usage.llm_calls + in_flight >= self.calls:
            raise BudgetSpent(self.whose, *self.spent)


@dataclass
class _PastBudget(SampleBudget):
    """Lets through of each request what was let through then."""

    end: _PastEnd = _PastEnd()
    parts: Parts = field(default_factory=dict)

    @contextlib.asynccontextmanager
    async def calls(self, turn: Turn | None = None) -> AsyncIterator[None]:
        turn = turn or self.turn()
        part = self.parts.get(str(turn.number), {"granted": turn.wanted, "came": range(turn.wanted), "cut": False})
        turn.granted, turn.places = part["granted"], part["came"]
        with self._noting_the_end():
            if turn.granted:
                yield
            if part["cut"]:
                raise BudgetSpent(self.end.whose, *self.end.spent)


@dataclass
class _PastLedger(Ledger):
    """The budgets of one sample that is replayed: where it is known how they ended it, nothing else does."""

    end: _PastEnd | None = None
    parts: Parts = field(default_factory=dict)

    def sample(self, problem: str) -> SampleBudget:
        if self.parts:
            return _PastBudget((Account(Budget()),), end=self.end or _PastEnd(), parts=self.parts)
        return super().sample(problem) if self.end is None else SampleBudget((Account(self.end),))


def _without_clocks(settings: Settings) -> Settings:
    """The settings without budgets of time, and without those that other samples use up."""
    solve = settings.solve.model_copy(update={"max_seconds": 0.0})
    return settings.model_copy(update={"solve": solve, "budget": BudgetSection()})


def _difference(then: Candidate, now: Candidate) -> Difference | None:
    names = tuple(f.name for f in fields(Candidate) if getattr(then, f.name) != getattr(now, f.name))
    return Difference(then.task_name, then.sample_index, names) if names else None


@contextlib.contextmanager
def _copied_answers(folder: RunFolder) -> Iterator[Path]:
    """A copy of the run's answers, with those that stand in the log beside the file."""
    with tempfile.TemporaryDirectory(prefix="gencode-replay-") as place:
        with folder:  # nobody writes while they are copied
            for ending in ("", "-wal"):
                source = folder.path / (ANSWERS + ending)
                if source.exists():
                    shutil.copyfile(source, Path(place) / source.name)
        yield Path(place) / ANSWERS
