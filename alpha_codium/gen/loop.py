"""The loop over problems and samples.

1. `concurrency` samples run at a time.
2. When a sample ends, its transcript is written, then one synced line of the journal. On resume, samples that are
   final in the journal are kept, and the others run again, reusing their stored answers.
3. The usage of a resumed run's earlier samples counts in its budgets. If nothing is left for a sample, its candidate
   has no program, and is tried again on resume.
4. At the end, the Solutions dataset is made from the journal, in the order of the problems, so that it doesn't depend
   on the order in which samples finished, nor on interruptions.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from alpha_codium.coroutines import concurrently
from alpha_codium.errors import DatasetError
from alpha_codium.gen.budgets import Ledger
from alpha_codium.gen.choosing import check_fit
from alpha_codium.gen.sample import Solver
from alpha_codium.problem import Problem
from alpha_codium.runs import AnswerCache, AnswerStore, Journal, RunFolder
from alpha_codium.runs.events import Event, Transcript, transcript_name
from alpha_codium.runs.folder import ANSWERS
from alpha_codium.solution import Candidate

OnCandidate = Callable[[Candidate], None]
# The columns of the Solutions dataset that are fields of the candidates.
COLUMNS = (
    "language", "sample_index", "model", "flow", "prompt_tokens", "completion_tokens", "cost", "llm_calls",
    "truncated_answers",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SampleJob:
    """The samples to generate."""

    problems: Sequence[Problem]
    samples: int
    concurrency: int = 8

    @property
    def names(self) -> Sequence[str]:
        """The problems' names; a dataset returns them without reading the problems."""
        return getattr(self.problems, "names", None) or [problem.name for problem in self.problems]

    @property
    def keys(self) -> list[tuple[str, int]]:
        """The problem's name and the sample's index of each sample, in order."""
        return [(name, sample) for name in self.names for sample in range(self.samples)]


async def generate(
    job: SampleJob,
    solver: Solver,
    folder: RunFolder,
    on_candidate: OnCandidate | None = None,
    cache: AnswerCache | None = None,
) -> list[Candidate]:
    """Generate the candidates that are missing in `folder`, and return all, in the order of problems and samples.

    `folder` must be locked. Answers that it lacks are looked up in `cache`, if given. Raises DatasetError if two
    problems have the same name, FlowError if the flow suits no problem, and UserError for errors that every sample
    would have; the journal keeps the samples that are done.
    """
    refuse_twins(job.names)
    check_fit(solver.flow, job.problems)
    on_candidate = on_candidate or (lambda _: None)
    with folder.journal as journal, AnswerStore(folder.path / ANSWERS, cache) as store:
        done = finished_samples(journal)
        ledger = solver.ledger or Ledger(solver.settings)
        ledger.count(done.values())
        solver = replace(solver, store=store, ledger=ledger)

        async def run(problem: Problem, sample: int) -> None:
            candidate, events = await solver.solve(problem, sample)
            await asyncio.to_thread(keep, folder, journal, candidate, events)
            on_candidate(candidate)

        for candidate in done.values():
            on_candidate(candidate)
        await run_all(job, run, done)
        final = finished_samples(journal, final_only=False)
    return [final[key] for key in job.keys]


def keep(folder: RunFolder, journal: Journal, candidate: Candidate, events: tuple[Event, ...]) -> None:
    """Write a finished sample to a run's folder: its transcript, then a line of the journal."""
    folder.write_json(
        transcript_name(candidate.task_name, candidate.sample_index), Transcript(candidate, events).to_json()
    )
    journal.append(candidate.to_json())


def finished_samples(journal: Journal, final_only: bool = True) -> dict[tuple[str, int], Candidate]:
    """Return the journal's candidates by problem and sample; of several for one sample, the last.

    `final_only` excludes candidates to be tried again.
    """
    found = {(c.task_name, c.sample_index): c for c in journal.read(Candidate.from_json)}
    return {key: c for key, c in found.items() if c.is_final or not final_only}


def refuse_twins(names: Iterable[str]) -> None:
    """Raise DatasetError if two problems have the same name, since their candidates couldn't be distinguished."""
    twin = next((name for name, count in Counter(names).items() if count > 1), None)
    if twin is not None:
        raise DatasetError(f"problem {twin!r} is in the dataset twice: names must be unique")


async def run_all(
    job: SampleJob, run: Callable[[Problem, int], Awaitable[None]], done: Container[tuple[str, int]] = ()
) -> None:
    """Call `run` for each sample that isn't in `done`, `concurrency` at a time; raises the first error."""
    work = ((p, s) for p in job.problems for s in range(job.samples) if (p.name, s) not in done)

    async def run_some() -> None:
        for problem, sample in work:
            await run(problem, sample)

    await concurrently(run_some() for _ in range(job.concurrency))


def solutions_rows(candidates: Sequence[Candidate], names: Iterable[str]) -> list[dict[str, Any]]:
    """Return the rows of the Solutions dataset, one for each name."""
    by_name: dict[str, list[Candidate]] = {name: [] for name in names}
    for candidate in candidates:
        by_name[candidate.task_name].append(candidate)
    return [
        {"task_name": name, "solution_candidates": [c.program for c in group]}
        | {column: [getattr(c, column) for c in group] for column in COLUMNS}
        | {"sample_errors": [str(c.error or "") for c in group]}
        for name, group in by_name.items()
    ]
