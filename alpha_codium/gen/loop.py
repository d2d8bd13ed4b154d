"""The loop over problems x samples.

1. `concurrency` samples are in flight; when one ends the next begins, so a slow one idles none of the others.
2. A finished sample is one synced line of the journal; its transcript is written before. On resume, samples that the
   journal holds as final are taken over, the others run again with the answers they had already.
3. What earlier parts of the run took counts in its budgets. A sample for which nothing is left becomes a candidate
   without a program, to be tried again on resume.
4. The Dataset is made of the journal at the end, in the order of the problems: it doesn't depend on what finished
   when, nor on how often the run was cut off.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from alpha_codium.errors import DatasetError
from alpha_codium.gen.budgets import Ledger
from alpha_codium.gen.fitting import check_fit
from alpha_codium.gen.sample import Solver
from alpha_codium.problem import Problem
from alpha_codium.runs import AnswerCache, AnswerStore, Journal, RunFolder
from alpha_codium.runs.events import Transcript, transcript_name
from alpha_codium.solution import Candidate

OnCandidate = Callable[[Candidate], None]


@dataclass(frozen=True, slots=True)
class SampleJob:
    """What is to be generated."""

    problems: Sequence[Problem]
    samples: int
    concurrency: int = 8

    @property
    def names(self) -> Sequence[str]:
        """The problems' names, without making the problems where a dataset knows them."""
        return getattr(self.problems, "names", None) or [problem.name for problem in self.problems]


async def generate(
    job: SampleJob,
    solver: Solver,
    folder: RunFolder,
    on_candidate: OnCandidate | None = None,
    cache: AnswerCache | None = None,
) -> list[Candidate]:
    """Generate all candidates of the job, going on from what the folder holds; in the order of problem and sample.

    `folder` is open; answers that it lacks come from `cache`, if there is one. Raises DatasetError where two problems
    bear one name, FlowError where the flow is for none of them, and UserError where no sample could succeed; the
    journal keeps what was done before.
    """
    refuse_twins(job.names)
    check_fit(solver.flow, job.problems)
    with folder.journal as journal, AnswerStore(folder.path / "answers.sqlite", cache) as store:
        done = finished_samples(journal)
        ledger = solver.ledger or Ledger(solver.settings)
        ledger.count(done.values())
        recorder = _Recorder(replace(solver, store=store, fits=True, ledger=ledger), folder, journal, on_candidate)
        for candidate in done.values():
            recorder.tell(candidate)
        await run_all(job, recorder.run, done)
        final = finished_samples(journal, final_only=False)
    return [final[key] for key in _keys(job)]


def finished_samples(journal: Journal, final_only: bool = True) -> dict[tuple[str, int], Candidate]:
    """The journal's candidates by problem and sample, the last line of each; those to be tried again on request."""
    found = {(c.task_name, c.sample_index): c for c in journal.read(Candidate.from_json)}
    return {key: c for key, c in found.items() if c.is_final or not final_only}


def refuse_twins(names: Iterable[str]) -> None:
    """Raise DatasetError where two problems bear one name: their candidates couldn't be told apart."""
    twin = next((name for name, count in Counter(names).items() if count > 1), None)
    if twin is not None:
        raise DatasetError(f"problem {twin!r} stands twice in the dataset: give each a name of its own")


def _keys(job: SampleJob) -> Iterator[tuple[str, int]]:
    return ((name, sample) for name in job.names for sample in range(job.samples))


async def run_all(
    job: SampleJob, run: Callable[[Problem, int], Awaitable[None]], done: Container[tuple[str, int]] = ()
) -> None:
    """`run` the samples of the job in order, but those in `done`, so many at a time; raises the first one's fault."""
    work = ((p, s) for p in job.problems for s in range(job.samples) if (p.name, s) not in done)

    async def run_some() -> None:
        for problem, sample in work:
            await run(problem, sample)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(job.concurrency):
                group.create_task(run_some())
    except ExceptionGroup as faults:
        # One fault that ends the run is told as itself, not as a group of one.
        raise faults.exceptions[0] from None


@dataclass(frozen=True)
class _Recorder:
    """Runs samples and writes down what came of them."""

    solver: Solver
    folder: RunFolder
    journal: Journal
    on_candidate: OnCandidate | None

    async def run(self, problem: Problem, sample: int) -> None:
        candidate, events = await self.solver.solve(problem, sample)
        await asyncio.to_thread(self._write, Transcript(candidate, events))
        self.tell(candidate)

    def tell(self, candidate: Candidate) -> None:
        if self.on_candidate is not None:
            self.on_candidate(candidate)

    def _write(self, transcript: Transcript) -> None:
        candidate = transcript.candidate
        self.folder.write_json(transcript_name(candidate.task_name, candidate.sample_index), transcript.to_json())
        self.journal.append(candidate.to_json())


def solutions_rows(candidates: Sequence[Candidate], names: Iterable[str]) -> list[dict[str, Any]]:
    """The rows of the Solutions dataset: every problem by its name, with lists of the same length."""
    by_name: dict[str, list[Candidate]] = {name: [] for name in names}
    for candidate in candidates:
        by_name[candidate.task_name].append(candidate)
    return [{"task_name": name} | _columns(group) for name, group in by_name.items()]


def _columns(group: Sequence[Candidate]) -> dict[str, list[Any]]:
    return {
        "solution_candidates": [c.program for c in group],
        "language": [c.language for c in group],
        "sample_index": [c.sample_index for c in group],
        "model": [c.model for c in group],
        "flow": [c.flow for c in group],
        "prompt_tokens": [c.prompt_tokens for c in group],
        "completion_tokens": [c.completion_tokens for c in group],
        "cost": [c.cost for c in group],
        "llm_calls": [c.llm_calls for c in group],
        "truncated_answers": [c.truncated_answers for c in group],
        "sample_errors": [str(c.error) if c.error else "" for c in group],
    }
