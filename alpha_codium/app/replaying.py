"""Replaying a run from the answers it kept, without a model."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from loguru import logger

from alpha_codium.app.coroutines import blocking, in_thread
from alpha_codium.app.events import OnEvent, ignore, working
from alpha_codium.app.generation import COMMAND
from alpha_codium.app.run_folders import RESUMABLE_SETTINGS, SettingsOn, check_output, settings_on, shown_settings
from alpha_codium.config import Settings
from alpha_codium.data import load_problems, save_solutions
from alpha_codium.data.load import ProblemSet
from alpha_codium.data.solutions import origin_of
from alpha_codium.data.sources import output_path
from alpha_codium.errors import UserError
from alpha_codium.eval.judging import open_judge
from alpha_codium.flows import Flow, load_flow
from alpha_codium.gen.caching import open_cache
from alpha_codium.gen.choosing import chosen_flow
from alpha_codium.gen.loop import SampleJob, solutions_rows
from alpha_codium.gen.replaying import Replay, SilentModel, replay_samples
from alpha_codium.gen.sample import Solver
from alpha_codium.paths import runs_folder
from alpha_codium.runs import RunFolder


async def replay_async(
    run: str,
    *,
    flow: str | None = None,
    output: str | None = None,
    shared: bool = False,
    settings: Settings | None = None,
    on_event: OnEvent = ignore,
) -> Replay:
    """Go through a run again without a model, and compare its candidates with those of its journal.

    `flow` is another flow, as far as its questions were answered; `output` a name or a folder for the candidates;
    `shared` takes answers that the run lacks from the cache of all runs. The settings are those of the run.

    Raises UserError where there is no such run, or its problems aren't what they were.
    """
    return await replay_on_async(run, flow, output, shared, settings_on(settings), on_event)


replay = blocking(replay_async)


async def replay_on_async(
    run: str, flow: str | None, output: str | None, shared: bool, settings: SettingsOn, on_event: OnEvent = ignore
) -> Replay:
    """The same as `replay_async`, with the settings on the base of the run's."""
    plan = await in_thread(_planned, run, flow, output, settings)
    replayed = await _replay(plan, shared, on_event)
    if not output:
        return replayed
    rows = [row | origin_of(plan.problems) for row in solutions_rows(replayed.candidates, plan.problems.names)]
    return replace(replayed, solutions=await in_thread(save_solutions, rows, output))


replay_on = blocking(replay_on_async)


@dataclass(frozen=True, slots=True)
class _ReplayPlan:
    """What is gone through again; `same` says whether flow and settings are the run's."""

    problems: ProblemSet
    samples: int
    flow: Flow
    settings: Settings
    folder: RunFolder
    same: bool


def _planned(run: str, flow_name: str | None, output: str | None, settings: SettingsOn) -> _ReplayPlan:
    folder = RunFolder.reopen(runs_folder(), run)
    described = folder.description()
    if described.get("command") != COMMAND:
        raise UserError(f"run {run!r} asked no model: only runs of gencode gen {COMMAND} are replayed")
    in_force = settings(described.get("settings", {}))
    if output:
        _check_output(output, folder)
    chosen = _problems(described, in_force)
    without = described.get("without") or ()
    # A flow that is asked for here wins over the run's `[solve] use_baseline`.
    flow = load_flow(flow_name) if flow_name else chosen_flow(described["flow"], in_force, without)
    same = _is_the_runs(flow, in_force, described, warn=flow_name is None)
    return _ReplayPlan(chosen, described["samples"], flow, in_force, folder, same)


def _check_output(name: str, folder: RunFolder) -> None:
    check_output(name)
    if output_path(name).resolve().is_relative_to(folder.path.resolve()):
        raise UserError(f"a replay changes no file of its run: --output_dataset_name {name} is in its folder")


def _problems(described: Mapping[str, Any], settings: Settings) -> ProblemSet:
    problems = load_problems(described["dataset_name"], described.get("split_name"))
    if problems.fingerprint != described["fingerprint"]:
        raise UserError(f"{described['dataset_name']} isn't what it was in the run: its problems were changed since")
    rate = described["sample_rate"]
    return problems.sample(rate, settings.config.seed or 0) if rate < 1 else problems


def _is_the_runs(flow: Flow, settings: Settings, described: Mapping[str, Any], warn: bool) -> bool:
    """Whether flow and settings are those of the run; warns where the run's own flow has other prompts by now."""
    same_flow = flow.fingerprint == described["flow_fingerprint"]
    if warn and not same_flow:
        logger.warning("flow {} was changed since the run: its candidates are not compared", flow.name)
    now, then = shown_settings(settings), Settings.model_validate(described["settings"]).model_dump()
    for values in (now, then):
        for section, names in RESUMABLE_SETTINGS.items():
            values[section] = {name: value for name, value in values[section].items() if name not in names}
    return same_flow and now == then


def _with_cache(settings: Settings) -> Settings:
    """The settings with the cache, also where the run itself did without."""
    return settings.model_copy(update={"config": settings.config.model_copy(update={"cache": True})})


async def _replay(plan: _ReplayPlan, shared: bool, on_event: OnEvent) -> Replay:
    settings, model = plan.settings, plan.settings.config.model
    job = SampleJob(plan.problems, plan.samples, settings.config.concurrency)
    with working(on_event, "replayed", len(job.names) * job.samples) as work:
        async with open_judge(settings) as judge:
            solver = Solver(plan.flow, SilentModel(model), model, judge.judge, settings)
            with open_cache(_with_cache(settings)) if shared else contextlib.nullcontext() as cache:
                return await replay_samples(job, solver, plan.folder, same=plan.same, cache=cache, on_sample=work.done)
