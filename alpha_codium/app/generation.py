"""Generation of candidates for a split, in a run folder."""

import shlex
import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from loguru import logger

from alpha_codium.app.events import ItemsReached, OnEvent, RunPlanned, working
from alpha_codium.app.models import with_model
from alpha_codium.app.options.solving import SolveSetOptions
from alpha_codium.app.run_folders import (
    has_written,
    opened_run,
    part_of,
    run_options,
    run_settings,
    settings_on,
    shown_settings,
)
from alpha_codium.app.solving import open_solver, summary_line
from alpha_codium.config import Settings
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.data.load import ProblemSet, load_problems
from alpha_codium.data.solutions import origin_of, refuse_overwriting, save_solutions, solutions_path
from alpha_codium.data.subset import Subset
from alpha_codium.errors import DatasetError
from alpha_codium.eval.judging import OpenJudge, open_judge
from alpha_codium.eval.shards import Shard
from alpha_codium.flows import Flow, load_flow
from alpha_codium.flows.context import language_of
from alpha_codium.flows.loading import shipped_flows
from alpha_codium.gen.budgets import Ledger, Usage
from alpha_codium.gen.caching import open_cache
from alpha_codium.gen.choosing import check_problems, chosen_flow
from alpha_codium.gen.loop import SampleJob, finished_samples, generate, refuse_twins, solutions_rows
from alpha_codium.gen.preview import Preview, preview_of
from alpha_codium.gen.sample import StageProgress
from alpha_codium.gen.summary import RunProgress, RunSummary, counts_of, ended_by_own_budget
from alpha_codium.options import use_case
from alpha_codium.paths import runs_folder
from alpha_codium.runs import AnswerStore, RunFolder
from alpha_codium.runs.folder import ANSWERS, new_run_name
from alpha_codium.solution import Candidate

COMMAND = "solve_set"


@dataclass(frozen=True)
class GenerationPlan:
    """A run with all its options; `problems` is the whole split, and `subset` the part to solve."""

    options: SolveSetOptions
    problems: ProblemSet
    subset: Subset
    flow: Flow
    settings: Settings
    job: SampleJob

    def preview(self, done: Collection[Candidate] = ()) -> Preview:
        """Estimate the rest of the run, given the samples that are `done`."""
        used = Usage()
        for candidate in done:
            used.take(candidate)
        samples = len(self.job.problems) * self.job.samples - len(done)
        return preview_of(self.flow, self.job.problems, samples, self.settings, used)

    def description(self) -> dict[str, Any]:
        """Return the entries of `run.toml`, which must be the same when the run is resumed."""
        options, flow, without = self.options, self.flow, tuple(self.options.without or ())
        return {
            "command": COMMAND,
            "dataset_name": options.dataset,
            "split_name": self.problems.split_name,
            "fingerprint": self.problems.fingerprint,
            "output_dataset_name": options.output,
            "samples": options.samples,
            "sample_rate": self.subset.sample_rate,
            "limit": self.subset.limit,
            "names": self.subset.names or None,
            "flow": flow.folder.name if flow.folder in shipped_flows().values() else str(flow.folder),
            "without": load_flow(str(flow.folder)).stage_kinds_named(without) if without else None,
            "flow_fingerprint": flow.fingerprint,
            "shard": options.shard,
            "settings": shown_settings(self.settings),
        }


def plan(options: SolveSetOptions, *, only_preview: bool = False) -> GenerationPlan:
    """Return the plan of a run; raises UserError if an option, the dataset or the flow is invalid."""
    _, options = part_of(options)
    in_force = settings_on(options.settings)(run_settings(options.resume) if options.resume else None)
    if options.resume:
        options = replace(options, **run_options(options.resume, options))
    if options.dataset is None:
        raise DatasetError("no problems are given: use `dataset`")
    if options.output:
        target = solutions_path(options.output)  # raises before any call is paid for
        refuse_overwriting(target, options.overwrite or has_written(options.resume, target))
    problems = load_problems(options.dataset, options.split)
    flow = chosen_flow(options.flow, in_force, tuple(options.without or ()))
    if not len(problems):
        raise DatasetError(f"{options.dataset} has no problems to solve")
    subset = Subset.of(vars(options), in_force.config.seed or 0).with_full_names(problems.names)
    chosen = subset.choose(problems)
    refuse_twins(chosen.names)
    check_problems(flow, chosen, in_force)
    if options.shard:
        chosen = Shard.of(options.shard, {}).problems(chosen)
    in_force = with_model(in_force, preview=only_preview)
    samples = options.samples or in_force.dataset.num_iterations
    job = SampleJob(chosen, samples, in_force.config.concurrency)
    return GenerationPlan(replace(options, samples=samples), problems, subset, flow, in_force, job)


