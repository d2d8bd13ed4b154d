"""Replay of a run with its stored answers, without a model."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from loguru import logger

from alpha_codium.app.events import ProgressCounter, working
from alpha_codium.app.generation import COMMAND
from alpha_codium.app.options.solving import ReplayOptions
from alpha_codium.app.resuming import RESUMABLE_SETTINGS
from alpha_codium.app.run_folders import settings_on, shown_settings
from alpha_codium.config import Settings
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.data.load import ProblemSet, load_problems
from alpha_codium.data.solutions import origin_of, refuse_overwriting, save_solutions, solutions_path
from alpha_codium.data.subset import Subset
from alpha_codium.errors import UserError
from alpha_codium.eval.judging import open_judge
from alpha_codium.flows import Flow, load_flow
from alpha_codium.gen.caching import open_cache
from alpha_codium.gen.choosing import chosen_flow
from alpha_codium.gen.loop import SampleJob, solutions_rows
from alpha_codium.gen.replaying import Replay, SilentModel, replay_samples
from alpha_codium.gen.sample import Solver
from alpha_codium.options import use_case
from alpha_codium.paths import runs_folder
from alpha_codium.runs import RunFolder


@use_case(ReplayOptions)
async def replay_async(options: ReplayOptions) -> Replay:
    """Repeat a run with its stored answers, without a model, and compare the candidates with those in its journal.

    Raises UserError if there is no such run, or its problems have changed since.
    """
    plan, output = await in_thread(_planned, options), options.output
    replayed = await _replay(plan, options)
    if not output:
        return replayed
    rows = [
        row | origin_of(plan.problems, plan.subset) for row in solutions_rows(replayed.candidates, plan.problems.names)
    ]
    return replace(replayed, solutions=await in_thread(save_solutions, rows, output))


replay = blocking(replay_async)


@dataclass(frozen=True, slots=True)
class _ReplayPlan:
    """The parts of a replay; `same` is true if flow and settings are the run's."""

    problems: ProblemSet
    subset: Subset
    samples: int
    flow: Flow
    settings: Settings
    folder: RunFolder
    same: bool


def _planned(options: ReplayOptions) -> _ReplayPlan:
    folder, output = RunFolder.reopen(runs_folder(), options.run), options.output
    described = folder.description()
    if described.get("command") != COMMAND:
        command = described.get("command")
        raise UserError(f"run {options.run!r} is one of {command}: only runs of gencode gen {COMMAND} can be replayed")
    in_force = settings_on(options.settings)(described.get("settings", {}))
    if output and solutions_path(output).resolve().is_relative_to(folder.path.resolve()):
        raise UserError(f"a replay changes no file of its run: `output` {output} is in its folder")
    if output:
        refuse_overwriting(solutions_path(output), options.overwrite)
    subset = Subset.of(described, in_force.config.seed or 0)
    chosen = subset.choose(_problems(described))
    without = described.get("without") or ()
    # A flow that is given here takes precedence over the run's `[solve] use_baseline`.
    flow = load_flow(options.flow) if options.flow else chosen_flow(described["flow"], in_force, without)
    same = _is_the_runs(flow, in_force, described, warn=options.flow is None)
    return _ReplayPlan(chosen, subset, described["samples"], flow, in_force, folder, same)


def _problems(described: Mapping[str, Any]) -> ProblemSet:
    problems = load_problems(described["dataset_name"], described.get("split_name"))
    if problems.fingerprint != described["fingerprint"]:
        raise UserError(f"{described['dataset_name']} has changed since the run: its problems aren't the same")
    return problems


def _is_the_runs(flow: Flow, settings: Settings, described: Mapping[str, Any], warn: bool) -> bool:
    """Return whether flow and settings are the run's; with `warn`, log a warning if the flow has changed."""
    same_flow = flow.fingerprint == described["flow_fingerprint"]
    if warn and not same_flow:
        logger.warning("flow {} was changed since the run: its candidates are not compared", flow.name)
    now, then = shown_settings(settings), Settings.model_validate(described["settings"]).model_dump()
    for values in (now, then):
        for section, names in RESUMABLE_SETTINGS.items():
            values[section] = {name: value for name, value in values[section].items() if name not in names}
    return same_flow and now == then


async def _replay(plan: _ReplayPlan, options: ReplayOptions) -> Replay:
    settings, model = plan.settings, plan.settings.config.model
    job = SampleJob(plan.problems, plan.samples, settings.config.concurrency)
    lacking = ProgressCounter(lambda missing: missing is not None, "{} lacking an answer")
    with working(options.on_event, "replayed", len(job.names) * job.samples, lacking) as on_sample:
        async with open_judge(settings) as judge:
            solver = Solver(plan.flow, SilentModel(model), model, judge.judge, settings)
            with open_cache(settings.changed("config", cache=options.shared)) as cache:
                return await replay_samples(job, solver, plan.folder, same=plan.same, cache=cache, on_sample=on_sample)
