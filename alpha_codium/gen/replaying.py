"""Replays: a run's samples repeated from their stored answers, without a model.

1. The run's answers are copied to a temporary file, so that no file of the run changes; a run in use isn't replayed.
   Answers that are missing in the copy can be taken from the shared cache.
2. Each sample runs with the run's settings, its flow and a sandbox. A sample ends if an answer it needs isn't stored;
   the others continue. Samples that the run never began, because a budget was spent or the run was interrupted, are
   reported separately.
3. If the time or a shared budget stopped a sample or some of its answers, the store records which answers it got, and
   the replay gets the same ones.
4. With the run's own flow and settings, every candidate must be identical to the journal's.
"""

import contextlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import ClassVar

from alpha_codium.config.sections import BudgetSection, Settings
from alpha_codium.errors import UserError
from alpha_codium.gen.budgets import Ledger
from alpha_codium.gen.choosing import check_fit
from alpha_codium.gen.loop import SampleJob, finished_samples, refuse_twins, run_all
from alpha_codium.gen.sample import Solver
from alpha_codium.gen.sample_model import parts_of
from alpha_codium.llm.errors import ModelError
from alpha_codium.llm.messages import Answer, ChatRequest
from alpha_codium.problem import Problem
from alpha_codium.runs import AnswerCache, AnswerStore, RunFolder
from alpha_codium.runs.answers import StoreBroken
from alpha_codium.runs.events import FailedCall
from alpha_codium.runs.folder import ANSWERS
from alpha_codium.solution import Candidate
from alpha_codium.values import JsonValue, named
from alpha_codium.wording import counted

# The problem's name and the sample's index.
SampleKey = tuple[str, int]


class AnswerMissing(ModelError):
    """A call has no stored answer; a replay doesn't ask a model."""


# The most samples that a list names.
MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class MissingCalls(JsonValue):
    """A sample that ended because of missing answers: the last prompt without one, and the number of such calls."""

    problem: str
    sample: int
    prompt: str
    calls: int


# Called at the end of each sample, with its missing calls, if any.
OnSample = Callable[[MissingCalls | None], None]


@dataclass(frozen=True, slots=True)
class NeverBegun(JsonValue):
    """A sample that the run never began, because a budget was spent or the run was interrupted."""

    problem: str
    sample: int
    reason: str


@dataclass(frozen=True, slots=True)
class CandidateDifference(JsonValue):
    """A candidate that differs from the journal's, and the names of the fields that differ."""

    problem: str
    sample: int
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Replay(JsonValue):
    """The result of a replay; `compared` is the number of candidates compared with the journal's, and `solutions` the
    path where all candidates were saved, if they were.
    """

    in_json: ClassVar[Mapping[str, str]] = named(
        *("samples", "replayed", "compared", "never_begun", "missing", "differing", "solutions")
    )

    candidates: list[Candidate]
    missing: list[MissingCalls] = field(default_factory=list)
    never_begun: list[NeverBegun] = field(default_factory=list)
    differing: list[CandidateDifference] = field(default_factory=list)
    compared: int = 0
    solutions: Path | None = None

    @property
    def samples(self) -> int:
        """The number of samples of the run."""
        return len(self.candidates)

    @property
    def replayed(self) -> int:
        """The number of samples that were replayed to their end."""
        return len(self.candidates) - len(self.missing) - len(self.never_begun)

    def lines(self) -> Iterator[str]:
        """The result for people: what was replayed, what was missing, and what differs from the journal."""
        samples = counted(len(self.candidates), "sample")
        yield f"{self.replayed} of {samples} replayed, {self.compared} compared with the journal"
        for reason, count in Counter(each.reason for each in self.never_begun).items():
            yield f"{counted(count, 'sample')} not replayed: {reason}"
        yield from _listed(f"{counted(len(self.missing), 'sample')} without all answers", [
            f"{each.problem}, sample {each.sample}: {each.prompt or 'a prompt'}, {counted(each.calls, 'call')}"
            for each in self.missing
        ])  # fmt: skip
        yield from _listed(f"{counted(len(self.differing), 'candidate')} different from the journal's", [
            f"{each.problem}, sample {each.sample}: {', '.join(each.fields)}" for each in self.differing
        ])  # fmt: skip
        if self.compared and not self.differing:
            yield "all of them are identical to the journal's"
        if self.solutions is not None:
            yield f"written to {self.solutions}"


def _listed(title: str, lines: list[str]) -> Iterator[str]:
    """Yield a title and the first lines below it; nothing if there are none."""
    if lines:
        yield f"{title}:"
        yield from (f"  {line}" for line in lines[:MOST_SHOWN])
    if len(lines) > MOST_SHOWN:
        yield f"  ... and {len(lines) - MOST_SHOWN} more (all are in the JSON result)"