def preview(options: SolveSetOptions) -> Preview:
    """Estimate `solve_set_async`, or the rest of an earlier run, without asking or downloading a model."""
    planned = plan(options, only_preview=True)
    resume = planned.options.resume
    done = finished_samples(RunFolder.reopen(runs_folder(), resume).journal) if resume else {}
    return planned.preview(done.values())


@use_case(SolveSetOptions)
async def solve_set_async(options: SolveSetOptions) -> RunSummary:
    """Solve the problems of a split in a run folder, and save the candidates as a Solutions dataset.

    Raises UserError if an option, the dataset, the flow, the model or the sandbox can't be used, or if the earlier run
    had other options.
    """
    planned, on_event = await in_thread(plan, options), options.on_event
    options = planned.options
    started, ledger = time.monotonic(), Ledger(planned.settings)
    run = options.run or (None if options.resume else new_run_name(COMMAND))
    async with open_judge(planned.settings) as judge:
        languages = {language_of(problem, planned.settings) for problem in planned.job.problems}
        decisive = {"sandbox": judge.identity.to_json(), "languages": await in_thread(judge.tools_of, languages)}
        description = planned.description() | decisive
        with opened_run(run, options.resume, description, on_event) as folder:
            assert folder is not None
            on_event(RunPlanned(planned.preview(finished_samples(folder.journal).values())))
            candidates = await _generate(planned, judge, ledger, folder, on_event)
            where = await in_thread(_save, planned, candidates, folder)
            with AnswerStore(folder.path / ANSWERS) as store:
                spent = store.spent()
            summary = RunSummary(
                problems=len(planned.job.problems),
                **counts_of(candidates),
                **asdict(spent),
                ended_by_budget=dict(ledger.cut_short),
                ended_by_own_budget=await in_thread(ended_by_own_budget, folder.path, candidates, planned.settings),
                seconds=round(time.monotonic() - started, 1),
                run=folder.name,
                run_folder=str(folder.path),
                solutions=str(where),
                next_command=_command_to_judge(planned, where),
                shard=options.shard or "",
            )
            folder.write_json("results.json", summary.to_json())
    return summary


solve_set = blocking(solve_set_async)


async def _generate(
    planned: GenerationPlan, judge: OpenJudge, ledger: Ledger, folder: RunFolder, on_event: OnEvent
) -> list[Candidate]:
    job, settings = planned.job, planned.settings
    progress = RunProgress(job.samples, ledger.run)
    with working(on_event, "samples", len(job.problems) * job.samples, progress) as on_done:

        def on_candidate(candidate: Candidate) -> None:
            logger.debug(summary_line(candidate))
            on_done(candidate)

        def on_progress(at: StageProgress) -> None:
            progress.begin(at)
            on_event(ItemsReached(progress.by_problem.total()))

        with open_cache(settings) as cache:
            done = finished_samples(folder.journal)
            if len(done) == len(job.keys):  # no model is needed, which may take long to open
                for candidate in done.values():
                    on_candidate(candidate)
                return [done[key] for key in job.keys]
            async with open_solver(planned.flow, settings, judge.judge) as solver:
                own = replace(solver, ledger=ledger, on_progress=on_progress)
                return await generate(job, own, folder, on_candidate, cache)


def _command_to_judge(planned: GenerationPlan, solutions: Path) -> str:
    """Return the command that judges the candidates by the private tests."""
    problems = str(planned.options.dataset)
    words = ["gencode", "eval", "eval_gen_solutions", "--solution_dataset", str(solutions), "--dataset_name", problems]
    split = planned.options.split
    return shlex.join([*words, *(["--split_name", split] if split else [])])


def _save(planned: GenerationPlan, candidates: Sequence[Candidate], folder: RunFolder) -> Path:
    """Save the candidates in the run's folder, and to the output if one is given; return the last path."""
    rows = [row | origin_of(planned.problems, planned.subset) for row in solutions_rows(candidates, planned.job.names)]
    where = save_solutions(rows, folder.path / "solutions")
    output = planned.options.output
    if not output or planned.options.shard:  # the parts' solutions are only one when all are merged
        return where
    where = save_solutions(rows, output)
    folder.note_output(where)
    return where
