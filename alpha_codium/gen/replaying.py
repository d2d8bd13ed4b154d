"""A run gone through again without a model, from the answers that it kept.

1. The run's file of answers is copied to a place of its own, so that no file of the run changes; a run that is in use
   is not replayed. What the copy lacks may come from the cache of all runs.
2. Each sample runs as it did, with the run's settings, its flow and a sandbox. In place of a model stands one that has
   no answer: who gets to it misses a call, and the sample ends there. The others go on. A sample to which the run
   itself never came, since a budget was spent or it was cut off, misses nothing.
3. Where time, or a budget shared with other samples, ended a sample or left it a part of what it wanted, it gets the
   same part again, as the file of answers tells it: what else there was at the time can't be had again.
4. With the run's own flow and settings every candidate must be, bit for bit, the one of the journal.
"""

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from alpha_codium.errors import UserError
from alpha_codium.gen.budgeted import ReplayLedger
from alpha_codium.gen.fitting import check_fit
from alpha_codium.gen.loop import SampleJob, finished_samples, refuse_twins, run_all
from alpha_codium.gen.recorded import BY_SCHEMA, parts_of
from alpha_codium.gen.sample import Solver
from alpha_codium.llm.errors import ModelError
from alpha_codium.llm.messages import Answer, ChatRequest
from alpha_codium.problem import Problem
from alpha_codium.runs import AnswerCache, AnswerStore, RunFolder
from alpha_codium.runs.answers import StoreBroken
from alpha_codium.runs.events import FailedCall
from alpha_codium.solution import Candidate

ANSWERS = "answers.sqlite"
# The problem's name and the sample's index.
SampleKey = tuple[str, int]


class AnswerMissing(ModelError):
    """The call was never answered, and a replay asks nobody."""


@dataclass(frozen=True, slots=True)
class MissingCalls:
    """Where a sample ended for want of answers: the prompt by its name, and how many calls it had begun."""

    problem: str
    sample: int
    prompt: str
    calls: int


# What is called when a sample has ended, with what it lacks.
OnSample = Callable[[MissingCalls | None], None]


@dataclass(frozen=True, slots=True)
class NeverBegun:
    """A sample to which the run never came, and why: a budget was spent, or the run was cut off."""

    problem: str
    sample: int
    reason: str