@dataclass
class SilentModel:
    """A `ChatModel` that counts calls and answers none; the run's store knows whether the model supports schemas."""

    name: str
    asked: int = 0

    def supports_json_schema(self, model: str = "") -> bool:
        """Return False."""
        return False

    def supports_n(self, model: str = "") -> bool:
        """Return False."""
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
    """Repeat the samples of the job with the answers in `folder` or in `cache`; the solver's model isn't asked.

    With `same`, flow and settings are the run's: samples end where they did in the run, and candidates are compared
    with the journal's. Raises UserError if the run is in use, or for errors that every sample would have.
    """
    refuse_twins(job.names)
    check_fit(solver.flow, job.problems)
    with _copied(folder) as (answers, journal), AnswerStore(answers, cache) as store:
        replayer = _SampleReplayer(replace(solver, store=store, fault_level="DEBUG"), store, journal, same, on_sample)
        await run_all(job, replayer.run)
    return replayer.result(job.keys)


@dataclass
class _SampleReplayer:
    """Runs samples and collects their results."""

    solver: Solver
    store: AnswerStore
    journal: Mapping[SampleKey, Candidate]
    same: bool
    on_sample: OnSample | None
    candidates: dict[SampleKey, Candidate] = field(default_factory=dict)
    missing: dict[SampleKey, MissingCalls] = field(default_factory=dict)
    never_begun: dict[SampleKey, NeverBegun] = field(default_factory=dict)

    async def run(self, problem: Problem, sample: int) -> None:
        key = (problem.name, sample)
        then = self.journal.get(key) if self.same else None
        if then is not None and not then.was_begun:  # even if it got answers before the run was resumed
            self.candidates[key] = then
            self.never_begun[key] = NeverBegun(*key, self._why_never_begun(key))
        else:
            await self._replay(problem, key, then)
        if self.on_sample is not None:
            self.on_sample(self.missing.get(key))

    async def _replay(self, problem: Problem, key: SampleKey, then: Candidate | None) -> None:
        parts = parts_of(self.store.facts, f"{key[0]}#{key[1]}") if then is not None else {}
        model = SilentModel(self.solver.model_name)
        ledger = Ledger(_without_shared_budgets(self.solver.settings), parts)
        candidate, events = await replace(self.solver, model=model, ledger=ledger).solve(problem, key[1])
        self.candidates[key] = candidate
        reason = self._why_never_begun(key)
        if reason and not candidate.is_final and not candidate.llm_calls:
            self.never_begun[key] = NeverBegun(*key, reason)
        elif model.asked:
            prompts = [event.prompt for event in events if isinstance(event, FailedCall)]
            self.missing[key] = MissingCalls(*key, prompts[-1] if prompts else "", model.asked)

    def _why_never_begun(self, key: SampleKey) -> str:
        """Return why a sample may never have been started in the run, empty if it certainly was."""
        then = self.journal.get(key)
        if then is None:
            return "the run was cut off before their first answer"
        return f"{then.spent_budget.budget} was spent" if then.spent_budget and not then.was_begun else ""

    def result(self, keys: Sequence[SampleKey]) -> Replay:
        """Return the results of these samples, and their differences from the journal."""
        incomplete = self.missing.keys() | self.never_begun.keys()
        # Faults of the provider or of gencode may not recur.
        then = {key: then for key, then in self.journal.items() if then.is_final or then.spent_budget is not None}
        both = [key for key in keys if self.same and key in then and key not in incomplete]
        return Replay(
            [self.candidates[key] for key in keys],
            [self.missing[key] for key in keys if key in self.missing],
            [self.never_begun[key] for key in keys if key in self.never_begun],
            [found for key in both if (found := _difference(then[key], self.candidates[key])) is not None],
            len(both),
        )


def _without_shared_budgets(settings: Settings) -> Settings:
    """Return the settings without a time limit and without budgets shared with other samples."""
    return settings.changed("solve", max_seconds=0.0).model_copy(update={"budget": BudgetSection()})


def _difference(then: Candidate, now: Candidate) -> CandidateDifference | None:
    names = tuple(f.name for f in fields(Candidate) if getattr(then, f.name) != getattr(now, f.name))
    return CandidateDifference(then.task_name, then.sample_index, names) if names else None


@contextlib.contextmanager
def _copied(folder: RunFolder) -> Iterator[tuple[Path, dict[SampleKey, Candidate]]]:
    """Yield a temporary copy of the run's answers, with the write-ahead log, and the candidates in its journal."""
    source = folder.path / ANSWERS
    with tempfile.TemporaryDirectory(prefix="gencode-replay-") as scratch:
        with folder:  # locked, so that nothing is written meanwhile
            journal = finished_samples(folder.journal, final_only=False)
            for path in (source, source.with_name(f"{ANSWERS}-wal")):
                _copy(path, Path(scratch))
        try:
            yield Path(scratch) / ANSWERS, journal
        except StoreBroken as error:  # name the original, since the copy is deleted
            raise StoreBroken(f"{source}, the answers of the run, can't be used: {error.__cause__}") from error


def _copy(file: Path, folder: Path) -> None:
    """Copy the file if it exists; raises UserError if it can't be read."""
    try:
        source = file.open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(f"{file} can't be read: {error.strerror}") from error
    with source, (folder / file.name).open("wb") as copy:
        shutil.copyfileobj(source, copy)
