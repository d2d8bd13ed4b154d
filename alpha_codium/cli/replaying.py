"""What `gencode replay` does, from the run's own description to candidates."""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loguru import logger

from alpha_codium.cli.options import CommonOptions
from alpha_codium.cli.progress import Progress
from alpha_codium.cli.run_folders import FREE_SETTINGS, check_output, shown_settings
from alpha_codium.config import Settings
from alpha_codium.data import load_problems, save_solutions
from alpha_codium.data.home import runs_folder
from alpha_codium.data.load import ProblemSet
from alpha_codium.data.solutions import origin_of
from alpha_codium.data.sources import output_path
from alpha_codium.errors import UserError
from alpha_codium.flows import Flow, load_flow
from alpha_codium.gen.api import chosen_flow
from alpha_codium.gen.caching import open_cache
from alpha_codium.gen.loop import Job, solutions_rows
from alpha_codium.gen.replaying import MissingCalls, Replay, SilentModel, replay
from alpha_codium.gen.sample import Solver
from alpha_codium.judge import Judge, Rules
from alpha_codium.runs import RunFolder
from alpha_codium.sandbox import sandbox_of

COMMAND = "solve_set"


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is gone through again: `same` says that it is as in the run, `shared` that other runs' answers count."""

    job: Job
    flow: Flow
    settings: Settings
    folder: RunFolder
    same: bool
    shared: bool


def replay_run(
    name: str, flow_name: str | None, output: str | None, shared: bool, common: CommonOptions
) -> tuple[Replay, Path | None]:
    """The run gone through again, and where its candidates were saved.

    Raises UserError where there is no such run, or its problems aren't what they were.
    """
    folder = RunFolder.reopen(runs_folder(), name)
    described = folder.description()
    if described.get("command") != COMMAND:
        raise UserError(f"run {name!r} asked no model: only runs of gencode gen {COMMAND} are replayed")
    common.base = described.get("settings", {})
    settings = common.settings
    if output:
        _check_output(output, folder)
    chosen = _problems(described, settings)
    without = described.get("without") or ()
    # A flow that is asked for here wins over the run's `[solve] use_baseline`.
    flow = load_flow(flow_name) if flow_name else chosen_flow(described["flow"], settings, without)
    same = _is_the_runs(flow, settings, described, told=flow_name is None)
    job = Job(chosen, described["samples"], settings.config.concurrency)
    replayed = asyncio.run(_replay(_Plan(job, flow, settings, folder, same, shared), quiet=common.verbosity < 0))
    if not output:
        return replayed, None
    rows = [row | origin_of(chosen) for row in solutions_rows(replayed.candidates, chosen.names)]
    return replayed, save_solutions(rows, output)


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


def _is_the_runs(flow: Flow, settings: Settings, described: Mapping[str, Any], told: bool) -> bool:
    """Whether flow and settings are those of the run; says where the run's own flow has other prompts by now."""
    same_flow = flow.fingerprint == described["flow_fingerprint"]
    if told and not same_flow:
        logger.warning("flow {} was changed since the run: its candidates are not compared", flow.name)
    now, then = shown_settings(settings), Settings.model_validate(described["settings"]).model_dump()
    for values in (now, then):
        for section, names in FREE_SETTINGS.items():
            values[section] = {name: value for name, value in values[section].items() if name not in names}
    return same_flow and now == then


def _with_cache(settings: Settings) -> Settings:
    """The settings with the cache, also where the run itself did without."""
    return settings.model_copy(update={"config": settings.config.model_copy(update={"cache": True})})


async def _replay(plan: _Plan, quiet: bool) -> Replay:
    settings, lacking = plan.settings, 0
    total = len(plan.job.names) * plan.job.samples
    with Progress("samples", total, quiet, lambda: f"{lacking} lacking an answer" if lacking else "") as progress:

        def tell(missing: MissingCalls | None) -> None:
            nonlocal lacking
            lacking += missing is not None
            progress.advance()

        async with sandbox_of(settings.code_tester) as sandbox:
            judge = Judge(sandbox, Rules.of(settings.code_tester))
            solver = Solver(plan.flow, SilentModel(settings.config.model, {}), settings.config.model, judge, settings)
            with open_cache(_with_cache(settings)) if plan.shared else contextlib.nullcontext() as cache:
                return await replay(plan.job, solver, plan.folder, same=plan.same, cache=cache, on_sample=tell)