@dataclass(frozen=True, slots=True)
class CandidateDifference:
    """A candidate that isn't the journal's, and in which of its fields."""

    problem: str
    sample: int
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay came to; `compared` counts the candidates that were held against the journal's.

    `solutions` is where the candidates were saved, if they were.
    """

    candidates: list[Candidate]
    missing: list[MissingCalls] = field(default_factory=list)
    never_begun: list[NeverBegun] = field(default_factory=list)
    differing: list[CandidateDifference] = field(default_factory=list)
    compared: int = 0
    solutions: Path | None = None

    @property
    def replayed(self) -> int:
        """How many samples came to their end."""
        return len(self.candidates) - len(self.missing) - len(self.never_begun)

    def to_json(self) -> dict[str, Any]:
        """The replay as `--json` writes it."""
        return {
            "samples": len(self.candidates),
            "replayed": self.replayed,
            "compared": self.compared,
            "never_begun": [asdict(each) for each in self.never_begun],
            "missing": [asdict(each) for each in self.missing],
            "differing": [asdict(each) for each in self.differing],
            "solutions": None if self.solutions is None else str(self.solutions),
        }


class SilentModel:
    """A `ChatModel` that has no answers, and counts what it was asked."""

    def __init__(self, name: str, facts: Mapping[str, Any]) -> None:
        self.name, self._facts = name, facts
        self.asked = 0

    def supports_json_schema(self, model: str = "") -> bool:
        """Whether the model could be constrained to a JSON schema in the run; False if no call was answered then."""
        return self._facts.get(BY_SCHEMA + (model or self.name), False)

    def supports_n(self, model: str = "") -> bool:
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


async def replay_samples(
    job: SampleJob,
    solver: Solver,
    folder: RunFolder,
    *,
    same: bool = True,
    cache: AnswerCache | None = None,
    on_sample: OnSample | None = None,
) -> Replay:
    """Go through the job again with what `folder` holds, else `cache`; the solver's model isn't asked.

    `same` says that flow and settings are the run's: then the journal decides where samples were ended, and is compared
    with. Raises UserError where the run is in use, or no sample could succeed.
    """
    refuse_twins(job.names)
    check_fit(solver.flow, job.problems)
    with _copied(folder) as (answers, journal), AnswerStore(answers, cache) as store:
        solver = replace(solver, store=store, fits=True, fault_level="DEBUG")
        samples = _SampleReplayer(solver, journal, same, on_sample)
        await run_all(job, samples.run)
    return samples.compared([(name, sample) for name in job.names for sample in range(job.samples)])


@dataclass
class _SampleReplayer:
    """Runs samples, and keeps what came of them."""

    solver: Solver
    journal: Mapping[SampleKey, Candidate]
    same: bool
    on_sample: OnSample | None
    candidates: dict[SampleKey, Candidate] = field(default_factory=dict)
    missing: dict[SampleKey, MissingCalls] = field(default_factory=dict)
    never_begun: dict[SampleKey, NeverBegun] = field(default_factory=dict)

    async def run(self, problem: Problem, sample: int) -> None:
        key = (problem.name, sample)
        then = self.journal.get(key) if self.same else None
        if then is not None and not then.was_begun:  # whatever answers it had in an earlier part of the run
            self.candidates[key] = then
            self.never_begun[key] = NeverBegun(*key, self._why_never_begun(key))
        else:
            await self._go_through(problem, key, then)
        if self.on_sample is not None:
            self.on_sample(self.missing.get(key))

    async def _go_through(self, problem: Problem, key: SampleKey, then: Candidate | None) -> None:
        facts = self.solver.store.facts if self.solver.store is not None else {}
        model, ledger = SilentModel(self.solver.model_name, facts), ReplayLedger(self.solver.settings)
        if then is not None:
            ledger.parts = parts_of(facts, f"{key[0]}#{key[1]}")
        candidate, events = await replace(self.solver, model=model, ledger=ledger).solve(problem, key[1])
        self.candidates[key] = candidate
        reason = self._why_never_begun(key)
        if reason and not candidate.is_final and not candidate.llm_calls:
            self.never_begun[key] = NeverBegun(*key, reason)
        elif model.asked:
            prompts = [event.prompt for event in events if isinstance(event, FailedCall)]
            self.missing[key] = MissingCalls(*key, prompts[-1] if prompts else "", model.asked)

    def _why_never_begun(self, key: SampleKey) -> str:
        """Why the run may never have begun a sample; "" where it is known to have."""
        if key not in self.journal:
            return "the run was cut off before their first answer"
        then = self.journal[key]
        return f"{then.spent_budget.budget} was spent" if then.spent_budget and not then.was_begun else ""

    def compared(self, keys: Sequence[SampleKey]) -> Replay:
        """What came of these samples, beside what the journal has."""
        left_out = self.missing.keys() | self.never_begun.keys()
        both = [key for key in keys if self.same and key not in left_out and _repeats(self.journal.get(key))]
        return Replay(
            [self.candidates[key] for key in keys],
            [self.missing[key] for key in keys if key in self.missing],
            [self.never_begun[key] for key in keys if key in self.never_begun],
            [found for key in both if (found := _difference(self.journal[key], self.candidates[key])) is not None],
            len(both),
        )


def _repeats(then: Candidate | None) -> bool:
    """Whether a replay must come to the same: faults of the provider and of ours may pass."""
    return then is not None and (then.is_final or then.spent_budget is not None)


def _difference(then: Candidate, now: Candidate) -> CandidateDifference | None:
    names = tuple(f.name for f in fields(Candidate) if getattr(then, f.name) != getattr(now, f.name))
    return CandidateDifference(then.task_name, then.sample_index, names) if names else None


def _copy(file: Path, place: Path) -> None:
    """Copy the file, if there is one; raises UserError where it can't be read."""
    try:
        source = file.open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(f"{file} can't be read: {error.strerror}") from error
    with source, (place / file.name).open("wb") as copy:
        shutil.copyfileobj(source, copy)


def _refuse_earlier(folder: RunFolder) -> None:
    """Raise UserError if an earlier version of gencode made samples of the run: it kept their errors as texts."""
    if any(isinstance(entry.get("error"), str) for entry in folder.journal.entries()):
        raise UserError(
            f"run {folder.name!r} was made by an earlier version of gencode: replay it with that one, or make it anew"
        )


@contextlib.contextmanager
def _copied(folder: RunFolder) -> Iterator[tuple[Path, dict[SampleKey, Candidate]]]:
    """A copy of the run's answers, with those that stand in the log beside the file; and its journal of that moment."""
    source = folder.path / ANSWERS
    with tempfile.TemporaryDirectory(prefix="gencode-replay-") as place:
        with folder:  # nobody writes while they are copied
            _refuse_earlier(folder)
            journal = finished_samples(folder.journal, final_only=False)
            for path in (source, source.with_name(f"{ANSWERS}-wal")):
                _copy(path, Path(place))
        try:
            yield Path(place) / ANSWERS, journal
        except StoreBroken as error:  # the copy is: what is to be mended is its source
            raise StoreBroken(f"{source}, the answers of the run, can't be used: {error.__cause__}") from error
